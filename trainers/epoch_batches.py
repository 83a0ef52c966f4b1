"""Base class of the batches of a training run, drawn epoch by epoch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Generic, TypeVar

__all__ = ["EpochBatches"]

Batch = TypeVar("Batch")
Order = TypeVar("Order")


class EpochBatches(ABC, Generic[Batch, Order]):
    """Batches indexed by step; the same index always gives the same batch, so that runs can resume.

    Args:
        steps: Number of batches.
        per_epoch: Number of batches in an epoch.
    """

    def __init__(self, steps: int, per_epoch: int) -> None:
        self.steps, self.per_epoch = steps, per_epoch
        # All batches of an epoch use the same order.
        self._order = lru_cache(maxsize=1)(self._draw_order)

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, step: int) -> Batch:
        if not 0 <= step < self.steps:
            raise IndexError(step)
        epoch, turn = divmod(step, self.per_epoch)
        return self._batch(step, turn, self._order(epoch))

    @abstractmethod
    def _draw_order(self, epoch: int) -> Order:
        """Draw the order of the training data in an epoch."""

    @abstractmethod
    def _batch(self, step: int, turn: int, order: Order) -> Batch:
        """Return the batch of a step, which is number ``turn`` of its epoch."""
