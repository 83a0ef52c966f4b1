"""The cosine space: unit vectors, scored by their inner product."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["score_pairs", "unit"]

Floats = NDArray[np.floating]

BLOCK = 2**20
"""How many numbers of items are converted to ``float64`` at once, so that a cache holds them."""


def unit(vectors: Floats) -> NDArray[np.float32]:
    """Scale vectors to length 1; a zero vector stays zero.

    Args:
        vectors: Vectors of shape (..., dim).

    Returns:
        ``float32`` of the same shape.

    Example:
        >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
        [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    wide = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(wide, axis=-1, keepdims=True)
    return (wide / np.where(length > 0, length, 1.0)).astype(np.float32)


def score_pairs(queries: Floats, items: Floats) -> NDArray[np.float64]:
    """Score each query with its own items; a pair has the same score in every batch.

    Args:
        queries: Unit vectors of shape (queries, dim).
        items: Unit vectors of shape (queries, items, dim).

    Returns:
        Cosines, ``float64`` of shape (queries, items); in [-1, 1] up to the rounding of the unit
        vectors.

    Example:
        >>> score_pairs(np.array([[1.0, 0.0]]), np.array([[[0.6, 0.8], [1.0, 0.0]]])).tolist()
        [[0.6, 1.0]]
    """
    # einsum adds the products of a contiguous row (up to 8192 numbers, its buffer) in one fixed
    # order. In a matrix product the order depends on the shapes, so that equal vectors might not
    # have equal scores.
    scores = np.empty(items.shape[:2])
    size = max(1, BLOCK // max(1, items.shape[1] * items.shape[2]))
    for start in range(0, len(queries), size):
        part = slice(start, start + size)
        left, right = (
            np.ascontiguousarray(side[part], dtype=np.float64) for side in (queries, items)
        )
        np.einsum("qd,qnd->qn", left, right, out=scores[part])
    return scores
