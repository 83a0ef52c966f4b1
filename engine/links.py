"""Link prediction: tails, heads, relations, missing links and explanations."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
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
    no_rows,
    own_row,
)
from ontodex.engine.discovery import Missing
from ontodex.engine.explanation import Why
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
from ontodex.errors import expect_choice
from ontodex.graph import KnowledgeGraph, both_directions
from ontodex.scoring.graph_features import Offsets, add_offsets
from ontodex.scoring.name_similarity import NameSimilarity
from ontodex.scoring.similarity import EntitySimilarity

__all__ = ["LinkQuestions", "Links", "RelationPrediction"]

Floats = NDArray[np.float64]
Asked = tuple[ResolvedTerm, NDArray[np.float32]]
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
"""EntitySimilarity, summed over neighbours, that counts as much as the links of the whole graph."""


class RelationPrediction:
    """Tells how likely each relation of the graph is the one that links two entities, given that one does.

    By Bayes' rule, with head h, relation r and tail t, P(r | h, t) is proportional to P(r | h) P(t | h, r), and so on
    the tail's side. The first factor is the share of the relation among the links of the entity and of those of like
    text, the second the softmax of the scores by which tails are ranked. The mean of both sides counts. If but one of the
    two has links in the graph, only that side does on which it is the answer; if neither has any, answers are told apart
    by text alone, as all others have links that speak for them.

    Args:
        graph: The graph.
        known: What is known; a known answer other than the one in question is none that it must be told from.
        link_queries: Makes queries.
        searcher: Gives the search of a space.
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
        """How many links each entity has by each relation, inverses from R on, of shape (entities, 2R)."""
        links = both_directions(self._graph.triples, self._graph.n_relations)
        ones = np.ones(len(links), dtype=np.float64)
        return csr_matrix(
            (ones, (links[:, 0], links[:, 1])),
            (self._graph.n_entities, 2 * self._graph.n_relations),
        )

    @cached_property
    def _whole(self) -> Floats:
        """The share of each relation among all links, one more of each, of shape (R,)."""
        counts = np.bincount(self._graph.triples[:, 1], minlength=self._graph.n_relations) + 1.0
        return np.asarray(counts / counts.sum())

    @cached_property
    def _likeness(self) -> EntitySimilarity:
        return EntitySimilarity(self._queries.entities)

    def of(self, head: Asked, tail: Asked, among: Rows, k: int) -> tuple[Rows, Floats]:
        """Return the ``k`` likeliest relations, and the logarithm of the chance that it is each, if it is one of ``among``.

        Args:
            head: An entity or a text, and its vector.
            tail: Likewise.
            among: Relations, ascending.
            k: How many.
        """
        by_head, by_tail = (
            np.log(self._shares(head, False)[among]),
            np.log(self._shares(tail, True)[among]),
        )
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
        probabilities = logsumexp(sides, axis=0) - np.log(len(sides))
        best = np.lexsort((among, -probabilities))[:k]
        return among[best], probabilities[best]

    def _linked(self, entity: ResolvedTerm) -> bool:
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
        searcher = self._searcher(self._queries.space)
        unit = self._queries.score_unit
        entity, (wanted, vector) = asked[0], answer
        linked = self._linked(wanted)
        found = np.empty(len(relations))
        for start in range(0, len(relations), AT_ONCE):
            part = relations[start : start + AT_ONCE]
            queries, offsets = self._queries.by_each(*asked, part, backward=backward)
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
                own[self._apart(entity, relation, backward)] = -np.inf
            others = _log_of_sum(scores / np.float32(unit))
            found[start : start + AT_ONCE] = mine - np.logaddexp(mine, others)
        return found

    def _apart(self, asked: ResolvedTerm, relation: int, backward: bool) -> Rows:
        """Return the entities that an answer need not be told from: known answers, and the entity asked about."""
        if asked.row is None:
            return np.zeros(0, dtype=np.int64)
        known = (
            self._known.heads(relation, asked.row)
            if backward
            else self._known.tails(asked.row, relation)
        )
        return known if relation in self._known.reflexive else np.append(known, asked.row)


