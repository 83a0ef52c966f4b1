"""What entities are linked to by one relation, and how alike that is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ontodex.indexers.evidence.structure import Bonus
from ontodex.indexers.storage.vectors import Vectors

__all__ = ["LinkedTails"]

Floats = NDArray[np.float32]

ROWS = 4096
"""Vectors that are read at once."""


class LinkedTails:
    """The sum of the vectors of each entity's tails, by one relation.

    The sums themselves are not kept, a vector for each entity: as inner products are linear, one product of what is asked
    for with the vector of each distinct tail, added up along the links, gives the products with all sums. Their lengths are
    kept.

    Args:
        heads: Heads of the relation's triples, of shape (n,).
        tails: Their tails, likewise.
        vectors: Unit vectors of the entities.

    Example:
        >>> vectors = Vectors([np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float32)])
        >>> tails = LinkedTails(np.array([0, 2, 2]), np.array([1, 0, 1]), vectors)
        >>> [(rows, cosines)] = tails.alike(tails.of(0)[None])
        >>> rows.tolist(), cosines.round(3).tolist()
        ([0, 2], [1.0, 0.707])
    """

    def __init__(self, heads: NDArray[np.integer], tails: NDArray[np.integer], vectors: Vectors) -> None:
        self._vectors = vectors
        self._heads, rows = np.unique(heads.astype(np.int64), return_inverse=True)
        self._tails, columns = np.unique(tails.astype(np.int64), return_inverse=True)
        links = np.ones(len(rows), dtype=np.float32)
        self._links = csr_matrix((links, (rows, columns)), shape=(len(self._heads), len(self._tails)))
        sums = np.zeros((len(self._heads), vectors.dim), dtype=np.float32)
        for start in range(0, len(self._tails), ROWS):
            part = slice(start, start + ROWS)
            sums += self._links[:, part] @ vectors[self._tails[part]]
        self._lengths = np.maximum(np.linalg.norm(sums, axis=1), np.finfo(np.float32).tiny)

    @property
    def count(self) -> int:
        """Number of entities that have tails."""
        return len(self._heads)

    def of(self, row: int | None) -> Floats | None:
        """Return the direction of an entity's tails, of shape (dim,), or ``None`` if it has none, or is no entity."""
        at = np.searchsorted(self._heads, -1 if row is None else row)
        if row is None or at == len(self._heads) or self._heads[at] != row:
            return None
        total = self._vectors[self._tails[self._links[at].indices]].sum(axis=0)
        return np.asarray(total / self._lengths[at], dtype=np.float32)

    def alike(self, directions: Floats) -> list[Bonus]:
        """Return, for each direction, the entities that have tails, ascending, and its cosine with that of each one's tails.

        Args:
            directions: Unit vectors of shape (n, dim).
        """
        products = np.empty((len(self._tails), len(directions)), dtype=np.float32)
        for start in range(0, len(self._tails), ROWS):
            part = slice(start, start + ROWS)
            read = self._vectors[self._tails[part]]
            for column, direction in enumerate(directions):  # one by one: the same whatever else is asked
                products[part, column] = read @ direction
        cosines = np.clip(self._links @ products / self._lengths[:, None], -1, 1).astype(np.float64)
        return [(self._heads, column) for column in np.ascontiguousarray(cosines.T)]
