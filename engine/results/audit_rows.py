"""What an audit answers, as a table, JSON, TSV and SSSOM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ontodex.engine.results.answer_table import AnswerTable
from ontodex.engine.results.printable import printable
from ontodex.engine.results.sssom import UNSPECIFIED_LICENSE, Said, sssom_table
from ontodex.graph import KnowledgeGraph
from ontodex.graph.names import normalise
from ontodex.graph.prefixes import local_name

__all__ = ["Audit", "AuditRow", "predicate_of"]

SECTIONS = (
    ("doubtful", "asserted, and doubtful", "every asserted link is likelier than not"),
    (
        "missing",
        "not asserted, the best candidates",
        "all that could be parents are asserted above, or near for another reason",
    ),
)
"""Verdicts, their titles, and what it means that there is no row."""


@dataclass(frozen=True)
class AuditRow:
    """A link from a child to a parent on which the graph and the model disagree.

    Attributes:
        subject_id: CURIE or IRI of the child.
        subject_label: Its label.
        object_id: CURIE or IRI of the parent.
        object_label: Its label.
        probability: How likely the model holds the link to be.
        score: Its subsumption score.
        verdict: ``"doubtful"`` for an asserted link that is no likelier than not, ``"missing"`` for one of the
            best that the hierarchy lacks.
    """

    subject_id: str
    subject_label: str
    object_id: str
    object_label: str
    probability: float
    score: float
    verdict: str


@dataclass(frozen=True, eq=False, repr=False)
class Audit(AnswerTable[AuditRow]):
    """A sequence of :class:`AuditRow` that prints as a table: doubtful links, the most doubtful first, then missing ones.

    Both are in the order of what each is by itself (its probability if doubtful, its score if missing) and of how its score
    compares with the child's other parents, taken together. Missing links are the best, however likely: their probabilities
    say.

    Attributes:
        rows: The links.
        method: What the scores mean.
        took_ms: Time that it took, in milliseconds.
    """

    rows: tuple[AuditRow, ...]
    method: str
    took_ms: float
    _predicate: str
    _prefixes: Mapping[str, str]

    @property
    def _parts(self) -> tuple[AuditRow, ...]:
        return self.rows

    def __str__(self) -> str:
        lines = [f"audit by {self.method}, {self.took_ms:.1f} ms"]
        for verdict, title, none in SECTIONS:
            lines.append(f"{title}:")
            found = [row for row in self.rows if row.verdict == verdict]
            for row in found:
                lines.append(
                    f"  {row.score:8.4f}  p={row.probability:.2f}  {row.subject_label} ({row.subject_id}) "
                    f"is a {row.object_label} ({row.object_id})"
                )
            if not found:
                lines.append(f"  none: {none}")
        return printable("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """Return ``query``, ``method``, ``rows`` and ``took_ms`` as plain data."""
        return {
            "query": {"question": "audit"},
            "method": self.method,
            "rows": [asdict(row) for row in self.rows],
            "took_ms": round(self.took_ms, 3),
        }

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        columns = [column.name for column in fields(AuditRow)]
        return columns, [[getattr(row, name) for name in columns] for row in self.rows]

    def to_sssom(self, *, license: str = UNSPECIFIED_LICENSE) -> str:
        """Return SSSOM/TSV for the tools of curators: missing links, and doubtful ones with the modifier ``Not``.

        The predicate is ``skos:broader`` if that is how the graph states its hierarchy, else ``rdfs:subClassOf``. The
        confidence is the model's in what the line says: of a doubtful link one less its probability.

        Args:
            license: IRI of the licence of the set.
        """
        mappings = [
            Said(
                subject=(row.subject_id, row.subject_label),
                predicate=self._predicate,
                negated=row.verdict == "doubtful",
                object=(row.object_id, row.object_label),
                confidence=1 - row.probability if row.verdict == "doubtful" else row.probability,
            )
            for row in self.rows
        ]
        return sssom_table(mappings, self._prefixes, license=license)


def predicate_of(graph: KnowledgeGraph) -> str:
    """Return the predicate from child to parent in SSSOM, as the graph states its hierarchy."""
    names = [graph.relation_ids[relation] for relation in graph.hierarchy_relations]
    is_thesaurus = names and all(normalise(local_name(name)) == "broader" for name in names)
    return "skos:broader" if is_thesaurus else "rdfs:subClassOf"
