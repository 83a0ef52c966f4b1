"""A matrix of vectors in one or more pieces, in memory or memory-mapped."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import IndexMismatch

__all__ = ["SHARD_BYTES", "Vectors", "release"]

SHARD_BYTES = 32 * 1024 * 1024
"""Largest size in bytes of a block of vectors in memory."""


class Vectors:
    """The vectors of a space, read-only, ``float32`` of shape (n, dim).

    Args:
        shards: Pieces in row order, each of shape (rows, dim).

    Example:
        >>> vectors = Vectors([np.eye(2, dtype=np.float32), np.ones((1, 2), dtype=np.float32)])
        >>> vectors[np.array([2, 0])].tolist()
        [[1.0, 1.0], [1.0, 0.0]]
    """

    def __init__(self, shards: Sequence[NDArray[np.float32]]) -> None:
        self.shards = list(shards)
        self.starts = np.cumsum([0, *(len(shard) for shard in self.shards)])
        self.dim = int(self.shards[0].shape[1])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def __getitem__(self, rows: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return copies of the given rows, of shape (*rows.shape, dim)."""
        if len(self.shards) == 1:
            return np.asarray(self.shards[0][rows])
        wanted = np.asarray(rows)
        found = np.empty((*wanted.shape, self.dim), dtype=np.float32)
        owner = np.searchsorted(self.starts, wanted, side="right") - 1
        for number in np.unique(owner):
            here = owner == number
            found[here] = self.shards[number][wanted[here] - self.starts[number]]
        return found

    def first(self, dim: int) -> Vectors:
        """Return the first ``dim`` dimensions of all vectors, without a copy.

        Raises:
            IndexMismatch: If the vectors have fewer dimensions.
        """
        if dim > self.dim:
            raise IndexMismatch(
                f"expected vectors of at least {dim} dimensions, found {self.dim}; "
                "build the index anew"
            )
        return self if dim == self.dim else Vectors([shard[:, :dim] for shard in self.shards])

    def replacing(self, rows: NDArray[np.integer], values: NDArray[np.floating]) -> Vectors:
        """Return the vectors with some rows replaced, without a copy of the others.

        Args:
            rows: The rows, ascending.
            values: Their new vectors, of shape (rows, dim).
        """
        return _Replaced(self, rows, values)

    def blocks(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield (first row, vectors) in pieces of at most :data:`SHARD_BYTES`."""
        step = max(1, SHARD_BYTES // max(1, 4 * self.dim))
        for first, shard in zip(self.starts[:-1].tolist(), self.shards, strict=True):
            for start in range(0, len(shard), step):
                yield first + start, shard[start : start + step]
                release(shard)


class _Replaced(Vectors):
    """Vectors of which some rows are replaced; see :meth:`Vectors.replacing`."""

    def __init__(
        self, vectors: Vectors, rows: NDArray[np.integer], values: NDArray[np.floating]
    ) -> None:
        super().__init__(vectors.shards)
        self._rows, self._values = rows, values

    def __getitem__(self, rows: NDArray[np.integer]) -> NDArray[np.float32]:
        found = np.array(super().__getitem__(rows))
        if len(self._rows):
            places = np.searchsorted(self._rows, rows).clip(max=len(self._rows) - 1)
            here = self._rows[places] == rows
            found[here] = self._values[places[here]]
        return found

    def blocks(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield (first row, vectors) in pieces, as the other vectors do."""
        for first, block in super().blocks():
            here = slice(*np.searchsorted(self._rows, (first, first + len(block))))
            if here.start < here.stop:
                block = np.array(block)
                block[self._rows[here] - first] = self._values[here]
            yield first, block


def release(vectors: NDArray[np.float32]) -> None:
    """Release the memory of a memory-mapped array; its pages are read again on the next access.

    The call has no effect on other arrays, on copy-on-write maps, and on systems without
    ``MADV_DONTNEED``.
    """
    pages = getattr(vectors, "_mmap", None)
    if (
        isinstance(pages, mmap.mmap)
        and getattr(vectors, "mode", "c") != "c"
        and hasattr(mmap, "MADV_DONTNEED")
    ):
        pages.madvise(mmap.MADV_DONTNEED)
