"""Settings of training runs of Self-StrAE; this module does not import torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ontodex.errors import SettingsError, expect_choice, expect_number, expect_whole

__all__ = ["STARTS", "SelfStrAETraining"]

STARTS = ("counts", "public")
"""Initial token vectors: from co-occurrence counts, or random as in the authors' code."""


@dataclass(frozen=True)
class SelfStrAETraining:
    """Settings of a training run of a text encoder with tree structure (Self-StrAE).

    Attributes:
        objective: Training objective: ``"context"``, or one of the paper's: ``"contrastive"``,
            ``"ce"``, ``"ceco"``, ``"strcse"``.
        channels: Channels of a vector.
        size: Dimension of a channel.
        vocabulary: Number of tokens; 0 for 25,000, or fewer if the text has fewer.
        start: Initial token vectors. ``"counts"``: from co-occurrence counts of the text; initially
            a node is the sum of its tokens, and vectors of rare tokens are longer; at the end,
            components that are common to all tokens are removed. ``"public"``: random, as in the
            authors' code.
        multiplier: Factor of the cosines in the loss; 0 for the default of the objective: 10 for
            ``"context"``, exp(0.2) for the paper's objectives.
        nodes: Nodes of a batch that are compared with each other; 0 for all, as in the paper, at
            more than ten times the cost.
        public_order: Give the first half of a decomposition to the child with the smaller node
            number, as the authors' code does, instead of to the left child.
        epochs: Passes over the sentences.
        batch: Sentences in a batch.
        rate: Learning rate; 0 for the default of the objective: 0.01 for ``"context"``, 0.001 for
            the paper's objectives.
        max_tokens: Sentences are truncated to this many tokens.
        evaluations: Evaluations on validation sentences during the run; the best checkpoint is the
            result.
        seed: Seed of weights, batches and draws.

    Raises:
        SettingsError: If a setting is out of range or contradicts another.
    """

    objective: str = "context"
    channels: int = 128
    size: int = 2
    vocabulary: int = 0
    start: str = "counts"
    multiplier: float = 0.0
    nodes: int = 2048
    public_order: bool = False
    epochs: float = 15.0
    batch: int = 512
    rate: float = 0.0
    max_tokens: int = 200
    evaluations: int = 15
    seed: int = 0

    def __post_init__(self) -> None:
        from ontodex.trainers.trees.objectives import OBJECTIVES

        expect_choice("objective", self.objective, OBJECTIVES)
        expect_choice("start", self.start, STARTS)
        expect_whole(
            self,
            channels=1,
            size=1,
            vocabulary=0,
            nodes=0,
            batch=2,
            max_tokens=2,
            evaluations=1,
            seed=0,
        )
        expect_number(self, "epochs")
        expect_number(self, "multiplier", "rate", zero=True)

    @classmethod
    def of_dimension(cls, dimension: int, channels: int, **settings: Any) -> SelfStrAETraining:
        """Return settings for vectors of ``dimension`` numbers in ``channels`` channels.

        Raises:
            SettingsError: If the channels do not divide the dimension, or another setting is wrong.
        """
        if channels < 1 or dimension % channels:
            raise SettingsError(
                f"channels: expected a number that divides the dimension of {dimension}, "
                f"found {channels}"
            )
        return cls(channels=channels, size=dimension // channels, **settings)
