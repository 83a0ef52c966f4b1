"""Known triples in both directions, looked up by arrays of entities and relations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.arrays import distinct, runs, spans, within
from ontodex.graph.knowledge_graph import both_directions

__all__ = ["KnownLinks"]

MANY = 20
"""Queries with this many known tails or more are counted together."""

SMOOTHED = 0.5
"""Pseudo-count, added to the number of queries with more tails and of queries without."""

Rows = NDArray[np.int64]


class KnownLinks:
    """Looks up the known tails of (entity, relation) queries.

    R is the number of relations of the graph. Relations with numbers R and above are inverses: the
    inverse of relation r has the number r + R.

    Args:
        triples: Head, relation and tail, of shape (n, 3).
        n_entities: Number of entities.
        n_relations: R.

    Attributes:
        n_entities: Number of entities.
        n_relations: Number of relations and inverses, 2R.
        triples: Distinct triples and inverse triples, ascending, of shape (links, 3).

    Example:
        >>> links = KnownLinks(np.array([[0, 0, 1], [0, 0, 2]]), 3, 1)
        >>> # Tails of (2, inverse relation) and of (0, relation)
        >>> origins, tails = links.follow(np.array([2, 0]), np.array([1, 0]))
        >>> origins.tolist(), tails.tolist()
        ([0, 1, 1], [0, 1, 2])
    """

    def __init__(self, triples: NDArray[np.integer], n_entities: int, n_relations: int) -> None:
        self.n_entities, self.n_relations = n_entities, 2 * n_relations
        heads, relations, tails = both_directions(triples, n_relations).astype(np.int64).T
        self._keys = distinct(self._key(heads, relations) * n_entities + tails)
        self._questions, tails = np.divmod(self._keys, n_entities)
        self.triples: Rows = np.stack(
            [*np.divmod(self._questions, self.n_relations), tails], axis=1
        )

    def _key(self, entities: NDArray[np.integer], relations: NDArray[np.integer]) -> Rows:
        return np.asarray(entities, dtype=np.int64) * self.n_relations + relations

    def spans(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> tuple[Rows, Rows]:
        """Return the first position in :attr:`triples` of each query, and its number of tails."""
        return spans(self._questions, self._key(entities, relations))

    @cached_property
    def _going_on(self) -> NDArray[np.float64]:
        """Log probability of more tails, of shape (2R, MANY + 1), by number of known tails."""
        questions, counts = np.unique(self._questions, return_counts=True)
        relations = questions % self.n_relations
        exactly = np.zeros((self.n_relations, MANY + 2))
        np.add.at(exactly, (relations, np.minimum(counts, MANY + 1)), 1)
        at_least = np.flip(np.cumsum(np.flip(exactly, axis=1), axis=1), axis=1)
        usual = np.log((at_least[:, 1:] + SMOOTHED) / (at_least[:, :-1] + 2 * SMOOTHED))
        usual[:, 0] = 0.0
        return usual

    def going_on(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """Return the log probability that a query has more tails than the known ones.

        For a query with k known tails, the probability is the smoothed share of queries with more
        than k tails, among the queries of the same relation with at least k tails. It is very low
        if no entity has more tails: a person has one place of birth. For a query without known
        tails, the result is 0.

        Args:
            entities: Rows of the queries' entities, of shape (n,).
            relations: Relations of the queries, of shape (n,).

        Returns:
            ``float64`` of shape (n,).
        """
        counts = np.minimum(self.spans(entities, relations)[1], MANY)
        usual: NDArray[np.float64] = self._going_on[relations, counts]
        return usual

    def follow(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer], most: int | None = None
    ) -> tuple[Rows, Rows]:
        """Return the known tails of queries.

        Args:
            entities: Rows, of shape (n,).
            relations: Relations, of shape (n,).
            most: If given, queries with more than this many tails are left out.

        Returns:
            Position of the query of each tail, ascending, and the tail; each of shape (tails,).
        """
        starts, counts = self.spans(entities, relations)
        if most is not None:
            counts[counts > most] = 0
        questions, places = runs(starts, counts)
        return questions, self.triples[places, 2]

    def tails(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> Iterator[Rows]:
        """Yield the known tails of each query, ascending."""
        for start, count in zip(*self.spans(entities, relations), strict=True):
            yield self.triples[start : start + count, 2]

    def links_of(self, entity: int) -> tuple[Rows, Rows]:
        """Return the relations and tails of all links of an entity."""
        first, last = np.searchsorted(
            self._questions, [entity * self.n_relations, (entity + 1) * self.n_relations]
        )
        return self.triples[first:last, 1], self.triples[first:last, 2]

    def known(
        self,
        entities: NDArray[np.integer],
        relations: NDArray[np.integer],
        tails: NDArray[np.integer],
    ) -> NDArray[np.bool_]:
        """Return whether each triple is known; the shapes of the arguments broadcast."""
        return within(self._keys, self._key(entities, relations) * self.n_entities + tails)

    def inverse(self, relations: NDArray[np.integer]) -> Rows:
        """Return the inverse of each relation."""
        turned: Rows = (
            np.asarray(relations, dtype=np.int64) + self.n_relations // 2
        ) % self.n_relations
        return turned
