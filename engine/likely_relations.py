"""Which relation links two entities, if one does: what either is linked by, and what else would answer for the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import log_softmax, logsumexp

from ontodex.engine.known import Known
from ontodex.engine.projector import Projector
from ontodex.engine.resolve import Resolved
from ontodex.engine.search.raised import no_bonus
from ontodex.engine.search.topk import Searcher
from ontodex.graph import KnowledgeGraph, both_directions
from ontodex.indexers.evidence.likeness import Likeness
from ontodex.indexers.evidence.structure import add_bonuses

__all__ = ["LikelyRelations"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Asked = tuple[Resolved, NDArray[np.float32]]
"""An entity or a text, and its vector of shape (dim,)."""

MOST = 64
"""Relations that are told apart by what else they would lead to; of more, the likeliest by what both are linked by."""

PRODUCTS = 1 << 27
"""Entities times relations that are looked at for one pair, in both directions: of many entities fewer relations."""

AT_ONCE = 64
"""Relations whose scores of all entities are held at once."""

OWN = 5.0
"""Links of an entity that count as much as those of all that are like it."""

LIKE = 0.2
"""Likeness, summed over neighbours, that counts as much as the links of the whole graph."""


class LikelyRelations:
    """Tells how likely each relation of the graph is the one that links two entities, given that one does.

    By Bayes' rule, with head h, relation r and tail t, P(r | h, t) is proportional to P(r | h) P(t | h, r), and so on
    the tail's side. The first factor is the share of the relation among the links of the entity and of those of like
    text, the second the softmax of the scores by which tails are ranked. The mean of both sides counts. If but one of the
    two has links in the graph, only that side does on which it is the answer; if neither has any, answers are told apart
    by text alone, as all others have links that speak for them.

    Args:
        graph: The graph.
        known: What is known; a known answer other than the one in question is none that it must be told from.
        projector: Makes queries.
        searcher: Gives the search of a space.
    """

    def __init__(
        self, graph: KnowledgeGraph, known: Known, projector: Projector, searcher: Callable[[str], Searcher]
    ) -> None:
        self._graph, self._known, self._projector, self._searcher = graph, known, projector, searcher

    @cached_property
    def _counts(self) -> csr_matrix:
        """How many links each entity has by each relation, inverses from R on, of shape (entities, 2R)."""
        links = both_directions(self._graph.triples, self._graph.n_relations)
        ones = np.ones(len(links), dtype=np.float64)
        return csr_matrix((ones, (links[:, 0], links[:, 1])), (self._graph.n_entities, 2 * self._graph.n_relations))

    @cached_property
    def _whole(self) -> Floats:
        """The share of each relation among all links, one more of each, of shape (R,)."""
        counts = np.bincount(self._graph.triples[:, 1], minlength=self._graph.n_relations) + 1.0
        return np.asarray(counts / counts.sum())

    @cached_property
    def _likeness(self) -> Likeness:
        return Likeness(self._projector.entities)

    def of(self, head: Asked, tail: Asked, among: Rows, k: int) -> tuple[Rows, Floats]:
        """Return the ``k`` likeliest relations, and the logarithm of the chance that it is each, if it is one of ``among``.

        Args:
            head: An entity or a text, and its vector.
            tail: Likewise.
            among: Relations, ascending.
            k: How many.
        """
        by_head, by_tail = np.log(self._shares(head, False)[among]), np.log(self._shares(tail, True)[among])
        most = max(k, min(MOST, PRODUCTS // (2 * self._graph.n_entities)))
        if len(among) > most:
            likely = np.sort(np.argpartition(-(by_head + by_tail), most)[:most])
            among, by_head, by_tail = among[likely], by_head[likely], by_tail[likely]
        sides = []
        linked = self._linked(head[0]), self._linked(tail[0])
        if linked[1] or not linked[0]:
            sides.append(log_softmax(by_head + self._answers(head, tail, among, False)))
        if linked[0] or not linked[1]:
            sides.append(log_softmax(by_tail + self._answers(tail, head, among, True)))
        chances = logsumexp(sides, axis=0) - np.log(len(sides))
        best = np.lexsort((among, -chances))[:k]
        return among[best], chances[best]

    def _linked(self, entity: Resolved) -> bool:
        return entity.row is not None and self._counts[entity.row].nnz > 0

    def _shares(self, asked: Asked, backward: bool) -> Floats:
        """Return the share of each relation among the links of an entity, of shape (R,); none is zero."""
        count = self._graph.n_relations
        way = slice(count * backward, count * (1 + backward))
        entity, vector = asked
        row = np.array([-1 if entity.row is None else entity.row])
        near, likeness = self._likeness.of_all(vector[None], row)
        theirs = self._counts[near[0]][:, way]
        totals = np.asarray(theirs.sum(axis=1))[:, 0]
        weights = np.where(totals > 0, likeness[0], 0.0)
        summed = theirs.T @ (weights / np.maximum(totals, 1.0))
        alike = (summed + LIKE * self._whole) / (weights.sum() + LIKE)
        if entity.row is None:
            return np.asarray(alike)
        own = self._counts[row][:, way].toarray()[0]
        return np.asarray((own + OWN * alike) / (own.sum() + OWN))

    def _answers(self, asked: Asked, answer: Asked, relations: Rows, backward: bool) -> Floats:
        """Return the logarithm of the chance of one answer among all entities, for each relation, of shape (relations,)."""
        searcher = self._searcher(self._projector.space)
        unit = self._projector.score_unit
        entity, (wanted, vector) = asked[0], answer
        linked = self._linked(wanted)
        found = np.empty(len(relations))
        for start in range(0, len(relations), AT_ONCE):
            part = relations[start : start + AT_ONCE]
            queries, bonuses = self._projector.of_each(*asked, part, backward=backward)
            if not linked:
                queries[:, self._projector.entities.dim :], bonuses = 0.0, [no_bonus()] * len(part)
            scores = searcher.products(queries)
            add_bonuses(scores, bonuses)
            if wanted.row is None:
                mine = (queries[:, : len(vector)] @ vector) / unit
            else:
                mine = scores[:, wanted.row] / unit
                scores[:, wanted.row] = -np.inf
            for own, relation in zip(scores, part.tolist(), strict=True):
                own[self._apart(entity, relation, backward)] = -np.inf
            others = _log_of_sum(scores / np.float32(unit))
            found[start : start + AT_ONCE] = mine - np.logaddexp(mine, others)
        return found

    def _apart(self, asked: Resolved, relation: int, backward: bool) -> Rows:
        """Return the entities that an answer need not be told from: known answers, and the entity asked about."""
        if asked.row is None:
            return np.zeros(0, dtype=np.int64)
        known = self._known.heads(relation, asked.row) if backward else self._known.tails(asked.row, relation)
        return known if relation in self._known.reflexive else np.append(known, asked.row)


def _log_of_sum(scores: NDArray[np.float32]) -> Floats:
    """Return the logarithm of the sum of the exponentials of each row."""
    top = scores.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.exp(scores - top).sum(axis=1, dtype=np.float64)) + top[:, 0]
    return found
