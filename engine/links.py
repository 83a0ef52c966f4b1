"""Link prediction: tails, heads and relations; entry to link discovery and explanation."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import log_softmax, logsumexp

from ontodex.engine.answers import (
    Answer,
    Rows,
    Scored,
    answered,
    checked,
    hits_of,
    left_out,
    no_rows,
    own_row,
)
from ontodex.engine.batches import answer_each, single
from ontodex.engine.discovery import LinkDiscovery
from ontodex.engine.explanation import LinkExplanation
from ontodex.engine.known import CHOICES, Known
from ontodex.engine.lifecycle import guarded
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.rerank import Reranker
from ontodex.engine.resolve import (
    Fits,
    ResolvedTerm,
    expect_pairs,
    expect_words,
    for_hints,
    resolve_entity,
    resolve_relation,
)
from ontodex.engine.resources import Resources
from ontodex.engine.results.explanation import Explanation
from ontodex.engine.results.hits import Hit, Hits
from ontodex.engine.results.missing_links import MissingLinks
from ontodex.engine.search.score_offsets import no_offsets
from ontodex.engine.search.topk import Searcher
from ontodex.errors import LookupFailed, expect_choice
from ontodex.graph import KnowledgeGraph, both_directions
from ontodex.scoring.graph_features import Offsets, add_offsets
from ontodex.scoring.name_similarity import NameSimilarity
from ontodex.scoring.similarity import EntitySimilarity

__all__ = ["LinkQuestions", "Links", "RelationPrediction"]

Floats = NDArray[np.float64]
EncodedTerm = tuple[ResolvedTerm, NDArray[np.float32]]
"""An entity or a text, and its vector of shape (dim,)."""

MAX_RELATIONS = 64
"""Maximal number of relations that are scored by tail and head prediction; of more relations, those
with the largest priors."""

PRODUCTS = 1 << 27
"""Maximal number of scores for one pair of entities: a graph with many entities has fewer relations
scored."""

BLOCK = 64
"""Relations in one block."""

OWN_PRIOR = 5.0
"""Number of an entity's own links that have the same weight as the links of its neighbours."""

GRAPH_PRIOR = 0.2
"""Sum of similarities that gives the neighbours' links the same weight as those of the full
graph."""


