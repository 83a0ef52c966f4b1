"""Spaces as pure functions on arrays: scores, their safe exact forms, and their lifts to inner products."""
