"""Which vectors may be stored: of numbers that are finite, and in the form that their geometry asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import EncoderError

__all__ = ["expect_storable", "fitting"]

TOLERANCE = 0.01
"""How far the length of a unit vector may be from 1: half precision on a GPU takes it some way."""

WANTED = {
    "cosine": "a vector of length 1",
    "poincare": "a lifted point of the ball",
    "product": "finite numbers",
    "gaussian": "a mean and a log-variance of finite numbers",
}


def fitting(geometry: str, vectors: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which vectors may be in a space of such a geometry.

    Args:
        geometry: As of :class:`~ontodex.indexers.storage.manifest.SpaceInfo`.
        vectors: Of shape (n, dim), in the precision in which they are stored.

    Returns:
        Booleans of shape (n,).

    Example:
        >>> fitting("cosine", np.array([[0.6, 0.8], [0.0, 0.0], [np.nan, 1.0]], dtype=np.float32)).tolist()
        [True, False, False]
    """
    fit = np.isfinite(vectors).all(axis=1)
    if geometry == "cosine":
        with np.errstate(invalid="ignore", over="ignore"):
            fit &= np.abs(np.einsum("nd,nd->n", vectors, vectors) - 1) <= 2 * TOLERANCE
    elif geometry == "poincare":
        fit &= vectors[:, -1] >= 0
    return np.asarray(fit)


def expect_storable(geometry: str, vectors: NDArray[Any], texts: Sequence[str]) -> None:
    """Refuse vectors that may not be stored.

    Args:
        geometry: As of :class:`~ontodex.indexers.storage.manifest.SpaceInfo`.
        vectors: Of shape (n, dim).
        texts: What each is of.

    Raises:
        EncoderError: If one may not; its text is named.
    """
    fit = fitting(geometry, vectors)
    if fit.all():
        return
    row = int(np.argmin(fit))
    worst = vectors[row]
    odd = worst[~np.isfinite(worst)]
    found = f"{odd[0]}" if len(odd) else f"one of length {np.linalg.norm(worst.astype(np.float64)):.3g}"
    raise EncoderError(
        f"expected {WANTED[geometry]} in {vectors.dtype} for every text, found {found} for {texts[row][:80]!r} "
        f"({np.count_nonzero(~fit):,} of {len(fit):,}); mend the text, or train the encoder anew"
    )
