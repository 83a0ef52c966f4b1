"""Encoders: models from texts to representations, with loading and saving."""
