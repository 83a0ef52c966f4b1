"""Readers of biomedical formats: annotations, gene sets, terminologies, taxonomies and networks."""
