"""Encoders that build their own structure: Self-StrAE."""
