"""The search path of all questions, and the scores of each space."""
