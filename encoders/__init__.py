"""Text to representation: text encoders and what stands on them."""
