"""Known triples of the index and of further sources."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import Hierarchy, KnowledgeGraph
from ontodex.graph.known_links import KnownLinks
from ontodex.graph.merging import aligned
from ontodex.graph.notices import warn_reader
from ontodex.graph.subgraph import with_triples

__all__ = ["CHOICES", "Known"]

Rows = NDArray[np.int64]
CHOICES = ("exclude", "include", "only")


class Known:
    """Looks up known triples of several graphs, in the rows of the first graph.

    Args:
        graph: The graph of the index.
        others: Further graphs. Their entities and relations are matched to those of ``graph`` by
            CURIE or IRI. Triples with an unmatched entity or relation are ignored. If no triple of
            a further graph is left, there is a :class:`~ontodex.graph.ReadWarning`.
    """

    def __init__(self, graph: KnowledgeGraph, others: Iterable[KnowledgeGraph] = ()) -> None:
        self._graph = graph
        further = [_in_rows_of(graph, other) for other in others]
        triples = np.concatenate(further) if further else np.zeros((0, 3), dtype=np.int32)
        self._further = (
            KnownLinks(triples, graph.n_entities, graph.n_relations) if len(triples) else None
        )

    @cached_property
    def reflexive(self) -> frozenset[int]:
        """Relations that link some entity to itself in a known triple."""
        further = (
            np.zeros((0, 3), dtype=np.int64) if self._further is None else self._further.triples
        )
        count = self._graph.n_relations
        return self._graph.reflexive.union(
            (further[further[:, 0] == further[:, 2], 1] % count).tolist()
        )

    @cached_property
    def hierarchy(self) -> Hierarchy | None:
        """The hierarchy of all known triples, without cycles.

        ``None`` if no relation leads from child to parent.
        """
        graph = self._graph
        if not graph.hierarchy_relations:
            return None
        if self._further is not None:
            triples = self.links().triples.astype(np.int32)
            known = triples[triples[:, 1] < graph.n_relations]
            graph = with_triples(graph, known, graph.valid, graph.test)
        return graph.hierarchy(on_cycle="ignore")

    def answers(self, entity: int, relation: int, *, backward: bool) -> Rows:
        """Return the known tails of an entity, or its known heads if ``backward``, ascending."""
        return self.heads(relation, entity) if backward else self.tails(entity, relation)

    def impossible(self, entity: int, relation: int, *, backward: bool) -> Rows:
        """Return the entities that cannot be a new answer to a question, ascending.

        These are the entity itself, unless the relation is reflexive; and, for a relation of the
        hierarchy, the entities that would close a cycle. In a graph with a cycle, known answers may
        be among them.

        Args:
            entity: Row of the entity of the question.
            relation: Number of the relation.
            backward: Whether the answers are heads.
        """
        rows = np.array([] if relation in self.reflexive else [entity], dtype=np.int64)
        if relation in self._graph.hierarchy_relations and self.hierarchy is not None:
            circular = self.hierarchy.ancestors if backward else self.hierarchy.descendants
            rows = np.union1d(rows, circular(entity))
        return rows

    def links(self) -> KnownLinks:
        """Return all known triples, in a form that is looked up by arrays."""
        graph, further = self._graph, np.zeros((0, 3), dtype=np.int64)
        if self._further is not None:
            further = self._further.triples[self._further.triples[:, 1] < graph.n_relations]
        return KnownLinks(
            np.concatenate([graph.triples, further]), graph.n_entities, graph.n_relations
        )

    def tails(self, head: int, relation: int) -> Rows:
        """Return the rows of the known tails, ascending."""
        return self._with_further(self._graph.tails_of(head, relation), head, relation)

    def heads(self, relation: int, tail: int) -> Rows:
        """Return the rows of the known heads, ascending."""
        return self._with_further(
            self._graph.heads_of(relation, tail), tail, relation + self._graph.n_relations
        )

    def relations(self, head: int, tail: int) -> Rows:
        """Return the numbers of the known relations from head to tail, ascending."""
        known = self._graph.relations_between(head, tail).astype(np.int64)
        if self._further is None:
            return known
        relations, tails = self._further.links_of(head)
        return np.union1d(known, relations[(tails == tail) & (relations < self._graph.n_relations)])

    def _with_further(self, known: NDArray[np.int32], entity: int, relation: int) -> Rows:
        """Add the tails in further graphs to the known tails of an entity.

        Args:
            known: Rows of the tails in the graph of the index.
            entity: Row of the entity.
            relation: Number of the relation; if it is at least R, the number of relations, the
                relation is an inverse, and its tails are heads.
        """
        rows = known.astype(np.int64)
        if self._further is None:
            return rows
        return np.union1d(rows, self._further.follow(np.array([entity]), np.array([relation]))[1])


def _in_rows_of(graph: KnowledgeGraph, other: KnowledgeGraph) -> NDArray[np.int32]:
    """Return the triples of ``other`` about entities and relations of ``graph``.

    Returns:
        The triples with the rows and relation numbers of ``graph``, ``int32`` of shape (n, 3).
    """
    other = aligned(other, graph)
    rows = {name: row for row, name in enumerate(graph.ids)}
    numbers = {name: number for number, name in enumerate(graph.relation_ids)}
    entity = np.array([rows.get(name, -1) for name in other.ids], dtype=np.int32)
    relation = np.array([numbers.get(name, -1) for name in other.relation_ids], dtype=np.int32)
    triples = np.concatenate([other.triples, other.valid, other.test])
    if not len(triples):
        return triples
    moved = np.stack(
        [entity[triples[:, 0]], relation[triples[:, 1]], entity[triples[:, 2]]], axis=1
    )
    moved = moved[(moved >= 0).all(axis=1)]
    if not len(moved):
        warn_reader(
            f"none of the {len(triples):,} triples of {other.source} is about entities and "
            "relations of the index; are its ids those of another source?"
        )
    return moved
