"""Runs of consecutive positions, and sets of integer keys as sorted arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Keys", "distinct", "runs", "spans", "within"]

Keys = NDArray[np.int64]


def runs(starts: NDArray[np.integer], counts: NDArray[np.integer]) -> tuple[Keys, Keys]:
    """List the positions of several runs, one run after the other.

    Run ``i`` consists of ``counts[i]`` consecutive positions from ``starts[i]``.

    Returns:
        For each position the index of its run, and the position itself.

    >>> [found.tolist() for found in runs(np.array([5, 9, 2]), np.array([2, 0, 1]))]
    [[0, 0, 2], [5, 6, 2]]
    """
    owners = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts, dtype=np.int64) - counts
    return owners, np.arange(len(owners)) + (starts - before)[owners]


def spans(
    column: NDArray[np.integer], values: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first position of each value in an ascending column, and how often it is there.

    >>> [found.tolist() for found in spans(np.array([2, 5, 5, 9]), np.array([5, 3]))]
    [[1, 1], [2, 0]]
    """
    wanted = values.astype(column.dtype, copy=False)  # another type would convert the column
    starts = np.searchsorted(column, wanted)
    return starts, np.searchsorted(column, wanted, side="right") - starts


def distinct(keys: Keys) -> Keys:
    """Return the distinct keys, ascending; many times faster than the hashing ``np.unique``.

    >>> distinct(np.array([6, 1, 6])).tolist()
    [1, 6]
    """
    ordered: Keys = np.sort(keys)
    found: Keys = ordered[np.diff(ordered, prepend=ordered[:1] - 1) != 0]
    return found


def within(keys: Keys, wanted: Keys) -> NDArray[np.bool_]:
    """Return which values of ``wanted`` (any shape) are in the sorted ``keys``.

    >>> within(np.array([1, 4, 6]), np.array([[4, 5], [0, 7]])).tolist()
    [[True, False], [False, False]]
    """
    if not len(keys):
        return np.zeros(np.shape(wanted), dtype=bool)
    found: NDArray[np.bool_] = (
        keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] == wanted
    )
    return found
