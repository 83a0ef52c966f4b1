"""Exact search of vectors, and the score of each space."""
