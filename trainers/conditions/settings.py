"""Settings of training runs for conditional similarity; this module does not import torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontodex.errors import SettingsError, expect_choice, expect_number, expect_whole

if TYPE_CHECKING:
    from ontodex.encoders.condition_network import ConditionNetworkSettings

__all__ = ["ConditionTraining"]


@dataclass(frozen=True)
class ConditionTraining:
    """Settings of a training run of a condition encoder (Hyper-CL on C-STS).

    Attributes:
        architecture: How text and condition are combined: ``"hyper"`` (hypernetwork),
            ``"hadamard"`` (elementwise product) and ``"concat"`` (linear layer over both) encode
            them separately; ``"bi-encoder"`` encodes them as one text and needs ``tune="full"``.
        rank: Dimension of the vectors that are compared, with ``architecture="hyper"``; 0 for full
            rank. By default 64, or the embedding dimension if it is smaller.
        condition: Length of the vector that a condition is reduced to, with
            ``architecture="hyper"``; 0 for the embedding dimension.
        tune: ``"frozen"`` trains the network on fixed text embeddings (a minute or two without a
            GPU); ``"full"`` trains the text encoder as well.
        loss: ``"mse"`` (squared error of the cosine), ``"contrastive"`` (which of two conditions
            makes two texts more similar) or ``"both"``.
        temperature: Temperature of the contrastive loss.
        epochs: Passes over the pairs of rows; 0 for the default. The default is 3 with
            ``tune="full"``. With ``tune="frozen"`` it makes about 1,000 batches, but is at least 5
            and at most 50.
        pairs: Pairs of rows in a batch; 0 for the default, 256 with ``tune="frozen"`` and 64 with
            ``tune="full"``.
        rate: Learning rate of the network.
        encoder_rate: Learning rate of the text encoder, with ``tune="full"``.
        max_tokens: Texts are truncated to this many tokens, special tokens included, with
            ``tune="full"``.
        seed: Seed of weights and batches.

    Raises:
        SettingsError: If a setting is out of range or contradicts another.
    """

    architecture: str = "hyper"
    rank: int | None = None
    condition: int = 64
    tune: str = "frozen"
    loss: str = "both"
    temperature: float = 1.5
    epochs: int = 0
    pairs: int = 0
    rate: float = 5e-3
    encoder_rate: float = 1e-4
    max_tokens: int = 48
    seed: int = 0

    def __post_init__(self) -> None:
        from ontodex.trainers.conditions.loss import ConditionLoss

        expect_choice("tune", self.tune, ("frozen", "full"))
        if self.architecture == "bi-encoder" and self.tune == "frozen":
            raise SettingsError(
                f"tune: expected 'full' for a bi-encoder, which consists of text encoders alone, "
                f"found {self.tune!r}"
            )
        if self.rank is not None:
            expect_whole(self, rank=0)
        expect_whole(self, condition=0, epochs=0, pairs=0, max_tokens=3, seed=0)
        expect_number(self, "rate", "encoder_rate")
        ConditionLoss(self.loss, self.temperature)
        self.network(self.rank or 1)

    def network(self, dim: int) -> ConditionNetworkSettings:
        """Return the shape of the network over embeddings of ``dim`` dimensions.

        Raises:
            SettingsError: If the rank is greater than ``dim``, or the architecture is unknown.
        """
        from ontodex.encoders.condition_network import ConditionNetworkSettings

        rank = min(dim, ConditionNetworkSettings.rank) if self.rank is None else self.rank
        return ConditionNetworkSettings(dim, self.architecture, rank, self.condition or dim)
