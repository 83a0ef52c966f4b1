"""Graph and encoders to an index on disk, and back."""
