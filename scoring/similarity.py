"""Similarity of entities: nearest neighbours by cosine, with an exponential kernel."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.cosine import score_pairs
from ontodex.geometry.matrix_threads import multiply
from ontodex.geometry.vectors import Vectors
from ontodex.graph.arrays import distinct

__all__ = [
    "TINY",
    "EntitySimilarity",
    "KeptNeighbours",
    "Near",
    "Similarity",
    "greatest",
    "log_similarity",
]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Near = tuple[NDArray[np.int32], NDArray[np.float32]]
"""Rows of neighbours and their similarities, both of shape (queries, neighbours)."""

NEAR = 128
"""Number of neighbours of an entity."""

SPARE = 16
"""Number of further candidates that are scored in float64.

Products in float32 may rank the last neighbours wrongly.
"""

WIDTH = 0.1
"""Decrease of the cosine that divides the similarity by e."""

LEAST = 0.005
"""Scale of :func:`log_similarity`; much smaller sums hardly count."""

TINY = 1e-30
"""Lower bound of divisors, against division by zero."""

BLOCK = 256
"""Number of entities in one block of the search for neighbours."""

STRIDE = 8
"""Step of the sample from which :func:`greatest` takes a lower bound."""


class Similarity(Protocol):
    """Nearest neighbours of entities and of vectors."""

    def __len__(self) -> int: ...
    def of(self, rows: NDArray[np.integer]) -> Near:
        """Return the neighbours of entities; see :meth:`KeptNeighbours.of`."""

    def of_all(
        self,
        vectors: NDArray[np.float32],
        rows: NDArray[np.integer],
        apart: NDArray[np.integer] | None = None,
    ) -> Near:
        """Return neighbours of entities and vectors; see :meth:`EntitySimilarity.of_all`."""


def log_similarity(similarity: NDArray[np.floating]) -> Floats:
    """Return log(1 + s / 0.005) for similarities s, or sums of similarities."""
    return np.log1p(np.asarray(similarity, dtype=np.float64) / LEAST)


class KeptNeighbours:
    """Neighbours of entities, searched in blocks on first use and then kept in memory.

    Args:
        count: Number of entities.
        near: Number of neighbours of an entity.
        block: Number of entities that are searched at once.
    """

    def __init__(self, count: int, near: int, block: int) -> None:
        self._near = np.zeros((count, near), dtype=np.int32)
        self._similarity = np.zeros((count, near), dtype=np.float32)
        self._found = np.zeros(count, dtype=bool)
        self._block = block

    def __len__(self) -> int:
        return len(self._found)

    def of(self, rows: NDArray[np.integer]) -> Near:
        """Return the neighbours of entities and their similarities, the nearest first.

        Both are of shape (rows, neighbours). Where an entity has fewer, the last similarities are
        0.
        """
        missing = distinct(rows[~self._found[rows]])
        for start in range(0, len(missing), self._block):
            part = missing[start : start + self._block]
            self._near[part], self._similarity[part] = self._searched(part)
            self._found[part] = True
        return self._near[rows], self._similarity[rows]

    def _searched(self, rows: NDArray[np.integer]) -> Near:
        """Search the neighbours of some distinct entities."""
        raise NotImplementedError


class EntitySimilarity(KeptNeighbours):
    """Finds the 128 nearest neighbours of entities, with similarity exp((cos(a, b) - 1) / 0.1).

    An entity with a zero vector has the similarity 0 to all entities. Neighbours are searched on
    first use and then kept in memory.

    Args:
        vectors: Entity vectors; their lengths do not matter.

    Example:
        >>> vectors = Vectors([np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)])
        >>> near, values = EntitySimilarity(vectors).of(np.array([0]))
        >>> near.tolist(), values.round(3).tolist()
        ([[2, 1]], [[1.0, 0.0]])
    """

    def __init__(self, vectors: Vectors) -> None:
        super().__init__(len(vectors), min(NEAR, len(vectors) - 1), BLOCK)
        self._vectors = vectors

    @cached_property
    def _norms(self) -> NDArray[np.float32]:
        return np.concatenate(
            [np.linalg.norm(block, axis=1) for _, block in self._vectors.blocks()]
        )

    def _searched(self, rows: NDArray[np.integer]) -> Near:
        return self._nearest(self._vectors[rows], rows)

    def of_all(
        self,
        vectors: NDArray[np.float32],
        rows: NDArray[np.integer],
        apart: NDArray[np.integer] | None = None,
    ) -> Near:
        """Return the neighbours of entities and of other vectors; see :meth:`of`.

        Args:
            vectors: Vectors of shape (n, dim). They are used only where the row is -1.
            rows: Row of each entity, of shape (n,); -1 for a vector that is not an entity's.
            apart: Row of the entity to exclude from the neighbours, of shape (n,); used where the
                row in ``rows`` is -1.
        """
        near, values = self.of(np.maximum(rows, 0))
        unseen = np.flatnonzero(rows < 0)
        new = np.ones(len(unseen), dtype=bool)  # whether it is the first of equal vectors
        new[1:] = (vectors[unseen[1:]] != vectors[unseen[:-1]]).any(axis=1)
        if apart is not None:
            new[1:] |= apart[unseen[1:]] != apart[unseen[:-1]]
        asked = unseen[new]
        for start in range(0, len(asked), BLOCK):
            part = asked[start : start + BLOCK]
            near[part], values[part] = self._nearest(
                vectors[part], None if apart is None else apart[part]
            )
        same = asked[np.cumsum(new) - 1]
        near[unseen], values[unseen] = near[same], values[same]
        return near, values

    def _nearest(self, asked: NDArray[np.float32], own: NDArray[np.integer] | None) -> Near:
        """Return the nearest entities of each vector, and their similarities.

        Args:
            asked: Vectors of shape (n, dim).
            own: Entity to exclude for each vector, of shape (n,); ``None`` to exclude none.
        """
        near = self._near.shape[1]
        if not near:
            return np.zeros((len(asked), near), dtype=np.int32), np.zeros(
                (len(asked), near), dtype=np.float32
            )
        lengths = np.linalg.norm(asked, axis=1)
        blocks = [multiply(asked, block) for _, block in self._vectors.blocks()]
        products = np.concatenate(blocks, axis=1)
        products /= np.maximum(self._norms, TINY)
        if own is not None:
            products[np.arange(len(own)), own] = -np.inf
        count = min(near + SPARE, products.shape[1] - (own is not None))
        some = np.stack([greatest(row, count) for row in products])
        both = lengths[:, None].astype(np.float64) * self._norms[some]
        cosines = score_pairs(asked, self._vectors[some]) / np.maximum(both, TINY)
        best = np.lexsort((some, -cosines), axis=1)[:, :near]
        cosines = np.take_along_axis(np.where(both > 0, cosines, -np.inf), best, axis=1)
        similarity = np.exp((cosines - 1) / WIDTH).astype(np.float32)
        return np.take_along_axis(some, best, axis=1).astype(np.int32), similarity


def greatest(values: NDArray[np.floating], count: int) -> Rows:
    """Return the positions of the ``count`` greatest values, in any order."""
    sample = values[::STRIDE]
    if count > len(sample):
        return np.argpartition(values, len(values) - count)[-count:]
    threshold = np.partition(sample, len(sample) - count)[-count]
    high = np.flatnonzero(values >= threshold)
    return high[np.argpartition(values[high], len(high) - count)[-count:]]
