"""Tables: rows, mappings that say what columns hold, and reading of rows with mappings."""
