"""Index to answers: predict, search, place; filters, exact re-ranking, ranking metrics."""
