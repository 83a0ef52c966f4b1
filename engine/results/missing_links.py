"""Answers of link discovery: the most probable missing links, as a table, JSON, TSV and RDF."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from ontodex.engine.results.answer_table import AnswerTable
from ontodex.engine.results.hits import Resolution, excerpt_of
from ontodex.engine.results.link import Link
from ontodex.engine.results.printable import printable
from ontodex.graph import KnowledgeGraph
from ontodex.graph.writers.nquads import predictions_as_nquads

__all__ = ["MissingLink", "MissingLinks"]


@dataclass(frozen=True)
class MissingLink(Link):
    """A link that is not known.

    Attributes:
        score: Log-probability of the link; in an index without calibration, only a score to rank
            by.
        probability: Probability of the link; ``None`` if the index has no calibration.
    """

    score: float
    probability: float | None

    def __str__(self) -> str:
        probability = "" if self.probability is None else f"p={self.probability:.2f}  "
        return f"{self.score:7.4f}  {probability}{super().__str__()}"


@dataclass(frozen=True, eq=False, repr=False)
class MissingLinks(AnswerTable[MissingLink]):
    """A sequence of :class:`MissingLink`, the most probable first, that prints as a table.

    Attributes:
        links: The links.
        relation: Resolution of the relation; ``None`` for all relations.
        method: Name of the score.
        took_ms: Duration in milliseconds.
    """

    links: tuple[MissingLink, ...]
    relation: Resolution | None
    method: str
    took_ms: float
    _graph: KnowledgeGraph

    @property
    def _parts(self) -> tuple[MissingLink, ...]:
        return self.links

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle; its graph has only the entities of the links."""
        ends = [end for link in self.links for end in (link.head, link.tail)]
        return {**vars(self), "_graph": excerpt_of(self._graph, ends)}

    def __str__(self) -> str:
        about = "all relations" if self.relation is None else f"relation = {self.relation}"
        lines = [f"missing: {about}", f"by {self.method}, {self.took_ms / 1000:.1f} s"]
        lines += [f"{rank:>4}  {link}" for rank, link in enumerate(self.links, 1)]
        return printable("\n".join(lines if self.links else [*lines, "      nothing found"]))

    def to_dict(self) -> dict[str, Any]:
        """Return ``query``, ``method``, ``links`` and ``took_ms`` as plain data."""
        relation = {} if self.relation is None else {"relation": asdict(self.relation)}
        return {
            "query": {"question": "missing", **relation},
            "method": self.method,
            "links": [
                {name: value for name, value in asdict(link).items() if value is not None}
                for link in self.links
            ],
            "took_ms": round(self.took_ms, 3),
        }

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        columns = [column.name for column in fields(MissingLink)]
        if any(link.probability is None for link in self.links):
            columns.remove("probability")
        return columns, [[getattr(link, name) for name in columns] for link in self.links]

    @property
    def triples(self) -> list[tuple[str, str, str, float]]:
        """The links as predicted triples: (head id, relation id, tail id, score)."""
        return [(link.head, link.relation, link.tail, link.score) for link in self.links]

    def to_rdf(self) -> str:
        """Return :attr:`triples` as N-Quads in a named graph of predictions, with their scores."""
        return predictions_as_nquads(self._graph, self.triples)
