"""Types of entities: a part of the graph that answers are restricted to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.resolve import expect_words, resolve_entity
from ontodex.engine.results.hits import Resolution
from ontodex.errors import UnknownEntity, nearest
from ontodex.graph import Hierarchy, KnowledgeGraph

__all__ = ["EntityType", "entity_type"]


@dataclass(frozen=True)
class EntityType:
    """Entities of one type.

    Attributes:
        rows: The entities, ascending.
        resolution: How the name of the type was resolved.
    """

    rows: NDArray[np.int64]
    resolution: Resolution

    def only(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of some entities that are of the type, in their order."""
        return rows[np.isin(rows, self.rows)]


def entity_type(graph: KnowledgeGraph, hierarchy: Hierarchy | None, text: str) -> EntityType:
    """Return the entities of a type.

    These are an entity, its descendants in the hierarchy, and the instances of all of them by
    ``rdf:type`` or "instance of"; or all entities whose ids have a prefix.

    Args:
        graph: The graph.
        hierarchy: Its hierarchy, if it has one.
        text: A CURIE, an IRI, a label or a synonym; or a prefix with its colon, such as ``OMIM:``.

    Raises:
        SettingsError: If ``text`` is not a text, or empty.
        UnknownEntity: If the graph does not have the entity, or no id has the prefix.
    """
    expect_words(text, "type")
    if text.endswith(":") and graph.find(text) is None:
        rows = [row for row, name in enumerate(graph.ids) if name.startswith(text)]
        if not rows:
            raise UnknownEntity(f"{graph.source}: no id starts with {text!r}")
        return EntityType(np.array(rows, dtype=np.int64), Resolution(text, "prefix", text, text))
    term = resolve_entity(graph, text, fits=hierarchy.has if hierarchy else None)
    if term.row is None:
        raise UnknownEntity(
            f"{graph.source}: expected an entity as type, found free text {text!r}"
            f"{nearest(text, graph.labels)}"
        )
    below = [] if hierarchy is None else hierarchy.descendants(term.row).tolist()
    classes = np.array([term.row, *below], dtype=np.int64)
    instances = np.isin(graph.relations, graph.instance_relations) & np.isin(graph.tails, classes)
    return EntityType(np.union1d(classes, graph.heads[instances]), term.resolution)
