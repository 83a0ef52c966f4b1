"""Knowledge graph, is-a hierarchy, names, entity texts and writers."""

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.hierarchy import Hierarchy
from ontodex.graph.knowledge_graph import KnowledgeGraph, both_directions
from ontodex.graph.merging import merge
from ontodex.graph.negatives import Pairs, draw_negatives, homonym_rate
from ontodex.graph.notices import ReadWarning
from ontodex.graph.prefixes import contract, expand
from ontodex.graph.removal import remove, remove_links
from ontodex.graph.sentences import EntitySentences, entity_names, entity_sentences, sentences
from ontodex.graph.splits import hold_out, links_fingerprint, split, validation_links
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
from ontodex.graph.writers import write_nquads, write_tsv

__all__ = [
    "DEFAULT_TEXTS",
    "LABEL_ALONE",
    "EntitySentences",
    "GraphBuilder",
    "Hierarchy",
    "KnowledgeGraph",
    "Pairs",
    "ReadWarning",
    "TextSettings",
    "both_directions",
    "contract",
    "draw_negatives",
    "entity_names",
    "entity_sentences",
    "entity_texts",
    "expand",
    "hierarchy_texts",
    "hold_out",
    "homonym_rate",
    "inverse_text",
    "links_fingerprint",
    "merge",
    "question_text",
    "relation_texts",
    "remove",
    "remove_links",
    "sentences",
    "split",
    "validation_links",
    "write_nquads",
    "write_tsv",
]
