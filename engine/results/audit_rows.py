"""Answers of the audit, as a table, JSON, TSV and SSSOM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ontodex.engine.results.answer_table import AnswerTable
from ontodex.engine.results.printable import printable
from ontodex.engine.results.sssom import UNSPECIFIED_LICENSE, SssomMapping, sssom_table
from ontodex.geometry.subsumption import MIN_LINKS
from ontodex.graph import KnowledgeGraph
from ontodex.graph.names import normalise
from ontodex.graph.prefixes import local_name

__all__ = ["Audit", "AuditRow", "predicate_of"]

SECTIONS = (
    (
        "doubtful",
        "asserted, and doubtful (p as if the child were new)",
        "no asserted link has a probability of at most 0.5",
    ),
    (
        "missing",
        "not asserted, the best candidates",
        "all candidate parents are asserted ancestors, or related otherwise",
    ),
    ("redundant", "asserted, and implied by other links", "no asserted link is implied by others"),
)
"""Verdicts, their titles, and the text for a verdict without rows."""

NOT_JUDGED = (
    "not judged: no probabilities could be fitted; "
    f"that needs a hierarchy of at least {MIN_LINKS} links"
)
"""Text in place of doubtful links that cannot be found."""


@dataclass(frozen=True)
class AuditRow:
    """A link from a child to a parent that the audit reports.

    Attributes:
        subject_id: CURIE or IRI of the child.
        subject_label: Label of the child.
        object_id: CURIE or IRI of the parent.
        object_label: Label of the parent.
        probability: Probability that the parent is a direct parent. That of a missing link is as in
            :meth:`ontodex.Engine.parents`. That of an asserted link is as if the child were new: it
            orders the links, and is lower than the share of them that is right, which nothing
            tells. ``None`` if the hierarchy has too few links to fit it.
        score: Subsumption score of the link.
        verdict: ``"doubtful"`` for an asserted link whose probability is at most 0.5,
            ``"missing"`` for one of the best links that are not asserted, ``"redundant"`` for an
            asserted link that other asserted links imply, whatever its probability.
    """

    subject_id: str
    subject_label: str
    object_id: str
    object_label: str
    probability: float | None
    score: float
    verdict: str


@dataclass(frozen=True, eq=False, repr=False)
class Audit(AnswerTable[AuditRow]):
    """A sequence of :class:`AuditRow` that prints as a table.

    First are doubtful links, then missing ones, then redundant ones. Doubtful links are ordered by
    ascending probability, missing ones by descending probability, redundant ones by
    the row of the child.
    Missing links are the best candidates, whatever their probability. If no probability could be
    fitted, doubtful links are not judged, and missing links are ordered by their scores.

    Attributes:
        rows: The links.
        method: Name of the score.
        took_ms: Duration in milliseconds.
        judged: Whether doubtful links were looked for; not if no probability could be fitted.
    """

    rows: tuple[AuditRow, ...]
    method: str
    took_ms: float
    judged: bool
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
                likely = "" if row.probability is None else f"p={row.probability:.2f}  "
                lines.append(
                    f"  {row.score:8.4f}  {likely}{row.subject_label} "
                    f"({row.subject_id}) is a {row.object_label} ({row.object_id})"
                )
            if verdict == "doubtful" and not self.judged:
                lines.append(f"  {NOT_JUDGED}")
            elif not found:
                lines.append(f"  none: {none}")
        return printable("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """Return ``query``, ``method``, ``judged``, ``rows`` and ``took_ms`` as plain data."""
        return {
            "query": {"question": "audit"},
            "method": self.method,
            "judged": self.judged,
            "rows": [asdict(row) for row in self.rows],
            "took_ms": round(self.took_ms, 3),
        }

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        columns = [column.name for column in fields(AuditRow)]
        return columns, [[getattr(row, name) for name in columns] for row in self.rows]

    def to_sssom(self, *, license: str = UNSPECIFIED_LICENSE) -> str:
        """Return SSSOM/TSV: missing links, and doubtful links with the modifier ``Not``.

        Redundant links are left out: they are asserted, and true if the others are.

        The predicate is ``skos:broader`` if this relation makes the graph's hierarchy, otherwise
        ``rdfs:subClassOf``. The confidence of a missing link is its probability; a doubtful link
        has none.

        Args:
            license: IRI of the licence of the set.
        """
        mappings = [
            SssomMapping(
                subject=(row.subject_id, row.subject_label),
                predicate=self._predicate,
                negated=row.verdict == "doubtful",
                object=(row.object_id, row.object_label),
                confidence=row.probability if row.verdict == "missing" else None,
            )
            for row in self.rows
            if row.verdict != "redundant"
        ]
        return sssom_table(mappings, self._prefixes, license=license)


def predicate_of(graph: KnowledgeGraph) -> str:
    """Return the SSSOM predicate for links from child to parent in a graph."""
    names = [graph.relation_ids[relation] for relation in graph.hierarchy_relations]
    is_thesaurus = names and all(normalise(local_name(name)) == "broader" for name in names)
    return "skos:broader" if is_thesaurus else "rdfs:subClassOf"
