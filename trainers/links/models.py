"""Trainable models of link prediction: their base, and one on a frozen text encoder."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ontodex.encoders.hypernetwork import LinkNetwork
from ontodex.trainers.links.batches import LinkBatch
from ontodex.trainers.links.loss import LinkLoss
from ontodex.trainers.run import expect_finite

__all__ = ["FrozenLinkModel", "LinkModel", "TriEncoderLinkModel"]

BLOCK = 8192
"""Number of entities that pass the entity layer at once, outside training."""


class LinkModel(nn.Module):
    """Scores the candidates of a batch and returns the loss.

    Args:
        loss: The loss.
    """

    def __init__(self, loss: LinkLoss) -> None:
        super().__init__()
        self.loss = loss

    def embed_entities(self, batch: LinkBatch) -> Tensor:
        """Return unit vectors of the batch's candidates, of shape (candidates, dim)."""
        raise NotImplementedError

    def embed_queries(self, batch: LinkBatch, entities: Tensor) -> Tensor:
        """Return the query vectors of the batch, of shape (queries, dim)."""
        raise NotImplementedError

    def forward(self, batch: LinkBatch) -> dict[str, Tensor]:
        """Return ``{"loss": loss}``, as the Trainer of transformers expects."""
        entities = self.embed_entities(batch)
        scores = self.embed_queries(batch, entities) @ entities.T
        tails, masked = (
            torch.from_numpy(array).to(scores.device) for array in (batch.tails, batch.masked)
        )
        return expect_finite(self.loss(scores, tails, masked))


class TriEncoderLinkModel(LinkModel):
    """Combines separate embeddings of heads and relations."""

    def __init__(self, network: LinkNetwork, loss: LinkLoss) -> None:
        super().__init__(loss)
        self.network = network

    def embed_relations(self, relations: Tensor) -> Tensor:
        """Return unit embeddings of the given relations, of shape (relations, dim)."""
        raise NotImplementedError

    def embed_queries(self, batch: LinkBatch, entities: Tensor) -> Tensor:
        """Project each head by its relation."""
        heads = entities[torch.from_numpy(batch.heads).to(entities.device)]
        return self.project(heads, batch.relations)

    def project(self, heads: Tensor, relations: NDArray[np.int64]) -> Tensor:
        """Project each head vector, of shape (n, dim), by its relation, of shape (n,)."""
        distinct, which = torch.unique(torch.from_numpy(relations), return_inverse=True)
        return self.network.queries(heads, self.embed_relations(distinct), which.to(heads.device))


class FrozenLinkModel(TriEncoderLinkModel):
    """Trains a network on fixed embeddings.

    Args:
        network: The network.
        loss: The loss.
        entities: Embeddings of all entities, of shape (entities, dim).
        relations: Embeddings of all relation texts, inverses included, of shape (2R, dim).
    """

    def __init__(
        self,
        network: LinkNetwork,
        loss: LinkLoss,
        entities: NDArray[np.float32],
        relations: NDArray[np.float32],
    ) -> None:
        super().__init__(network, loss)
        self._entities = entities
        self._relations = torch.from_numpy(relations)

    def embed_entities(self, batch: LinkBatch) -> Tensor:
        """Look up the embeddings and apply the entity layer."""
        device = self.loss.log_inverse.device
        return self.network.entities(torch.from_numpy(self._entities[batch.entities]).to(device))

    def embed_relations(self, relations: Tensor) -> Tensor:
        """Look up the embeddings."""
        return self._relations[relations].to(self.loss.log_inverse.device)

    def all_entities(self) -> Tensor:
        """Return the vectors of all entities, of shape (entities, dim)."""
        device = self.loss.log_inverse.device
        blocks = torch.split(torch.from_numpy(self._entities), BLOCK)
        return torch.cat([self.network.entities(block.to(device)) for block in blocks])
