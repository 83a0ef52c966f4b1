"""What is known: the knowledge graph, its hierarchy, and how both are read and written."""

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.edit import merge, remove
from ontodex.graph.hierarchy import Hierarchy
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.notices import ReadWarning
from ontodex.graph.prefixes import contract, expand
from ontodex.graph.readers import read
from ontodex.graph.splits import split
from ontodex.graph.text import DEFAULT_TEXTS, TextSettings, entity_texts, inverse_text, relation_texts
from ontodex.graph.writers import to_networkx, write_nquads, write_tsv

__all__ = [
    "DEFAULT_TEXTS",
    "GraphBuilder",
    "Hierarchy",
    "KnowledgeGraph",
    "ReadWarning",
    "TextSettings",
    "contract",
    "entity_texts",
    "expand",
    "inverse_text",
    "merge",
    "read",
    "relation_texts",
    "remove",
    "split",
    "to_networkx",
    "write_nquads",
    "write_tsv",
]
