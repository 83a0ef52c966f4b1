"""What is said of an entity in an answer: its place in the hierarchy and its definition."""

from __future__ import annotations

import textwrap
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ontodex.graph import KnowledgeGraph

__all__ = ["about", "joined", "paths_from_root", "printed"]

STEPS = 10_000
"""Number of unfinished paths that are followed."""

FIRST, LAST = 1, 3
"""Number of labels at the start and at the end of a path that are printed."""

BETWEEN = " > "
"""Text between the labels of a path."""

WIDTH = 200
"""Largest number of characters of a definition that are printed."""


def paths_from_root(
    parents: Callable[[int], Iterable[int]], row: int, most: int
) -> Iterator[tuple[int, ...]]:
    """Yield paths from a root to an entity, shortest first; none for a root.

    Args:
        parents: Returns the parents of an entity.
        row: The entity.
        most: Number of paths.
    """
    unfinished: deque[tuple[int, ...]] = deque([(row,)])
    found = 0
    for _ in range(STEPS):
        if not unfinished or found == most:
            return
        path = unfinished.popleft()
        above = list(parents(path[0]))
        if above:
            unfinished.extend((parent, *path) for parent in above if parent not in path)
        elif len(path) > 1:
            found += 1
            yield path


def about(graph: KnowledgeGraph, name: str, *, path: bool, definition: bool) -> dict[str, Any]:
    """Return what is known of an entity, by name; ``None`` for what it does not have.

    Args:
        graph: The graph.
        name: Id of the entity.
        path: Whether to return ``path``, the labels on a shortest path from a root to the entity.
        definition: Whether to return ``definition``.
    """
    found = graph.find(name)
    known: dict[str, Any] = {}
    if found is not None and path:
        known["path"] = _label_path(graph, found[0])
    if found is not None and definition:
        known["definition"] = graph.definitions[found[0]] or None
    return known


def _label_path(graph: KnowledgeGraph, row: int) -> tuple[str, ...] | None:
    """Return the labels on a shortest path from a root to an entity; ``None`` for a root."""

    def parents(child: int) -> Iterable[int]:
        relations, tails = graph.outgoing(child)
        upward = (
            graph.instance_relations if graph.is_individual(child) else graph.hierarchy_relations
        )
        above: list[int] = np.unique(tails[np.isin(relations, upward)]).tolist()
        return above

    path = next(paths_from_root(parents, row, 1), None)
    return None if path is None else tuple(graph.labels[one] for one in path)


def joined(cell: Any) -> Any:
    """Return a path as one text, and any other value as it is."""
    return BETWEEN.join(cell) if isinstance(cell, tuple) else cell


def printed(path: Sequence[str] | None, definition: str | None) -> list[str]:
    """Return the lines that are printed of an entity: the root and the last labels of its path.

    >>> printed(["Thing", "Place", "Store"], "A shop."), printed(list("abcdef"), None)
    (['Thing > Place > Store', 'A shop.'], ['a > … > d > e > f'])
    """
    lines = []
    if path:
        ends = [*path[:FIRST], "…", *path[-LAST:]] if len(path) > FIRST + LAST else path
        lines.append(BETWEEN.join(ends))
    if definition:
        lines.append(textwrap.shorten(definition, WIDTH, placeholder=" …"))
    return lines
