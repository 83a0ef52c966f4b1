"""Geometries of spaces: exact scores, and lifts that turn scores into inner products."""
