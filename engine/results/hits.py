"""Ranked answers of the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ontodex.engine.results.about import about, joined, printed
from ontodex.engine.results.answer_table import AnswerTable
from ontodex.engine.results.printable import printable
from ontodex.errors import LookupFailed, SettingsError
from ontodex.graph import KnowledgeGraph
from ontodex.graph.knowledge_graph import no_triples
from ontodex.graph.names import NameKind
from ontodex.graph.subgraph import with_entities, with_triples
from ontodex.graph.writers.nquads import predictions_as_nquads

__all__ = ["NONE_LEFT_OUT", "Hit", "Hits", "KnownLeftOut", "Resolution", "excerpt_of"]

COLUMNS = ("id", "label", "score", "known")

HIERARCHICAL = ("parents", "children")
"""Kinds of questions whose known answers are marked as asserted, and have no probability."""

ROLES = {
    "tails": {"answer": "tail"},
    "heads": {"answer": "head"},
    "relations": {"answer": "relation"},
    "parents": {"text": "head", "answer": "tail"},
    "children": {"text": "tail", "answer": "head"},
}
"""Role in a triple of each part of a question, and of its answer."""


@dataclass(frozen=True)
class Resolution:
    """What a part of a question was resolved to.

    Attributes:
        text: Text of the question.
        kind: ``"id"``, ``"label"``, ``"synonym"``, ``"alternative id"`` or ``"free text"``;
            ``"unresolved"`` in a question that has an error.
        id: Identifier of the entity or relation; ``None`` for free text.
        label: Label of the entity or relation; for free text, the text itself.
        hint: For free text, a known name with a similar spelling; for a name of several entities,
            the number of these entities; otherwise empty.
        inverted: Whether the inverse of the relation ``id`` is meant.
    """

    text: str
    kind: str
    id: str | None
    label: str
    hint: str = ""
    inverted: bool = False

    def __str__(self) -> str:
        if self.id is not None:
            return f"{self.label} ({self.id}, by {self.kind}{self.hint})"
        return f"“{self.text}” ({self.kind}{self.hint})"

    @classmethod
    def unresolved(cls, text: str) -> Resolution:
        """Return the resolution of a text in a question that could not be resolved."""
        return cls(text, "unresolved", None, text)


@dataclass(frozen=True)
class Hit:
    """One answer.

    Attributes:
        id: CURIE or IRI of the entity, or identifier of the relation.
        label: Label of the entity or relation.
        score: Score by the method of the answer; higher is better.
        known: Whether the graph, or another known source, has the answer.
        probability: Probability of the answer, in the results of entailment queries, and of
            predicted tails, heads, parents and children if it could be fitted; otherwise ``None``.
        text: The sentence or phrase that matched, in searches that compare sentences or phrases;
            otherwise ``None``.
        path: Labels on a shortest path from a root of the hierarchy to the entity, the root first;
            see :meth:`Hits.described`.
        definition: Definition of the entity; see :meth:`Hits.described`.
    """

    id: str
    label: str
    score: float
    known: bool
    probability: float | None = None
    text: str | None = None
    path: tuple[str, ...] | None = None
    definition: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes that are not ``None`` as plain data."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class KnownLeftOut:
    """Known answers that ``known="exclude"`` left out of the hits.

    Attributes:
        count: Number of known answers.
        labels: Labels of the first three known answers.
    """

    count: int = 0
    labels: tuple[str, ...] = ()

    def __str__(self) -> str:
        more = ", …" if self.count > len(self.labels) else ""
        return f"{self.count:,} known left out: {', '.join(self.labels)}{more}; --known include"


NONE_LEFT_OUT = KnownLeftOut()
"""Value for hits from which no known answers were left out."""


@dataclass(frozen=True, eq=False, repr=False)
class Hits(AnswerTable[Hit]):
    """The answers to one question, best first: a sequence of :class:`Hit` that prints as a table.

    Attributes:
        hits: The answers.
        question: Kind of question, such as ``"tails"``.
        resolutions: Resolution of each part of the question.
        method: Name of the score.
        took_ms: Duration in milliseconds; in a batch, the mean duration of a question.
        error: In a batch, the error if the question has an unknown entity or relation; otherwise
            ``None``.
        known_left_out: The known answers that were left out.
    """

    hits: tuple[Hit, ...]
    question: str
    resolutions: dict[str, Resolution]
    method: str
    took_ms: float
    _graph: KnowledgeGraph
    error: LookupFailed | None = None
    known_left_out: KnownLeftOut = NONE_LEFT_OUT

    @classmethod
    def failed(
        cls, question: str, parts: Mapping[str, str], error: LookupFailed, graph: KnowledgeGraph
    ) -> Hits:
        """Return the answer to a question that could not be resolved: an error and no hits.

        Args:
            question: Kind of question, such as ``"tails"``.
            parts: Text of each part of the question.
            error: The error.
            graph: Graph of the index.
        """
        resolutions = {role: Resolution.unresolved(text) for role, text in parts.items()}
        return cls((), question, resolutions, "", 0.0, graph, error)

    @property
    def _parts(self) -> tuple[Hit, ...]:
        return self.hits

    def described(self, *, path: bool = True, definition: bool = True) -> Hits:
        """Return the answer with the place in the hierarchy and the definition of each hit.

        They are printed below the hits, and are in all other forms of the answer. Relations have
        neither.

        Args:
            path: Add :attr:`Hit.path` to each entity that has parents.
            definition: Add :attr:`Hit.definition` to each entity that has one.
        """
        if self.question == "relations":
            return self
        hits = tuple(
            replace(hit, **about(self._graph, hit.id, path=path, definition=definition))
            for hit in self.hits
        )
        return replace(self, hits=hits)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle; its graph has only the entities of the query and the hits."""
        query = (one.id for one in self.resolutions.values() if one.id is not None)
        names = [*query, *(hit.id for hit in self.hits)]
        return {**vars(self), "_graph": excerpt_of(self._graph, names)}

    def __str__(self) -> str:
        title = f"{self.question}: " + ", ".join(
            f"{role} = {resolution}" for role, resolution in self.resolutions.items()
        )
        if self.error is not None:
            return printable(f"{title}\n      error: {self.error}")
        lines = [title, f"by {self.method}, {self.took_ms:.1f} ms"]
        width = max((len(hit.id) for hit in self.hits), default=0)
        marks = [self._mark(hit) for hit in self.hits]
        marked = max(map(len, marks), default=0)
        likely = any(hit.probability is not None for hit in self.hits)
        for rank, (hit, mark) in enumerate(zip(self.hits, marks, strict=True), 1):
            probability = " " * 8 if likely else ""
            if hit.probability is not None:
                probability = f"p={hit.probability:.2f}  "
            text = f": {hit.text}" if hit.text not in (None, hit.label) else ""
            lines.append(
                f"{rank:>4}  {hit.score:7.4f}  {probability}{mark:<{marked}}  {hit.id:<{width}}  "
                f"{hit.label}{text}"
            )
            indent = " " * (len(lines[-1]) - len(f"{hit.id:<{width}}  {hit.label}{text}"))
            lines += [indent + line for line in printed(hit.path, hit.definition)]
        if not self.hits:
            lines.append("      nothing found")
        if self.known_left_out.count:
            lines.append(f"      {self.known_left_out}")
        return printable("\n".join(lines))

    def _mark(self, hit: Hit) -> str:
        """Return the mark of a known answer: "asserted" in the hierarchy, otherwise "known"."""
        if not hit.known:
            return ""
        return "asserted" if self.question in HIERARCHICAL else "known"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data.

        The keys are ``query``, ``method``, ``hits`` and ``took_ms``. ``known_left_out`` is added if
        known answers were left out, and ``error`` if there is an error.
        """
        return {
            "query": {
                "question": self.question,
                **{role: asdict(resolution) for role, resolution in self.resolutions.items()},
            },
            "method": self.method,
            "hits": [{**hit.to_dict(), **self._probability_of(hit)} for hit in self.hits],
            "took_ms": round(self.took_ms, 3),
            **(
                {"known_left_out": asdict(self.known_left_out)} if self.known_left_out.count else {}
            ),
            **({} if self.error is None else {"error": str(self.error)}),
        }

    def _probability_of(self, hit: Hit) -> dict[str, float | None]:
        """Return the probability of a parent or child as a dictionary; empty for other hits."""
        return {"probability": hit.probability} if self.question in HIERARCHICAL else {}

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        columns = [
            *COLUMNS,
            *(
                name
                for name in ("probability", "text", "path", "definition")
                if any(getattr(hit, name) is not None for hit in self.hits)
                or (name == "probability" and self.question in HIERARCHICAL)
            ),
        ]
        return columns, [[joined(getattr(hit, name)) for name in columns] for hit in self.hits]

    @property
    def triples(self) -> list[tuple[str, str, str, float]]:
        """The hits that are not known, each as (head id, relation id, tail id, score).

        Raises:
            SettingsError: If the question is not about links, a part of it is free text, or it is
                about parents or children and the hierarchy has several relations.
        """
        roles = ROLES.get(self.question)
        if roles is None:
            raise SettingsError(
                f"expected an answer of {', '.join(ROLES)} to make triples of, found "
                f"{self.question}"
            )
        for role, resolution in self.resolutions.items():
            if resolution.id is None:
                raise SettingsError(
                    f"{role}: expected one of the graph to make triples of, found {resolution}"
                )
        ids = {
            roles.get(role, role): str(resolution.id)
            for role, resolution in self.resolutions.items()
        }
        if self.question in HIERARCHICAL:
            ids["relation"] = self._of_hierarchy()
        head, tail = "head", "tail"
        if "relation" in self.resolutions and self.resolutions["relation"].inverted:
            head, tail = tail, head
        wholes = [
            ({**ids, roles["answer"]: hit.id}, hit.score) for hit in self.hits if not hit.known
        ]
        return [(each[head], each["relation"], each[tail], score) for each, score in wholes]

    def _of_hierarchy(self) -> str:
        relations = [self._graph.relation_ids[number] for number in self._graph.hierarchy_relations]
        if len(relations) != 1:
            raise SettingsError(
                "expected one relation of the hierarchy to make triples of, found "
                f"{', '.join(relations)}"
            )
        return relations[0]

    def to_rdf(self) -> str:
        """Return :attr:`triples` as N-Quads in a named graph of predictions, with their scores."""
        return predictions_as_nquads(self._graph, self.triples)


def excerpt_of(graph: KnowledgeGraph, names: Iterable[str]) -> KnowledgeGraph:
    """Return a graph without links: some entities of ``graph``, its relations and prefixes.

    Args:
        graph: A graph.
        names: Ids of the entities; ids of relations and other texts are ignored.
    """
    none, keep = no_triples(), np.zeros(graph.n_entities, dtype=bool)
    found = (graph.find(name) for name in names)
    keep[[one[0] for one in found if one is not None and one[1] is NameKind.ID]] = True
    return replace(with_entities(with_triples(graph, none, none, none), keep), mappings=())
