"""The vectors of a space: written chunk by chunk, read as a few mapped blobs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import IndexMismatch
from ontodex.geometry.vectors import SHARD_BYTES, Vectors, release
from ontodex.storage.blobs import BlobReader, BlobWriter
from ontodex.storage.integrity import expect_storable
from ontodex.storage.manifest import SpaceInfo

__all__ = ["read_vectors", "write_vectors"]


def read_vectors(blobs: BlobReader, space: str, info: SpaceInfo) -> Vectors:
    """Map the vectors of a space.

    Raises:
        IndexMismatch: If the store and the manifest name different numbers of rows or dimensions.
    """
    vectors = Vectors([blobs.get(f"{space}/vectors/{number}") for number in range(info.shards)])
    if (len(vectors), vectors.dim) != (info.rows, info.dim):
        raise IndexMismatch(
            f"{blobs.path}: space {space!r}: the manifest names {info.rows:,} vectors of {info.dim} dimensions, "
            f"the store holds {len(vectors):,} of {vectors.dim}; build the index anew"
        )
    return vectors


def write_vectors(
    blobs: BlobWriter, space: str, vectors: NDArray[np.float32], geometry: str, texts: Sequence[str]
) -> int:
    """Store an array (which may be a mapped file) in pieces; return their number.

    Raises:
        EncoderError: If one of the vectors is none of a space of this geometry; its text is named.
    """
    step = max(1, SHARD_BYTES // (vectors.shape[1] * vectors.itemsize))
    starts = range(0, max(1, len(vectors)), step)
    for number, start in enumerate(starts):
        part = slice(start, start + step)
        expect_storable(geometry, vectors[part], texts[part])
        blobs.put(f"{space}/vectors/{number}", vectors[part])
        release(vectors)
    return len(starts)
