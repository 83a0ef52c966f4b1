"""Batches of triples for link prediction; all entities of a batch are candidates of all queries."""

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
    """Queries (head, relation) and their candidate tails.

    Attributes:
        entities: Distinct rows of the candidates: entities of the batch's triples, then additional
            negatives.
        fresh: Number of entities from the batch's triples.
        heads: Position of each query's head in ``entities``, of shape (queries,).
        relations: Relation of each query, of shape (queries,); numbers of at least R, the number of
            relations, are inverses.
        tails: Position of each query's tail in ``entities``, of shape (queries,).
        masked: (query, position) of every other candidate that is a true tail, of shape (n, 2).
    """

    entities: Ints
    fresh: int
    heads: Ints
    relations: Ints
    tails: Ints
    masked: Ints


class LinkBatches:
    """Batches of a training run, indexed by step; equal seeds give equal batches, for resuming.

    Args:
        graph: The graph, whose known triples are the training triples.
        steps: Number of batches.
        queries: Largest number of queries in a batch, inverses included.
        entities: Number of entities in a batch when the text encoder is trained, drawn from
            neighbourhoods of the graph, so that each encoded entity is in several triples and the
            candidates are similar. 0 draws random triples, for precomputed vectors.
        negatives: Number of additional negatives: random entities if ``entities`` is 0, otherwise
            the entities of the previous batches.
        seed: Seed of all draws.

    Raises:
        TrainingError: If the graph has no triples.
        SettingsError: If a number is out of range.
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
            raise TrainingError(f"{graph.source}: expected triples to train on, found none")
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
        # All batches of an epoch use the same order; each instance has its own small caches.
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
            previous = [
                self._neighbourhoods(past) for past in range(max(0, step - self.recall), step)
            ]
            further = (
                np.unique(np.concatenate(previous)) if previous else np.zeros(0, dtype=np.int64)
            )
        else:
            triples = self._random_triples(step)
            members = np.unique(triples[:, [0, 2]])
            further = np.unique(rng.integers(0, self.n_entities, self.negatives))
        return self._batch(members, further, triples)

    @property
    def recall(self) -> int:
        """Number of previous batches whose entities are additional negatives."""
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
        """Return all triples in random order, with runs of triples of the same relation.

        A batch then has few relations, so that few projections are computed.
        """
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
        """Return all triples between the given entities, in both directions."""
        inside = np.zeros(self.n_entities, dtype=bool)
        inside[members] = True
        _, places = runs(self._starts[members], self._starts[members + 1] - self._starts[members])
        outgoing = self._triples[places]
        inner: Ints = outgoing[inside[outgoing[:, 2]]]
        return inner

    def _draw_neighbours(self, epoch: int) -> Ints:
        """Return all entities grouped by neighbourhoods, which grow from random entities.

        The groups are in random order.
        """
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
