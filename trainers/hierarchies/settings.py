"""Settings of training runs for hierarchies; this module does not import torch."""

from __future__ import annotations

from dataclasses import dataclass

from ontodex.errors import SettingsError, expect_choice, expect_number, expect_whole

__all__ = ["HiTTraining"]


@dataclass(frozen=True)
class HiTTraining:
    """Settings of a training run of a hierarchy encoder (HiT).

    Attributes:
        tune: ``"full"`` trains all weights of the text encoder, ``"adapter"`` a LoRA adapter of a
            few megabytes.
        batches: ``"families"``: parents with some of their children; every other text of the batch
            is a negative, and the nearest negatives weigh most. ``"random-triplets"`` and
            ``"hard-triplets"``: each link with its own negatives, as in the paper.
        epochs: Passes over the links.
        families: Families in a batch, with ``batches="families"``.
        children: Largest number of children in a family, with ``batches="families"``.
        negatives: Negatives of each link, in batches of triplets.
        triplets: Triplets in a batch.
        cluster: Margin of the clustering loss: how much nearer a child is to its parent than to a
            negative.
        centripetal: Margin of the centripetal loss: how much farther from the origin a child is
            than its parent. The paper has 0.1; 3 was better in our benchmarks.
        contraction: Weight of the mean distance to the origin in the loss. The paper has 0; 0.2 was
            better in our benchmarks.
        rate: Learning rate; 0 for 1e-4 with ``tune="full"`` and 1e-3 with ``tune="adapter"``.
        rank: Rank of the adapter.
        strength: Share of the weight change that is applied after training (WiSE-FT, Wortsman et
            al., CVPR 2022); 1 in the paper. 0.6 transfers better to other hierarchies, and loses
            nothing on the hierarchy of the training.
        max_tokens: Texts are truncated to this many tokens, special tokens included.
        evaluations: Evaluations on validation pairs during the run; the best checkpoint is the
            result.
        valid: Largest number of positive validation pairs in an evaluation.
        seed: Seed of weights and batches.

    Raises:
        SettingsError: If a setting is out of range or contradicts another.
    """

    tune: str = "full"
    batches: str = "families"
    epochs: float = 8.0
    families: int = 40
    children: int = 4
    negatives: int = 10
    triplets: int = 256
    cluster: float = 5.0
    centripetal: float = 0.1
    contraction: float = 0.0
    rate: float = 0.0
    rank: int = 32
    strength: float = 1.0
    max_tokens: int = 32
    evaluations: int = 8
    valid: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        expect_choice("tune", self.tune, ("full", "adapter"))
        expect_choice("batches", self.batches, ("families", "random-triplets", "hard-triplets"))
        expect_whole(self, families=1, children=1, negatives=1, triplets=1, rank=1, max_tokens=3)
        expect_whole(self, evaluations=1, valid=1, seed=0)
        expect_number(self, "epochs", "strength")
        if self.strength > 1:
            raise SettingsError(
                f"strength: expected a number above 0 and at most 1, found {self.strength!r}"
            )
        expect_number(self, "cluster", "centripetal", "contraction", "rate", zero=True)
