"""The conditioned space: text vectors, transformed by a condition and compared by cosine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.cosine import unit

__all__ = ["compact", "expanded", "second_factor", "under_condition"]

SAFE_ERROR = 2.0**-11
"""Largest relative error for storing a factor in half precision: the unit roundoff of float16."""


def under_condition(
    vectors: NDArray[np.floating],
    factor: NDArray[np.floating],
    mix: NDArray[np.floating] | None = None,
) -> NDArray[np.float32]:
    """Transform text vectors by one condition (Yoo et al., "Hyper-CL", ACL 2024, section 3).

    Inner products of the results are the similarities of the texts under the condition.

    Args:
        vectors: Text vectors x of shape (n, dim).
        factor: Factor of the condition. A matrix P of shape (dim, width), which a hypernetwork
            makes, gives x·P. A vector v of shape (dim,) gives the Hadamard product x ∘ v, or
            x·W + v if ``mix`` is given (a linear layer over a concatenation).
        mix: The matrix W that all conditions share, of shape (dim, dim).

    Returns:
        Unit vectors, ``float32`` of shape (n, width), computed in ``float64``.

    Example:
        >>> under_condition(np.array([[3.0, 4.0]]), np.array([0.0, 2.0])).tolist()
        [[0.0, 1.0]]
    """
    wide, by = np.asarray(vectors, dtype=np.float64), np.asarray(factor, dtype=np.float64)
    if mix is not None:
        return unit(wide @ np.asarray(mix, dtype=np.float64) + by)
    return unit(wide @ by if by.ndim == 2 else wide * by)


def second_factor(factor: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the matrix S by which vectors x·P under a condition become x·P·S in the text space.

    The cosines under one condition need P alone, and P·R for any rotation R has the same ones: the
    vectors x·P of several conditions have no common axes. With the singular value decomposition P =
    U·D·Vᵀ, S is V·Uᵀ. Its rows are orthonormal, so that cosines are kept, and P·S = U·D·Uᵀ, the
    projection W of the condition, does not depend on R.

    Args:
        factor: Factor P of a condition, of shape (dim, width) with width <= dim.

    Returns:
        S of shape (width, dim).

    Example:
        >>> second_factor(np.array([[0.0], [2.0], [0.0]])).tolist()
        [[0.0, 1.0, 0.0]]
    """
    left, _, right = np.linalg.svd(np.asarray(factor, dtype=np.float64), full_matrices=False)
    return np.asarray(right.T @ left.T)


def compact(factor: NDArray[np.floating]) -> NDArray[np.float16] | NDArray[np.float32]:
    """Return the part of a factor that cosines depend on, in as few bytes as possible.

    Cosines of the vectors x·P depend only on P·Pᵀ. With the QR decomposition Pᵀ = Q·R, P·Pᵀ is
    Rᵀ·R, so the lower triangle of Rᵀ is enough: dim * width - width * (width - 1) / 2 numbers. The
    numbers are in half precision if this keeps the relative error below :data:`SAFE_ERROR`,
    otherwise (numbers outside the range of ``float16``) in ``float32``.

    Args:
        factor: Factor of a condition, of shape (dim, width) with width <= dim, or (dim,).

    Returns:
        Numbers for :func:`expanded`, of shape (n,).

    Example:
        >>> compact(np.eye(3)).shape, compact(np.eye(3)).dtype.name
        ((6,), 'float16')
        >>> compact(np.array([1e9])).dtype.name
        'float32'
    """
    numbers = np.asarray(factor, dtype=np.float64)
    if numbers.ndim == 2:
        lower = np.linalg.qr(numbers.T).R.T
        numbers = lower[np.tril_indices(len(lower), m=lower.shape[1])]
    with np.errstate(over="ignore"):
        half = numbers.astype(np.float16)
    safe = np.linalg.norm(half - numbers) <= SAFE_ERROR * np.linalg.norm(numbers)
    return half if safe else numbers.astype(np.float32)


def expanded(
    numbers: NDArray[np.float16] | NDArray[np.float32], dim: int, width: int
) -> NDArray[np.float16] | NDArray[np.float32]:
    """Return a factor that gives the same cosines as the factor given to :func:`compact`.

    Args:
        numbers: Result of :func:`compact`.
        dim: Dimension of text vectors.
        width: Dimension of transformed vectors.

    Returns:
        A lower triangular matrix of shape (dim, width) if the factor was a matrix, otherwise the
        vector of shape (dim,).
    """
    if len(numbers) == dim and width == dim:
        return numbers
    lower = np.zeros((dim, width), dtype=numbers.dtype)
    lower[np.tril_indices(dim, m=width)] = numbers
    return lower
