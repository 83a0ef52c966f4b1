"""Mappings: what the columns of a table hold, guessed from the table or written down in YAML."""
