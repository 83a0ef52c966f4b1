"""From (entity, relation) pairs to the queries whose nearest entities are the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.resolve import Resolved
from ontodex.geometry.cosine import score_pairs, unit
from ontodex.geometry.projection import Factors, project
from ontodex.graph import inverse_text
from ontodex.indexers.index import Index
from ontodex.indexers.vectors import Vectors

__all__ = ["Projector", "vectors_of"]

Floats = NDArray[np.float32]


class Projector:
    """Projects entities by relations: with the projections of the index, or, without, by reading both as one text.

    Args:
        index: An opened index.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._trained = "link" in index.manifest.spaces

    @property
    def space(self) -> str:
        """The space that the queries are searched in."""
        return "link" if self._trained else "text"

    @property
    def method(self) -> str:
        """What the scores mean, for the answer."""
        if self._trained:
            return "the relation's projection (cosine)"
        return "the text “head relation” (cosine; the index has no projections)"

    @property
    def relations_method(self) -> str:
        """What the scores of relations mean."""
        if self._trained:
            return "the mean of the relation's projection and its inverse's (cosines)"
        return "the difference of tail and head, against the relation's label (cosine; the index has no projections)"

    @cached_property
    def _labels(self) -> Floats:
        return self._encode(list(self._index.graph.relation_labels))

    def queries(self, entities: Sequence[Resolved], relations: Sequence[Resolved], *, backward: bool = False) -> Floats:
        """Return the query of each (entity, relation) pair, ``float32`` of shape (pairs, dim).

        Args:
            entities: Heads; tails with ``backward``.
            relations: One relation for each.
            backward: Ask for heads: project by the inverse relation.
        """
        pairs = list(zip(entities, relations, strict=True))
        if not self._trained:
            words = [(entity.reading.label, relation.reading.label) for entity, relation in pairs]
            return self._encode([" ".join(reversed(two) if backward else two) for two in words])
        vectors = self.vectors(entities)
        queries = np.empty_like(vectors)
        groups: dict[Resolved, list[int]] = {}
        for position, relation in enumerate(relations):
            groups.setdefault(relation, []).append(position)
        for relation, positions in groups.items():
            factors = self._factors(relation, backward)
            queries[positions] = project(vectors[positions], factors, residual=self._index.residual)
        return queries

    def vectors(self, entities: Sequence[Resolved]) -> Floats:
        """Return the vectors of entities in :attr:`space`: known ones from the store, texts encoded."""
        return vectors_of(self._index.vectors(self.space), entities, self._encode)

    def relation_scores(self, head: Floats, tail: Floats) -> NDArray[np.float64]:
        """Score every relation of the graph: the mean cosine of predicting ``tail``, and inversely ``head``.

        Args:
            head: Vector of shape (dim,).
            tail: Likewise.

        Returns:
            Scores of shape (relations,).
        """
        index, count = self._index, self._index.graph.n_relations
        if not self._trained:
            return np.asarray(score_pairs(unit(tail - head)[None], self._labels[None])[0])
        both = np.zeros(count)
        for here, there, start in ((head, tail, 0), (tail, head, count)):
            moved = np.einsum("d,rdk->rk", here, index.blobs.get("link/left")[start : start + count])
            if "link/right" in index.blobs:
                moved = np.einsum("rk,rkd->rd", moved, index.blobs.get("link/right")[start : start + count])
            queries = unit(here + moved if index.residual else moved)
            both += score_pairs(there[None], queries[None])[0]
        return both / 2

    def _encode(self, texts: list[str]) -> Floats:
        if not self._trained:
            return np.asarray(self._index.text_encoder.encode(texts))
        encoder = self._index.link_encoder
        return np.asarray(encoder.entities(encoder.text.encode(texts)))

    def _factors(self, relation: Resolved, backward: bool) -> Factors:
        if relation.row is not None:
            return self._index.projection(relation.row + self._index.graph.n_relations * backward)
        text = relation.reading.text
        left, right = self._index.link_encoder.factors([inverse_text(text) if backward else text])
        return left[0], None if right is None else right[0]


def vectors_of(stored: Vectors, entities: Sequence[Resolved], encode: Callable[[list[str]], Floats]) -> Floats:
    """Return one vector per entity or text: known ones from the store, the others from ``encode``.

    Args:
        stored: The vectors of a space.
        entities: Entities and texts.
        encode: Makes vectors of texts.

    Returns:
        ``float32`` of shape (entities, dim).
    """
    vectors = np.empty((len(entities), stored.dim), dtype=np.float32)
    known = [position for position, entity in enumerate(entities) if entity.row is not None]
    unseen = [position for position, entity in enumerate(entities) if entity.row is None]
    if known:
        vectors[known] = stored[np.array([entities[position].row for position in known], dtype=np.int64)]
    if unseen:
        vectors[unseen] = encode([entities[position].reading.text for position in unseen])
    return vectors
