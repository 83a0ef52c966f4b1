"""Where a text belongs in the asserted hierarchy, by plain similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import Hierarchy

__all__ = ["near_and_below", "parents_of_text"]

Rows = NDArray[np.int64]

SHARPNESS = 20.0
"""How much more a nearer neighbour counts: the weight of its vote is exp(SHARPNESS * cosine)."""


def parents_of_text(hierarchy: Hierarchy, near: tuple[Rows, NDArray[np.float64]]) -> tuple[Rows, NDArray[np.float64]]:
    """Rank parents: each similar entity has two votes for each of its own parents and one for itself.

    Args:
        hierarchy: The asserted hierarchy.
        near: The most similar entities and their cosines.

    Returns:
        Rows and their weighted share of three votes each, in (0, 1], best first.
    """
    rows, cosines = near
    if not len(rows):
        return near
    weights = np.exp(SHARPNESS * (cosines - cosines.max()))
    votes: dict[int, float] = {}
    for row, share in zip(rows.tolist(), (weights / weights.sum() / 3).tolist(), strict=True):
        for parent in hierarchy.parents(row).tolist():
            votes[parent] = votes.get(parent, 0.0) + 2 * share
        votes[row] = votes.get(row, 0.0) + share
    ranked = sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))
    return np.array([row for row, _ in ranked], dtype=np.int64), np.array([vote for _, vote in ranked])


def near_and_below(hierarchy: Hierarchy, near: Rows) -> Rows:
    """Return similar entities and what is directly below them: what may be below a text, too."""
    below = [hierarchy.children(row).astype(np.int64) for row in near.tolist()]
    return np.unique(np.concatenate([near, *below]))
