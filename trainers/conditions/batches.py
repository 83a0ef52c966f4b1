"""Batches of conditional similarity: whole pairs of rows, each text and condition once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.trainers.data.csts_rows import CstsRows
from ontodex.trainers.epoch_batches import EpochBatches

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
        texts,
        conditions,
        sides.reshape(2, -1),
        which.reshape(-1),
        data.targets[rows].astype(np.float32),
    )


class ConditionBatches(EpochBatches[ConditionBatch, NDArray[np.int64]]):
    """The batches of a run: each pair once an epoch, in an order drawn by seed.

    Args:
        data: Rows in pairs.
        pairs: Pairs in a batch.
        epochs: Passes over the data.
        seed: Equal seeds give equal batches.
    """

    def __init__(self, data: CstsRows, pairs: int, epochs: int, seed: int) -> None:
        per_epoch = max(1, -(-len(data) // 2 // pairs))
        super().__init__(steps=per_epoch * epochs, per_epoch=per_epoch)
        self._data, self._pairs, self._seed = data, pairs, seed

    def _batch(self, step: int, turn: int, order: NDArray[np.int64]) -> ConditionBatch:
        pairs = np.sort(order[turn * self._pairs : (turn + 1) * self._pairs])
        return batch_of(self._data, np.stack([2 * pairs, 2 * pairs + 1], axis=1).ravel())

    def _draw_order(self, epoch: int) -> NDArray[np.int64]:
        return np.random.default_rng((self._seed, epoch)).permutation(len(self._data) // 2)
