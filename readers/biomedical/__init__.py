"""Readers for biomedical formats: annotations, gene sets, terminologies, taxonomies, networks."""
