"""Link prediction by analogy: what entities like the one asked about are linked to, and what is like the known tails.

No training is needed for it: Das et al., "A Simple Approach to Case-Based Reasoning in Knowledge Bases", AKBC 2020, predict
from the links of similar entities, and Wang et al., "Reasoning Through Memorization", arXiv:2201.05575, from the neighbours
of an embedding.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.vectors import Vectors
from ontodex.graph.arrays import runs
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.similarity import EntitySimilarity, counted

__all__ = ["Analogy"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

EXAMPLES = 64
"""Known tails of a question that are looked at; of more, so many spread over them."""

BLOCK = 64
"""Questions whose neighbours are looked for at once."""


class Analogy:
    """Scores tails by the links of entities that are alike.

    With the :class:`~ontodex.scoring.similarity.EntitySimilarity` k of entities, a tail t of a question (h, r) has two
    scores, both log(1 + sum / 0.005): by like heads, the sum of k(h, h') over known triples (h', r, t); and by like
    tails, the sum of k(t', t) over known triples (h, r, t'). Both are zero for all but a few entities, and never below.

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
        self._links, self._likeness = links, EntitySimilarity(vectors)

    def scores(
        self,
        vectors: NDArray[np.float32],
        entities: NDArray[np.integer],
        relations: NDArray[np.integer],
        apart: NDArray[np.integer] | None = None,
    ) -> Iterator[tuple[Rows, Floats]]:
        """Score the tails of questions.

        Args:
            vectors: Vector of each entity that is asked about, of shape (n, dim).
            entities: Its row, of shape (n,); -1 for one that the graph does not have.
            relations: Number of each relation, inverses from R on; -1 for one that the graph does not have.
            apart: For what is no entity, the one that its vector is not to be compared with.

        Yields:
            For each question the rows of tails with a score, ascending, and their scores, ``float64`` of shape (2, rows).
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
        asked = np.where(relations < 0, -1, entities)  # nobody is linked to it
        owners, examples = self._examples(asked, relations)
        alike, values = self._likeness.of(examples)
        near, likeness = self._likeness.of_all(vectors, entities, apart)
        width = near.shape[1]
        links, tails = self._links.follow(near.reshape(-1), np.repeat(relations, width))
        weights = likeness.reshape(-1)[links]
        count, numbers = len(self._likeness), np.arange(1, len(entities))
        parts = zip(
            relations.tolist(),
            *(np.split(part, np.searchsorted(owners, numbers)) for part in (alike, values)),
            *(np.split(part, np.searchsorted(links, numbers * width)) for part in (tails, weights)),
            strict=True,
        )
        for relation, like, amounts, linked, by in parts:
            by_heads = np.bincount(linked, by, count)
            by_tails = np.bincount(like.reshape(-1), amounts.reshape(-1), count)
            rows = (
                np.flatnonzero(by_heads + by_tails)
                if relation >= 0
                else np.zeros(0, dtype=np.int64)
            )
            yield rows, counted(np.stack([by_heads[rows], by_tails[rows]]))

    def grounds(
        self, vector: NDArray[np.float32], entity: int, relation: int, tail: int
    ) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
        """Return what the two scores of a tail go by: heads that are linked to it, and known tails that it is like.

        Args:
            vector: Vector of the entity that is asked about, of shape (dim,).
            entity: Its row; -1 for one that the graph does not have.
            relation: Number of the relation; -1 for one that the graph does not have.
            tail: Row of the tail.

        Returns:
            Rows, and how like each is, the likest first.
        """
        asked, by = np.array([entity]), np.array([relation])
        if relation < 0:
            return [], []
        near, likeness = (found[0] for found in self._likeness.of_all(vector[None], asked))
        linked = self._links.known(near, by, np.array([tail]))
        _, examples = self._examples(asked, by)
        alike, values = self._likeness.of(examples)
        at, place = np.nonzero(alike == tail)
        both = (near[linked], likeness[linked]), (examples[at], values[at, place])
        by_heads, by_tails = (
            sorted(zip(rows.tolist(), amounts.tolist(), strict=True), key=lambda one: -one[1])
            for rows, amounts in both
        )
        return by_heads, by_tails

    def _examples(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> tuple[Rows, Rows]:
        """Return known tails, and the question of each: all, or of very many so many spread over them."""
        starts, counts = self._links.spans(entities, relations)
        most = np.minimum(counts, EXAMPLES)
        owners, places = runs(np.zeros_like(most), most)
        return owners, self._links.triples[
            starts[owners] + places * counts[owners] // most[owners], 2
        ]
