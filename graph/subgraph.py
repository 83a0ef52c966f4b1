"""Subgraphs: some of the entities or triples of a graph."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.columns import NestedTextColumn, TextColumn
from ontodex.graph.knowledge_graph import KnowledgeGraph

__all__ = ["with_entities", "with_triples"]

Rows = NDArray[np.int32]


def with_entities(graph: KnowledgeGraph, keep: NDArray[np.bool_]) -> KnowledgeGraph:
    """Return the subgraph of some entities, with the triples between these entities.

    Entities keep their order, and all relations remain.

    Args:
        graph: The graph.
        keep: Whether each entity stays, of shape (entities,).
    """
    rows = np.flatnonzero(keep).tolist()
    moved = (np.cumsum(keep) - 1).astype(np.int32)

    def kept(triples: Rows) -> Rows:
        stay = triples[keep[triples[:, 0]] & keep[triples[:, 2]]]
        return np.stack([moved[stay[:, 0]], stay[:, 1], moved[stay[:, 2]]], axis=1)

    smaller = dataclasses.replace(
        graph,
        ids=TextColumn.of(graph.ids[row] for row in rows),
        labels=TextColumn.of(graph.labels[row] for row in rows),
        synonyms=NestedTextColumn.of(graph.synonyms[row] for row in rows),
        definitions=TextColumn.of(graph.definitions[row] for row in rows),
        alternative_ids=NestedTextColumn.of(graph.alternative_ids[row] for row in rows),
    )
    return with_triples(smaller, kept(graph.triples), kept(graph.valid), kept(graph.test))


def with_triples(graph: KnowledgeGraph, known: Rows, valid: Rows, test: Rows) -> KnowledgeGraph:
    """Return the graph with all its triples replaced.

    Args:
        graph: The graph.
        known: New known triples, ``int32`` of shape (n, 3).
        valid: New triples held out for validation, ``int32`` of shape (n, 3).
        test: New triples held out for testing, ``int32`` of shape (n, 3).
    """
    heads, relations, tails = map(np.ascontiguousarray, known.T)
    return dataclasses.replace(
        graph, heads=heads, relations=relations, tails=tails, valid=valid, test=test
    )
