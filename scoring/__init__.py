"""Scores of links and subsumptions in addition to text scores, as functions on arrays."""
