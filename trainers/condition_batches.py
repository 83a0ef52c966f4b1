"""Batches of conditional similarity: whole pairs of rows, each text and condition once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import CstsRows

__all__ = ["ConditionBatch", "ConditionBatches", "batch_of"]


@dataclass(frozen=True, eq=False)
class ConditionBatch:
    """Rows of a data set, and what they are about.

    Attributes:
        texts: Distinct texts, rows of the data set's ``texts``, ``int64``.
        conditions: Distinct conditions, likewise.
        sides: First and second text of each row, indices into ``texts``, of shape (2, rows).
        which: Condition of each row, an index into ``conditions``, of shape (rows,).
        targets: Labels scaled to 0 to 1, ``float32`` of shape (rows,).
    """

    texts: NDArray[np.int64]
    conditions: NDArray[np.int64]
    sides: NDArray[np.int64]
    which: NDArray[np.int64]
    targets: NDArray[np.float32]


def batch_of(data: CstsRows, rows: NDArray[np.int64]) -> ConditionBatch:
    """Return a batch of the given rows."""
    texts, sides = np.unique(np.stack([data.first[rows], data.second[rows]]), return_inverse=True)
    conditions, which = np.unique(data.which[rows], return_inverse=True)
    return ConditionBatch(
        texts, conditions, sides.reshape(2, -1), which.reshape(-1), data.targets[rows].astype(np.float32)
    )


class ConditionBatches:
    """The batches of a run, by number: each pair once an epoch, in an order drawn by seed.

    Args:
        data: Rows in pairs.
        pairs: Pairs in a batch.
        epochs: Passes over the data.
        seed: Equal seeds give equal batches.
    """

    def __init__(self, data: CstsRows, pairs: int, epochs: int, seed: int) -> None:
        self._data = data
        self._pairs = pairs
        self._seed = seed
        self.per_epoch = max(1, -(-len(data) // 2 // pairs))
        self._epochs = epochs
        self._order = lru_cache(maxsize=1)(self._draw_order)

    def __len__(self) -> int:
        return self.per_epoch * self._epochs

    def __getitem__(self, number: int) -> ConditionBatch:
        if not 0 <= number < len(self):
            raise IndexError(number)
        epoch, at = divmod(number, self.per_epoch)
        pairs = np.sort(self._order(epoch)[at * self._pairs : (at + 1) * self._pairs])
        return batch_of(self._data, np.stack([2 * pairs, 2 * pairs + 1], axis=1).ravel())

    def _draw_order(self, epoch: int) -> NDArray[np.int64]:
        return np.random.default_rng((self._seed, epoch)).permutation(len(self._data) // 2)

    def __iter__(self) -> Iterator[ConditionBatch]:
        return (self[number] for number in range(len(self)))
