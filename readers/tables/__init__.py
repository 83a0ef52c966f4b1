"""Rows: what the columns of a table hold, by their names and by what is in them, and what the rows say of entities."""
