"""What a link-prediction run trains: a hypernetwork over fixed embeddings, or with its text encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn

from ontodex.encoders.hypernetwork import HyperNetwork
from ontodex.errors import TrainingError
from ontodex.trainers.link_batches import LinkBatch
from ontodex.trainers.link_loss import LinkLoss
from ontodex.trainers.text_tower import TextTower, tokenise

__all__ = ["FrozenLinkModel", "LinkModel", "TunedLinkModel"]


class LinkModel(nn.Module):
    """Scores the candidates of a batch and returns the loss.

    Args:
        network: The hypernetwork.
        loss: The loss.
    """

    def __init__(self, network: HyperNetwork, loss: LinkLoss) -> None:
        super().__init__()
        self.network = network
        self.loss = loss

    def embed_entities(self, batch: LinkBatch) -> Tensor:
        """Return unit vectors of the batch's candidates, of shape (candidates, dim)."""
        raise NotImplementedError

    def embed_relations(self, relations: Tensor) -> Tensor:
        """Return unit embeddings of the given relations, of shape (relations, dim)."""
        raise NotImplementedError

    def forward(self, batch: LinkBatch) -> dict[str, Tensor]:
        """Return ``{"loss": loss}``, as transformers' Trainer expects."""
        entities = self.embed_entities(batch)
        device = entities.device
        relations, which = torch.unique(torch.from_numpy(batch.relations), return_inverse=True)
        queries = self.network.queries(
            entities[torch.from_numpy(batch.heads).to(device)],
            self.embed_relations(relations),
            which.to(device),
        )
        scores = queries @ entities.T
        tails, masked = torch.from_numpy(batch.tails).to(device), torch.from_numpy(batch.masked).to(device)
        loss = self.loss(scores, tails, masked)
        if not torch.isfinite(loss):
            raise TrainingError(
                f"the loss became {loss.item()}; lower the learning rates (the last checkpoint is kept)"
            )
        return {"loss": loss}


class FrozenLinkModel(LinkModel):
    """Trains a hypernetwork on top of embeddings that do not change.

    Args:
        network: The hypernetwork.
        loss: The loss.
        entities: Embeddings of all entities, of shape (entities, dim).
        relations: Embeddings of all relation texts, inverses included, of shape (2R, dim).
    """

    def __init__(
        self, network: HyperNetwork, loss: LinkLoss, entities: NDArray[np.float32], relations: NDArray[np.float32]
    ) -> None:
        super().__init__(network, loss)
        self._entities = entities
        self._relations = torch.from_numpy(relations)

    def embed_entities(self, batch: LinkBatch) -> Tensor:
        """Look the embeddings up and pass them through the entity layer."""
        device = self.loss.log_inverse.device
        return self.network.entities(torch.from_numpy(self._entities[batch.entities]).to(device))

    def embed_relations(self, relations: Tensor) -> Tensor:
        """Look the embeddings up."""
        return self._relations[relations].to(self.loss.log_inverse.device)


class TunedLinkModel(LinkModel):
    """Trains a hypernetwork with its text encoder; what the last batches encoded serves as further negatives.

    Args:
        network: The hypernetwork.
        loss: The loss.
        encoder: The text encoder, in float32.
        entities: Text of every entity.
        relations: Text of every relation, inverses included.
        max_tokens: Texts are cut to this many tokens.
    """

    def __init__(
        self,
        network: HyperNetwork,
        loss: LinkLoss,
        encoder: SentenceTransformer,
        entities: Sequence[str],
        relations: Sequence[str],
        max_tokens: int,
    ) -> None:
        super().__init__(network, loss)
        self.tower = TextTower(encoder)
        self._tokens = tokenise(encoder, entities, max_tokens)
        self._relation_tokens = tokenise(encoder, relations, max_tokens)
        dim = network.settings.dim
        self._last_seen: Tensor
        self.register_buffer("_last_seen", torch.zeros(len(entities), dim, dtype=torch.float16))

    def embed_entities(self, batch: LinkBatch) -> Tensor:
        """Encode the batch's own entities; take the further ones as they were last seen."""
        fresh = self.tower([self._tokens[row] for row in batch.entities[: batch.fresh].tolist()])
        fresh = self.network.entities(fresh)
        further = self._last_seen[batch.entities[batch.fresh :]].to(fresh)
        self._last_seen[batch.entities[: batch.fresh]] = fresh.detach().to(self._last_seen)
        return torch.cat([fresh, further])

    def embed_relations(self, relations: Tensor) -> Tensor:
        """Encode the relations' texts."""
        vectors: Tensor = self.tower([self._relation_tokens[number] for number in relations.tolist()])
        return vectors
