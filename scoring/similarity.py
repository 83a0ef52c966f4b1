"""How like entities are, by the angles of their vectors."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.cosine import score_pairs
from ontodex.geometry.vectors import Vectors
from ontodex.graph.arrays import distinct

__all__ = ["EntitySimilarity", "counted", "greatest"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Near = tuple[NDArray[np.int32], NDArray[np.float32]]

NEAR = 128
"""Nearest entities that count as like another."""

SPARE = 16
"""Further ones that are looked at: float32 products may order the last of them wrongly."""

WIDTH = 0.1
"""EntitySimilarity falls by a factor e for every so much of cosine."""

LEAST = 0.005
"""EntitySimilarity that begins to count."""

TINY = 1e-30
"""What lengths are divided by at least."""

BLOCK = 256
"""Entities whose neighbours are looked for at once."""

STRIDE = 8
"""Every so many-th of some numbers tell which of them can be among the greatest."""


def counted(likeness: NDArray[np.floating]) -> Floats:
    """Return what likeness, or a sum of it, counts for: log(1 + likeness / 0.005)."""
    return np.log1p(np.asarray(likeness, dtype=np.float64) / LEAST)


class EntitySimilarity:
    """Finds the 128 entities nearest to another, b to a, and their likeness exp((cos(a, b) - 1) / 0.1).

    An entity whose vector is zero is like no other. Neighbours are looked for when first asked about, and remembered.

    Args:
        vectors: Entity vectors, of any length.

    Example:
        >>> likeness = EntitySimilarity(Vectors([np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)]))
        >>> near, values = likeness.of(np.array([0]))
        >>> near.tolist(), values.round(3).tolist()
        ([[2, 1]], [[1.0, 0.0]])
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        near = min(NEAR, len(vectors) - 1)
        self._near = np.empty((len(vectors), near), dtype=np.int32)
        self._likeness = np.empty((len(vectors), near), dtype=np.float32)
        self._found = np.zeros(len(vectors), dtype=bool)

    def __len__(self) -> int:
        return len(self._vectors)

    @cached_property
    def _norms(self) -> NDArray[np.float32]:
        return np.concatenate(
            [np.linalg.norm(block, axis=1) for _, block in self._vectors.blocks()]
        )

    def of(self, rows: NDArray[np.integer]) -> Near:
        """Return the neighbours of entities, and how like they are, the likest first, both of shape (rows, neighbours)."""
        missing = distinct(rows[~self._found[rows]])
        for start in range(0, len(missing), BLOCK):
            part = missing[start : start + BLOCK]
            self._near[part], self._likeness[part] = self._nearest(self._vectors[part], part)
            self._found[part] = True
        return self._near[rows], self._likeness[rows]

    def of_all(
        self,
        vectors: NDArray[np.float32],
        rows: NDArray[np.integer],
        apart: NDArray[np.integer] | None = None,
    ) -> Near:
        """Return the neighbours of entities, and of vectors of what is no entity; see :meth:`of`.

        Args:
            vectors: Of shape (n, dim); those of entities are not looked at.
            rows: Entities, of shape (n,); -1 for what is none.
            apart: For what is none, the entity that is not to be its neighbour.
        """
        near, likeness = self.of(np.maximum(rows, 0))
        unseen = np.flatnonzero(rows < 0)
        new = np.ones(
            len(unseen), dtype=bool
        )  # of one that is asked about by many relations in turn, only the first
        new[1:] = (vectors[unseen[1:]] != vectors[unseen[:-1]]).any(axis=1)
        if apart is not None:
            new[1:] |= apart[unseen[1:]] != apart[unseen[:-1]]
        asked = unseen[new]
        for start in range(0, len(asked), BLOCK):
            part = asked[start : start + BLOCK]
            near[part], likeness[part] = self._nearest(
                vectors[part], None if apart is None else apart[part]
            )
        same = asked[np.cumsum(new) - 1]
        near[unseen], likeness[unseen] = near[same], likeness[same]
        return near, likeness

    def _nearest(self, asked: NDArray[np.float32], own: NDArray[np.integer] | None) -> Near:
        """Return the nearest entities of vectors, but for one of each that is its ``own``, and how like they are."""
        near = self._near.shape[1]
        if not near:
            return np.zeros((len(asked), near), dtype=np.int32), np.zeros(
                (len(asked), near), dtype=np.float32
            )
        lengths = np.linalg.norm(asked, axis=1)
        products = np.concatenate([asked @ block.T for _, block in self._vectors.blocks()], axis=1)
        products /= np.maximum(self._norms, TINY)
        if own is not None:
            products[np.arange(len(own)), own] = -np.inf
        count = min(near + SPARE, products.shape[1] - (own is not None))
        some = np.stack([greatest(row, count) for row in products])
        both = lengths[:, None].astype(np.float64) * self._norms[some]
        cosines = score_pairs(asked, self._vectors[some]) / np.maximum(both, TINY)
        best = np.lexsort((some, -cosines), axis=1)[:, :near]
        likeness = np.exp(
            (np.take_along_axis(np.where(both > 0, cosines, -np.inf), best, axis=1) - 1) / WIDTH
        )
        return np.take_along_axis(some, best, axis=1).astype(np.int32), likeness.astype(np.float32)


def greatest(values: NDArray[np.floating], count: int) -> Rows:
    """Return where the ``count`` greatest of many numbers are, in any order; NumPy's partition of all takes longer."""
    sample = values[::STRIDE]
    if count > len(sample):
        return np.argpartition(values, len(values) - count)[-count:]
    threshold = np.partition(sample, len(sample) - count)[-count]
    high = np.flatnonzero(values >= threshold)
    return high[np.argpartition(values[high], len(high) - count)[-count:]]
