"""Where a new concept belongs: answers of (parent, children) positions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ontodex.engine.results.answer_table import AnswerTable
from ontodex.engine.results.hits import Hit, Resolution
from ontodex.engine.results.printable import printable

__all__ = ["Placement", "Placements"]

COLUMNS = ("parent_id", "parent_label", "child_ids", "child_labels", "probability")


@dataclass(frozen=True)
class Placement:
    """A position of a new concept in the hierarchy.

    Attributes:
        parent: What it hangs under, with the probability that the concept is below it; ``known`` if the concept is in the
            graph, and is so already.
        children: What lies below that parent and moves below the new concept; most often nothing.
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
    """The positions of one concept, best first: a sequence of :class:`Placement` that prints as a table.

    As this::

        place: text = “ruminant” (free text)
        by the subsumption score of HiT, and what is above entities of like text, 2.8 ms
           1  p=0.73  under         ex:tame   tame animal
                      over          ex:cow    cow
                      over          ex:sheep  sheep

    Attributes:
        placements: The positions.
        readings: How the text was read.
        method: What the probabilities stand on.
        took_ms: Time that the question took, its share of a batch's, in milliseconds.
    """

    placements: tuple[Placement, ...]
    resolutions: dict[str, Resolution]
    method: str
    took_ms: float

    @property
    def _parts(self) -> tuple[Placement, ...]:
        return self.placements

    def __str__(self) -> str:
        title = "place: " + ", ".join(
            f"{role} = {resolution}" for role, resolution in self.resolutions.items()
        )
        lines = [title, f"by {self.method}, {self.took_ms:.1f} ms"]
        width = max(
            (len(hit.id) for one in self.placements for hit in (one.parent, *one.children)),
            default=0,
        )
        for rank, one in enumerate(self.placements, 1):
            lines.append(
                f"{rank:>4}  p={one.parent.probability:.2f}  under  {_line(one.parent, width)}"
            )
            lines.extend(f"              over   {_line(child, width)}" for child in one.children)
        return printable("\n".join(lines if self.placements else [*lines, "      nothing found"]))

    def to_dict(self) -> dict[str, Any]:
        """Return ``query``, ``method``, ``placements`` and ``took_ms`` as plain data."""
        return {
            "query": {
                "question": "place",
                **{role: asdict(resolution) for role, resolution in self.resolutions.items()},
            },
            "method": self.method,
            "placements": [one.to_dict() for one in self.placements],
            "took_ms": round(self.took_ms, 3),
        }

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        """Return a row for each position; children are separated by ``|``, in labels ``/``."""
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
    return f"{'known' if hit.known else '     '}  {hit.id:<{width}}  {hit.label}"
