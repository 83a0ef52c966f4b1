"""Similarity under a condition: Hyper-CL and its baselines, trained on rows of C-STS."""
