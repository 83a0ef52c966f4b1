"""Integrity of an index: file lengths, checksums, and validity of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import EncoderError, IndexDamaged, IndexFailure
from ontodex.storage.blobs import tree_checksum
from ontodex.storage.manifest import Manifest

__all__ = ["STORE", "expect_intact", "expect_valid", "valid_rows"]

STORE = "store.mdb"

TOLERANCE = 0.01
"""Largest deviation of a unit vector's length from 1.

Half precision on a GPU causes smaller deviations.
"""


EXPECTED = {
    "cosine": "a vector of length 1",
    "poincare": "a lifted point of the ball",
    "product": "finite numbers",
    "gaussian": "a mean and a log-variance of finite numbers",
}


def valid_rows(geometry: str, vectors: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each vector is valid in a geometry.

    Args:
        geometry: Geometry of the space, see :class:`~ontodex.storage.manifest.SpaceInfo`.
        vectors: Vectors of shape (n, dim), in the precision of the store.

    Returns:
        Booleans of shape (n,).

    Example:
        >>> vectors = np.array([[0.6, 0.8], [0.0, 0.0], [np.nan, 1.0]], dtype=np.float32)
        >>> valid_rows("cosine", vectors).tolist()
        [True, False, False]
    """
    valid = np.isfinite(vectors).all(axis=1)
    if geometry == "cosine":
        with np.errstate(invalid="ignore", over="ignore"):
            wide = np.result_type(
                vectors.dtype, np.float32
            )  # sums in half precision are too coarse
            squares = np.einsum("nd,nd->n", vectors, vectors, dtype=wide)
            valid &= np.abs(squares - 1) <= 2 * TOLERANCE
    elif geometry == "poincare":
        valid &= vectors[:, -1] >= 0
    return np.asarray(valid)


def expect_valid(geometry: str, vectors: NDArray[Any], texts: Sequence[str]) -> None:
    """Check that all vectors are valid in a geometry.

    Args:
        geometry: Geometry of the space, see :class:`~ontodex.storage.manifest.SpaceInfo`.
        vectors: Vectors of shape (n, dim).
        texts: Text of each vector, for the message.

    Raises:
        EncoderError: If a vector is not valid; the message has the text of the first such vector.
    """
    valid = valid_rows(geometry, vectors)
    if valid.all():
        return
    row = int(np.argmin(valid))
    vector = vectors[row]
    infinite = vector[~np.isfinite(vector)]
    length = np.linalg.norm(vector.astype(np.float64))
    found = f"{infinite[0]}" if len(infinite) else f"one of length {length:.3g}"
    raise EncoderError(
        f"expected {EXPECTED[geometry]} in {vectors.dtype} for every text, found {found} for "
        f"{texts[row][:80]!r} ({np.count_nonzero(~valid):,} of {len(valid):,}); mend the text, or "
        "train the encoder anew"
    )


def expect_intact(folder: Path, manifest: Manifest) -> None:
    """Compare the files of a generation with its manifest, without reading large blobs.

    The lengths of all files are compared (except FAISS indices, which can be made anew), and the
    checksum of the store outside its large blobs.

    Raises:
        IndexDamaged: If a file is missing, has another length, or does not match its checksum.
        IndexFailure: If the store cannot be read.
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
        found = tree_checksum(store, manifest.blobs)
    except OSError as error:
        raise IndexFailure(
            f"{store}: expected a file that can be read, found {error.strerror}"
        ) from None
    if found != manifest.tree_checksum:
        raise IndexDamaged(
            f"{store}: the pages around its large blobs do not match their checksum; "
            "build the index anew"
        )
