"""Encoders: from texts to representations, with loading and saving."""