def _log_of_sum(scores: NDArray[np.float32]) -> Floats:
    """Return the logarithm of the sum of the exponentials of each row."""
    top = scores.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.exp(scores - top).sum(axis=1, dtype=np.float64)) + top[:, 0]
    return found


@guarded("missing", "why")
class LinkQuestions:
    """What :class:`~ontodex.engine.engine.Engine` answers about links."""

    _links: Links

    def tails(self, head: str, relation: str, k: int = 10, known: str = "exclude") -> Hits:
        """Rank the entities that ``head`` may be linked to by ``relation``.

        ``head`` itself is left out, unless the graph links some entity to itself by ``relation``.

        Args:
            head: An entity or any text.
            relation: A relation of the graph, "inverse " and a relation, or the text of one that it does not have.
            k: How many.
            known: ``"exclude"`` leaves known tails out, ``"include"`` marks them, ``"only"`` ranks them alone.

        Raises:
            UnknownEntity: If a CURIE or IRI is not in the graph.
            UnknownRelation: Likewise.
            SettingsError: If ``k`` is below 1, ``known`` none of the above, or a text empty.
        """
        return self.tails_batch([(head, relation)], k, known)[0]

    def tails_batch(
        self, questions: Sequence[tuple[str, str]], k: int = 10, known: str = "exclude"
    ) -> list[Hits]:
        """Answer many (head, relation) questions at once; see :meth:`tails`."""
        return self._links.ends("tails", expect_pairs(questions), k, known)

    def heads(self, relation: str, tail: str, k: int = 10, known: str = "exclude") -> Hits:
        """Rank the entities that may be linked to ``tail`` by ``relation``; see :meth:`tails`."""
        return self.heads_batch([(relation, tail)], k, known)[0]

    def heads_batch(
        self, questions: Sequence[tuple[str, str]], k: int = 10, known: str = "exclude"
    ) -> list[Hits]:
        """Answer many (relation, tail) questions at once; see :meth:`heads`."""
        return self._links.ends(
            "heads", [(tail, relation) for relation, tail in expect_pairs(questions)], k, known
        )

    def relations(self, head: str, tail: str, k: int = 10, known: str = "include") -> Hits:
        """Rank the relations of the graph by the chance that it is this one that leads from ``head`` to ``tail``.

        The probability is that of the relation if exactly one of those ranked links the two; the score is its logarithm. It
        comes of how often entities like either are linked by the relation, and of how likely each is an answer to a question
        about the other, by text and links as in :meth:`tails`. Of more than 64 relations those are told apart by such
        answers that are the likeliest by what both are linked by; the others are left out, unless ``k`` is larger.

        Args:
            head: An entity or any text.
            tail: An entity or any text.
            k: How many.
            known: ``"include"`` marks relations that are known to link them; ``"exclude"`` leaves them out; ``"only"`` ranks
                them alone.

        Raises:
            UnknownEntity: If a CURIE or IRI is not in the graph.
            SettingsError: If ``k`` is below 1, ``known`` none of the above, or a text empty.
        """
        return self.relations_batch([(head, tail)], k, known)[0]

    def relations_batch(
        self, questions: Sequence[tuple[str, str]], k: int = 10, known: str = "include"
    ) -> list[Hits]:
        """Answer many (head, tail) questions at once; see :meth:`relations`."""
        return self._links.between(expect_pairs(questions), k, known)

    def missing(
        self, relation: str | None = None, k: int = 20, *, linked: bool = True, quiet: bool = False
    ) -> MissingLinks:
        """Find the links that the graph lacks most likely, whatever they are about.

        Every head and relation that has known tails, or surely has one as a rule says, is asked as in :meth:`tails`, every
        relation and tail likewise; the best twenty answers count. A link is the likelier the larger its share of the chances
        of its question, the more answers are known, and the surer rules are, as fitted to links held out: the validation
        triples of the graph or, if it has fewer than 50, a twentieth of its triples, at least 50 and at most 5,000. The
        probability is right if as many are missing as were held out. Triples for validation and test are not known, and may
        be found; what follows from the hierarchy is not missing. It takes 3 minutes for 15,000 entities and 270,000 triples
        on one processor core.

        Args:
            relation: Of this one alone; by default of all.
            k: How many.
            linked: Whether two that some relation links already may lack a link by another.
            quiet: Show no progress on stderr.

        Raises:
            UnknownRelation: If the relation is none of the graph.
            SettingsError: If ``k`` is below 1.
            IndexMismatch: If the index has no projections of relations.
        """
        return self._links.missing.links(relation, k, linked=linked, quiet=quiet)

    def why(self, head: str, relation: str, tail: str, k: int = 3) -> Explanation:
        """Explain why ``tail`` has the score, and the rank, that it has as an answer to :meth:`tails`.

        The score is taken apart into what text, structure, range, analogies and rules add to it, each compared with what it
        adds to an entity in the mean, so that a part may be negative; analogies and rules come with the known links they
        go by. Why a head is an answer to :meth:`heads` is asked by the inverse: ``why(tail, "inverse …", head)``. A
        cross-encoder has no part in it.

        Args:
            head: An entity or any text.
            relation: A relation of the graph, "inverse " and a relation, or the text of one that it does not have.
            tail: An entity of the graph.
            k: How many links, or paths, to name of each kind.

        Raises:
            UnknownEntity: If a CURIE or IRI is not in the graph, or the tail is free text.
            UnknownRelation: Likewise, of the relation.
            SettingsError: If ``k`` is below 1, or a text empty.
        """
        return self._links.why(head, relation, tail, k)


