"""The making of a generation: what is encoded, trained, fitted and written."""
