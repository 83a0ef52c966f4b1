"""Answers: rows that print as tables and convert to JSON, TSV, RDF and SSSOM."""
