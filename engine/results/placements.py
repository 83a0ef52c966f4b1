"""Answers of taxonomy completion: positions of a new concept between parents and children."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ontodex.engine.results.answer_table import AnswerTable
from ontodex.engine.results.hits import Hit, Resolution
from ontodex.engine.results.printable import printable
from ontodex.errors import LookupFailed

__all__ = ["Placement", "Placements"]

COLUMNS = ("parent_id", "parent_label", "child_ids", "child_labels", "probability")


@dataclass(frozen=True)
class Placement:
    """A position of a new concept in the hierarchy.

    Attributes:
        parent: Parent of the concept. If the graph asserts the parent, ``parent.known`` is true;
            otherwise ``parent.probability`` is the probability that it is a direct parent.
        children: Entities below the parent that move below the new concept; often empty.
    """

    parent: Hit
    children: tuple[Hit, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return ``parent`` and ``children`` as plain data."""
        return {
            "parent": self.parent.to_dict(),
            "children": [child.to_dict() for child in self.children],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Placements(AnswerTable[Placement]):
    """The positions of one concept, best first: a sequence of :class:`Placement`.

    It prints as a table::

        place: text = “ruminant” (free text)
        by subsumption score (HiT) + neighbour votes, 2.8 ms
           1  p=0.73    under  ex:tame   tame animal
                        over   ex:cow    cow
                        over   ex:sheep  sheep

    Attributes:
        placements: The positions.
        resolutions: Resolution of the text.
        method: Name of the score.
        took_ms: Duration in milliseconds; in a batch, the mean duration of a question.
        error: In a batch, the error if the text is an unknown id; otherwise ``None``.
    """

    placements: tuple[Placement, ...]
    resolutions: dict[str, Resolution]
    method: str
    took_ms: float
    error: LookupFailed | None = None

    @classmethod
    def failed(cls, text: str, error: LookupFailed) -> Placements:
        """Return the answer for a text that could not be resolved: an error and no positions."""
        return cls((), {"text": Resolution.unresolved(text)}, "", 0.0, error)

    @property
    def already_there(self) -> str | None:
        """Label and id of the entity that the text names, if the graph has it; else ``None``."""
        text = self.resolutions["text"]
        return None if text.id is None else f"{text.label} ({text.id})"

    @property
    def _parts(self) -> tuple[Placement, ...]:
        return self.placements

    def __str__(self) -> str:
        title = "place: " + ", ".join(
            f"{role} = {resolution}" for role, resolution in self.resolutions.items()
        )
        if self.error is not None:
            return printable(f"{title}\n      error: {self.error}")
        lines = [title, f"by {self.method}, {self.took_ms:.1f} ms"]
        width = max(
            (len(hit.id) for one in self.placements for hit in (one.parent, *one.children)),
            default=0,
        )
        if self.already_there is not None:
            lines.insert(1, f"already there: {self.already_there}")
        for rank, one in enumerate(self.placements, 1):
            probability = one.parent.probability
            likely = "asserted" if one.parent.known else ""
            if probability is not None:
                likely = f"p={probability:.2f}"
            lines.append(f"{rank:>4}  {likely:<8}  under  {_line(one.parent, width)}")
            lines.extend(f"                over   {_line(child, width)}" for child in one.children)
        return printable("\n".join(lines if self.placements else [*lines, "      nothing found"]))

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data.

        The keys are ``query``, ``already_there``, ``method``, ``placements`` and ``took_ms``.
        ``error`` is added if there is an error.
        """
        return {
            "query": {
                "question": "place",
                **{role: asdict(resolution) for role, resolution in self.resolutions.items()},
            },
            "already_there": self.resolutions["text"].id,
            "method": self.method,
            "placements": [one.to_dict() for one in self.placements],
            "took_ms": round(self.took_ms, 3),
            **({} if self.error is None else {"error": str(self.error)}),
        }

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        """Return one row per position; ``|`` separates children, and becomes ``/`` in labels."""
        rows = [
            [
                one.parent.id,
                one.parent.label,
                "|".join(child.id for child in one.children),
                "|".join(child.label.replace("|", "/") for child in one.children),
                one.parent.probability,
            ]
            for one in self.placements
        ]
        return [*COLUMNS], rows


def _line(hit: Hit, width: int) -> str:
    return f"{hit.id:<{width}}  {hit.label}"
