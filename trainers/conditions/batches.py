"""Batches of conditional similarity: pairs of rows, with each text and condition stored once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.trainers.data.csts_rows import CstsRows
from ontodex.trainers.epoch_batches import EpochBatches

__all__ = ["ConditionBatch", "ConditionBatches", "batch_of"]


@dataclass(frozen=True, eq=False)
class ConditionBatch:
    """Rows of a data set, with their distinct texts and conditions.

    Attributes:
        texts: Distinct texts, as indices into ``texts`` of the data set, ``int64``.
        conditions: Distinct conditions, as indices into ``conditions`` of the data set, ``int64``.
        sides: First and second text of each row, indices into the batch's ``texts``, of shape
            (2, rows).
        which: Condition of each row, an index into the batch's ``conditions``, of shape (rows,).
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
    """Batches of a training run; each epoch contains every pair of rows once, in random order.

    Args:
        data: Rows in adjacent pairs.
        pairs: Number of pairs of rows in a batch.
        epochs: Passes over the data.
        seed: Seed of the order; equal seeds give equal batches.
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