class RelationPrediction:
    """Predicts which relation links two entities, given that exactly one does.

    By Bayes' rule, with head h, relation r and tail t, P(r | h, t) is proportional to P(r | h) P(t
    | h, r). The first factor, the prior, is the share of the relation among the links of the entity
    and of its nearest neighbours by text. The second factor is the softmax of the scores of tail
    prediction. The same holds with the roles of head and tail exchanged, and the mean of both
    probabilities is the result.

    If only one of the two entities has links in the graph, only the direction in which it is the
    answer is used. An answer without links is scored by text alone, as other entities have graph
    features that it lacks.

    Args:
        graph: The graph.
        known: Known triples; other known answers are excluded from the softmax.
        link_queries: Makes queries.
        searcher: Returns the search of a space.
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
        """Number of links of each entity by each relation, inverses from R on; (entities, 2R)."""
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
        """Return the ``k`` most probable of some relations, and their log-probabilities.

        Args:
            head: An entity or a text, and its vector.
            tail: An entity or a text, and its vector.
            among: Relations, ascending.
            k: Number of relations.
        """
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
        """Return the prior of each relation for an entity, of shape (R,); none is zero."""
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
        """Return the log-softmax of one answer among all entities, of shape (relations,)."""
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
        """Return the entities excluded from the softmax: known answers, and the entity itself."""
        if entity.row is None:
            return np.zeros(0, dtype=np.int64)
        known = (
            self._known.heads(relation, entity.row)
            if backward
            else self._known.tails(entity.row, relation)
        )
        return known if relation in self._known.reflexive else np.append(known, entity.row)


def _log_of_sum(scores: NDArray[np.float32]) -> Floats:
    """Return the log of the sum of exponentials of each row."""
    top = scores.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.exp(scores - top).sum(axis=1, dtype=np.float64)) + top[:, 0]
    return found


@guarded("missing", "why")
class LinkQuestions:
    """Questions about links; a part of :class:`~ontodex.engine.engine.Engine`."""

    graph: KnowledgeGraph
    _links: Links

    def tails(self, head: str, relation: str, k: int = 10, known: str = "exclude") -> Hits:
        """Rank entities as tails of ``head`` and ``relation`` (link prediction).

        ``head`` itself is excluded, unless the graph links some entity to itself by ``relation``.

        Args:
            head: An entity or any text.
            relation: A relation of the graph, "inverse " before one, or the text of one that the
                graph does not have.
            k: Number of hits.
            known: ``"exclude"`` excludes known tails, ``"include"`` marks them, ``"only"`` ranks
                them alone.

        Raises:
            UnknownEntity: If the graph does not have a CURIE or IRI of an entity.
            UnknownRelation: If the graph does not have a CURIE or IRI of a relation.
            SettingsError: If ``k`` is below 1, ``known`` is another value, or a text is empty.
        """
        return single(self.tails_batch([(head, relation)], k, known))

    def tails_batch(
        self, questions: Sequence[tuple[str, str]], k: int = 10, known: str = "exclude"
    ) -> list[Hits]:
        """Answer a batch of (head, relation) questions; see :meth:`tails`."""
        ask = self._links.ends
        return self._each_pair(
            "tails", ("head", "relation"), questions, lambda some: ask("tails", some, k, known)
        )

    def heads(self, relation: str, tail: str, k: int = 10, known: str = "exclude") -> Hits:
        """Rank entities as heads of ``relation`` and ``tail``; see :meth:`tails`."""
        return single(self.heads_batch([(relation, tail)], k, known))

    def heads_batch(
        self, questions: Sequence[tuple[str, str]], k: int = 10, known: str = "exclude"
    ) -> list[Hits]:
        """Answer a batch of (relation, tail) questions; see :meth:`heads`."""

        def ask(some: list[tuple[str, str]]) -> list[Hits]:
            turned = [(tail, relation) for relation, tail in some]
            return self._links.ends("heads", turned, k, known)

        return self._each_pair("heads", ("relation", "tail"), questions, ask)

    def relations(self, head: str, tail: str, k: int = 10, known: str = "include") -> Hits:
        """Rank the relations of the graph by the probability that they link ``head`` to ``tail``.

        The probability is given that exactly one of the ranked relations holds; the score is its
        logarithm. It combines the share of the relation among the links of similar entities with
        the scores of tail and head prediction as in :meth:`tails`. Of a graph with more than 64
        relations, the 64 with the largest shares are ranked, or ``k`` if that is more.

        Args:
            head: An entity or any text.
            tail: An entity or any text.
            k: Number of hits.
            known: ``"include"`` marks known relations of the two, ``"exclude"`` excludes them,
                ``"only"`` ranks them alone.

        Raises:
            UnknownEntity: If the graph does not have a CURIE or IRI of an entity.
            SettingsError: If ``k`` is below 1, ``known`` is another value, or a text is empty.
        """
        return single(self.relations_batch([(head, tail)], k, known))

    def relations_batch(
        self, questions: Sequence[tuple[str, str]], k: int = 10, known: str = "include"
    ) -> list[Hits]:
        """Answer a batch of (head, tail) questions; see :meth:`relations`."""
        ask = self._links.between
        return self._each_pair(
            "relations", ("head", "tail"), questions, lambda some: ask(some, k, known)
        )

    def _each_pair(
        self,
        question: str,
        roles: tuple[str, str],
        pairs: Sequence[tuple[str, str]],
        ask: Callable[[list[tuple[str, str]]], list[Hits]],
    ) -> list[Hits]:
        """Answer a batch of questions of two texts each, with the error of one in its place."""

        def failed(pair: tuple[str, str], error: LookupFailed) -> Hits:
            return Hits.failed(question, dict(zip(roles, pair, strict=True)), error, self.graph)

        return answer_each(ask, expect_pairs(pairs), failed)

    def missing(
        self, relation: str | None = None, k: int = 20, *, linked: bool = True, quiet: bool = False
    ) -> MissingLinks:
        """Find the most probable missing links of the full graph (link discovery).

        Every head and relation with known tails, or with a tail by a confident rule, is asked as in
        :meth:`tails`, and every relation and tail likewise. Their best twenty answers are
        candidates. The probability of a candidate is a logistic regression on its share of the
        question's softmax, the number of known answers and the confidence of rules. It is fitted to
        held-out links: the validation triples of the graph or, if there are fewer than 50, a
        twentieth of the triples, at least 50 and at most 5,000. It is calibrated if as many links
        are missing as were held out.

        Triples for validation and test are not known, and may be found. Links implied by the
        hierarchy are not missing. A graph of 15,000 entities and 270,000 triples takes 3 minutes on
        one core.

        Args:
            relation: Restrict to this relation; by default all relations.
            k: Number of links.
            linked: Include links between entities that another relation links.
            quiet: Show no progress on stderr.

        Raises:
            UnknownRelation: If the graph does not have the relation.
            SettingsError: If ``k`` is below 1.
            IndexMismatch: If the index has no link encoder.
        """
        return self._links.discovery.links(relation, k, linked=linked, quiet=quiet)

    def why(self, head: str, relation: str, tail: str, k: int = 3) -> Explanation:
        """Explain the score and rank of ``tail`` as an answer to :meth:`tails`.

        The score is split into the contributions of text, ComplEx, type constraint, similar
        entities and rules. Each contribution is relative to the mean over all entities, so it may
        be negative. Similar entities and rules have the known links behind them. An answer to
        :meth:`heads` is explained by the inverse: ``why(tail, "inverse …", head)``. A cross-encoder
        is not part of the explanation.

        Args:
            head: An entity or any text.
            relation: A relation of the graph, "inverse " before one, or the text of one that the
                graph does not have.
            tail: An entity of the graph.
            k: Number of links, or paths, of each kind.

        Raises:
            UnknownEntity: If the graph does not have a CURIE or IRI of an entity, or the tail is
                free text.
            UnknownRelation: If the graph does not have a CURIE or IRI of a relation.
            SettingsError: If ``k`` is below 1, or a text is empty.
        """
        return self._links.why(head, relation, tail, k)


METHOD = "log-probability of the relation: shares among similar entities + tail and head prediction"


class Links:
    """Answers questions about links; see :class:`~ontodex.engine.engine.Engine`.

    Args:
        resources: Encoders and scorers of an opened index.
        searcher: Returns the search of a space.
        known: Known triples of the index, and further ones.
        rerank: Folder of a cross-encoder that re-ranks the best answers.
    """

    def __init__(
        self,
        resources: Resources,
        searcher: Callable[[str], Searcher],
        known: Known,
        rerank: Path | None = None,
    ) -> None:
        self._resources, self._graph = resources, resources.index.graph
        self._known = known
        self._queries = LinkQueries(resources)
        self._searcher = searcher
        self._relation_prediction = RelationPrediction(
            self._graph, self._known, self._queries, searcher
        )
        self.discovery = LinkDiscovery(resources, self._known, self._queries, searcher)
        self._explanation = LinkExplanation(resources, self._queries, searcher)
        self._reranker: Reranker | None = None
        if rerank is not None:
            self._reranker = Reranker(
                rerank, self._graph, unit=self._queries.score_unit, device=resources.device
            )

    def ends(
        self, question: str, questions: Sequence[tuple[str, str]], k: int, known: str
    ) -> list[Hits]:
        """Answer (entity, relation) questions for ``"tails"``, or ``"heads"``."""
        expect_choice("known", known, CHOICES)
        k = checked(k)
        start = time.perf_counter()
        given = "tail" if question == "heads" else "head"
        answers = [Answer()] * len(questions)
        for backward, places, entities, relations in self._by_direction(
            questions, backward=question == "heads"
        ):
            found = self._in_direction(entities, relations, backward, k, known)
            for at, entity, relation, answer in zip(
                places, entities, relations, found, strict=True
            ):
                resolutions = {given: entity.resolution, "relation": relation.resolution}
                answers[at] = replace(answer, resolutions=resolutions)
        return answered(self._graph, question, answers, start)

    def embed(
        self, questions: Sequence[tuple[str, str]], *, text_alone: bool
    ) -> NDArray[np.float32]:
        """Return the queries of (head, relation) questions for tails, of shape (questions, dim).

        Args:
            questions: The questions; the index has a link encoder.
            text_alone: Return queries of the link space, not of the hybrid space.
        """
        made = np.zeros((len(questions), 0), dtype=np.float32)
        for backward, places, entities, relations in self._by_direction(questions, backward=False):
            queries = self._queries.vectors_of_terms(
                entities, relations, backward=backward, text_alone=text_alone
            )
            made = (
                made
                if made.shape[1]
                else np.empty((len(questions), queries.shape[1]), dtype=np.float32)
            )
            made[places] = queries
        return made

    def _by_direction(
        self, questions: Sequence[tuple[str, str]], *, backward: bool
    ) -> Iterator[tuple[bool, list[int], list[ResolvedTerm], list[ResolvedTerm]]]:
        """Resolve (entity, relation) questions; yield those for tails, then those for heads.

        Args:
            questions: The questions.
            backward: Whether they are for heads, by the relation as it is given.

        Yields:
            Whether the questions are for heads; their places, entities and relations.
        """
        relations = [resolve_relation(self._graph, relation) for _, relation in questions]
        names = for_hints(self._resources.name_similarity, len(questions))
        ways = [backward != relation.inverted for relation in relations]
        entities = [
            resolve_entity(self._graph, entity, fits=self._linked(relation, way), names=names)
            for (entity, _), relation, way in zip(questions, relations, ways, strict=True)
        ]
        for chosen in (False, True):
            if places := [at for at, way in enumerate(ways) if way == chosen]:
                yield (
                    chosen,
                    places,
                    [entities[at] for at in places],
                    [relations[at] for at in places],
                )

    def _in_direction(
        self,
        entities: Sequence[ResolvedTerm],
        relations: Sequence[ResolvedTerm],
        backward: bool,
        k: int,
        known: str,
    ) -> list[Answer]:
        """Answer each question for tails, or for heads if ``backward``, without resolutions."""
        true = [
            self._known_answers(entity.row, relation.row, backward)
            for entity, relation in zip(entities, relations, strict=True)
        ]
        queries, offsets = self._queries.of_terms(entities, relations, backward=backward)
        excluded = [
            self._left_out(rows, entity, relation)
            for rows, entity, relation in zip(
                true if known == "exclude" else [no_rows()] * len(true),
                entities,
                relations,
                strict=True,
            )
        ]
        method = self._queries.method
        if self._reranker is None:
            found = self._ranked(queries, offsets, k, known, true, excluded)
        else:
            count = max(k, self._reranker.top)
            found = self._ranked(queries, offsets, count, known, true, excluded)
            texts = self._reranker.questions(entities, relations, backward=backward)
            found = [
                (rows[:k], scores[:k]) for rows, scores in self._reranker.reordered(texts, found)
            ]
            method = f"{method} + cross-encoder logit (best {count} re-ranked)"
        return [
            Answer(
                hits_of(self._graph, scored, rows),
                method=method,
                known_left_out=left_out(self._graph.labels, rows, known),
            )
            for rows, scored in zip(true, found, strict=True)
        ]

    def between(self, questions: Sequence[tuple[str, str]], k: int, known: str) -> list[Hits]:
        """Answer (head, tail) questions for relations (relation prediction)."""
        expect_choice("known", known, CHOICES)
        k = checked(k)
        start = time.perf_counter()
        answers = []
        names = for_hints(self._resources.name_similarity, 2 * len(questions))
        pairs = [self._pair(*question, names) for question in questions]
        vectors = [self._queries.vectors([pair[side] for pair in pairs]) for side in (0, 1)]
        for (head, tail), *both in zip(pairs, *vectors, strict=True):
            true = no_rows()
            if head.row is not None and tail.row is not None:
                true = self._known.relations(head.row, tail.row)
            chosen = _chosen(np.arange(self._graph.n_relations), true, known)
            rows, probabilities = no_rows(), np.zeros(0)
            if len(chosen):
                rows, probabilities = self._relation_prediction.of(
                    (head, both[0]), (tail, both[1]), chosen, k
                )
            hits = tuple(
                Hit(
                    self._graph.relation_ids[row],
                    self._graph.relation_labels[row],
                    score,
                    row in true,
                    math.exp(score),
                )
                for row, score in zip(rows.tolist(), probabilities.tolist(), strict=True)
            )
            answers.append(
                Answer(
                    hits,
                    {"head": head.resolution, "tail": tail.resolution},
                    METHOD + self._other_direction(head, tail, true),
                    left_out(self._graph.relation_labels, true, known),
                )
            )
        return answered(self._graph, "relations", answers, start)

    def why(self, head: str, relation: str, tail: str, k: int) -> Explanation:
        """Explain an answer; see :class:`~ontodex.engine.explanation.LinkExplanation`."""
        by = resolve_relation(self._graph, relation)
        names = for_hints(self._resources.name_similarity, 2)
        one = resolve_entity(self._graph, head, fits=self._linked(by, by.inverted), names=names)
        ends = self._known_answers(one.row, by.row, by.inverted)
        other = resolve_entity(self._graph, tail, fits=lambda row: row in ends, names=names)
        return self._explanation.explain(one, by, other, k, ends, self._left_out(ends, one, by))

    def _left_out(self, rows: Rows, entity: ResolvedTerm, relation: ResolvedTerm) -> Rows:
        """Return rows with the entity's own row, unless the relation may link it to itself."""
        return rows if relation.row in self._known.reflexive else np.union1d(rows, own_row(entity))

    def _other_direction(self, head: ResolvedTerm, tail: ResolvedTerm, true: Rows) -> str:
        """Return a note on relations of the opposite direction, if the graph has no others."""
        if head.row is None or tail.row is None or len(true):
            return ""
        labels = [
            self._graph.relation_labels[row]
            for row in self._known.relations(tail.row, head.row).tolist()
        ]
        return f"; known in the opposite direction: {', '.join(labels)}" if labels else ""

    def _linked(self, relation: ResolvedTerm, backward: bool) -> Fits:
        """Return a function that tells whether an entity has a link by a relation."""
        return lambda row: len(self._known_answers(row, relation.row, backward)) > 0

    def _pair(
        self, head: str, tail: str, names: NameSimilarity | None
    ) -> tuple[ResolvedTerm, ResolvedTerm]:
        """Resolve two entities; ambiguous names mean linked entities."""
        expect_words(tail, "entity")
        candidates, _ = self._graph.find_all(tail) or ([], None)

        def leads(row: int) -> bool:
            return any(len(self._known.relations(row, other)) for other in candidates)

        def led_to(row: int) -> bool:
            return one.row is not None and len(self._known.relations(one.row, row)) > 0

        one = resolve_entity(self._graph, head, fits=leads, names=names)
        return one, resolve_entity(self._graph, tail, fits=led_to, names=names)

    def _known_answers(self, entity: int | None, relation: int | None, backward: bool) -> Rows:
        if entity is None or relation is None:
            return no_rows()
        return (
            self._known.heads(relation, entity) if backward else self._known.tails(entity, relation)
        )

    def _ranked(
        self,
        queries: NDArray[np.float32],
        offsets: Sequence[Offsets],
        k: int,
        known: str,
        true: Sequence[Rows],
        left_out: Sequence[Rows],
    ) -> list[Scored]:
        searcher = self._searcher(self._queries.space)
        if known == "only":
            parts = zip(queries, true, offsets, strict=True)
            return [searcher.among(query, rows, k, own) for query, rows, own in parts]
        return searcher.top(queries, k, left_out, offsets)


def _chosen(rows: Rows, true: Rows, known: str) -> Rows:
    if known == "include":
        return rows
    return rows[np.isin(rows, true, invert=known == "exclude")]
