"""Entailment: GaussCSE."""
