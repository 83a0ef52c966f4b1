"""A PyKEEN model that gives the same ranking as ontodex."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from numpy.typing import NDArray
from pykeen.models import DistMult
from pykeen.predict import predict_target
from pykeen.triples import TriplesFactory

from ontodex.graph import KnowledgeGraph

__all__ = ["DistMultPeer"]

# PyKEEN itself triggers this warning.
warnings.filterwarnings("ignore", "The given NumPy array is not writable", UserWarning)


class DistMultPeer:
    """PyKEEN's DistMult over given vectors; the score of (h, r, t) is the product (h * r) @ t.

    Args:
        vectors: Entity vectors of shape (n, dim).
        graph: Ids, relations and known triples.
        seed: Seed of the relation vectors.
    """

    def __init__(self, vectors: NDArray[np.float32], graph: KnowledgeGraph, seed: int) -> None:
        self._vectors = vectors
        rng = np.random.default_rng((seed, 4))
        self._relations = 1 + 0.1 * rng.standard_normal(
            (graph.n_relations, vectors.shape[1]), dtype=np.float32
        )
        self.known = torch.from_numpy(graph.triples.astype(np.int64))
        self.factory = TriplesFactory(
            mapped_triples=self.known,
            entity_to_id={name: row for row, name in enumerate(graph.ids)},
            relation_to_id={name: row for row, name in enumerate(graph.relation_ids)},
        )
        self.model = DistMult(
            triples_factory=self.factory, embedding_dim=vectors.shape[1], random_seed=seed
        )
        self.model.eval()
        for held, wanted in zip(
            (*self.model.entity_representations, *self.model.relation_representations),
            (vectors, self._relations),
            strict=True,
        ):
            held._embeddings.weight.data = torch.from_numpy(wanted)

    def query(self, head: int, relation: int) -> NDArray[np.float32]:
        """Return the unit vector, shape (1, dim), whose inner products rank as the scores do."""
        product = self._vectors[head] * self._relations[relation]
        found: NDArray[np.float32] = (product / np.linalg.norm(product))[None].astype(np.float32)
        return found

    def tails(self, head: str, relation: str, k: int) -> list[str]:
        """Return the best unknown tails, as in the documentation of PyKEEN."""
        predicted = predict_target(
            self.model, head=head, relation=relation, triples_factory=self.factory
        )
        return [str(name) for name in predicted.filter_triples(self.known).df["tail_label"].head(k)]
