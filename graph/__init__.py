"""What is known: the knowledge graph, its hierarchy, and how both are read and written."""

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.conditions import ConditionalPairs, ConditionalPairsSettings, conditional_pairs
from ontodex.graph.corpus import read_corpus
from ontodex.graph.csts_files import read_csts, write_conditional_pairs, write_csts
from ontodex.graph.csts_rows import CstsRow, CstsRows
from ontodex.graph.entailment_pairs import EntailmentPairs, entailment_pairs
from ontodex.graph.hierarchy import Hierarchy
from ontodex.graph.hierarchy_task import hierarchy_task
from ontodex.graph.knowledge_graph import KnowledgeGraph, both_directions
from ontodex.graph.merging import merge
from ontodex.graph.nli_files import read_nli
from ontodex.graph.notices import ReadWarning
from ontodex.graph.prefixes import contract, expand
from ontodex.graph.readers import read
from ontodex.graph.removal import remove, remove_links
from ontodex.graph.splits import split
from ontodex.graph.statements import Statements, sentences, statements
from ontodex.graph.sts_files import ScoredPairs, read_sts
from ontodex.graph.subsumptions import (
    HierarchyTask,
    Pairs,
    TaskSettings,
    draw_negatives,
    homonym_rate,
    links_fingerprint,
    make_task,
    validation_links,
    with_root,
)
from ontodex.graph.task_files import read_settings, read_task, write_task
from ontodex.graph.text import (
    DEFAULT_TEXTS,
    LABEL_ALONE,
    TextSettings,
    entity_texts,
    hierarchy_texts,
    inverse_text,
    question_text,
    relation_texts,
)
from ontodex.graph.writers import to_networkx, write_nquads, write_tsv

__all__ = [
    "DEFAULT_TEXTS",
    "LABEL_ALONE",
    "ConditionalPairs",
    "ConditionalPairsSettings",
    "CstsRow",
    "CstsRows",
    "EntailmentPairs",
    "GraphBuilder",
    "Hierarchy",
    "HierarchyTask",
    "KnowledgeGraph",
    "Pairs",
    "ReadWarning",
    "ScoredPairs",
    "Statements",
    "TaskSettings",
    "TextSettings",
    "both_directions",
    "conditional_pairs",
    "contract",
    "draw_negatives",
    "entailment_pairs",
    "entity_texts",
    "expand",
    "hierarchy_task",
    "hierarchy_texts",
    "homonym_rate",
    "inverse_text",
    "links_fingerprint",
    "make_task",
    "merge",
    "question_text",
    "read",
    "read_corpus",
    "read_csts",
    "read_nli",
    "read_settings",
    "read_sts",
    "read_task",
    "relation_texts",
    "remove",
    "remove_links",
    "sentences",
    "split",
    "statements",
    "to_networkx",
    "validation_links",
    "with_root",
    "write_conditional_pairs",
    "write_csts",
    "write_nquads",
    "write_task",
    "write_tsv",
]
