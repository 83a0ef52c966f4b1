"""Ontologies: OBO, and RDF and OWL in all their syntaxes, whose statements are taken apart in one place."""
