"""Answers from an index: search, link prediction, hierarchy, entailment, and rank metrics."""
