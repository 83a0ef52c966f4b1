"""Triples that are known: those of the index, and those of any further sources."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import KnowledgeGraph, ReadWarning
from ontodex.graph.edit import aligned

__all__ = ["CHOICES", "Known"]

Rows = NDArray[np.int64]
CHOICES = ("exclude", "include", "only")


class Known:
    """Looks up known triples in several graphs at once, in the rows of the first.

    Args:
        graph: The graph of the index.
        others: Further graphs; entities and relations meet by CURIE or IRI, and what is said of others is left out,
            with a :class:`~ontodex.graph.ReadWarning` if that is all of it.
    """

    def __init__(self, graph: KnowledgeGraph, others: Iterable[KnowledgeGraph] = ()) -> None:
        self._graph = graph
        self._triples = [_in_rows_of(graph, other) for other in others]

    @cached_property
    def reflexive(self) -> frozenset[int]:
        """Relations that are known to link some entity to itself."""
        return self._graph.reflexive.union(
            *(triples[triples[:, 0] == triples[:, 2], 1].tolist() for triples in self._triples)
        )

    def tails(self, head: int, relation: int) -> Rows:
        """Return the known tails, ascending."""
        found = [triples[(triples[:, 0] == head) & (triples[:, 1] == relation), 2] for triples in self._triples]
        return _union([self._graph.tails_of(head, relation), *found])

    def heads(self, relation: int, tail: int) -> Rows:
        """Return the known heads, ascending."""
        found = [triples[(triples[:, 1] == relation) & (triples[:, 2] == tail), 0] for triples in self._triples]
        return _union([self._graph.heads_of(relation, tail), *found])

    def relations(self, head: int, tail: int) -> Rows:
        """Return the known relations, ascending."""
        found = [triples[(triples[:, 0] == head) & (triples[:, 2] == tail), 1] for triples in self._triples]
        return _union([self._graph.relations_between(head, tail), *found])


def _union(parts: list[NDArray[np.int32]]) -> Rows:
    return (np.unique(np.concatenate(parts)) if len(parts) > 1 else parts[0]).astype(np.int64)


def _in_rows_of(graph: KnowledgeGraph, other: KnowledgeGraph) -> NDArray[np.int32]:
    """Return all triples of ``other`` that can be said in ``graph``, ``int32`` of shape (n, 3)."""
    other = aligned(other, graph)
    rows = {name: row for row, name in enumerate(graph.ids)}
    numbers = {name: number for number, name in enumerate(graph.relation_ids)}
    entity = np.array([rows.get(name, -1) for name in other.ids], dtype=np.int32)
    relation = np.array([numbers.get(name, -1) for name in other.relation_ids], dtype=np.int32)
    triples = np.concatenate([other.triples, other.valid, other.test])
    if not len(triples):
        return triples
    moved = np.stack([entity[triples[:, 0]], relation[triples[:, 1]], entity[triples[:, 2]]], axis=1)
    moved = moved[(moved >= 0).all(axis=1)]
    if not len(moved):
        warnings.warn(
            f"none of the {len(triples):,} triples of {other.source} is about entities and relations of the index; "
            "are its ids those of another source?",
            ReadWarning,
            stacklevel=2,
        )
    return moved
