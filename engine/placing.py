"""Where a text belongs in the asserted hierarchy, by plain similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.topk import Searcher
from ontodex.graph import Hierarchy

__all__ = ["children_of_text", "parents_of_text"]

Scored = tuple[NDArray[np.int64], NDArray[np.float64]]

SHARPNESS = 20.0
"""How much more a nearer neighbour's place counts: its vote is exp(SHARPNESS * cosine), of all votes."""


def parents_of_text(
    hierarchy: Hierarchy | None, near: Scored, searcher: Searcher, vector: NDArray[np.float32]
) -> Scored:
    """Rank parents: each similar entity votes for its own parents and, with half a vote, for itself.

    Args:
        hierarchy: The asserted hierarchy; without one the similar entities are returned as they are.
        near: The most similar entities and their cosines.
        searcher: Not needed here; both functions are called alike.
        vector: Likewise.

    Returns:
        Rows, and their shares of the votes, best first.
    """
    rows, cosines = near
    if hierarchy is None or not len(rows):
        return near
    votes: dict[int, float] = {}
    weights = np.exp(SHARPNESS * (cosines - cosines.max()))
    for row, weight in zip(rows.tolist(), (weights / weights.sum()).tolist(), strict=True):
        for parent in hierarchy.parents(row).tolist():
            votes[parent] = votes.get(parent, 0.0) + weight
        votes[row] = votes.get(row, 0.0) + weight / 2
    ranked = sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))
    return np.array([row for row, _ in ranked], dtype=np.int64), np.array([vote / 1.5 for _, vote in ranked])


def children_of_text(
    hierarchy: Hierarchy | None, near: Scored, searcher: Searcher, vector: NDArray[np.float32]
) -> Scored:
    """Rank children: the similar entities and what is directly below them, by cosine.

    Args:
        hierarchy: The asserted hierarchy; without one the similar entities are returned as they are.
        near: The most similar entities and their cosines.
        searcher: Scores the candidates.
        vector: The text's vector, of shape (dim,).
    """
    if hierarchy is None or not len(near[0]):
        return near
    below = [hierarchy.children(row).astype(np.int64) for row in near[0].tolist()]
    candidates = np.unique(np.concatenate([near[0], *below]))
    return searcher.among(vector, candidates, len(candidates))