METHOD = (
    "the logarithm of the chance of the relation, if one of those ranked links the two: its share in the links of entities "
    "like them, and the chance of each as an answer about the other"
)


class Links:
    """Answers questions about links; what each means is said at :class:`~ontodex.engine.engine.Engine`.

    Args:
        resources: Encoders and scorers of an opened index.
        searcher: Gives the search of a space.
        known: Its known triples, and further ones.
        rerank: Folder of a cross-encoder that reads the best answers again.
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
        self._likely = RelationPrediction(self._graph, self._known, self._queries, searcher)
        self.missing = Missing(resources, self._known, self._queries, searcher)
        self._why = Why(resources, self._queries, searcher)
        self._reranker: Reranker | None = None
        if rerank is not None:
            self._reranker = Reranker(
                rerank, self._graph, unit=self._queries.score_unit, device=resources.device
            )

    def ends(
        self, question: str, questions: Sequence[tuple[str, str]], k: int, known: str
    ) -> list[Hits]:
        """Answer (entity, relation) questions for ``"tails"`` or ``"heads"``, which are the inverse relation's tails."""
        expect_choice("known", known, CHOICES)
        k = checked(k)
        start = time.perf_counter()
        given = "tail" if question == "heads" else "head"
        answers: list[Answer] = [((), {}, "")] * len(questions)
        for backward, places, entities, relations in self._ways(
            questions, backward=question == "heads"
        ):
            found = self._one_way(entities, relations, backward, k, known)
            for at, entity, relation, (hits, method) in zip(
                places, entities, relations, found, strict=True
            ):
                answers[at] = (
                    hits,
                    {given: entity.resolution, "relation": relation.resolution},
                    method,
                )
        return answered(self._graph, question, answers, start)

    def embed(
        self, questions: Sequence[tuple[str, str]], *, text_alone: bool
    ) -> NDArray[np.float32]:
        """Return the queries of (head, relation) questions for tails, of shape (questions, dim).

        Args:
            questions: What is asked; the index has an encoder of links.
            text_alone: Ask the texts, and not the links too.
        """
        made = np.zeros((len(questions), 0), dtype=np.float32)
        for backward, places, entities, relations in self._ways(questions, backward=False):
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

    def _ways(
        self, questions: Sequence[tuple[str, str]], *, backward: bool
    ) -> Iterator[tuple[bool, list[int], list[ResolvedTerm], list[ResolvedTerm]]]:
        """Read (entity, relation) questions; yield those that ask for tails, and those for heads, ``True`` before them.

        Args:
            questions: What is asked.
            backward: Whether heads are asked for, where the relation is no inverse.

        Yields:
            Whether they ask for heads, their places, entities and relations.
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

    def _one_way(
        self,
        entities: Sequence[ResolvedTerm],
        relations: Sequence[ResolvedTerm],
        backward: bool,
        k: int,
        known: str,
    ) -> list[tuple[tuple[Hit, ...], str]]:
        """Answer for the tails of each relation, or ``backward`` for the heads; return hits and method of each."""
        true = [
            self._true(entity.row, relation.row, backward)
            for entity, relation in zip(entities, relations, strict=True)
        ]
        queries, offsets = self._queries.of_terms(entities, relations, backward=backward)
        left_out = [
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
            found = self._ranked(queries, offsets, k, known, true, left_out)
        else:
            count = max(k, self._reranker.top)
            found = self._ranked(queries, offsets, count, known, true, left_out)
            read = self._reranker.questions(entities, relations, backward=backward)
            found = [
                (rows[:k], scores[:k]) for rows, scores in self._reranker.reordered(read, found)
            ]
            method = f"{method}, plus the logit of a cross-encoder (the best {count} read again)"
        return [
            (hits_of(self._graph, scored, rows), method)
            for rows, scored in zip(true, found, strict=True)
        ]

    def between(self, questions: Sequence[tuple[str, str]], k: int, known: str) -> list[Hits]:
        """Answer (head, tail) questions for relations."""
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
                rows, probabilities = self._likely.of((head, both[0]), (tail, both[1]), chosen, k)
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
                (
                    hits,
                    {"head": head.resolution, "tail": tail.resolution},
                    METHOD + self._inverse_of(head, tail, true),
                )
            )
        return answered(self._graph, "relations", answers, start)

    def why(self, head: str, relation: str, tail: str, k: int) -> Explanation:
        """Explain a tail as an answer to a question; see :class:`~ontodex.engine.explanation.Why`."""
        by = resolve_relation(self._graph, relation)
        names = for_hints(self._resources.name_similarity, 2)
        one = resolve_entity(self._graph, head, fits=self._linked(by, by.inverted), names=names)
        ends = self._true(one.row, by.row, by.inverted)
        other = resolve_entity(self._graph, tail, fits=lambda row: row in ends, names=names)
        return self._why.explain(one, by, other, k, ends, self._left_out(ends, one, by))

    def _left_out(self, rows: Rows, entity: ResolvedTerm, relation: ResolvedTerm) -> Rows:
        """Return rows, and that of the entity asked about unless the relation may link it to itself."""
        return rows if relation.row in self._known.reflexive else np.union1d(rows, own_row(entity))

    def _inverse_of(self, head: ResolvedTerm, tail: ResolvedTerm, true: Rows) -> str:
        """Say by which relations the graph links two the other way round only."""
        if head.row is None or tail.row is None or len(true):
            return ""
        labels = [
            self._graph.relation_labels[row]
            for row in self._known.relations(tail.row, head.row).tolist()
        ]
        return f"; the graph links them the other way round: {', '.join(labels)}" if labels else ""

    def _linked(self, relation: ResolvedTerm, backward: bool) -> Fits:
        """Return what tells whether an entity has a link by a relation."""
        return lambda row: len(self._true(row, relation.row, backward)) > 0

    def _pair(
        self, head: str, tail: str, names: NameSimilarity | None
    ) -> tuple[ResolvedTerm, ResolvedTerm]:
        """Read two entities; of several that bear a name, those are meant that are linked."""
        expect_words(tail, "entity")
        bearers, _ = self._graph.find_all(tail) or ([], None)

        def leads(row: int) -> bool:
            return any(len(self._known.relations(row, other)) for other in bearers)

        def led_to(row: int) -> bool:
            return one.row is not None and len(self._known.relations(one.row, row)) > 0

        one = resolve_entity(self._graph, head, fits=leads, names=names)
        return one, resolve_entity(self._graph, tail, fits=led_to, names=names)

    def _true(self, entity: int | None, relation: int | None, backward: bool) -> Rows:
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
            return [searcher.among(query, rows, k, bonus) for query, rows, bonus in parts]
        return searcher.top(queries, k, left_out, offsets)


def _chosen(rows: Rows, true: Rows, known: str) -> Rows:
    if known == "include":
        return rows
    return rows[np.isin(rows, true, invert=known == "exclude")]
