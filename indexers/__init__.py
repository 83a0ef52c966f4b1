"""Building an index of a graph and its encoders, and updating it: a list of resumable steps."""
