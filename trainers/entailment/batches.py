"""Batches of premises and hypotheses with in-batch negatives; each text is encoded once."""

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
    """Pairs of a batch, and the known entailments among all of its texts.

    Attributes:
        number: Number of the batch in the run.
        texts: Distinct texts to encode, as indices into the texts of the pairs, of shape (n,).
        premises: Position of each pair's premise in ``texts``, of shape (pairs,).
        hypotheses: Position of each pair's hypothesis in ``texts``, of shape (pairs,).
        labels: Label of each pair, of shape (pairs,).
        entails: Whether a text (row) is known to entail a text (column) or is the same text,
            ``bool`` of shape (n, n).
    """

    number: int
    texts: Ints
    premises: Ints
    hypotheses: Ints
    labels: NDArray[np.int8]
    entails: NDArray[np.bool_]


class EntailmentBatches(EpochBatches[EntailmentBatch, list[Ints]]):
    """Batches of a training run, with all pairs of a premise in the same batch if possible.

    Pairs with the same premise are batched together so that the premise is encoded once.

    Args:
        pairs: The training pairs.
        steps: Number of batches.
        batch: Approximate number of pairs in a batch.
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
        """Return the pairs of each batch.

        Premises are shuffled and their pairs split into batches of about equal size.
        """
        rng = np.random.default_rng((self._seed, 13, epoch))
        turn = rng.permutation(self._count)[self._pairs.premises]
        order = np.argsort(turn, kind="stable")
        ends = np.linspace(0, len(order), self.per_epoch + 1)[1:-1].round().astype(np.int64)
        starts = np.searchsorted(turn[order], turn[order][ends])
        # The pairs of a premise are split only if they are too many for one batch.
        return np.split(order, np.where(np.diff(starts, prepend=0) > 0, starts, ends))
