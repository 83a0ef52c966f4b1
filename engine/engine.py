"""The engine: questions to an index."""

from __future__ import annotations

import operator
import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.hits import Hit, Hits, Reading
from ontodex.engine.known import Known, Rows, check_choice
from ontodex.engine.placing import near_and_below, parents_of_text
from ontodex.engine.projector import Projector, vectors_of
from ontodex.engine.resolve import Resolved, resolve_entity, resolve_relation
from ontodex.engine.topk import Searcher
from ontodex.errors import SettingsError
from ontodex.graph import Hierarchy, KnowledgeGraph
from ontodex.indexers.index import Index

__all__ = ["Engine"]

Floats = NDArray[np.float32]
Scored = tuple[Rows, NDArray[np.float64]]

SIMILAR = "text similarity (cosine)"
ASSERTED = "the asserted hierarchy"
PLACES = "the places of the most similar entities"


class Engine:
    """Answers questions from an index.

    Wherever an entity is asked for, a CURIE, an IRI, a label, a synonym or free text serves; relations likewise. Every
    answer says how it was read. Forms that end in ``_batch`` take many questions and are faster than as many single calls.

    Args:
        index: An opened index.
        known: Further graphs whose triples count as known.
        exact: Score every entity also where the index is so large that candidates are looked up first.
    """

    def __init__(self, index: Index, *, known: Iterable[KnowledgeGraph] = (), exact: bool = False) -> None:
        self.index = index
        self.graph = index.graph
        self._known = Known(self.graph, known)
        self._projector = Projector(index)
        self._exact = exact
        self._searchers: dict[str, Searcher] = {}

    @classmethod
    def open(
        cls, path: str | Path, *, device: str = "auto", known: Iterable[KnowledgeGraph] = (), exact: bool = False
    ) -> Engine:
        """Open an index and ask it; see :meth:`ontodex.indexers.index.Index.open` for what can be wrong with it."""
        return cls(Index.open(Path(path), device), known=known, exact=exact)

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index."""
        self.index.close()

    def __repr__(self) -> str:
        return f"Engine({str(self.index.path)!r}: {self.graph!r})"

    # Link prediction ----------------------------------------------------------------------------------------------

    def tails(self, head: str, relation: str, k: int = 10, known: str = "exclude") -> Hits:
        """Rank the entities that ``head`` may be linked to by ``relation``.

        ``head`` itself is left out, unless the graph links some entity to itself by ``relation``.

        Args:
            head: An entity or any text.
            relation: A relation of the graph, or the text of one that it does not have.
            k: How many.
            known: ``"exclude"`` leaves known tails out, ``"include"`` marks them, ``"only"`` ranks them alone.

        Raises:
            UnknownEntity: If a CURIE or IRI is not in the graph.
            UnknownRelation: Likewise.
            SettingsError: If ``k`` is below 1, ``known`` none of the above, or a text empty.
        """
        return self.tails_batch([(head, relation)], k, known)[0]

    def tails_batch(self, questions: Sequence[tuple[str, str]], k: int = 10, known: str = "exclude") -> list[Hits]:
        """Answer many (head, relation) questions at once; see :meth:`tails`."""
        return self._links("tails", questions, k, known)

    def heads(self, relation: str, tail: str, k: int = 10, known: str = "exclude") -> Hits:
        """Rank the entities that may be linked to ``tail`` by ``relation``; see :meth:`tails`."""
        return self.heads_batch([(relation, tail)], k, known)[0]

    def heads_batch(self, questions: Sequence[tuple[str, str]], k: int = 10, known: str = "exclude") -> list[Hits]:
        """Answer many (relation, tail) questions at once; see :meth:`heads`."""
        return self._links("heads", [(tail, relation) for relation, tail in questions], k, known)

    def relations(self, head: str, tail: str, k: int = 10, known: str = "include") -> Hits:
        """Rank the relations of the graph by how well they lead from ``head`` to ``tail`` and, inverted, back."""
        return self.relations_batch([(head, tail)], k, known)[0]

    def relations_batch(self, questions: Sequence[tuple[str, str]], k: int = 10, known: str = "include") -> list[Hits]:
        """Answer many (head, tail) questions at once; see :meth:`relations`."""
        check_choice(known)
        k = _checked(k)
        start = time.perf_counter()
        pairs = [(resolve_entity(self.graph, head), resolve_entity(self.graph, tail)) for head, tail in questions]
        heads, tails = (self._projector.vectors([pair[side] for pair in pairs]) for side in (0, 1))
        answers = []
        for (head, tail), head_vector, tail_vector in zip(pairs, heads, tails, strict=True):
            true = self._known.relations(head.row, tail.row) if None not in (head.row, tail.row) else _none()  # type: ignore[arg-type]
            scores = self._projector.relation_scores(head_vector, tail_vector)
            rows = _chosen(np.arange(self.graph.n_relations), true, known)
            order = rows[np.lexsort((rows, -scores[rows]))][:k]
            hits = tuple(
                Hit(self.graph.relation_ids[row], self.graph.relation_labels[row], float(scores[row]), row in true)
                for row in order.tolist()
            )
            readings = {"head": head.reading, "tail": tail.reading}
            answers.append((hits, readings, self._projector.relations_method))
        return self._answers("relations", answers, start)

    # Search -------------------------------------------------------------------------------------------------------

    def search(self, text: str, k: int = 10) -> Hits:
        """Rank all entities by how alike their text is to ``text``.

        An entity of that very name comes first, with a score of 1; if several bear it, the one in most triples.
        """
        return self.search_batch([text], k)[0]

    def search_batch(self, texts: Sequence[str], k: int = 10) -> list[Hits]:
        """Answer many searches at once; see :meth:`search`."""
        return self._alike("search", texts, k, itself=True)

    def similar(self, text: str, k: int = 10) -> Hits:
        """Rank the other entities by how alike they are to an entity, or to any text."""
        return self.similar_batch([text], k)[0]

    def similar_batch(self, texts: Sequence[str], k: int = 10) -> list[Hits]:
        """Answer many questions at once; see :meth:`similar`."""
        return self._alike("similar", texts, k, itself=False)

    # Hierarchy ----------------------------------------------------------------------------------------------------

    def parents(self, text: str, k: int = 10, known: str = "include") -> Hits:
        """Rank what is directly above an entity or any text.

        Asserted parents come first, marked as known; the others are where the most similar entities hang.
        """
        return self.parents_batch([text], k, known)[0]

    def parents_batch(self, texts: Sequence[str], k: int = 10, known: str = "include") -> list[Hits]:
        """Answer many questions at once; see :meth:`parents`."""
        return self._placed("parents", texts, k, known)

    def children(self, text: str, k: int = 10, known: str = "include") -> Hits:
        """Rank what is directly below an entity or any text; see :meth:`parents`."""
        return self.children_batch([text], k, known)[0]

    def children_batch(self, texts: Sequence[str], k: int = 10, known: str = "include") -> list[Hits]:
        """Answer many questions at once; see :meth:`children`."""
        return self._placed("children", texts, k, known)

    # How ----------------------------------------------------------------------------------------------------------

    def searcher(self, space: str) -> Searcher:
        """Return the search of a space, set up on first use."""
        if space not in self._searchers:
            device = self.index.device
            approximate = None if self._exact else self.index.candidates(space)
            self._searchers[space] = Searcher(self.index.vectors(space), device, approximate)
        return self._searchers[space]

    @cached_property
    def hierarchy(self) -> Hierarchy | None:
        """The asserted hierarchy, circles cut open; ``None`` if the graph has none."""
        return self.graph.hierarchy(on_cycle="drop") if self.graph.hierarchy_relations else None

    def _links(self, question: str, questions: Sequence[tuple[str, str]], k: int, known: str) -> list[Hits]:
        """Answer (entity, relation) questions; heads are the tails of the inverse relation."""
        check_choice(known)
        k = _checked(k)
        start = time.perf_counter()
        backward = question == "heads"
        entities = [resolve_entity(self.graph, entity) for entity, _ in questions]
        relations = [resolve_relation(self.graph, relation) for _, relation in questions]
        true = [
            self._true(entity.row, relation.row, backward) for entity, relation in zip(entities, relations, strict=True)
        ]
        queries = self._projector.queries(entities, relations, backward=backward)
        left_out = [
            np.union1d(rows, _row(entity)) if relation.row not in self.graph.reflexive else rows
            for rows, entity, relation in zip(_hidden(true, known), entities, relations, strict=True)
        ]
        found = self._ranked(self._projector.space, queries, k, known, true, left_out)
        answers = []
        for entity, relation, rows_true, scored in zip(entities, relations, true, found, strict=True):
            given = "tail" if backward else "head"
            readings = {given: entity.reading, "relation": relation.reading}
            answers.append((self._hits(scored, rows_true), readings, self._projector.method))
        return self._answers(question, answers, start)

    def _true(self, entity: int | None, relation: int | None, backward: bool) -> Rows:
        if entity is None or relation is None:
            return _none()
        return self._known.heads(relation, entity) if backward else self._known.tails(entity, relation)

    def _ranked(
        self, space: str, queries: Floats, k: int, known: str, true: Sequence[Rows], left_out: Sequence[Rows]
    ) -> list[Scored]:
        searcher = self.searcher(space)
        if known == "only":
            return [searcher.among(query, rows, k) for query, rows in zip(queries, true, strict=True)]
        return searcher.top(queries, k, left_out)

    def _text_vectors(self, entities: Sequence[Resolved]) -> Floats:
        return vectors_of(self.index, "text", entities, lambda texts: np.asarray(self.index.text_encoder.encode(texts)))

    def _alike(self, question: str, texts: Sequence[str], k: int, *, itself: bool) -> list[Hits]:
        k = _checked(k)
        start = time.perf_counter()
        read = [resolve_entity(self.graph, text, any_text=itself) for text in texts]
        # A search is for the words; what is similar to an entity is asked of the entity itself, definition and all.
        vectors = self._text_vectors([_as_text(one) if itself and one.reading.kind != "id" else one for one in read])
        found = self.searcher("text").top(vectors, k, [_row(one) for one in read])
        answers = []
        for one, (rows, scores) in zip(read, found, strict=True):
            if itself and one.row is not None:
                rows, scores = np.insert(rows, 0, one.row)[:k], np.insert(scores, 0, 1.0)[:k]
            answers.append((self._hits((rows, scores), _none()), {"text": one.reading}, SIMILAR))
        return self._answers(question, answers, start)

    def _placed(self, question: str, texts: Sequence[str], k: int, known: str) -> list[Hits]:
        check_choice(known)
        k = _checked(k)
        start = time.perf_counter()
        read = [resolve_entity(self.graph, text) for text in texts]
        vectors = self._text_vectors(read)
        near = self.searcher("text").top(vectors, max(20, k), [_row(one) for one in read])
        answers = []
        for one, vector, neighbours in zip(read, vectors, near, strict=True):
            asserted, circular = self._asserted(question, one.row)
            parts = []
            if known != "exclude" and len(asserted):
                parts.append((ASSERTED, asserted, np.ones(len(asserted))))
            if known != "only":
                by, rows, scores = self._guessed(question, vector, neighbours)
                fresh = ~np.isin(rows, np.concatenate([asserted, circular, _row(one)]))
                parts.append((by, rows[fresh], scores[fresh]))
            rows = np.concatenate([_none(), *(part[1] for part in parts)])[:k]
            scores = np.concatenate([np.zeros(0), *(part[2] for part in parts)])[:k]
            method = ", then ".join(part[0] for part in parts) or ASSERTED
            answers.append((self._hits((rows, scores), asserted), {"text": one.reading}, method))
        return self._answers(question, answers, start)

    def _guessed(self, question: str, vector: Floats, near: Scored) -> tuple[str, Rows, NDArray[np.float64]]:
        """Return where a text may hang, and by what."""
        if self.hierarchy is None:
            return SIMILAR, *near
        if question == "parents":
            return PLACES, *parents_of_text(self.hierarchy, near)
        return PLACES, *self.searcher("text").among(
            vector, near_and_below(self.hierarchy, near[0]), len(self.graph.ids)
        )

    def _asserted(self, question: str, row: int | None) -> tuple[Rows, Rows]:
        """Return the asserted parents (or children), and what would close a circle if it were one."""
        if row is None or self.hierarchy is None:
            return _none(), _none()
        if question == "parents":
            found, circular = self.hierarchy.parents(row), self.hierarchy.descendants(row)
        else:
            found, circular = self.hierarchy.children(row), self.hierarchy.ancestors(row)
        return found.astype(np.int64), circular.astype(np.int64)

    def _hits(self, scored: Scored, known: Rows) -> tuple[Hit, ...]:
        true = set(known.tolist())
        return tuple(
            Hit(self.graph.ids[row], self.graph.labels[row], float(score), row in true)
            for row, score in zip(scored[0].tolist(), scored[1].tolist(), strict=True)
        )

    def _answers(
        self, question: str, answers: Sequence[tuple[tuple[Hit, ...], dict[str, Reading], str]], start: float
    ) -> list[Hits]:
        took = (time.perf_counter() - start) * 1000 / max(1, len(answers))
        return [Hits(hits, question, readings, method, took, self.graph) for hits, readings, method in answers]


def _none() -> Rows:
    return np.zeros(0, dtype=np.int64)


def _hidden(true: Sequence[Rows], known: str) -> Sequence[Rows]:
    return true if known == "exclude" else [_none()] * len(true)


def _as_text(one: Resolved) -> Resolved:
    return Resolved(None, one.reading)


def _chosen(rows: Rows, true: Rows, known: str) -> Rows:
    if known == "include":
        return rows
    return rows[np.isin(rows, true, invert=known == "exclude")]


def _row(one: Resolved) -> Rows:
    return _none() if one.row is None else np.array([one.row], dtype=np.int64)


def _checked(k: int) -> int:
    try:
        number = operator.index(k)
    except TypeError:
        number = 0
    if number < 1:
        raise SettingsError(f"k: expected a number of answers of at least 1, found {k!r}")
    return number
