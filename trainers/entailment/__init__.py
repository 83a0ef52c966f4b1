"""Entailment: training and evaluation of GaussCSE."""
