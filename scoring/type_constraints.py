"""Type constraints: which entities are known tails of which relations, as an inner product.

A known tail of "born in" is a place, so it is likely to be the tail of further triples with "born
in". For other relations, an entity with a known triple is unlikely to have a further one. The
constraint therefore has a weight for each relation, which may be negative and is fitted to held-out
triples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import both_directions

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["constraint_basis", "constraint_vectors"]

Floats = NDArray[np.float32]

DIMENSIONS = 64
"""Maximal dimension of a type constraint vector."""

OVERSAMPLED = 10
"""Further directions in which the randomised decomposition looks (Halko et al. 2011)."""


def constraint_basis(triples: NDArray[np.integer], n_entities: int, n_relations: int) -> Floats:
    """Return a vector for each relation, whose products with entity vectors mark known tails.

    The inner product of the vectors of a relation and an entity (:func:`constraint_vectors`) is 1
    if the entity is a known tail of the relation, otherwise 0. For more than 32 relations this is
    an approximation by the leading singular directions of the membership matrix (entities, 2R).

    Args:
        triples: Known triples, of shape (n, 3).
        n_entities: Number of entities.
        n_relations: Number of relations R.

    Returns:
        Vectors of the R relations, then of their inverses, ``float32`` of shape (2R, min(2R, 64)).

    Example:
        >>> triples = np.array([[0, 0, 1], [1, 0, 2]])
        >>> basis = constraint_basis(triples, 3, 1)
        >>> (constraint_vectors(triples, 3, basis) @ basis.T).tolist()  # tail of r, of its inverse
        [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]
    """
    if 2 * n_relations <= DIMENSIONS:
        return np.eye(2 * n_relations, dtype=np.float32)
    import torch

    members = _members(triples, n_entities, n_relations).tocoo()
    matrix = torch.sparse_coo_tensor(
        torch.from_numpy(np.stack([members.row, members.col])),
        torch.from_numpy(members.data),
        members.shape,
        check_invariants=True,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        drawn = min(DIMENSIONS + OVERSAMPLED, *members.shape)
        directions = torch.svd_lowrank(matrix, drawn, niter=4)[2].numpy()[:, :DIMENSIONS]
    basis = np.zeros((2 * n_relations, DIMENSIONS), dtype=np.float32)
    basis[:, : directions.shape[1]] = directions
    return basis


def constraint_vectors(triples: NDArray[np.integer], n_entities: int, basis: Floats) -> Floats:
    """Return a vector for each entity, ``float32`` of shape (entities, dim).

    Args:
        triples: Known triples, of shape (n, 3).
        n_entities: Number of entities.
        basis: Vectors of the R relations and their inverses, of shape (2R, dim); see
            :func:`constraint_basis`.
    """
    return np.asarray(_members(triples, n_entities, len(basis) // 2) @ basis, dtype=np.float32)


def _members(triples: NDArray[np.integer], n_entities: int, n_relations: int) -> csr_matrix:
    """Return the membership matrix (entities, 2R): 1 if an entity is a known tail of a relation."""
    from scipy.sparse import csr_matrix

    known = both_directions(triples, n_relations)
    pairs = np.unique(known[:, [2, 1]], axis=0)
    ones = np.ones(len(pairs), dtype=np.float32)
    return csr_matrix((ones, (pairs[:, 0], pairs[:, 1])), shape=(n_entities, 2 * n_relations))
