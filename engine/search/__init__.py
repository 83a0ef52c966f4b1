"""The one search path, and what it needs to know of each space."""
