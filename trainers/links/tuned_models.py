"""Trainable models of link prediction that train their text encoder: Hyper-CL and bi-encoders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn

from ontodex.encoders.hypernetwork import LinkNetwork
from ontodex.trainers.links.batches import LinkBatch
from ontodex.trainers.links.loss import LinkLoss
from ontodex.trainers.links.models import LinkModel, TriEncoderLinkModel
from ontodex.trainers.text_tower import TextTower, tokenise

__all__ = ["BiEncoderLinkModel", "TunedLinkModel"]


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


class TunedLinkModel(TriEncoderLinkModel):
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
