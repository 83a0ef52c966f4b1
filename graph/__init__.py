"""What is known: the knowledge graph, its hierarchy, and how both are read and written."""

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.edit import merge, remove
from ontodex.graph.hierarchy import Hierarchy
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.notices import ReadWarning
from ontodex.graph.prefixes import contract, expand
from ontodex.graph.readers import read
from ontodex.graph.splits import split
from ontodex.graph.subsumptions import (
    HierarchyTask,
    Pairs,
    TaskSettings,
    draw_negatives,
    homonym_rate,
    make_task,
    transfer_task,
    with_root,
)
from ontodex.graph.task_files import read_lexicon, read_task, write_task
from ontodex.graph.text import DEFAULT_TEXTS, TextSettings, entity_texts, inverse_text, relation_texts
from ontodex.graph.writers import to_networkx, write_nquads, write_tsv

__all__ = [
    "DEFAULT_TEXTS",
    "GraphBuilder",
    "Hierarchy",
    "HierarchyTask",
    "KnowledgeGraph",
    "Pairs",
    "ReadWarning",
    "TaskSettings",
    "TextSettings",
    "contract",
    "draw_negatives",
    "entity_texts",
    "expand",
    "homonym_rate",
    "inverse_text",
    "make_task",
    "merge",
    "read",
    "read_lexicon",
    "read_task",
    "relation_texts",
    "remove",
    "split",
    "to_networkx",
    "transfer_task",
    "with_root",
    "write_nquads",
    "write_task",
    "write_tsv",
]
