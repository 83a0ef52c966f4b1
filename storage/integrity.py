"""Integrity of an index: file lengths and store layout, and which vectors a space may hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import EncoderError, IndexDamaged, IndexFailure
from ontodex.storage.blobs import layout
from ontodex.storage.manifest import Manifest, file_info

__all__ = ["STORE", "expect_storable", "expect_whole", "fitting"]

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
        geometry: As of :class:`~ontodex.storage.manifest.SpaceInfo`.
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
        geometry: As of :class:`~ontodex.storage.manifest.SpaceInfo`.
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
    found = (
        f"{odd[0]}" if len(odd) else f"one of length {np.linalg.norm(worst.astype(np.float64)):.3g}"
    )
    raise EncoderError(
        f"expected {WANTED[geometry]} in {vectors.dtype} for every text, found {found} for {texts[row][:80]!r} "
        f"({np.count_nonzero(~fit):,} of {len(fit):,}); mend the text, or train the encoder anew"
    )


STORE = "store.mdb"
WITH_LAYOUT = 3
"""The first format whose manifest has a checksum of what blobs are found by."""


def expect_whole(folder: Path, manifest: Manifest) -> None:
    """Compare the lengths of all files, and what blobs are found by, with the manifest; of an older format the whole store.

    Raises:
        IndexDamaged: If a file is missing, has another length, or does not fit.
        IndexFailure: If a file may not be read.
    """
    for name, info in manifest.files.items():
        file = folder / name
        size = file.stat().st_size if file.is_file() else None
        if size != info.bytes and not name.endswith(".faiss"):
            found = "no such file" if size is None else f"{size:,} bytes"
            raise IndexDamaged(
                f"{file}: expected {info.bytes:,} bytes, found {found}; build the index anew"
            )
    store = folder / STORE
    try:
        if manifest.format < WITH_LAYOUT:
            fits = file_info(store) == manifest.files[STORE]
        else:
            fits = layout(store, manifest.blobs) == manifest.layout
    except OSError as error:
        raise IndexFailure(
            f"{store}: expected a file that can be read, found {error.strerror}"
        ) from None
    if not fits:
        raise IndexDamaged(
            f"{store}: what its blobs are found by does not fit its checksum; build the index anew"
        )
