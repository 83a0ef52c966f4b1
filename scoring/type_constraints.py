"""Which entities are known tails of which relations, as an inner product.

Whoever is a tail of "born in" is a place, and likely to be one again; whoever has a parent is unlikely to lack another. What
either is worth for a relation, held-out triples tell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ontodex.graph import both_directions

__all__ = ["range_basis", "range_vectors"]

Floats = NDArray[np.float32]

DIMENSIONS = 64
"""Most dimensions of a vector of ranges."""


def range_basis(triples: NDArray[np.integer], n_entities: int, n_relations: int) -> Floats:
    """Return a vector for each relation, such that its product with an entity's tells whether that is a known tail of it.

    Exact for up to 32 relations; of more, the leading directions of all entities' ranges are kept.

    Args:
        triples: What is known, of shape (n, 3).
        n_entities: Number of entities.
        n_relations: Number of relations R.

    Returns:
        ``float32`` of shape (2R, min(2R, 64)), inverses from R on.

    Example:
        >>> triples = np.array([[0, 0, 1], [1, 0, 2]])
        >>> basis = range_basis(triples, 3, 1)
        >>> (range_vectors(triples, 3, basis) @ basis.T).tolist()  # what is a tail of the relation, and of its inverse
        [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]
    """
    if 2 * n_relations <= DIMENSIONS:
        return np.eye(2 * n_relations, dtype=np.float32)
    from sklearn.utils.extmath import randomized_svd

    members = _members(triples, n_entities, n_relations)
    _, _, directions = randomized_svd(members, min(DIMENSIONS, *members.shape), random_state=0)
    basis = np.zeros((2 * n_relations, DIMENSIONS), dtype=np.float32)
    basis[:, : len(directions)] = directions.T
    return basis


def range_vectors(triples: NDArray[np.integer], n_entities: int, basis: Floats) -> Floats:
    """Return a vector for each entity, ``float32`` of shape (entities, dim).

    Args:
        triples: What is known, of shape (n, 3).
        n_entities: Number of entities.
        basis: Vectors of the relations, of shape (2R, dim).
    """
    return np.asarray(_members(triples, n_entities, len(basis) // 2) @ basis, dtype=np.float32)


def _members(triples: NDArray[np.integer], n_entities: int, n_relations: int) -> csr_matrix:
    """Return which entities are tails of which relations, of shape (entities, 2R)."""
    known = both_directions(triples, n_relations)
    pairs = np.unique(known[:, [2, 1]], axis=0)
    ones = np.ones(len(pairs), dtype=np.float32)
    return csr_matrix((ones, (pairs[:, 0], pairs[:, 1])), shape=(n_entities, 2 * n_relations))
