"""Encoders that build a tree of each text: training of Self-StrAE."""
