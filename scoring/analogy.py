"""Link prediction by analogy: tails of similar heads, and entities similar to known tails.

It needs no training. Das et al., "A Simple Approach to Case-Based Reasoning in Knowledge Bases",
AKBC 2020, predict from the links of similar entities; Wang et al., "Reasoning Through
Memorization", arXiv:2201.05575, from the neighbours of an embedding.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.vectors import Vectors
from ontodex.graph.arrays import runs
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.similarity import EntitySimilarity, log_similarity

__all__ = ["Analogy"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

EXAMPLES = 64
"""Maximal number of known tails of a question; of more, so many at equal steps are taken."""

BLOCK = 64
"""Questions in one block."""


class Analogy:
    """Scores tails by known triples of similar entities.

    With :class:`~ontodex.scoring.similarity.EntitySimilarity` k, a tail t of a question (h, r) has
    two scores, both log(1 + sum / 0.005): by similar heads, the sum of k(h, h') over known triples
    (h', r, t); and by similar tails, the sum of k(t', t) over known triples (h, r, t'). Scores are
    never negative, and zero for all but a few entities.

    Args:
        links: Known triples.
        vectors: Entity vectors, of any length.

    Example:
        >>> vectors = Vectors([np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)])
        >>> analogy = Analogy(KnownLinks(np.array([[0, 0, 2]]), 4, 1), vectors)
        >>> head, relation = np.array([1]), np.array([0])
        >>> rows, scores = next(analogy.scores(vectors[head], head, relation))
        >>> rows.tolist(), scores.round(1).tolist()  # 1 is similar to 0, whose tail is 2
        ([2], [[5.3], [0.0]])
    """

    def __init__(self, links: KnownLinks, vectors: Vectors) -> None:
        self._links, self._similarity = links, EntitySimilarity(vectors)

    def scores(
        self,
        vectors: NDArray[np.float32],
        entities: NDArray[np.integer],
        relations: NDArray[np.integer],
        apart: NDArray[np.integer] | None = None,
    ) -> Iterator[tuple[Rows, Floats]]:
        """Score the tails of (entity, relation) questions.

        Args:
            vectors: Vector of each entity, of shape (n, dim).
            entities: Its row, of shape (n,); -1 for one that the graph does not have.
            relations: Number of each relation, inverses from R on; -1 for one that the graph does
                not have.
            apart: Where the row is -1, the entity that is not compared with the vector.

        Yields:
            For each question the rows of tails with a score, ascending, and their scores,
            ``float64`` of shape (2, rows).
        """
        for start in range(0, len(entities), BLOCK):
            part = slice(start, start + BLOCK)
            yield from self._block(
                vectors[part],
                entities[part],
                relations[part],
                None if apart is None else apart[part],
            )

    def _block(
        self,
        vectors: NDArray[np.float32],
        entities: NDArray[np.integer],
        relations: NDArray[np.integer],
        apart: NDArray[np.integer] | None,
    ) -> Iterator[tuple[Rows, Floats]]:
        heads = np.where(relations < 0, -1, entities)
        owners, examples = self._examples(heads, relations)
        near_tails, tail_values = self._similarity.of(examples)
        near, values = self._similarity.of_all(vectors, entities, apart)
        width = near.shape[1]
        links, tails = self._links.follow(near.reshape(-1), np.repeat(relations, width))
        weights = values.reshape(-1)[links]
        count, numbers = len(self._similarity), np.arange(1, len(entities))
        by_question = np.searchsorted(owners, numbers), np.searchsorted(links, numbers * width)
        parts = zip(
            relations.tolist(),
            *(np.split(part, by_question[0]) for part in (near_tails, tail_values)),
            *(np.split(part, by_question[1]) for part in (tails, weights)),
            strict=True,
        )
        for relation, similar, amounts, linked, by in parts:
            by_heads = np.bincount(linked, by, count)
            by_tails = np.bincount(similar.reshape(-1), amounts.reshape(-1), count)
            rows = (
                np.flatnonzero(by_heads + by_tails)
                if relation >= 0
                else np.zeros(0, dtype=np.int64)
            )
            yield rows, log_similarity(np.stack([by_heads[rows], by_tails[rows]]))

    def grounds(
        self, vector: NDArray[np.float32], entity: int, relation: int, tail: int
    ) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
        """Return the entities behind both scores of a tail: similar heads, and similar known tails.

        Args:
            vector: Vector of the entity, of shape (dim,).
            entity: Its row; -1 for one that the graph does not have.
            relation: Number of the relation; -1 for one that the graph does not have.
            tail: Row of the tail.

        Returns:
            Rows and similarities of the heads, and of the tails, the most similar first.
        """
        if relation < 0:
            return [], []
        head, by = np.array([entity]), np.array([relation])
        near, values = (found[0] for found in self._similarity.of_all(vector[None], head))
        linked = self._links.known(near, by, np.array([tail]))
        _, examples = self._examples(head, by)
        near_tails, tail_values = self._similarity.of(examples)
        at, place = np.nonzero(near_tails == tail)
        both = (near[linked], values[linked]), (examples[at], tail_values[at, place])
        by_heads, by_tails = (
            sorted(zip(rows.tolist(), amounts.tolist(), strict=True), key=lambda one: -one[1])
            for rows, amounts in both
        )
        return by_heads, by_tails

    def _examples(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> tuple[Rows, Rows]:
        """Return at most :data:`EXAMPLES` known tails a question: its position, and the tail."""
        starts, counts = self._links.spans(entities, relations)
        most = np.minimum(counts, EXAMPLES)
        owners, places = runs(np.zeros_like(most), most)
        return owners, self._links.triples[
            starts[owners] + places * counts[owners] // most[owners], 2
        ]
