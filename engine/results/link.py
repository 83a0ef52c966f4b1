"""A link between two entities, in answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ontodex.graph import KnowledgeGraph

__all__ = ["Link", "parts_of"]


@dataclass(frozen=True)
class Link:
    """A link between two entities.

    Attributes:
        head: CURIE or IRI of the head.
        head_label: Label of the head.
        relation: Identifier of the relation.
        relation_label: Label of the relation.
        tail: CURIE or IRI of the tail.
        tail_label: Label of the tail.
    """

    head: str
    head_label: str
    relation: str
    relation_label: str
    tail: str
    tail_label: str

    def __str__(self) -> str:
        head, tail = f"{self.head_label} ({self.head})", f"{self.tail_label} ({self.tail})"
        return f"{head}  {self.relation_label}  {tail}"


def parts_of(graph: KnowledgeGraph, head: int, relation: int, tail: int) -> dict[str, Any]:
    """Return the attributes of a :class:`Link`, by name.

    Args:
        graph: The graph.
        head: Row of the head.
        relation: Number of the relation. If it is at least R, the number of relations, the relation
            is an inverse, and ``head`` is the tail of the link.
        tail: Row of the tail.
    """
    if relation >= graph.n_relations:
        head, relation, tail = tail, relation - graph.n_relations, head
    return {
        "head": graph.ids[head],
        "head_label": graph.labels[head],
        "relation": graph.relation_ids[relation],
        "relation_label": graph.relation_labels[relation],
        "tail": graph.ids[tail],
        "tail_label": graph.labels[tail],
    }
