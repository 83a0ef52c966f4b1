"""Explanations: the parts of an answer's score, and the known links behind them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ontodex.engine.results.answer_table import AnswerTable
from ontodex.engine.results.hits import Resolution
from ontodex.engine.results.link import Link
from ontodex.engine.results.printable import printable

__all__ = ["Explanation", "Reason", "SimilarCase"]


@dataclass(frozen=True)
class SimilarCase:
    """Known links that are evidence for an answer.

    Attributes:
        strength: Similarity of the similar entity, or confidence of the rule, in (0, 1].
        links: The link, or the two links of a path.
        like: CURIE or IRI of the similar entity, that is, an entity similar to the entity of the
            question or to the answer; ``None`` for a rule.
    """

    strength: float
    links: tuple[Link, ...]
    like: str | None = None

    def __str__(self) -> str:
        return f"{self.strength:.3f}  " + ",  ".join(map(str, self.links))


@dataclass(frozen=True)
class Reason:
    """A part of the score of an answer.

    Attributes:
        by: ``"text"``, ``"ComplEx"``, ``"type constraint"``, ``"kind"``, ``"similar heads
            (text)"``, ``"similar tails (text)"``, ``"similar heads (links)"``, ``"similar tails
            (links)"``, ``"similar heads (shared links)"``, ``"similar tails (shared links)"`` or
            ``"rules"``.
            Entities are similar by links if their KGE vectors are, and by shared links if the same
            relations link them to the same entities. Similar heads are similar to the entity of the
            question, and similar tails to the answer, also if the relation is inverted.
        adds: Contribution to the score, minus the mean contribution to the scores of all entities.
        case_based: Known links behind the part, the strongest first; empty for text, ComplEx, type
            constraint and kind.
    """

    by: str
    adds: float
    case_based: tuple[SimilarCase, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(AnswerTable[Reason]):
    """The parts of an answer's score, the largest first: a sequence of :class:`Reason`.

    Attributes:
        reasons: The parts.
        resolutions: Resolution of head, relation and tail.
        score: Score of the tail as an answer to the question.
        mean: Mean score of all entities; the parts and the mean add up to the score.
        rank: Rank of the tail among the entities that are not known tails.
        known: Whether the link is known.
        asserted_by: Name of the source that asserts the link; ``None`` if the link is not known.
        method: Name of the score.
        took_ms: Duration in milliseconds.
    """

    reasons: tuple[Reason, ...]
    resolutions: dict[str, Resolution]
    score: float
    mean: float
    rank: int
    known: bool
    asserted_by: str | None
    method: str
    took_ms: float

    @property
    def _parts(self) -> tuple[Reason, ...]:
        return self.reasons

    def __str__(self) -> str:
        query = ", ".join(f"{part} = {resolution}" for part, resolution in self.resolutions.items())
        known = f"asserted by {self.asserted_by}; " if self.known else ""
        lines = [
            f"why: {query}",
            f"{known}rank {self.rank:,}, score {self.score:.4f}, mean score {self.mean:.4f}",
            f"by {self.method}, {self.took_ms:.1f} ms",
        ]
        for reason in self.reasons:
            lines.append(f"{reason.adds:+9.4f}  {reason.by}")
            lines += [f"{'':13}{case}" for case in reason.case_based]
        return printable("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as plain data."""
        return {
            "query": {
                "question": "why",
                **{part: asdict(resolution) for part, resolution in self.resolutions.items()},
            },
            **{
                name: getattr(self, name)
                for name in ("score", "mean", "rank", "known", "asserted_by", "method")
            },
            "reasons": [asdict(reason) for reason in self.reasons],
            "took_ms": round(self.took_ms, 3),
        }

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        rows: list[list[Any]] = []
        for reason in self.reasons:
            cases: list[list[Any]] = [
                [case.strength, ", ".join(map(str, case.links))] for case in reason.case_based
            ]
            rows += [[reason.by, reason.adds, *case] for case in cases or [["", ""]]]
        return ["by", "adds", "strength", "links"], rows
