"""What is answered: rows that print as tables and turn into JSON, TSV and SSSOM."""
