"""Answers of completion: names with a word that starts with what was typed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from ontodex.engine.results.answer_table import AnswerTable
from ontodex.engine.results.printable import printable

__all__ = ["Completion", "Completions"]


@dataclass(frozen=True)
class Completion:
    """A name, and the entity that has it.

    Attributes:
        name: The label or synonym.
        id: CURIE or IRI of the entity.
        label: Label of the entity.
        kind: ``"label"`` or ``"synonym"``.
    """

    name: str
    id: str
    label: str
    kind: str


@dataclass(frozen=True, eq=False, repr=False)
class Completions(AnswerTable[Completion]):
    """Names of different entities, best first: a sequence of :class:`Completion`.

    Attributes:
        completions: The names.
        prefix: What was typed.
        took_ms: Duration in milliseconds.
    """

    completions: tuple[Completion, ...]
    prefix: str
    took_ms: float

    @property
    def _parts(self) -> tuple[Completion, ...]:
        return self.completions

    def __str__(self) -> str:
        lines = [f"complete: “{self.prefix}”, {self.took_ms:.1f} ms"]
        width = max((len(one.id) for one in self), default=0)
        for one in self:
            of = "" if one.kind == "label" else f" (synonym of {one.label})"
            lines.append(f"  {one.id:<{width}}  {one.name}{of}")
        return printable("\n".join(lines if self else [*lines, "  nothing found"]))

    def to_dict(self) -> dict[str, Any]:
        """Return ``query``, ``completions`` and ``took_ms`` as plain data."""
        return {
            "query": {"question": "complete", "prefix": self.prefix},
            "completions": [asdict(one) for one in self],
            "took_ms": round(self.took_ms, 3),
        }

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        columns = [column.name for column in fields(Completion)]
        return columns, [[getattr(one, name) for name in columns] for one in self]
