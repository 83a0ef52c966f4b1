"""Guessing the mapping of a table: what its columns hold, by their names and cells."""
