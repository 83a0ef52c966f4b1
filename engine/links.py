"""Link prediction: tails, heads and relations; entry to link discovery and explanation."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
    with_cuts,
)
from ontodex.engine.batches import answer_each, single
from ontodex.engine.discovery import LinkDiscovery
from ontodex.engine.entity_types import EntityType, entity_type
from ontodex.engine.explanation import LinkExplanation
from ontodex.engine.known import CHOICES, Known
from ontodex.engine.lifecycle import guarded
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.relation_prediction import RelationPrediction
from ontodex.engine.rerank import Reranker
from ontodex.engine.resolve import (
    Fits,
    ResolvedTerm,
    expect_pairs,
    expect_words,
    for_hints,
    of_individual,
    resolve_entity,
    resolve_relation,
)
from ontodex.engine.resources import Resources
from ontodex.engine.results.explanation import Explanation
from ontodex.engine.results.hits import Hit, Hits
from ontodex.engine.results.missing_links import MissingLinks
from ontodex.engine.search.topk import Searcher
from ontodex.errors import LookupFailed, expect_choice
from ontodex.graph import KnowledgeGraph
from ontodex.scoring.calibration import BEST, asked_probabilities
from ontodex.scoring.graph_features import Offsets
from ontodex.scoring.name_similarity import NameSimilarity

__all__ = ["LinkQuestions", "Links"]


@guarded("missing", "why")
class LinkQuestions:
    """Questions about links; a part of :class:`~ontodex.engine.engine.Engine`."""

    graph: KnowledgeGraph
    resources: Resources
    _links: Links

    def tails(
        self,
        head: str,
        relation: str,
        k: int = 10,
        known: str = "exclude",
        *,
        type: str | None = None,
    ) -> Hits:
        """Rank entities as tails of ``head`` and ``relation`` (link prediction).

        ``head`` itself is excluded, unless the graph links some entity to itself by ``relation``.
        If ``relation`` is one of the hierarchy, so are the entities below ``head``: the link would
        close a cycle.

        The probability of an answer supposes that the graph lacks an answer to the question. It is
        fitted, by logistic regression on held-out links, to the share of the odds that the answer
        has among the best twenty that are not known, and to the number of known answers. Answers to
        texts, by relations that the graph does not have, and of a cross-encoder have none.

        Args:
            head: An entity or any text.
            relation: A relation of the graph, "inverse " and a relation, or the text of a relation
                that the graph does not have.
            k: Number of hits.
            known: ``"exclude"`` excludes known tails, ``"include"`` marks them, ``"only"`` ranks
                only known tails.
            type: Rank only entities of this type: an entity, its descendants in the hierarchy, and
                the instances of all of them by ``rdf:type`` or "instance of"; or a prefix of ids
                with its colon, such as ``OMIM:``.

        Raises:
            UnknownEntity: If an entity is given by a CURIE or IRI that the graph does not have, or
                the graph does not have the type.
            UnknownRelation: If a relation is given by a CURIE or IRI that the graph does not have.
            SettingsError: If ``k`` is below 1, ``known`` is unknown, or a text is empty.
        """
        return single(self.tails_batch([(head, relation)], k, known, type=type))

    def tails_batch(
        self,
        questions: Sequence[tuple[str, str]],
        k: int = 10,
        known: str = "exclude",
        *,
        type: str | None = None,
    ) -> list[Hits]:
        """Answer a batch of (head, relation) questions; see :meth:`tails`."""
        ask, only = self._links.ends, self._links.type_of(type)
        return self._each_pair(
            "tails",
            ("head", "relation"),
            questions,
            lambda some: ask("tails", some, k, known, only),
        )

    def heads(
        self,
        relation: str,
        tail: str,
        k: int = 10,
        known: str = "exclude",
        *,
        type: str | None = None,
    ) -> Hits:
        """Rank entities as heads of ``relation`` and ``tail``; see :meth:`tails`."""
        return single(self.heads_batch([(relation, tail)], k, known, type=type))

    def heads_batch(
        self,
        questions: Sequence[tuple[str, str]],
        k: int = 10,
        known: str = "exclude",
        *,
        type: str | None = None,
    ) -> list[Hits]:
        """Answer a batch of (relation, tail) questions; see :meth:`heads`."""
        only = self._links.type_of(type)

        def ask(some: list[tuple[str, str]]) -> list[Hits]:
            turned = [(tail, relation) for relation, tail in some]
            return self._links.ends("heads", turned, k, known, only)

        return self._each_pair("heads", ("relation", "tail"), questions, ask)

    def relations(self, head: str, tail: str, k: int = 10, known: str = "include") -> Hits:
        """Rank the relations of the graph by the probability that they link ``head`` to ``tail``.

        The probability is conditional: it assumes that exactly one of the ranked relations holds.
        The score is its logarithm. The probability combines the share of the relation among the
        links of similar entities with the scores of tail and head prediction (see :meth:`tails`).
        If the graph has more than 64 relations, only the 64 relations with the largest shares are
        ranked, or ``k`` relations if ``k`` is larger.

        Args:
            head: An entity or any text.
            tail: An entity or any text.
            k: Number of hits.
            known: ``"include"`` marks known relations from head to tail, ``"exclude"`` excludes
                them, ``"only"`` ranks only known relations.

        Raises:
            UnknownEntity: If an entity is given by a CURIE or IRI that the graph does not have.
            SettingsError: If ``k`` is below 1, ``known`` is unknown, or a text is empty.
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
        """Answer a batch of two-text questions; one that cannot be resolved gets its error."""

        def failed(pair: tuple[str, str], error: LookupFailed) -> Hits:
            return Hits.failed(question, dict(zip(roles, pair, strict=True)), error, self.graph)

        found = answer_each(ask, expect_pairs(pairs), failed)
        return with_cuts(found, lambda: self.resources.encoders.text)

    def missing(
        self, relation: str | None = None, k: int = 20, *, linked: bool = True, quiet: bool = False
    ) -> MissingLinks:
        """Find the most probable missing links of the full graph (link discovery).

        Every (head, relation) pair that has known tails, or a tail predicted by a confident rule,
        is asked as in :meth:`tails`. Every (relation, tail) pair is asked likewise, as in
        :meth:`heads`. The best twenty answers to each question are candidates.

        The probability of a candidate comes from a logistic regression on its share of the
        question's softmax, the number of known answers and the confidence of rules. The regression
        is fitted to held-out links: the validation triples of the graph or, if there are fewer than
        50, a twentieth of the triples, but at least 50 and at most 5,000 (or a hundredth, if that
        is more). The probabilities are calibrated if as many links are missing as were held out.
        No candidate is more probable than as an answer to the question that found it.

        The graph's validation and test triples do not count as known, so they may be found. Links
        that the hierarchy implies do not count as missing. A graph of 15,000 entities and 270,000
        triples takes 3 minutes on one core.

        Args:
            relation: Find only links of this relation; by default links of all relations.
            k: Number of links.
            linked: Include links between entities that another relation links already; if false,
                such links are left out.
            quiet: Show no progress on stderr.

        Raises:
            UnknownRelation: If the graph does not have the relation.
            SettingsError: If ``k`` is below 1.
            IndexMismatch: If the index has no link encoder.
        """
        return self._links.discovery.links(relation, k, linked=linked, quiet=quiet)

    def why(self, head: str, relation: str, tail: str, k: int = 3) -> Explanation:
        """Explain the score and rank of ``tail`` as an answer to :meth:`tails`.

        The score is split into the contributions of text, ComplEx, type constraint, kind, similar
        entities and rules. Each contribution is relative to the mean over all entities, so it may
        be negative. For similar entities and rules, the known links behind them are listed. An
        answer to
        :meth:`heads` is explained by the inverse: ``why(tail, "inverse …", head)``. A cross-encoder
        is not part of the explanation.

        Args:
            head: An entity or any text.
            relation: A relation of the graph, "inverse " and a relation, or the text of a relation
                that the graph does not have.
            tail: An entity of the graph.
            k: Number of known links, or paths of two links, listed for each contribution.

        Raises:
            UnknownEntity: If an entity is given by a CURIE or IRI that the graph does not have, or
                the tail is free text.
            UnknownRelation: If a relation is given by a CURIE or IRI that the graph does not have.
            SettingsError: If ``k`` is below 1, or a text is empty.
        """
        return self._links.why(head, relation, tail, k)


