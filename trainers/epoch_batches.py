"""The batches of a training run, drawn epoch by epoch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Generic, TypeVar

__all__ = ["EpochBatches"]

Batch = TypeVar("Batch")
Order = TypeVar("Order")


class EpochBatches(ABC, Generic[Batch, Order]):
    """Batches by number: each is the same whenever it is asked for, so that a run can go on anywhere.

    Args:
        steps: Number of batches.
        per_epoch: Batches of an epoch.
    """

    def __init__(self, steps: int, per_epoch: int) -> None:
        self.steps, self.per_epoch = steps, per_epoch
        self._order = lru_cache(maxsize=1)(
            self._draw_order
        )  # one epoch's order serves all its batches

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, step: int) -> Batch:
        if not 0 <= step < self.steps:
            raise IndexError(step)
        epoch, turn = divmod(step, self.per_epoch)
        return self._batch(step, turn, self._order(epoch))

    @abstractmethod
    def _draw_order(self, epoch: int) -> Order:
        """Draw the order in which an epoch goes over what is learnt."""

    @abstractmethod
    def _batch(self, step: int, turn: int, order: Order) -> Batch:
        """Return a batch of the run, the ``turn``-th of its epoch."""
