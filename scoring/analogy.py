"""Link prediction by analogy: tails of similar heads, and entities similar to known tails.

The method needs no training. Das et al., "A Simple Approach to Case-Based Reasoning in Knowledge
Bases", AKBC 2020, predict links from the links of similar entities. Wang et al., "Reasoning Through
Memorization", arXiv:2201.05575, predict links from the nearest neighbours of an embedding.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.arrays import runs
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.similarity import Similarity, log_similarity

__all__ = ["Analogy"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

EXAMPLES = 64
"""Maximal number of known tails of a question that are used.

If a question has more known tails, they are sampled at equal steps.
"""

BLOCK = 64
"""Number of questions in one block."""


class Analogy:
    """Scores tails by known triples of similar entities.

    Let k be the similarity of two entities. A tail t of a question (h, r) has two sums: by similar
    heads, the sum of k(h, h') over known triples (h', r, t); and by similar tails, the sum of
    k(t', t) over known triples (h, r, t'). Each score is log(1 + sum / 0.005). Scores are never
    negative, and most entities have the score zero.

    Args:
        links: Known triples.
        similarity: Finds similar entities.

    Example:
        >>> from ontodex.geometry.vectors import Vectors
        >>> from ontodex.scoring.similarity import EntitySimilarity
        >>> vectors = Vectors([np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)])
        >>> links = KnownLinks(np.array([[0, 0, 2]]), 4, 1)
        >>> analogy = Analogy(links, EntitySimilarity(vectors))
        >>> head, relation = np.array([1]), np.array([0])
        >>> rows, scores = next(analogy.scores(vectors[head], head, relation))
        >>> rows.tolist(), scores.round(1).tolist()  # 1 is similar to 0, whose tail is 2
        ([2], [[5.3], [0.0]])
    """

    def __init__(self, links: KnownLinks, similarity: Similarity) -> None:
        self._links, self._similarity = links, similarity

    def scores(
        self,
        vectors: NDArray[np.float32],
        entities: NDArray[np.integer],
        relations: NDArray[np.integer],
        apart: NDArray[np.integer] | None = None,
    ) -> Iterator[tuple[Rows, Floats]]:
        """Score the tails of (entity, relation) questions.

        Args:
            vectors: Vector of each question's entity, of shape (n, dim).
            entities: Row of each question's entity, of shape (n,); -1 if the graph lacks it.
            relations: Number of each question's relation, of shape (n,); -1 if the graph lacks it.
                Numbers R (the number of relations) and above are inverses.
            apart: Row of the entity to exclude from similar heads, of shape (n,); used where the
                row in ``entities`` is -1.

        Yields:
            For each question, the rows of tails with a score, ascending, and their scores,
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
            vector: Vector of the question's entity, of shape (dim,).
            entity: Row of the question's entity; -1 if the graph lacks it.
            relation: Number of the relation; -1 if the graph lacks it.
            tail: Row of the tail.

        Returns:
            For the heads, then for the known tails: (row, similarity) pairs, the most similar
            first.
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
        """Return at most :data:`EXAMPLES` known tails of each question.

        Returns:
            Position of each tail's question, and row of the tail, both of shape (tails,).
        """
        starts, counts = self._links.spans(entities, relations)
        most = np.minimum(counts, EXAMPLES)
        owners, places = runs(np.zeros_like(most), most)
        return owners, self._links.triples[
            starts[owners] + places * counts[owners] // most[owners], 2
        ]
