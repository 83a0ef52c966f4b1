"""Writing a graph to files and to objects."""

from ontodex.graph.writers.networkx import to_networkx
from ontodex.graph.writers.nquads import write_nquads
from ontodex.graph.writers.tsv import write_tsv

__all__ = ["to_networkx", "write_nquads", "write_tsv"]
