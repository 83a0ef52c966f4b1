"""Tables: their rows, the mappings that say what columns hold, and reading rows by them."""
