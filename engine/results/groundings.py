"""Answers of grounding: a term of the graph for each text, or none."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ontodex.engine.results.about import about, joined, printed
from ontodex.engine.results.answer_table import AnswerTable
from ontodex.engine.results.hits import excerpt_of
from ontodex.engine.results.printable import printable
from ontodex.graph import KnowledgeGraph

__all__ = ["MATCH", "NONE", "Grounding", "Groundings"]

MATCH, NONE = "match", "none"
"""Decisions."""

DESCRIBED = ("term_path", "term_definition")
"""Attributes of a grounding that are only there on demand."""


@dataclass(frozen=True)
class Grounding:
    """The most probable term of a text, and whether the text means it.

    Attributes:
        text: The text.
        term_id: CURIE or IRI of the most probable term, whatever the decision; ``None`` for an
            empty text.
        term_label: Label of the term.
        probability: Probability that the text means the term.
        decision: ``"match"``, ``"none"`` if the probability is below the threshold of the index, or
            empty for an empty text.
        term_path: Labels on a shortest path from a root of the hierarchy to the term, the root
            first; see :meth:`Groundings.described`.
        term_definition: Definition of the term; see :meth:`Groundings.described`.
    """

    text: str
    term_id: str | None = None
    term_label: str | None = None
    probability: float | None = None
    decision: str = ""
    term_path: tuple[str, ...] | None = None
    term_definition: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as plain data, path and definition only if there are any."""
        return {
            name: value
            for name, value in asdict(self).items()
            if value is not None or name not in DESCRIBED
        }


@dataclass(frozen=True, eq=False, repr=False)
class Groundings(AnswerTable[Grounding]):
    """The groundings of some texts, in the order of the texts: a sequence of :class:`Grounding`.

    Attributes:
        groundings: The groundings.
        threshold: Smallest probability of a match.
        method: Name of the probability.
        took_ms: Mean duration of a text in milliseconds.
    """

    groundings: tuple[Grounding, ...]
    threshold: float
    method: str
    took_ms: float
    _graph: KnowledgeGraph

    @property
    def _parts(self) -> tuple[Grounding, ...]:
        return self.groundings

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle; its graph has only the terms of the answer."""
        terms = [one.term_id for one in self if one.term_id is not None]
        return {**vars(self), "_graph": excerpt_of(self._graph, terms)}

    def described(self, *, path: bool = True, definition: bool = True) -> Groundings:
        """Return the answer with the place in the hierarchy and the definition of each term.

        Args:
            path: Add :attr:`Grounding.term_path` to each term that has parents.
            definition: Add :attr:`Grounding.term_definition` to each term that has one.
        """
        found = []
        for one in self:
            more = about(self._graph, one.term_id or "", path=path, definition=definition)
            found.append(replace(one, **{f"term_{name}": value for name, value in more.items()}))
        return replace(self, groundings=tuple(found))

    def __str__(self) -> str:
        matches = sum(one.decision == MATCH for one in self)
        lines = [
            f"ground: {matches:,} of {len(self):,} texts match a term (p >= {self.threshold:.2f})",
            f"by {self.method}, {self.took_ms:.1f} ms",
        ]
        width = max((len(one.text) for one in self), default=0)
        for one in self:
            likely = "" if one.probability is None else f"p={one.probability:.2f}"
            term = "" if one.term_id is None else f"{one.term_label} ({one.term_id})"
            lines.append(f"  {one.text:<{width}}  {one.decision:<5}  {likely:<6}  {term}".rstrip())
            lines += [
                f"  {'':<{width}}  {line}" for line in printed(one.term_path, one.term_definition)
            ]
        return printable("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """Return ``query``, ``method``, ``threshold``, ``groundings`` and ``took_ms``."""
        return {
            "query": {"question": "ground"},
            "method": self.method,
            "threshold": round(self.threshold, 6),
            "groundings": [one.to_dict() for one in self],
            "took_ms": round(self.took_ms, 3),
        }

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        columns = [
            column.name
            for column in fields(Grounding)
            if column.name not in DESCRIBED
            or any(getattr(one, column.name) is not None for one in self)
        ]
        return columns, [[joined(getattr(one, name)) for name in columns] for one in self]
