"""Link prediction by analogy: what entities like the one asked about are linked to, and what is like the known tails.

No training is needed for it: Das et al., "A Simple Approach to Case-Based Reasoning in Knowledge Bases", AKBC 2020, predict
from the links of similar entities, and Wang et al., "Reasoning Through Memorization", arXiv:2201.05575, from the neighbours
of an embedding.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.cosine import score_pairs
from ontodex.indexers.known_links import KnownLinks
from ontodex.indexers.vectors import Vectors

__all__ = ["Analogy"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

NEAR = 128
"""Nearest entities that count as like another."""

SPARE = 16
"""Further ones that are looked at: float32 products may order the last of them wrongly."""

WIDTH = 0.1
"""Likeness falls by a factor e for every so much of cosine."""

LEAST = 0.005
"""Likeness that begins to count: a score by analogy is the logarithm of likeness in this unit, plus one."""

EXAMPLES = 256
"""Known tails of a question that are looked at; of more, so many spread over them."""

TINY = 1e-30
"""What lengths are divided by at least."""

BLOCK = 64
"""Entities whose neighbours are looked for at once."""


class Analogy:
    """Scores tails by the links of entities that are alike.

    With the likeness k(a, b) = exp((cos(a, b) - 1) / 0.1) of an entity a and one of its 128 nearest, b, a tail t of a
    question (h, r) has two scores, both log(1 + sum / 0.005): by like heads, the sum of k(h, h') over known triples
    (h', r, t); and by like tails, the sum of k(t', t) over known triples (h, r, t'). Both are zero for all but a few
    entities, and never below. An entity whose vector is zero is like no other.

    Neighbours are looked for when first asked about, and remembered.

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
        self._links, self._vectors = links, vectors
        self._norms = np.concatenate([np.linalg.norm(block, axis=1) for _, block in vectors.blocks()])
        near = min(NEAR, len(vectors) - 1)
        self._near = np.empty((len(vectors), near), dtype=np.int32)
        self._likeness = np.empty((len(vectors), near), dtype=np.float32)
        self._found = np.zeros(len(vectors), dtype=bool)

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
            _spread(self._links.tails_of(entity, kind)) if entity >= 0 and kind >= 0 else np.zeros(0, dtype=np.int64)
            for entity, kind in zip(entities.tolist(), relations.tolist(), strict=True)
        ]
        asked = entities[(entities >= 0) & (relations >= 0)]
        self._look_for(np.unique(np.concatenate([asked, *examples])))
        unseen = np.flatnonzero((entities < 0) & (relations >= 0))
        others = iter(zip(*self._nearest(vectors[unseen]), strict=True))
        for entity, relation, tails in zip(entities.tolist(), relations.tolist(), examples, strict=True):
            if relation < 0:
                yield np.zeros(0, dtype=np.int64), np.zeros((2, 0))
            else:
                alike = next(others) if entity < 0 else (self._near[entity], self._likeness[entity])
                yield self._question(*alike, relation, tails)

    def _question(
        self, heads: NDArray[np.int32], likeness: NDArray[np.float32], relation: int, examples: Rows
    ) -> tuple[Rows, Floats]:
        """Score the tails of a question, some of which are known, by the heads that are like its own."""
        count = len(self._vectors)
        origins, reached = self._links.follow(heads, np.full(len(heads), relation))
        by_heads = np.bincount(reached, likeness[origins], count)
        by_tails = np.bincount(self._near[examples].reshape(-1), self._likeness[examples].reshape(-1), count)
        rows = np.flatnonzero(by_heads + by_tails)
        return rows, np.log1p(np.stack([by_heads[rows], by_tails[rows]]) / LEAST)

    def _look_for(self, rows: Rows) -> None:
        """Find the neighbours of entities that are not there yet."""
        missing = rows[~self._found[rows]]
        for start in range(0, len(missing), BLOCK):
            part = missing[start : start + BLOCK]
            self._near[part], self._likeness[part] = self._nearest(self._vectors[part], part)
            self._found[part] = True

    def _nearest(
        self, asked: NDArray[np.float32], own: Rows | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the nearest entities of vectors, which are those of the entities ``own``, and how like they are."""
        near = self._near.shape[1]
        if not len(asked) or not near:
            return np.zeros((len(asked), near), dtype=np.int32), np.zeros((len(asked), near), dtype=np.float32)
        lengths = np.linalg.norm(asked, axis=1)
        products = np.concatenate([asked @ block.T for _, block in self._vectors.blocks()], axis=1)
        products /= np.maximum(self._norms, TINY)
        if own is not None:
            products[np.arange(len(own)), own] = -np.inf
        count = min(near + SPARE, products.shape[1] - (own is not None))
        some = np.argpartition(-products, count - 1, axis=1)[:, :count]
        both = lengths[:, None].astype(np.float64) * self._norms[some]
        cosines = score_pairs(asked, self._vectors[some]) / np.maximum(both, TINY)
        best = np.lexsort((some, -cosines), axis=1)[:, :near]
        likeness = np.exp((np.take_along_axis(np.where(both > 0, cosines, -np.inf), best, axis=1) - 1) / WIDTH)
        return np.take_along_axis(some, best, axis=1).astype(np.int32), likeness.astype(np.float32)


def _spread(rows: Rows) -> Rows:
    """Return all of some rows, or of very many so many spread over them."""
    count = min(len(rows), EXAMPLES)
    spread: Rows = rows[np.arange(count) * len(rows) // max(1, count)]
    return spread
