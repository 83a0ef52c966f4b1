"""Tables: the columns of a table, by their names and cells, and the entities in its rows."""
