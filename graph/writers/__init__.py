"""Writing a graph to files."""

from ontodex.graph.writers.nquads import write_nquads
from ontodex.graph.writers.tsv import write_tsv

__all__ = ["write_nquads", "write_tsv"]
