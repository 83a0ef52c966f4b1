"""Measurements: how fast and how big ontodex is, beside its peers, and the papers' tables. Not in the wheel."""
