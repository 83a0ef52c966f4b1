"""Splitting a graph into what is known and what is held out."""

from __future__ import annotations

import dataclasses

import numpy as np

from ontodex.errors import GraphError, SettingsError
from ontodex.graph.knowledge_graph import KnowledgeGraph

__all__ = ["split"]


def split(graph: KnowledgeGraph, valid: float = 0.05, test: float = 0.05, seed: int = 0) -> KnowledgeGraph:
    """Hold out some of the known triples, for validation and for testing.

    A triple stays known where its head, its tail or its relation would have no known triple left, so a graph with few
    triples an entity may hold out fewer than asked.

    Args:
        graph: A graph without held-out triples.
        valid: Fraction of the triples to hold out for validation.
        test: Fraction to hold out for testing.
        seed: Equal seeds give equal splits.

    Raises:
        GraphError: If the graph has held-out triples already.
        SettingsError: If a fraction is negative or they do not leave any triple.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("square")
        >>> for head in "abcd":
        ...     for tail in "abcd":
        ...         builder.triple(head, "near", tail)
        >>> split(builder.build(), valid=0.25, test=0.125)
        KnowledgeGraph('square': 4 entities, 1 relations, 10 triples, 4 + 2 held out)
    """
    if len(graph.valid) or len(graph.test):
        found = f"{len(graph.valid)} + {len(graph.test)}"
        raise GraphError(
            f"{graph.source}: expected a graph without held-out triples, found {found}; it is split already"
        )
    if not (valid >= 0 and test >= 0 and valid + test < 1):
        raise SettingsError(f"expected fractions of at least 0 that sum to less than 1, found {valid} and {test}")
    triples = graph.triples
    n_valid, n_test = round(valid * len(triples)), round(test * len(triples))
    left = np.bincount(triples[:, [0, 2]].ravel(), minlength=graph.n_entities).tolist()
    left_of_relation = np.bincount(triples[:, 1], minlength=graph.n_relations).tolist()
    held: list[int] = []
    for position in np.random.default_rng(seed).permutation(len(triples)).tolist():
        if len(held) == n_valid + n_test:
            break
        head, relation, tail = triples[position].tolist()
        least = 2 if head == tail else 1
        if left[head] > least and left[tail] > least and left_of_relation[relation] > 1:
            left[head] -= 1
            left[tail] -= 1
            left_of_relation[relation] -= 1
            held.append(position)
    share = round(len(held) * n_valid / max(n_valid + n_test, 1))
    known = np.ones(len(triples), dtype=bool)
    known[held] = False
    return dataclasses.replace(
        graph,
        heads=graph.heads[known],
        relations=graph.relations[known],
        tails=graph.tails[known],
        valid=triples[sorted(held[:share])],
        test=triples[sorted(held[share:])],
    )
