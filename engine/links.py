"""Link prediction: the tails of a head and a relation, the heads of a relation and a tail, the relations of two entities."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Answer, Rows, Scored, answered, checked, hits_of, no_rows, own_row
from ontodex.engine.known import CHOICES, Known
from ontodex.engine.likely_relations import LikelyRelations
from ontodex.engine.missing import Missing
from ontodex.engine.projector import Projector
from ontodex.engine.rerank import Reranker
from ontodex.engine.resolve import Fits, Resolved, expect_words, for_hints, resolve_entity, resolve_relation
from ontodex.engine.results.explanation import Explanation
from ontodex.engine.results.hits import Hit, Hits
from ontodex.engine.search.topk import Searcher
from ontodex.engine.why import Why
from ontodex.errors import expect_choice
from ontodex.indexers.evidence.name_likeness import NameLikeness
from ontodex.indexers.evidence.structure import Bonus
from ontodex.indexers.index import Index

__all__ = ["Links"]

METHOD = (
    "the logarithm of the chance of the relation, if one of those ranked links the two: its share in the links of entities "
    "like them, and the chance of each as an answer about the other"
)


class Links:
    """Answers questions about links; what each means is said at :class:`~ontodex.engine.engine.Engine`.

    Args:
        index: An opened index.
        searcher: Gives the search of a space.
        known: Its known triples, and further ones.
        rerank: Folder of a cross-encoder that reads the best answers again.
    """

    def __init__(
        self,
        index: Index,
        searcher: Callable[[str], Searcher],
        known: Known,
        rerank: Path | None = None,
    ) -> None:
        self._index, self._graph = index, index.graph
        self._known = known
        self._projector = Projector(index)
        self._searcher = searcher
        self._likely = LikelyRelations(self._graph, self._known, self._projector, searcher)
        self.missing = Missing(index, self._known, self._projector, searcher)
        self._why = Why(index, self._projector, searcher)
        self._reranker: Reranker | None = None
        if rerank is not None:
            self._reranker = Reranker(rerank, index.graph, unit=self._projector.score_unit, device=index.device)

    def ends(self, question: str, questions: Sequence[tuple[str, str]], k: int, known: str) -> list[Hits]:
        """Answer (entity, relation) questions for ``"tails"`` or ``"heads"``, which are the inverse relation's tails."""
        expect_choice("known", known, CHOICES)
        k = checked(k)
        start = time.perf_counter()
        given = "tail" if question == "heads" else "head"
        answers: list[Answer] = [((), {}, "")] * len(questions)
        for backward, places, entities, relations in self._ways(questions, backward=question == "heads"):
            found = self._one_way(entities, relations, backward, k, known)
            for at, entity, relation, (hits, method) in zip(places, entities, relations, found, strict=True):
                answers[at] = hits, {given: entity.reading, "relation": relation.reading}, method
        return answered(self._graph, question, answers, start)

    def embed(self, questions: Sequence[tuple[str, str]], *, text_alone: bool) -> NDArray[np.float32]:
        """Return the queries of (head, relation) questions for tails, of shape (questions, dim).

        Args:
            questions: What is asked; the index has an encoder of links.
            text_alone: Ask the texts, and not the links too.
        """
        made = np.zeros((len(questions), 0), dtype=np.float32)
        for backward, places, entities, relations in self._ways(questions, backward=False):
            queries = self._projector.queries(entities, relations, backward=backward, text_alone=text_alone)
            made = made if made.shape[1] else np.empty((len(questions), queries.shape[1]), dtype=np.float32)
            made[places] = queries
        return made

    def _ways(
        self, questions: Sequence[tuple[str, str]], *, backward: bool
    ) -> Iterator[tuple[bool, list[int], list[Resolved], list[Resolved]]]:
        """Read (entity, relation) questions; yield those that ask for tails, and those for heads, ``True`` before them.

        Args:
            questions: What is asked.
            backward: Whether heads are asked for, where the relation is no inverse.

        Yields:
            Whether they ask for heads, their places, entities and relations.
        """
        relations = [resolve_relation(self._graph, relation) for _, relation in questions]
        names = for_hints(self._index.name_likeness, len(questions))
        ways = [backward != relation.inverted for relation in relations]
        entities = [
            resolve_entity(self._graph, entity, fits=self._linked(relation, way), names=names)
            for (entity, _), relation, way in zip(questions, relations, ways, strict=True)
        ]
        for chosen in (False, True):
            if places := [at for at, way in enumerate(ways) if way == chosen]:
                yield chosen, places, [entities[at] for at in places], [relations[at] for at in places]

    def _one_way(
        self, entities: Sequence[Resolved], relations: Sequence[Resolved], backward: bool, k: int, known: str
    ) -> list[tuple[tuple[Hit, ...], str]]:
        """Answer for the tails of each relation, or ``backward`` for the heads; return hits and method of each."""
        true = [
            self._true(entity.row, relation.row, backward) for entity, relation in zip(entities, relations, strict=True)
        ]
        queries, bonuses = self._projector.asked(entities, relations, backward=backward)
        left_out = [
            self._left_out(rows, entity, relation)
            for rows, entity, relation in zip(
                true if known == "exclude" else [no_rows()] * len(true), entities, relations, strict=True
            )
        ]
        method = self._projector.method
        if self._reranker is None:
            found = self._ranked(queries, bonuses, k, known, true, left_out)
        else:
            count = max(k, self._reranker.top)
            found = self._ranked(queries, bonuses, count, known, true, left_out)
            read = self._reranker.questions(entities, relations, backward=backward)
            found = [(rows[:k], scores[:k]) for rows, scores in self._reranker.reordered(read, found)]
            method = f"{method}, plus the logit of a cross-encoder (the best {count} read again)"
        return [(hits_of(self._graph, scored, rows), method) for rows, scored in zip(true, found, strict=True)]

    def between(self, questions: Sequence[tuple[str, str]], k: int, known: str) -> list[Hits]:
        """Answer (head, tail) questions for relations."""
        expect_choice("known", known, CHOICES)
        k = checked(k)
        start = time.perf_counter()
        answers = []
        names = for_hints(self._index.name_likeness, 2 * len(questions))
        pairs = [self._pair(*question, names) for question in questions]
        vectors = [self._projector.vectors([pair[side] for pair in pairs]) for side in (0, 1)]
        for (head, tail), *both in zip(pairs, *vectors, strict=True):
            true = no_rows()
            if head.row is not None and tail.row is not None:
                true = self._known.relations(head.row, tail.row)
            chosen = _chosen(np.arange(self._graph.n_relations), true, known)
            rows, chances = no_rows(), np.zeros(0)
            if len(chosen):
                rows, chances = self._likely.of((head, both[0]), (tail, both[1]), chosen, k)
            hits = tuple(
                Hit(
                    self._graph.relation_ids[row], self._graph.relation_labels[row], score, row in true, math.exp(score)
                )
                for row, score in zip(rows.tolist(), chances.tolist(), strict=True)
            )
            answers.append(
                (hits, {"head": head.reading, "tail": tail.reading}, METHOD + self._inverse_of(head, tail, true))
            )
        return answered(self._graph, "relations", answers, start)

    def why(self, head: str, relation: str, tail: str, k: int) -> Explanation:
        """Explain a tail as an answer to a question; see :class:`~ontodex.engine.why.Why`."""
        by = resolve_relation(self._graph, relation)
        names = for_hints(self._index.name_likeness, 2)
        one = resolve_entity(self._graph, head, fits=self._linked(by, by.inverted), names=names)
        ends = self._true(one.row, by.row, by.inverted)
        other = resolve_entity(self._graph, tail, fits=lambda row: row in ends, names=names)
        return self._why.explain(one, by, other, k, ends, self._left_out(ends, one, by))

    def _left_out(self, rows: Rows, entity: Resolved, relation: Resolved) -> Rows:
        """Return rows, and that of the entity asked about unless the relation may link it to itself."""
        return rows if relation.row in self._known.reflexive else np.union1d(rows, own_row(entity))

    def _inverse_of(self, head: Resolved, tail: Resolved, true: Rows) -> str:
        """Say by which relations the graph links two the other way round only."""
        if head.row is None or tail.row is None or len(true):
            return ""
        labels = [self._graph.relation_labels[row] for row in self._known.relations(tail.row, head.row).tolist()]
        return f"; the graph links them the other way round: {', '.join(labels)}" if labels else ""

    def _linked(self, relation: Resolved, backward: bool) -> Fits:
        """Return what tells whether an entity has a link by a relation."""
        return lambda row: len(self._true(row, relation.row, backward)) > 0

    def _pair(self, head: str, tail: str, names: NameLikeness | None) -> tuple[Resolved, Resolved]:
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
        return self._known.heads(relation, entity) if backward else self._known.tails(entity, relation)

    def _ranked(
        self,
        queries: NDArray[np.float32],
        bonuses: Sequence[Bonus],
        k: int,
        known: str,
        true: Sequence[Rows],
        left_out: Sequence[Rows],
    ) -> list[Scored]:
        searcher = self._searcher(self._projector.space)
        if known == "only":
            parts = zip(queries, true, bonuses, strict=True)
            return [searcher.among(query, rows, k, bonus) for query, rows, bonus in parts]
        return searcher.top(queries, k, left_out, bonuses)


def _chosen(rows: Rows, true: Rows, known: str) -> Rows:
    if known == "include":
        return rows
    return rows[np.isin(rows, true, invert=known == "exclude")]
