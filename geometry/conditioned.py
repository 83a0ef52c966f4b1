"""The conditioned space: text vectors transformed by the factor of a condition, then compared by cosine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.cosine import unit

__all__ = ["compact", "expanded", "under_condition"]

SAFE_ERROR = 2.0**-11
"""What rounding to half precision may change of a factor, relative to its size: half the distance of neighbours there."""


def under_condition(
    vectors: NDArray[np.floating],
    factor: NDArray[np.floating],
    mix: NDArray[np.floating] | None = None,
) -> NDArray[np.float32]:
    """Transform vectors by one condition; inner products of the results are the similarities under it.

    Args:
        vectors: Text vectors x of shape (n, dim).
        factor: Of a hypernetwork P, of shape (dim, width), for x·P; else v, of shape (dim,), for the Hadamard product
            x ∘ v, or with ``mix`` for the concatenation x·W + v (Yoo et al., "Hyper-CL", ACL 2024, section 3).
        mix: The matrix W of all conditions, of shape (dim, dim).

    Returns:
        Unit vectors, computed in ``float64``, ``float32`` of shape (n, width).

    Example:
        >>> under_condition(np.array([[3.0, 4.0]]), np.array([0.0, 2.0])).tolist()
        [[0.0, 1.0]]
    """
    wide, by = np.asarray(vectors, dtype=np.float64), np.asarray(factor, dtype=np.float64)
    if mix is not None:
        return unit(wide @ np.asarray(mix, dtype=np.float64) + by)
    return unit(wide @ by if by.ndim == 2 else wide * by)


def compact(factor: NDArray[np.floating]) -> NDArray[np.float16] | NDArray[np.float32]:
    """Return what has to be kept of a factor.

    Of a matrix P only P·Pᵀ matters to cosines of x·P. With the QR decomposition Pᵀ = Q·R that is Rᵀ·R: the lower triangle
    of L = Rᵀ says as much, dim * width - width * (width - 1) / 2 numbers. They are kept in half precision where that
    changes them by no more than its own rounding: what is too large or too small for it stays in ``float32``.

    Args:
        factor: Of shape (dim, width) with width <= dim, or (dim,).

    Returns:
        Numbers for :func:`expanded`, of shape (n,).

    Example:
        >>> compact(np.eye(3)).shape, compact(np.eye(3)).dtype.name, compact(np.array([1e9])).dtype.name
        ((6,), 'float16', 'float32')
    """
    whole = np.asarray(factor, dtype=np.float64)
    if whole.ndim == 2:
        lower = np.linalg.qr(whole.T).R.T
        whole = lower[np.tril_indices(len(lower), m=lower.shape[1])]
    with np.errstate(over="ignore"):
        half = whole.astype(np.float16)
    safe = np.linalg.norm(half - whole) <= SAFE_ERROR * np.linalg.norm(whole)
    return half if safe else whole.astype(np.float32)


def expanded(
    kept: NDArray[np.float16] | NDArray[np.float32], dim: int, width: int
) -> NDArray[np.float16] | NDArray[np.float32]:
    """Return a factor that says of cosines what that one said that :func:`compact` was given.

    Args:
        kept: What it returned.
        dim: Length of a text's vector.
        width: Length of what is compared.

    Returns:
        A matrix of shape (dim, width), lower triangular, or a vector of shape (dim,), whichever it was.
    """
    if len(kept) == dim and width == dim:
        return kept
    lower = np.zeros((dim, width), dtype=kept.dtype)
    lower[np.tril_indices(dim, m=width)] = kept
    return lower
