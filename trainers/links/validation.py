"""Validation of link prediction in training: the filtered rank of held-out tails."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ontodex.graph import KnowledgeGraph
from ontodex.graph.known_links import KnownLinks
from ontodex.trainers.links.models import FrozenLinkModel

__all__ = ["ValidationRank"]

QUERIES = 1024
"""Largest number of validation queries, inverses included."""

BLOCK = 128
"""Queries whose scores of all entities are in memory at once."""


class ValidationRank:
    """Measures the mean reciprocal rank of a model's answers to validation queries.

    Candidates are all entities except the query's entity and its other known tails; ties count
    half.

    Args:
        graph: A graph with validation triples.
        model: The model in training.
        seed: Seed of the sample of validation triples, if there are more than 512.
    """

    def __init__(self, graph: KnowledgeGraph, model: FrozenLinkModel, seed: int) -> None:
        valid = graph.valid.astype(np.int64)
        chosen = np.random.default_rng((seed, 4)).permutation(len(valid))[: QUERIES // 2]
        heads, relations, tails = valid[chosen].T
        self._model = model
        self._entities = np.concatenate([heads, tails])
        self._relations = np.concatenate([relations, relations + graph.n_relations])
        self._answers = np.concatenate([tails, heads])
        known = KnownLinks(
            np.concatenate([graph.triples, graph.valid]), graph.n_entities, graph.n_relations
        )
        self._queries, self._tails = known.follow(self._entities, self._relations)

    @torch.inference_mode()
    def __call__(self) -> float:
        """Return the mean reciprocal rank."""
        vectors = self._model.all_entities()
        reciprocal = []
        for start in range(0, len(self._entities), BLOCK):
            block = slice(start, start + BLOCK)
            heads = vectors[torch.from_numpy(self._entities[block]).to(vectors.device)]
            scores = self._model.project(heads, self._relations[block]) @ vectors.T
            reciprocal.append(self._reciprocal(scores, start))
        return float(torch.cat(reciprocal).mean())

    def _reciprocal(self, scores: Tensor, start: int) -> Tensor:
        """Return the reciprocal ranks of a block of queries, the first of which is ``start``."""
        block = slice(start, start + len(scores))
        known = slice(*np.searchsorted(self._queries, [block.start, block.stop]))
        answers, own, queries, tails = (
            torch.from_numpy(array).to(scores.device)
            for array in (
                self._answers[block],
                self._entities[block],
                self._queries[known] - start,
                self._tails[known],
            )
        )
        rows = torch.arange(len(scores), device=scores.device)
        true = scores[rows, answers]
        scores[queries, tails] = -torch.inf
        scores[rows, own] = -torch.inf
        scores[rows, answers] = true
        better, as_good = ((scores > true[:, None]).sum(1), (scores == true[:, None]).sum(1))
        return 1 / (better + (as_good + 1) / 2)
