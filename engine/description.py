"""Description of an entity: what the graph says of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set

import numpy as np

from ontodex.engine.resolve import ResolvedTerm
from ontodex.engine.results.about import paths_from_root
from ontodex.engine.results.descriptions import Description, LinkedEntities
from ontodex.graph import Hierarchy, KnowledgeGraph, inverse_text

__all__ = ["describe"]

FIRST = 8
"""Number of parents, children and linked entities that are named."""

PATHS = 3
"""Number of paths from a root."""


def describe(
    graph: KnowledgeGraph,
    hierarchy: Hierarchy | None,
    term: ResolvedTerm,
    spaces: Iterable[str],
) -> Description:
    """Describe an entity.

    Args:
        graph: The graph.
        hierarchy: Its hierarchy, if it has one.
        term: The entity.
        spaces: Names of the spaces of the index.
    """
    row = term.row
    assert row is not None
    parents = [] if hierarchy is None else hierarchy.parents(row).tolist()
    children = [] if hierarchy is None else hierarchy.children(row).tolist()
    return Description(
        term.resolution,
        graph.ids[row],
        graph.labels[row],
        graph.synonyms[row],
        graph.alternative_ids[row],
        graph.definitions[row],
        _linked(graph, "parents", parents),
        _linked(graph, "children", children),
        tuple(
            tuple(graph.labels[one] for one in path)
            for path in paths_from_root(lambda one: hierarchy.parents(one).tolist(), row, PATHS)
        )
        if hierarchy is not None
        else (),
        tuple(_links(graph, row, {*parents, *children})),
        tuple(spaces),
    )


def _linked(graph: KnowledgeGraph, relation: str, rows: Collection[int]) -> LinkedEntities:
    named = sorted((graph.labels[row].casefold(), row) for row in rows)
    first = tuple((graph.ids[row], graph.labels[row]) for _, row in named[:FIRST])
    return LinkedEntities(relation, len(named), first)


def _links(graph: KnowledgeGraph, row: int, shown: Set[int]) -> Iterable[LinkedEntities]:
    """Yield the entities linked by each relation outside the hierarchy, then by its inverse.

    Classes and instances that are ``shown`` as parents and children are left out.
    """
    for (relations, others), is_inverse in (
        (graph.outgoing(row), False),
        (graph.incoming(row), True),
    ):
        for number in np.unique(relations).tolist():
            if number in graph.hierarchy_relations:
                continue
            rows = set(others[relations == number].tolist())
            if number in graph.instance_relations:
                rows -= shown
            if rows:
                label = graph.relation_labels[number]
                yield _linked(graph, inverse_text(label) if is_inverse else label, rows)
