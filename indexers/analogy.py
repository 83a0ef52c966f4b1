"""Link prediction by analogy: what entities like the one asked about are linked to, and what is like the known tails.

No training is needed for it: Das et al., "A Simple Approach to Case-Based Reasoning in Knowledge Bases", AKBC 2020, predict
from the links of similar entities, and Wang et al., "Reasoning Through Memorization", arXiv:2201.05575, from the neighbours
of an embedding.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ontodex.indexers.known_links import KnownLinks
from ontodex.indexers.likeness import Likeness, counted
from ontodex.indexers.vectors import Vectors

__all__ = ["Analogy"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

EXAMPLES = 64
"""Known tails of a question that are looked at; of more, so many spread over them."""

BLOCK = 64
"""Questions whose neighbours are looked for at once."""


class Analogy:
    """Scores tails by the links of entities that are alike.

    With the :class:`~ontodex.indexers.likeness.Likeness` k of entities, a tail t of a question (h, r) has two scores, both
    log(1 + sum / 0.005): by like heads, the sum of k(h, h') over known triples (h', r, t); and by like tails, the sum of
    k(t', t) over known triples (h, r, t'). Both are zero for all but a few entities, and never below.

    Args:
        links: What is known.
        vectors: Entity vectors, of any length.

    Example:
        >>> vectors = Vectors([np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)])
        >>> analogy = Analogy(KnownLinks(np.array([[0, 0, 2]]), 4, 1), vectors)
        >>> rows, scores = next(analogy.scores(vectors[np.array([1])], np.array([1]), np.array([0])))
        >>> rows.tolist(), scores.round(1).tolist()  # 1 is like 0, which is linked to 2
        ([2], [[5.3], [0.0]])
    """

    def __init__(self, links: KnownLinks, vectors: Vectors) -> None:
        self._links, self._likeness = links, Likeness(vectors)

    def scores(
        self, vectors: NDArray[np.float32], entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> Iterator[tuple[Rows, Floats]]:
        """Score the tails of questions.

        Args:
            vectors: Vector of each entity that is asked about, of shape (n, dim).
            entities: Its row, of shape (n,); -1 for one that the graph does not have.
            relations: Number of each relation, inverses from R on; -1 for one that the graph does not have.

        Yields:
            For each question the rows of tails with a score, ascending, and their scores, ``float64`` of shape (2, rows).
        """
        for start in range(0, len(entities), BLOCK):
            part = slice(start, start + BLOCK)
            yield from self._block(vectors[part], entities[part], relations[part])

    def _block(
        self, vectors: NDArray[np.float32], entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> Iterator[tuple[Rows, Floats]]:
        examples = [
            _spread(self._links.tails_of(entity, relation))
            if min(entity, relation) >= 0
            else np.zeros(0, dtype=np.int64)
            for entity, relation in zip(entities.tolist(), relations.tolist(), strict=True)
        ]
        self._likeness.of(np.concatenate(examples))  # all at once
        near, likeness = self._likeness.of_all(vectors, entities)
        for heads, values, relation, tails in zip(near, likeness, relations.tolist(), examples, strict=True):
            if relation < 0:
                yield tails, np.zeros((2, 0))
            else:
                yield self._question(heads, values, relation, tails)

    def _question(
        self, heads: NDArray[np.int32], likeness: NDArray[np.float32], relation: int, examples: Rows
    ) -> tuple[Rows, Floats]:
        """Score the tails of a question, some of which are known, by the heads that are like its own."""
        count = len(self._likeness)
        origins, reached = self._links.follow(heads, np.full(len(heads), relation))
        by_heads = np.bincount(reached, likeness[origins], count)
        alike, values = self._likeness.of(examples)
        by_tails = np.bincount(alike.reshape(-1), values.reshape(-1), count)
        rows = np.flatnonzero(by_heads + by_tails)
        return rows, counted(np.stack([by_heads[rows], by_tails[rows]]))


def _spread(rows: Rows) -> Rows:
    """Return all of some rows, or of very many so many spread over them."""
    count = min(len(rows), EXAMPLES)
    spread: Rows = rows[np.arange(count) * len(rows) // max(1, count)]
    return spread
