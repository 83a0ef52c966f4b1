"""Scores of links and of hierarchies beside those of texts, as functions on arrays."""
