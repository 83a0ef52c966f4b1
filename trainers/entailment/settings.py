"""Settings of training runs for entailment; this module does not import torch."""

from __future__ import annotations

from dataclasses import dataclass

from ontodex.errors import expect_choice, expect_number, expect_whole

__all__ = ["EntailmentCrossEncoderTraining", "GaussCSETraining"]


@dataclass(frozen=True)
class GaussCSETraining:
    """Settings of a training run of an entailment encoder (GaussCSE).

    Attributes:
        losses: Negatives of an entailed hypothesis: ``"ent"`` (the other hypotheses of the batch),
            ``"ent+con"`` (contradictions as well), ``"ent+rev"`` (reversed pairs as well) or
            ``"ent+con+rev"`` (all). By default ``"ent+con+rev"``, or ``"ent+rev"`` if the pairs
            have no contradictions.
        similarity: How a KL divergence in d dimensions becomes a similarity: ``"scaled"`` is 1 / (1
            + KL/d), ``"paper"`` is 1 / (1 + KL), ``"per-dimension"`` is the formula of the authors'
            code.
        pairs: Weight of the logistic loss on all labelled pairs; 0 in the paper.
        temperature: Temperature of the contrastive loss.
        activation: Activation of the means: ``"none"``, or ``"tanh"`` as in the
            authors' code; the paper has none.
        tune: ``"full"`` trains all weights of the text encoder, ``"adapter"`` a LoRA adapter of a
            few megabytes.
        epochs: Passes over the pairs.
        batch: Approximate number of pairs in a batch.
        rate: Learning rate of the text encoder; 0 for 1e-4 with ``tune="full"`` and 3e-4 with
            ``tune="adapter"``. With 1e-3, texts from other domains than the training pairs all
            became similar to each other.
        head_rate: Learning rate of the heads for mean and variance.
        rank: Rank of the adapter.
        max_tokens: Texts are truncated to this many tokens, special tokens included.
        evaluations: Evaluations on validation pairs during the run; the best checkpoint is the
            result.
        valid: Largest number of validation pairs in an evaluation.
        seed: Seed of weights and batches.

    Raises:
        SettingsError: If a setting is out of range or contradicts another.
    """

    losses: str | None = None
    similarity: str = "scaled"
    pairs: float = 2.0
    temperature: float = 0.05
    activation: str = "none"
    tune: str = "full"
    epochs: float = 1.5
    batch: int = 64
    rate: float = 0.0
    head_rate: float = 1e-3
    rank: int = 32
    max_tokens: int = 64
    evaluations: int = 8
    valid: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        from ontodex.encoders.gauss_cse import ACTIVATIONS
        from ontodex.geometry.gaussian import SIMILARITIES
        from ontodex.trainers.entailment.loss import LOSSES

        if self.losses is not None:
            expect_choice("losses", self.losses, LOSSES)
        expect_choice("similarity", self.similarity, SIMILARITIES)
        expect_choice("activation", self.activation, ACTIVATIONS)
        expect_choice("tune", self.tune, ("full", "adapter"))
        expect_whole(self, batch=2, rank=1, max_tokens=3, evaluations=1, valid=2, seed=0)
        expect_number(self, "temperature", "epochs", "head_rate")
        expect_number(self, "pairs", "rate", zero=True)


@dataclass(frozen=True)
class EntailmentCrossEncoderTraining:
    """Settings of a training run of an entailment cross-encoder.

    Attributes:
        tune: ``"full"`` trains all weights of the text encoder; ``"adapter"`` only the matrices of
            its layers, whose update is then approximated by a LoRA adapter.
        epochs: Passes over the pairs.
        batch: Number of pairs in a batch.
        rate: Learning rate.
        rank: Rank of the adapter.
        max_tokens: Pairs are truncated to this many tokens, special tokens included.
        evaluations: Evaluations on validation pairs during the run; the best checkpoint is the
            result.
        seed: Seed of weights and batches.

    Raises:
        SettingsError: If a setting is out of range.
    """

    tune: str = "adapter"
    epochs: float = 1.0
    batch: int = 64
    rate: float = 1e-4
    rank: int = 96
    max_tokens: int = 128
    evaluations: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        expect_choice("tune", self.tune, ("full", "adapter"))
        expect_whole(self, batch=2, rank=1, max_tokens=5, evaluations=1, seed=0)
        expect_number(self, "epochs", "rate")
