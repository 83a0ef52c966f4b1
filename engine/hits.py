"""What the engine answers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, overload

from ontodex.engine.printable import json_text, printable
from ontodex.errors import SettingsError
from ontodex.graph import KnowledgeGraph
from ontodex.graph.writers.nquads import predictions_as_nquads

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Hit", "Hits", "Reading", "tsv"]

COLUMNS = ("id", "label", "score", "known")


@dataclass(frozen=True)
class Reading:
    """How a part of a question was read.

    Attributes:
        text: What was asked.
        kind: ``"id"``, ``"label"``, ``"synonym"``, ``"former id"`` or ``"free text"``.
        id: Identifier of the entity or relation; ``None`` for free text.
        label: Its label; the text itself for free text.
        hint: For free text, which known name is spelt alike; for a name that several entities bear, how many; else empty.
        inverted: Whether it is the inverse of the relation that ``id`` names.
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
        return f"“{self.text}” (free text{self.hint})"


@dataclass(frozen=True)
class Hit:
    """One answer.

    Attributes:
        id: CURIE or IRI of the entity, or identifier of the relation.
        label: Its label.
        score: The higher the better; what it measures is said by the question's method.
        known: Whether the graph, or another known source, says so already.
        probability: Of a relation, a parent or child, and what entails or is entailed, how likely it is one; else ``None``.
        text: The sentence that matched, where sentences are searched; else ``None``.
    """

    id: str
    label: str
    score: float
    known: bool
    probability: float | None = None
    text: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return its parts as plain data, probability and text where there is one."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, eq=False)
class Hits(Sequence[Hit]):
    """The answers to one question, best first: a sequence of :class:`Hit` that prints as a table.

    Attributes:
        hits: The answers.
        question: What was asked for, as ``"tails"``.
        readings: How each part of the question was read.
        method: What the scores mean.
        took_ms: Time that the question took, its share of a batch's, in milliseconds.
    """

    hits: tuple[Hit, ...]
    question: str
    readings: dict[str, Reading]
    method: str
    took_ms: float
    _graph: KnowledgeGraph = field(repr=False)

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        return self.hits[index]

    def __str__(self) -> str:
        title = f"{self.question}: " + ", ".join(f"{role} = {reading}" for role, reading in self.readings.items())
        lines = [title, f"by {self.method}, {self.took_ms:.1f} ms"]
        width = max((len(hit.id) for hit in self.hits), default=0)
        for rank, hit in enumerate(self.hits, 1):
            mark = "known" if hit.known else "     "
            chance = "" if hit.probability is None else f"p={hit.probability:.2f}  "
            said = f": {hit.text}" if hit.text not in (None, hit.label) else ""
            lines.append(f"{rank:>4}  {hit.score:7.4f}  {chance}{mark}  {hit.id:<{width}}  {hit.label}{said}")
        return printable("\n".join(lines if self.hits else [*lines, "      nothing found"]))

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return ``query``, ``method``, ``hits`` and ``took_ms`` as plain data."""
        return {
            "query": {"question": self.question, **{role: asdict(reading) for role, reading in self.readings.items()}},
            "method": self.method,
            "hits": [hit.to_dict() for hit in self.hits],
            "took_ms": round(self.took_ms, 3),
        }

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json_text(self.to_dict())

    def to_tsv(self) -> str:
        """Return a table with a header, cells separated by tabs."""
        rows = [hit.to_dict() for hit in self.hits]
        return tsv(self._columns, [[row[name] for name in self._columns] for row in rows])

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with the columns id, label, score and known, and probability and text where there are any."""
        import pandas as pd

        return pd.DataFrame([hit.to_dict() for hit in self.hits], columns=list(self._columns))

    @property
    def _columns(self) -> tuple[str, ...]:
        further = ("probability", "text")
        return (*COLUMNS, *(name for name in further if any(getattr(hit, name) is not None for hit in self.hits)))

    @property
    def triples(self) -> list[tuple[str, str, str, float]]:
        """The answers that are not known as predicted triples: (head id, relation id, tail id, score).

        Raises:
            SettingsError: If the question is not about triples, or a part of it is free text.
        """
        ids = {role: reading.id for role, reading in self.readings.items()}
        missing = {"tails": "tail", "heads": "head", "relations": "relation"}.get(self.question)
        if missing is None:
            raise SettingsError(
                f"expected an answer of tails, heads or relations to make triples of, found {self.question}"
            )
        for role, reading in self.readings.items():
            if reading.id is None:
                raise SettingsError(f"{role}: expected one of the graph to make triples of, found {reading}")
        head, tail = "head", "tail"
        if "relation" in self.readings and self.readings["relation"].inverted:
            head, tail = tail, head
        wholes = [({**ids, missing: hit.id}, hit.score) for hit in self.hits if not hit.known]
        return [(str(ids[head]), str(ids["relation"]), str(ids[tail]), score) for ids, score in wholes]

    def to_rdf(self) -> str:
        """Return :attr:`triples` as N-Quads in a named graph of predictions, with their scores."""
        return predictions_as_nquads(self._graph, self.triples)


def tsv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Return a table, cells separated by tabs: numbers with six digits after the point, true and false in small letters.

    A cell with a double quote is quoted, as in the dialect ``excel-tab`` of Python's ``csv``.

    >>> tsv(["name", "score", "known"], [["a tab\tor two", 0.5, True]])
    'name\tscore\tknown\na tab or two\t0.500000\ttrue\n'
    """
    table = io.StringIO()
    csv.writer(table, "excel-tab", lineterminator="\n").writerows(
        [_cell(value) for value in row] for row in (header, *rows)
    )
    return table.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6f}" if isinstance(value, float) else printable(" ".join(str(value).split()))
