"""Spaces as pure functions on arrays: exact scores, and lifts that make them inner products."""
