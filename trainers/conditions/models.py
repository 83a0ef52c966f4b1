"""Trainable models of conditional similarity, with a frozen or a tuned text encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn

from ontodex.encoders.condition import read_together
from ontodex.encoders.condition_network import ConditionNetwork
from ontodex.trainers.conditions.batches import ConditionBatch
from ontodex.trainers.conditions.loss import ConditionLoss
from ontodex.trainers.run import expect_finite
from ontodex.trainers.text_tower import TextTower, tokenise

__all__ = ["ConditionModel", "FrozenConditionModel", "TunedBiEncoderModel", "TunedConditionModel"]


class ConditionModel(nn.Module):
    """Compares the two texts of each row of a batch under its condition and returns the loss.

    Args:
        network: The condition network.
        loss: The loss.
    """

    def __init__(self, network: ConditionNetwork, loss: ConditionLoss) -> None:
        super().__init__()
        self.network = network
        self.loss = loss

    def embed(self, batch: ConditionBatch) -> tuple[Tensor, Tensor]:
        """Return unit embeddings of the texts and of the conditions of a batch.

        Returns:
            Embeddings of shapes (texts, dim) and (conditions, dim).
        """
        raise NotImplementedError

    def cosines(self, batch: ConditionBatch) -> Tensor:
        """Return the cosine of each row, of shape (rows,)."""
        texts, conditions = self.embed(batch)
        device = texts.device
        sides, which = (torch.from_numpy(array).to(device) for array in (batch.sides, batch.which))
        # A factor is a constant plus a small term that depends on the condition; bfloat16 would
        # round this term away.
        with torch.autocast(device.type, enabled=False):
            factors = self.network(conditions.float())
            projected = self.network.project(
                texts[sides.flatten()].float(), factors, which.repeat(2)
            )
            first, second = torch.chunk(projected, 2)
            return nn.functional.cosine_similarity(first, second)

    def forward(self, batch: ConditionBatch) -> dict[str, Tensor]:
        """Return ``{"loss": loss}``, as the Trainer of transformers expects."""
        cosines = self.cosines(batch)
        return expect_finite(self.loss(cosines, torch.from_numpy(batch.targets).to(cosines.device)))


class FrozenConditionModel(ConditionModel):
    """Trains a condition network on fixed embeddings.

    Args:
        network: The condition network.
        loss: The loss.
        texts: Embeddings of the texts, of shape (texts, dim).
        conditions: Embeddings of the conditions, of shape (conditions, dim).
    """

    def __init__(
        self,
        network: ConditionNetwork,
        loss: ConditionLoss,
        texts: NDArray[np.float32],
        conditions: NDArray[np.float32],
    ) -> None:
        super().__init__(network, loss)
        self._texts, self._conditions = texts, conditions

    def embed(self, batch: ConditionBatch) -> tuple[Tensor, Tensor]:
        """Look up the embeddings."""
        device = next(self.network.parameters()).device
        return (
            torch.from_numpy(self._texts[batch.texts]).to(device),
            torch.from_numpy(self._conditions[batch.conditions]).to(device),
        )


class TunedConditionModel(ConditionModel):
    """Trains a condition network together with its text encoder.

    Each distinct text and condition of a batch is encoded once.

    Args:
        network: The condition network.
        loss: The loss.
        encoder: The text encoder.
        texts: The texts.
        conditions: The conditions.
        max_tokens: Texts are truncated to this many tokens.
    """

    def __init__(
        self,
        network: ConditionNetwork,
        loss: ConditionLoss,
        encoder: SentenceTransformer,
        texts: Sequence[str],
        conditions: Sequence[str],
        max_tokens: int,
    ) -> None:
        super().__init__(network, loss)
        self.tower = TextTower(encoder)
        self._texts = tokenise(encoder, texts, max_tokens)
        self._conditions = tokenise(encoder, conditions, max_tokens)

    def embed(self, batch: ConditionBatch) -> tuple[Tensor, Tensor]:
        """Encode texts and conditions together."""
        tokens = [self._texts[row] for row in batch.texts.tolist()]
        tokens += [self._conditions[row] for row in batch.conditions.tolist()]
        texts, conditions = torch.split(
            self.tower(tokens), [len(batch.texts), len(batch.conditions)]
        )
        return texts, conditions


class TunedBiEncoderModel(ConditionModel):
    """Trains a text encoder that encodes each text and its condition as one text.

    The condition network has no weights to train.

    Args:
        network: The condition network of a bi-encoder.
        loss: The loss.
        encoder: The text encoder.
        texts: The texts.
        conditions: The conditions.
        max_tokens: Condition and text together are truncated to this many tokens.
    """

    def __init__(
        self,
        network: ConditionNetwork,
        loss: ConditionLoss,
        encoder: SentenceTransformer,
        texts: Sequence[str],
        conditions: Sequence[str],
        max_tokens: int,
    ) -> None:
        super().__init__(network, loss)
        self.tower = TextTower(encoder)
        self._texts, self._conditions, self._max_tokens = texts, conditions, max_tokens

    def cosines(self, batch: ConditionBatch) -> Tensor:
        """Return the cosine of each row; equal texts under equal conditions are encoded once."""
        keys, sides = np.unique(
            batch.sides * len(batch.conditions) + batch.which, return_inverse=True
        )
        joined = [
            read_together(self._texts[text], self._conditions[condition])
            for text, condition in zip(
                batch.texts[keys // len(batch.conditions)].tolist(),
                batch.conditions[keys % len(batch.conditions)].tolist(),
                strict=True,
            )
        ]
        vectors = self.tower(tokenise(self.tower.encoder, joined, self._max_tokens))
        first, second = vectors[torch.from_numpy(sides.reshape(2, -1)).to(vectors.device)]
        return nn.functional.cosine_similarity(first, second)
