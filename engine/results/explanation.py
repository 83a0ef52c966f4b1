"""Why an entity is the answer that it is: what adds to its score, and the known links that say so."""

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
    """Known links that speak for an answer.

    Attributes:
        strength: How like the entity is whose link it is, or how often the rule is right, in (0, 1].
        links: The link, or the two of a path.
        like: CURIE or IRI of the entity that is so like the one asked about, or the answer; ``None`` for a rule.
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
        by: ``"text"``, ``"structure"``, ``"range"``, ``"heads of like text"``, ``"tails of like text"``, ``"heads of like
            links"``, ``"tails of like links"`` or ``"rules"``; heads and tails as in the question, which may be an inverse.
        adds: What it adds to the score, more than to that of all entities in the mean.
        case_based: The links that it goes by, the strongest first; none for the first three, which are learnt.
    """

    by: str
    adds: float
    case_based: tuple[SimilarCase, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(AnswerTable[Reason]):
    """The parts of an answer's score, the one that adds most first: a sequence of :class:`Reason` that prints as a table.

    Attributes:
        reasons: The parts.
        readings: How head, relation and tail were read.
        score: The score that the tail has as an answer about the head.
        mean: That of all entities in the mean; with it the parts add up to the score.
        rank: Place of the tail among the entities that are not known to be one, and itself.
        known: Whether the link is known.
        method: What the score means.
        took_ms: Time that it took, in milliseconds.
    """

    reasons: tuple[Reason, ...]
    resolutions: dict[str, Resolution]
    score: float
    mean: float
    rank: int
    known: bool
    method: str
    took_ms: float

    @property
    def _parts(self) -> tuple[Reason, ...]:
        return self.reasons

    def __str__(self) -> str:
        asked = ", ".join(f"{part} = {resolution}" for part, resolution in self.resolutions.items())
        known = "known; " if self.known else ""
        lines = [
            f"why: {asked}",
            f"{known}rank {self.rank:,}, score {self.score:.4f}, of all entities in the mean {self.mean:.4f}",
            f"by {self.method}, {self.took_ms:.1f} ms",
        ]
        for reason in self.reasons:
            lines.append(f"{reason.adds:+9.4f}  {reason.by}")
            lines += [f"{'':13}{precedent}" for precedent in reason.case_based]
        return printable("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """Return the query, score, mean, rank, whether it is known, method, reasons and time as plain data."""
        return {
            "query": {
                "question": "why",
                **{part: asdict(resolution) for part, resolution in self.resolutions.items()},
            },
            **{name: getattr(self, name) for name in ("score", "mean", "rank", "known", "method")},
            "reasons": [asdict(reason) for reason in self.reasons],
            "took_ms": round(self.took_ms, 3),
        }

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        rows: list[list[Any]] = []
        for reason in self.reasons:
            said: list[list[Any]] = [
                [precedent.strength, ", ".join(map(str, precedent.links))]
                for precedent in reason.case_based
            ]
            rows += [[reason.by, reason.adds, *one] for one in said or [["", ""]]]
        return ["by", "adds", "strength", "links"], rows