METHOD = "log-probability of the relation: shares among similar entities + tail and head prediction"


class Links:
    """Answers questions about links; see :class:`~ontodex.engine.engine.Engine`.

    Args:
        resources: Encoders and scorers of an opened index.
        searcher: Returns the searcher of a space, given its name.
        known: Known triples of the index and of further graphs.
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
        self,
        question: str,
        questions: Sequence[tuple[str, str]],
        k: int,
        known: str,
        only: EntityType | None = None,
    ) -> list[Hits]:
        """Answer (entity, relation) questions for tails or heads.

        Args:
            question: ``"tails"`` or ``"heads"``.
            questions: The questions.
            k: Number of hits.
            known: See :meth:`ontodex.Engine.tails`.
            only: The type of the entities that are ranked; ``None`` for all.
        """
        expect_choice("known", known, CHOICES)
        k = checked(k)
        start = time.perf_counter()
        given = "tail" if question == "heads" else "head"
        answers = [Answer()] * len(questions)
        for backward, places, entities, relations in self._by_direction(
            questions, backward=question == "heads"
        ):
            found = self._in_direction(entities, relations, backward, k, known, only)
            for at, entity, relation, answer in zip(
                places, entities, relations, found, strict=True
            ):
                resolutions = {given: entity.resolution, "relation": relation.resolution}
                if only is not None:
                    resolutions["type"] = only.resolution
                answers[at] = replace(answer, resolutions=resolutions)
        return answered(self._graph, question, answers, start)

    def type_of(self, text: str | None) -> EntityType | None:
        """Return the entities of a type, or ``None`` for no type.

        Raises:
            UnknownEntity: If the graph does not have the type.
        """
        return None if text is None else entity_type(self._graph, self._known.hierarchy, text)

    def embed(
        self, questions: Sequence[tuple[str, str]], *, text_alone: bool
    ) -> NDArray[np.float32]:
        """Return the queries of (head, relation) questions for tails, of shape (questions, dim).

        The index must have a link encoder.

        Args:
            questions: The questions.
            text_alone: Return queries of the link space, even if the index has a hybrid space.
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
        """Resolve (entity, relation) questions, and group them: first for tails, then for heads.

        Args:
            questions: The questions.
            backward: Whether the questions ask for heads. An inverted relation exchanges heads and
                tails.

        Yields:
            Whether the group of questions asks for heads; and the positions in ``questions``, the
            entities and the relations of the group.
        """
        relations = [resolve_relation(self._graph, relation) for _, relation in questions]
        names = for_hints(self._resources.name_similarity, len(questions))
        ways = [backward != relation.inverted for relation in relations]
        entities = [
            resolve_entity(self._graph, entity, fits=self._linked(relation, way), names=names)
            for (entity, _), relation, way in zip(questions, relations, ways, strict=True)
        ]
        relations = [
            relation if way else of_individual(self._graph, entity, relation)
            for entity, relation, way in zip(entities, relations, ways, strict=True)
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
        only: EntityType | None,
    ) -> list[Answer]:
        """Answer questions for tails, or for heads if ``backward``; answers lack resolutions."""
        true = [
            self._known_answers(entity.row, relation.row, backward)
            for entity, relation in zip(entities, relations, strict=True)
        ]
        if only is not None:
            true = [only.only(rows) for rows in true]
        queries, offsets = self._queries.of_terms(entities, relations, backward=backward)
        excluded = [
            self._no_answers(rows, entity, relation, backward, known)
            for rows, entity, relation in zip(true, entities, relations, strict=True)
        ]
        method = self._queries.method
        if self._reranker is None:
            listed = max(map(len, true), default=0) if known == "include" else 0
            count = max(k, BEST + listed)
            found = self._ranked(queries, offsets, count, known, true, excluded, only)
        else:
            count = max(k, self._reranker.top)
            found = self._ranked(queries, offsets, count, known, true, excluded, only)
            texts = self._reranker.questions(entities, relations, backward=backward)
            found = [
                (rows[:k], scores[:k]) for rows, scores in self._reranker.reordered(texts, found)
            ]
            method = f"{method} + cross-encoder logit (best {count} re-ranked)"
        return [
            Answer(
                hits_of(
                    self._graph,
                    (scored[0][:k], scored[1][:k]),
                    rows,
                    self._probabilities(entity, relation, rows, scored, known, k),
                ),
                method=method,
                known_left_out=left_out(self._graph.labels, rows, known),
            )
            for entity, relation, rows, scored in zip(entities, relations, true, found, strict=True)
        ]

    def _probabilities(
        self,
        entity: ResolvedTerm,
        relation: ResolvedTerm,
        true: Rows,
        scored: Scored,
        known: str,
        k: int,
    ) -> NDArray[np.float64] | None:
        """Return the probabilities of the first k answers, if they could be fitted.

        Those of known answers have no meaning. Answers that a cross-encoder ranked have none, and
        neither have those to a text or to a relation that the graph does not have.
        """
        features = self._resources.graph_features
        if (
            known == "only"
            or self._reranker is not None
            or entity.row is None
            or relation.row is None
            or features is None
            or features.asked_calibration is None
        ):
            return None
        rows, scores = scored
        new = ~np.isin(rows, true)
        likely = asked_probabilities(scores[new], len(true), features.asked_calibration)
        if likely is None:
            return None
        found = np.full(len(rows), np.nan)
        found[new] = likely
        return found[:k]

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
        by = of_individual(self._graph, one, by)
        ends = self._known_answers(one.row, by.row, by.inverted)
        other = resolve_entity(self._graph, tail, fits=lambda row: row in ends, names=names)
        left_out = self._no_answers(ends, one, by, by.inverted, "exclude")
        return self._explanation.explain(one, by, other, k, ends, left_out)

    def _no_answers(
        self, true: Rows, entity: ResolvedTerm, relation: ResolvedTerm, backward: bool, known: str
    ) -> Rows:
        """Return the entities that are left out of the answers.

        These are the known answers if ``known`` is ``"exclude"``, and those that cannot be new
        answers; by a relation that the graph does not have, the entity itself.

        Args:
            true: Known answers.
            entity: The entity or text of the question.
            relation: Its relation.
            backward: Whether the answers are heads.
            known: See :meth:`LinkQuestions.tails`.
        """
        rows = own_row(entity)
        if entity.row is not None and relation.row is not None:
            rows = self._known.impossible(entity.row, relation.row, backward=backward)
        return np.union1d(rows, true) if known == "exclude" else np.setdiff1d(rows, true)

    def _other_direction(self, head: ResolvedTerm, tail: ResolvedTerm, true: Rows) -> str:
        """Return a note on known relations from tail to head, if ``true`` is empty.

        Args:
            head: The head.
            tail: The tail.
            true: Known relations from head to tail.
        """
        if head.row is None or tail.row is None or len(true):
            return ""
        labels = [
            self._graph.relation_labels[row]
            for row in self._known.relations(tail.row, head.row).tolist()
        ]
        return f"; known in the opposite direction: {', '.join(labels)}" if labels else ""

    def _linked(self, relation: ResolvedTerm, backward: bool) -> Fits:
        """Return a function that returns whether an entity has a known link by a relation."""
        return lambda row: len(self._known_answers(row, relation.row, backward)) > 0

    def _pair(
        self, head: str, tail: str, names: NameSimilarity | None
    ) -> tuple[ResolvedTerm, ResolvedTerm]:
        """Resolve two entities; of several entities with one name, linked ones are preferred."""
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
        return self._known.answers(entity, relation, backward=backward)

    def _ranked(
        self,
        queries: NDArray[np.float32],
        offsets: Sequence[Offsets],
        k: int,
        known: str,
        true: Sequence[Rows],
        left_out: Sequence[Rows],
        only: EntityType | None,
    ) -> list[Scored]:
        searcher = self._searcher(self._queries.space)
        among = true if known == "only" else None
        if among is None and only is not None:
            among = [np.setdiff1d(only.rows, rows) for rows in left_out]
        if among is not None:
            parts = zip(queries, among, offsets, strict=True)
            return [searcher.among(query, rows, k, own) for query, rows, own in parts]
        return searcher.top(queries, k, left_out, offsets)


def _chosen(rows: Rows, true: Rows, known: str) -> Rows:
    if known == "include":
        return rows
    return rows[np.isin(rows, true, invert=known == "exclude")]
