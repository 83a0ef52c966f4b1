"""Training data: NLI, STS, C-STS, hierarchy tasks, and pairs drawn from a graph."""
