"""Losses, batches and training runs that produce encoders."""
