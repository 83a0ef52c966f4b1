"""Search and completion engine for knowledge graphs and ontologies."""
