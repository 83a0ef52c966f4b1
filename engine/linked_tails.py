"""What entities are linked to by one relation, and how alike that is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ontodex.indexers.structure import Bonus
from ontodex.indexers.vectors import Vectors

__all__ = ["LinkedTails"]

Floats = NDArray[np.float32]


class LinkedTails:
    """The sum of the vectors of each entity's tails, by one relation.

    The sums themselves are not kept, a vector for each entity: as inner products are linear, one product of what is asked
    for with the vectors of all entities, added up along the links, gives the products with all sums. Their lengths are kept.

    Args:
        heads: Heads of the relation's triples, of shape (n,).
        tails: Their tails, likewise.
        vectors: Unit vectors of the entities.

    Example:
        >>> vectors = Vectors([np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float32)])
        >>> tails = LinkedTails(np.array([0, 2, 2]), np.array([1, 0, 1]), vectors)
        >>> rows, cosines = tails.alike(tails.of(0))
        >>> rows.tolist(), cosines.round(3).tolist()
        ([0, 2], [1.0, 0.707])
    """

    def __init__(self, heads: NDArray[np.integer], tails: NDArray[np.integer], vectors: Vectors) -> None:
        self._vectors = vectors
        self._heads, at = np.unique(heads, return_inverse=True)
        links = np.ones(len(at), dtype=np.float32)
        self._links = csr_matrix((links, (at, tails)), shape=(len(self._heads), len(vectors)))
        sums = np.zeros((len(self._heads), vectors.dim), dtype=np.float32)
        for first, block in vectors.blocks():
            sums += self._links[:, first : first + len(block)] @ block
        self._lengths = np.maximum(np.linalg.norm(sums, axis=1), np.finfo(np.float32).tiny)

    def of(self, row: int | None) -> Floats | None:
        """Return the direction of an entity's tails, of shape (dim,), or ``None`` if it has none, or is no entity."""
        at = np.searchsorted(self._heads, -1 if row is None else row)
        if row is None or at == len(self._heads) or self._heads[at] != row:
            return None
        total = self._vectors[self._links[at].indices].sum(axis=0)
        return np.asarray(total / self._lengths[at], dtype=np.float32)

    def alike(self, direction: Floats) -> Bonus:
        """Return the entities that have tails, ascending, and the cosine of a direction with that of each one's."""
        products = np.concatenate([block @ direction for _, block in self._vectors.blocks()])
        return self._heads.astype(np.int64), (self._links @ products / self._lengths).astype(np.float64)
