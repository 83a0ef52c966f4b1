"""The vectors of a space: written in pieces, read as a few memory-mapped blobs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import IndexMismatch
from ontodex.geometry.vectors import SHARD_BYTES, Vectors, release
from ontodex.storage.blobs import BlobReader, BlobWriter
from ontodex.storage.integrity import expect_valid
from ontodex.storage.manifest import SpaceInfo

__all__ = ["read_vectors", "write_vectors"]


def read_vectors(blobs: BlobReader, space: str, info: SpaceInfo) -> Vectors:
    """Map the vectors of a space.

    Raises:
        IndexMismatch: If the store and the manifest have different numbers of rows or dimensions.
    """
    vectors = Vectors([blobs.get(f"{space}/vectors/{number}") for number in range(info.shards)])
    if (len(vectors), vectors.dim) != (info.rows, info.dim):
        raise IndexMismatch(
            f"{blobs.path}: space {space!r}: the manifest names {info.rows:,} vectors of "
            f"{info.dim} dimensions, the store holds {len(vectors):,} of {vectors.dim}; "
            "build the index anew"
        )
    return vectors


def write_vectors(
    blobs: BlobWriter, space: str, vectors: NDArray[np.float32], geometry: str, texts: Sequence[str]
) -> int:
    """Store the vectors of a space as blobs of at most :data:`SHARD_BYTES`.

    Args:
        blobs: The store.
        space: Name of the space.
        vectors: Vectors of shape (n, dim), in memory or memory-mapped.
        geometry: Geometry of the space.
        texts: Text of each vector, for error messages.

    Returns:
        The number of blobs.

    Raises:
        EncoderError: If a vector is not valid in this geometry; the message names its text.
    """
    step = max(1, SHARD_BYTES // (vectors.shape[1] * vectors.itemsize))
    starts = range(0, max(1, len(vectors)), step)
    for number, start in enumerate(starts):
        part = slice(start, start + step)
        expect_valid(geometry, vectors[part], texts[part])
        blobs.put(f"{space}/vectors/{number}", vectors[part])
        release(vectors)
    return len(starts)
