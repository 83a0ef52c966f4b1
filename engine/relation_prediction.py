"""Relations between two entities, by link prediction in both directions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows
from ontodex.engine.known import Known
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.resolve import ResolvedTerm
from ontodex.engine.search.score_offsets import no_offsets
from ontodex.engine.search.topk import Searcher
from ontodex.graph import KnowledgeGraph, both_directions
from ontodex.scoring.graph_features import add_offsets
from ontodex.scoring.similarity import EntitySimilarity

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["RelationPrediction"]

Floats = NDArray[np.float64]
EncodedTerm = tuple[ResolvedTerm, NDArray[np.float32]]
"""An entity or a text, and its vector of shape (dim,)."""

MAX_RELATIONS = 64
"""Maximal number of relations that are scored by tail and head prediction. If there are more, those
with the largest priors are scored."""

PRODUCTS = 1 << 27
"""Maximal number of scores for one pair of entities. In a graph with many entities, it reduces the
number of relations that are scored."""

BLOCK = 64
"""Number of relations in one block."""

OWN_PRIOR = 5.0
"""Number of an entity's own links that weigh as much as all links of its neighbours."""

GRAPH_PRIOR = 0.2
"""Sum of similarities at which the neighbours' links weigh as much as all links of the graph."""


class RelationPrediction:
    """Predicts which relation links two entities, given that exactly one does.

    By Bayes' rule, with head h, relation r and tail t, P(r | h, t) is proportional to the product
    of P(r | h) and P(t | h, r). The first factor, the prior, is the share of the relation among the
    links of the head and of its nearest neighbours by text. The second factor is the softmax of the
    scores of tail prediction. The same holds with the roles of head and tail exchanged. The result
    is the mean of both probabilities.

    If only one of the two entities has links in the graph, only the direction in which the linked
    entity is the answer is used. An answer without links is scored by text alone, as it lacks the
    graph features that other entities have.

    Args:
        graph: The graph.
        known: Known triples. Known answers other than the scored one, and answers that are
            impossible, are excluded from the softmax.
        link_queries: Makes the query vectors.
        searcher: Returns the searcher of a space, given its name.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        known: Known,
        link_queries: LinkQueries,
        searcher: Callable[[str], Searcher],
    ) -> None:
        self._graph, self._known, self._queries, self._searcher = (
            graph,
            known,
            link_queries,
            searcher,
        )

    @cached_property
    def _counts(self) -> csr_matrix:
        """Number of links of each entity by each relation, a sparse matrix of shape (entities, 2R).

        Column r counts links by relation r, and column R + r links by its inverse.
        """
        from scipy.sparse import csr_matrix

        links = both_directions(self._graph.triples, self._graph.n_relations)
        ones = np.ones(len(links), dtype=np.float64)
        return csr_matrix(
            (ones, (links[:, 0], links[:, 1])),
            (self._graph.n_entities, 2 * self._graph.n_relations),
        )

    @cached_property
    def _relation_shares(self) -> Floats:
        """Share of each relation among all links, with add-one smoothing, of shape (R,)."""
        counts = np.bincount(self._graph.triples[:, 1], minlength=self._graph.n_relations) + 1.0
        return np.asarray(counts / counts.sum())

    @cached_property
    def _similarity(self) -> EntitySimilarity:
        return EntitySimilarity(self._queries.entities)

    def of(self, head: EncodedTerm, tail: EncodedTerm, among: Rows, k: int) -> tuple[Rows, Floats]:
        """Return the ``k`` most probable relations of ``among``, and their log-probabilities.

        Args:
            head: An entity or a text, and its vector.
            tail: An entity or a text, and its vector.
            among: Numbers of the candidate relations, ascending.
            k: Number of relations.
        """
        from scipy.special import log_softmax, logsumexp

        by_head, by_tail = (
            np.log(self._shares(head, False)[among]),
            np.log(self._shares(tail, True)[among]),
        )
        most = max(k, min(MAX_RELATIONS, PRODUCTS // (2 * self._graph.n_entities)))
        if len(among) > most:
            best = np.sort(np.argpartition(-(by_head + by_tail), most)[:most])
            among, by_head, by_tail = among[best], by_head[best], by_tail[best]
        sides = []
        linked = self._linked(head[0]), self._linked(tail[0])
        if linked[1] or not linked[0]:
            sides.append(log_softmax(by_head + self._answers(head, tail, among, False)))
        if linked[0] or not linked[1]:
            sides.append(log_softmax(by_tail + self._answers(tail, head, among, True)))
        probabilities = logsumexp(sides, axis=0) - np.log(len(sides))
        best = np.lexsort((among, -probabilities))[:k]
        return among[best], probabilities[best]

    def _linked(self, entity: ResolvedTerm) -> bool:
        return entity.row is not None and self._counts[entity.row].nnz > 0

    def _shares(self, term: EncodedTerm, backward: bool) -> Floats:
        """Return the prior of each relation, of shape (R,), all above zero.

        Args:
            term: The entity or text.
            backward: Count links of which the entity is the tail, instead of the head.
        """
        count = self._graph.n_relations
        way = slice(count * backward, count * (1 + backward))
        entity, vector = term
        row = np.array([-1 if entity.row is None else entity.row])
        near, similarity = self._similarity.of_all(vector[None], row)
        theirs = self._counts[near[0]][:, way]
        totals = np.asarray(theirs.sum(axis=1))[:, 0]
        weights = np.where(totals > 0, similarity[0], 0.0)
        summed = theirs.T @ (weights / np.maximum(totals, 1.0))
        shares = (summed + GRAPH_PRIOR * self._relation_shares) / (weights.sum() + GRAPH_PRIOR)
        if entity.row is None:
            return np.asarray(shares)
        own = self._counts[row][:, way].toarray()[0]
        return np.asarray((own + OWN_PRIOR * shares) / (own.sum() + OWN_PRIOR))

    def _answers(
        self, given: EncodedTerm, answer: EncodedTerm, relations: Rows, backward: bool
    ) -> Floats:
        """Return the log-softmax of one answer among all entities, for each relation.

        Args:
            given: Entity of the question.
            answer: The answer.
            relations: Numbers of the relations.
            backward: Whether the answer is the head.

        Returns:
            ``float64`` of shape (relations,).
        """
        searcher = self._searcher(self._queries.space)
        unit = self._queries.score_unit
        entity, (wanted, vector) = given[0], answer
        linked = self._linked(wanted)
        found = np.empty(len(relations))
        for start in range(0, len(relations), BLOCK):
            part = relations[start : start + BLOCK]
            queries, offsets = self._queries.by_each(*given, part, backward=backward)
            if not linked:
                queries[:, self._queries.entities.dim :], offsets = (
                    0.0,
                    [no_offsets()] * len(part),
                )
            scores = searcher.products(queries)
            add_offsets(scores, offsets)
            if wanted.row is None:
                mine = (queries[:, : len(vector)] @ vector) / unit
            else:
                mine = scores[:, wanted.row] / unit
                scores[:, wanted.row] = -np.inf
            for own, relation in zip(scores, part.tolist(), strict=True):
                own[self._excluded(entity, relation, backward)] = -np.inf
            others = _log_of_sum(scores / np.float32(unit))
            found[start : start + BLOCK] = mine - np.logaddexp(mine, others)
        return found

    def _excluded(self, entity: ResolvedTerm, relation: int, backward: bool) -> Rows:
        """Return the entities excluded from the softmax: known and impossible answers."""
        if entity.row is None:
            return np.zeros(0, dtype=np.int64)
        known = self._known.answers(entity.row, relation, backward=backward)
        return np.union1d(known, self._known.impossible(entity.row, relation, backward=backward))


def _log_of_sum(scores: NDArray[np.float32]) -> Floats:
    """Return the log of the sum of exponentials of each row."""
    top = scores.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.exp(scores - top).sum(axis=1, dtype=np.float64)) + top[:, 0]
    return found
