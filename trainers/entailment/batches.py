"""Batches of premises and hypotheses: every text of a batch is encoded once, and stands against every other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.arrays import within
from ontodex.trainers.data.entailment_pairs import EntailmentPairs
from ontodex.trainers.epoch_batches import EpochBatches

__all__ = ["EntailmentBatch", "EntailmentBatches"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EntailmentBatch:
    """Pairs, and what is known of all texts of the batch.

    Attributes:
        number: Which batch of the run it is.
        texts: The texts to encode, unique: rows of the pairs' texts, of shape (n,).
        premises: Position of each pair's premise in ``texts``, of shape (pairs,).
        hypotheses: Position of each pair's hypothesis, likewise.
        labels: Label of each pair, likewise.
        entails: Whether one text (row) is known to entail another (column), or is it, ``bool`` of shape (n, n).
    """

    number: int
    texts: Ints
    premises: Ints
    hypotheses: Ints
    labels: NDArray[np.int8]
    entails: NDArray[np.bool_]


class EntailmentBatches(EpochBatches[EntailmentBatch, list[Ints]]):
    """The batches of a run: the pairs of a premise together, so that it is encoded once, if they are not too many.

    Args:
        pairs: What is learnt.
        steps: Number of batches.
        batch: About how many pairs a batch has.
        seed: Seed of all draws.
    """

    def __init__(self, pairs: EntailmentPairs, *, steps: int, batch: int, seed: int) -> None:
        super().__init__(steps, per_epoch=max(1, round(len(pairs) / batch)))
        self._pairs, self._seed = pairs, seed
        self._count = len(pairs.texts)
        known = pairs.entailed
        self._entailed = np.unique(pairs.premises[known] * self._count + pairs.hypotheses[known])

    def _batch(self, step: int, turn: int, order: list[Ints]) -> EntailmentBatch:
        chosen = order[turn]
        pairs = self._pairs
        texts, places = np.unique(
            np.stack([pairs.premises[chosen], pairs.hypotheses[chosen]]), return_inverse=True
        )
        premises, hypotheses = places.reshape(2, -1)
        entails = within(self._entailed, texts[:, None] * self._count + texts) | np.eye(
            len(texts), dtype=bool
        )
        return EntailmentBatch(step, texts, premises, hypotheses, pairs.labels[chosen], entails)

    def _draw_order(self, epoch: int) -> list[Ints]:
        """Return the pairs of each batch: premises in random order, cut into batches of about the same number of pairs."""
        rng = np.random.default_rng((self._seed, 13, epoch))
        turn = rng.permutation(self._count)[self._pairs.premises]
        order = np.argsort(turn, kind="stable")
        ends = np.linspace(0, len(order), self.per_epoch + 1)[1:-1].round().astype(np.int64)
        starts = np.searchsorted(turn[order], turn[order][ends])
        # A premise is in one batch, unless the end of another one is among its pairs already.
        return np.split(order, np.where(np.diff(starts, prepend=0) > 0, starts, ends))
