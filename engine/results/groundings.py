"""Answers of grounding: a term of the graph for each text, or none."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from ontodex.engine.results.answer_table import AnswerTable
from ontodex.engine.results.printable import printable

__all__ = ["MATCH", "NONE", "Grounding", "Groundings"]

MATCH, NONE = "match", "none"
"""Decisions."""


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
    """

    text: str
    term_id: str | None = None
    term_label: str | None = None
    probability: float | None = None
    decision: str = ""


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

    @property
    def _parts(self) -> tuple[Grounding, ...]:
        return self.groundings

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
        return printable("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """Return ``query``, ``method``, ``threshold``, ``groundings`` and ``took_ms``."""
        return {
            "query": {"question": "ground"},
            "method": self.method,
            "threshold": round(self.threshold, 6),
            "groundings": [asdict(one) for one in self],
            "took_ms": round(self.took_ms, 3),
        }

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        columns = [column.name for column in fields(Grounding)]
        return columns, [[getattr(one, name) for name in columns] for one in self]
