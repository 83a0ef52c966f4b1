"""Conditional similarity: training of Hyper-CL and its baselines on rows of C-STS."""
