"""Reading ontologies: OBO, OBO graphs, and RDF and OWL in all syntaxes."""
