"""Batches of triples for link prediction: every entity of a batch is encoded once and is a candidate of every query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import SettingsError, TrainingError
from ontodex.graph import KnowledgeGraph
from ontodex.graph.arrays import runs
from ontodex.graph.known_links import KnownLinks

__all__ = ["LinkBatch", "LinkBatches"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LinkBatch:
    """Queries (head, relation), and the candidates that each is to tell its tail from.

    Attributes:
        entities: Rows of the candidates, unique: those of the batch's triples first, then further negatives.
        fresh: Number of entities that come from the batch's triples.
        heads: Position of each query's head in ``entities``, of shape (queries,).
        relations: Relation of each query; those from R on are inverses.
        tails: Position of each query's tail in ``entities``.
        masked: (query, position) of every candidate that is true as well, of shape (n, 2).
    """

    entities: Ints
    fresh: int
    heads: Ints
    relations: Ints
    tails: Ints
    masked: Ints


class LinkBatches:
    """The batches of a training run, by number: the same for the same seed, so that a run can resume anywhere.

    Args:
        graph: Its known triples are learnt.
        steps: Number of batches.
        queries: Most queries in a batch, inverses counted.
        entities: Where the encoder is trained: entities of a batch. They are drawn in neighbourhoods of the graph, so that
            most of what a batch encodes is in several of its triples, and the candidates are near each other. 0 draws
            triples at random, for vectors that cost nothing.
        negatives: Further candidates: drawn from all entities, or taken from the last batches where ``entities`` is set.
        seed: Seed of all draws.

    Raises:
        TrainingError: If the graph has no triples.
    """

    NEIGHBOURHOOD = 32
    RUN = 16

    def __init__(
        self,
        graph: KnowledgeGraph,
        *,
        steps: int,
        queries: int,
        entities: int = 0,
        negatives: int = 0,
        seed: int = 0,
    ) -> None:
        if not graph.n_triples:
            raise TrainingError(f"{graph.source}: expected triples to learn from, found none")
        if min(steps, queries) < 1 or min(entities, negatives) < 0:
            raise SettingsError(
                f"expected at least one step and one query, found steps={steps}, queries={queries}"
            )
        self.n_entities = graph.n_entities
        self.n_relations = graph.n_relations
        self.steps, self.queries, self.size, self.negatives, self.seed = (
            steps,
            queries,
            entities,
            negatives,
            seed,
        )
        self._known = KnownLinks(graph.triples, graph.n_entities, graph.n_relations)
        self._triples = self._known.triples
        self._starts = np.searchsorted(self._triples[:, 0], np.arange(self.n_entities + 1))
        # One epoch's order serves many batches; an instance holds its own small caches.
        self._order = lru_cache(maxsize=1)(self._draw_order)
        self._neighbours = lru_cache(maxsize=2)(self._draw_neighbours)

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, step: int) -> LinkBatch:
        if not 0 <= step < self.steps:
            raise IndexError(step)
        rng = np.random.default_rng((self.seed, 1, step))
        if self.size:
            members = self._neighbourhoods(step)
            triples = self._among(members)
            if not len(triples):
                triples = self._random_triples(step)
                members = np.unique(triples[:, [0, 2]])
            if len(triples) > self.queries:
                triples = triples[np.sort(rng.choice(len(triples), self.queries, replace=False))]
            earlier = [
                self._neighbourhoods(past) for past in range(max(0, step - self.recall), step)
            ]
            further = np.unique(np.concatenate(earlier)) if earlier else np.zeros(0, dtype=np.int64)
        else:
            triples = self._random_triples(step)
            members = np.unique(triples[:, [0, 2]])
            further = np.unique(rng.integers(0, self.n_entities, self.negatives))
        return self._batch(members, further, triples)

    @property
    def recall(self) -> int:
        """Number of earlier batches whose vectors serve as negatives."""
        return self.negatives // self.size if self.size else 0

    def _batch(self, members: Ints, further: Ints, triples: Ints) -> LinkBatch:
        entities = np.concatenate([members, np.setdiff1d(further, members, assume_unique=True)])
        place = np.full(self.n_entities, -1, dtype=np.int64)
        place[entities] = np.arange(len(entities))
        query, true = self._known.follow(triples[:, 0], triples[:, 1])
        others = (place[true] >= 0) & (true != triples[query, 2])
        masked = np.stack([query[others], place[true[others]]], axis=1)
        return LinkBatch(
            entities,
            len(members),
            place[triples[:, 0]],
            triples[:, 1].copy(),
            place[triples[:, 2]],
            masked,
        )

    def _random_triples(self, step: int) -> Ints:
        per_epoch = max(1, len(self._triples) // self.queries)
        epoch, turn = divmod(step, per_epoch)
        return self._triples[self._order(epoch)[turn * self.queries : (turn + 1) * self.queries]]

    def _draw_order(self, epoch: int) -> Ints:
        """Order all triples at random, in runs of one relation: a batch then makes few projections."""
        rng = np.random.default_rng((self.seed, 2, epoch))
        shuffled = rng.permutation(len(self._triples))
        grouped = shuffled[np.argsort(self._triples[shuffled, 1], kind="stable")]
        relations = self._triples[grouped, 1]
        place = np.arange(len(grouped)) - np.searchsorted(relations, relations)
        run = np.cumsum(place % self.RUN == 0) - 1
        return grouped[np.argsort(rng.permutation(int(run[-1]) + 1)[run], kind="stable")]

    def _neighbourhoods(self, step: int) -> Ints:
        per_epoch = max(1, self.n_entities // self.size)
        epoch, turn = divmod(step, per_epoch)
        return np.sort(self._neighbours(epoch)[turn * self.size : (turn + 1) * self.size])

    def _among(self, members: Ints) -> Ints:
        """Return all triples, both directions, between the given entities."""
        inside = np.zeros(self.n_entities, dtype=bool)
        inside[members] = True
        _, places = runs(self._starts[members], self._starts[members + 1] - self._starts[members])
        outgoing = self._triples[places]
        kept: Ints = outgoing[inside[outgoing[:, 2]]]
        return kept

    def _draw_neighbours(self, epoch: int) -> Ints:
        """Order all entities so that graph neighbours stand together, from random starts; groups in random order."""
        rng = np.random.default_rng((self.seed, 3, epoch))
        free = np.ones(self.n_entities, dtype=bool)
        groups: list[list[int]] = []
        for start in rng.permutation(self.n_entities).tolist():
            if not free[start]:
                continue
            free[start] = False
            group, at = [start], 0
            while at < len(group) and len(group) < self.NEIGHBOURHOOD:
                near = self._triples[self._starts[group[at]] : self._starts[group[at] + 1], 2]
                near = np.unique(near[free[near]])
                taken = rng.permutation(near)[: self.NEIGHBOURHOOD - len(group)]
                free[taken] = False
                group.extend(taken.tolist())
                at += 1
            groups.append(group)
        return np.array(
            [row for number in rng.permutation(len(groups)).tolist() for row in groups[number]],
            dtype=np.int64,
        )
