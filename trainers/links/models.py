"""Trainable models of link prediction: with a frozen or a tuned text encoder, and bi-encoders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn

from ontodex.encoders.hypernetwork import LinkNetwork
from ontodex.trainers.links.batches import LinkBatch
from ontodex.trainers.links.loss import LinkLoss
from ontodex.trainers.run import expect_finite
from ontodex.trainers.text_tower import TextTower, tokenise

__all__ = ["BiEncoderLinkModel", "FrozenLinkModel", "LinkModel", "TunedLinkModel"]

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


class _TriEncoderLinkModel(LinkModel):
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


class FrozenLinkModel(_TriEncoderLinkModel):
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


class _EntityTower(nn.Module):
    """Encodes the entities of batches, and keeps their vectors as negatives of later batches."""

    def __init__(
        self, encoder: SentenceTransformer, entities: Sequence[str], max_tokens: int
    ) -> None:
        super().__init__()
        self.tower = TextTower(encoder)
        self._tokens = tokenise(encoder, entities, max_tokens)
        self._last_seen: Tensor
        seen = torch.zeros(
            len(entities), encoder.get_embedding_dimension() or 0, dtype=torch.float16
        )
        self.register_buffer("_last_seen", seen)

    def forward(self, batch: LinkBatch) -> Tensor:
        """Encode the entities of the batch's triples.

        For additional negatives, return the vectors from the last batch that encoded them.
        """
        fresh: Tensor = self.tower(
            [self._tokens[row] for row in batch.entities[: batch.fresh].tolist()]
        )
        further = self._last_seen[batch.entities[batch.fresh :]].to(fresh)
        self._last_seen[batch.entities[: batch.fresh]] = fresh.detach().to(self._last_seen)
        return torch.cat([fresh, further])


class TunedLinkModel(_TriEncoderLinkModel):
    """Trains a network together with its text encoder.

    Args:
        network: The network.
        loss: The loss.
        encoder: The text encoder, in float32.
        entities: Text of every entity.
        relations: Text of every relation, inverses included.
        max_tokens: Texts are truncated to this many tokens.
    """

    def __init__(
        self,
        network: LinkNetwork,
        loss: LinkLoss,
        encoder: SentenceTransformer,
        entities: Sequence[str],
        relations: Sequence[str],
        max_tokens: int,
    ) -> None:
        super().__init__(network, loss)
        self._entities = _EntityTower(encoder, entities, max_tokens)
        self._relation_tokens = tokenise(encoder, relations, max_tokens)

    def embed_entities(self, batch: LinkBatch) -> Tensor:
        """Encode the entities' texts."""
        vectors: Tensor = self._entities(batch)
        return vectors

    def embed_relations(self, relations: Tensor) -> Tensor:
        """Encode the relations' texts."""
        vectors: Tensor = self._entities.tower(
            [self._relation_tokens[number] for number in relations.tolist()]
        )
        return vectors


class BiEncoderLinkModel(LinkModel):
    """Trains an encoder of entities and an encoder of (head, relation) pairs, or one for both.

    Args:
        loss: The loss.
        encoder: The text encoder of entities, in float32.
        query: The text encoder of pairs: ``encoder`` itself, or another.
        entities: Text of every entity.
        relations: Text of every relation, inverses included.
        max_tokens: Texts and pairs are truncated to this many tokens.
    """

    def __init__(
        self,
        loss: LinkLoss,
        encoder: SentenceTransformer,
        query: SentenceTransformer,
        entities: Sequence[str],
        relations: Sequence[str],
        max_tokens: int,
    ) -> None:
        super().__init__(loss)
        self._entities = _EntityTower(encoder, entities, max_tokens)
        self.query_tower = None if query is encoder else TextTower(query)
        self._texts, self._relations, self._max_tokens = entities, relations, max_tokens

    def embed_entities(self, batch: LinkBatch) -> Tensor:
        """Encode the entities' texts."""
        vectors: Tensor = self._entities(batch)
        return vectors

    def embed_queries(self, batch: LinkBatch, entities: Tensor) -> Tensor:
        """Encode each head and its relation as one text; equal pairs are encoded once."""
        queries = np.stack([batch.entities[batch.heads], batch.relations], axis=1)
        unique, which = np.unique(queries, axis=0, return_inverse=True)
        pairs = [
            (self._texts[head], self._relations[relation]) for head, relation in unique.tolist()
        ]
        tower = self._entities.tower if self.query_tower is None else self.query_tower
        vectors: Tensor = tower(tokenise(tower.encoder, pairs, self._max_tokens))
        return vectors[torch.from_numpy(which.reshape(-1)).to(vectors.device)]
