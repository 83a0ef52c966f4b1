"""A relation as a linear map of the query, kept as two factors that are never multiplied out.

Hyper-CL (Yoo et al., ACL 2024, section 3) has the hypernetwork q(r) = W_r; its public code applies the row form h·P·S
with P of shape (dim, rank) and S of shape (rank, dim).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.cosine import unit

__all__ = ["Factors", "project"]

Factors = tuple[NDArray[np.float32], NDArray[np.float32] | None]
"""Left factor (dim, rank) and right factor (rank, dim); or a full matrix (dim, dim) and ``None``."""


def project(vectors: NDArray[np.floating], factors: Factors, *, residual: bool) -> NDArray[np.float32]:
    """Project vectors by one relation and scale them to length one.

    Args:
        vectors: Head vectors of shape (n, dim).
        factors: The relation's projection.
        residual: Whether the projection is added to the vector (h + h·P·S) or stands in its place (h·P·S).

    Returns:
        Unit queries, ``float32`` of shape (n, dim).

    Example:
        >>> left, right = np.array([[0.0], [0.0]]), np.array([[0.0, 0.0]])
        >>> project(np.array([[0.0, 2.0]]), (left, right), residual=True).tolist()
        [[0.0, 1.0]]
    """
    left, right = factors
    moved = np.asarray(vectors, dtype=np.float64) @ left
    if right is not None:
        moved = moved @ right
    return unit(vectors + moved if residual else moved)
