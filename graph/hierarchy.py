"""The is-a hierarchy: a directed acyclic graph from children to parents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import CycleError, SettingsError

__all__ = ["Hierarchy"]

Rows = NDArray[np.int32]


class Hierarchy:
    """Parents and children of every entity, and what follows from them.

    Args:
        children: Child of each link, ``int32`` of shape (links,).
        parents: Parent of each link, likewise.
        ids: Names of the rows.
        on_cycle: ``"raise"``, or ``"drop"`` to leave out the links that close a circle (they are in ``dropped``).

    Raises:
        CycleError: If the links run in a circle; it lists one.

    Example:
        >>> pets = Hierarchy(np.array([1, 2]), np.array([0, 1]), ids=["animal", "dog", "poodle"])
        >>> pets.ancestors(2).tolist(), pets.depth.tolist()
        ([0, 1], [0, 1, 2])
    """

    def __init__(self, children: Rows, parents: Rows, *, ids: Sequence[str], on_cycle: str = "raise") -> None:
        if on_cycle not in ("raise", "drop"):
            raise SettingsError(f"on_cycle: expected 'raise' or 'drop', found {on_cycle!r}")
        self.ids = ids
        pairs = np.unique(np.stack([children, parents], axis=1).astype(np.int32), axis=0)
        self.links: Rows = pairs
        self._index()
        cycles = self._closing_links()
        if cycles and on_cycle == "raise":
            raise CycleError(ids[row] for row in cycles[0][1])
        self.dropped: tuple[tuple[int, int], ...] = tuple(link for link, _ in cycles)
        if self.dropped:
            closing = set(self.dropped)
            self.links = pairs[[tuple(pair) not in closing for pair in pairs.tolist()]]
            self._index()

    def _index(self) -> None:
        n = len(self.ids)
        self._parent_starts = np.searchsorted(self.links[:, 0], np.arange(n + 1))
        self._parents = np.ascontiguousarray(self.links[:, 1])
        upward = self.links[np.lexsort((self.links[:, 0], self.links[:, 1]))]
        self._child_starts = np.searchsorted(upward[:, 1], np.arange(n + 1))
        self._children = np.ascontiguousarray(upward[:, 0])

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.members):,} entities, {len(self.links):,} links, {len(self.roots):,} roots)"

    @cached_property
    def members(self) -> Rows:
        """Entities with at least one link, ascending."""
        return np.unique(self.links).astype(np.int32)

    @cached_property
    def roots(self) -> Rows:
        """Members without a parent, ascending."""
        return np.setdiff1d(self.members, self.links[:, 0]).astype(np.int32)

    def parents(self, entity: int) -> Rows:
        """Return the direct parents of ``entity``, ascending."""
        found: Rows = self._parents[self._parent_starts[entity] : self._parent_starts[entity + 1]]
        return found

    def children(self, entity: int) -> Rows:
        """Return the direct children of ``entity``, ascending."""
        found: Rows = self._children[self._child_starts[entity] : self._child_starts[entity + 1]]
        return found

    def siblings(self, entity: int) -> Rows:
        """Return the other children of the parents of ``entity``, ascending."""
        shared = [self.children(int(parent)) for parent in self.parents(entity)]
        found = np.unique(np.concatenate(shared)) if shared else np.zeros(0, dtype=np.int32)
        others: Rows = found[found != entity].astype(np.int32)
        return others

    def ancestors(self, entity: int) -> Rows:
        """Return everything above ``entity``, ascending, without itself."""
        return self._closure(entity, upward=True)

    def descendants(self, entity: int) -> Rows:
        """Return everything below ``entity``, ascending, without itself."""
        return self._closure(entity, upward=False)

    def _closure(self, entity: int, *, upward: bool) -> Rows:
        step = self.parents if upward else self.children
        seen: set[int] = set()
        front = [entity]
        while front:
            front = [row for at in front for row in step(at).tolist() if row not in seen]
            seen.update(front)
        seen.discard(entity)
        return np.array(sorted(seen), dtype=np.int32)

    @cached_property
    def topological(self) -> Rows:
        """Members with every parent before its children."""
        order = np.lexsort((self.members, self._longest[self.members]))
        ordered: Rows = self.members[order]
        return ordered

    @cached_property
    def _longest(self) -> NDArray[np.int64]:
        """Longest path from a root to each row, by rounds over the links."""
        levels = np.zeros(len(self.ids), dtype=np.int64)
        while len(self.links):
            raised = levels.copy()
            np.maximum.at(raised, self.links[:, 0], levels[self.links[:, 1]] + 1)
            if np.array_equal(raised, levels):
                break
            levels = raised
        return levels

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """Number of links on the shortest way from each row up to a root; 0 for roots and for non-members."""
        depths = np.zeros(len(self.ids), dtype=np.int64)
        for row in self.topological.tolist():
            above = self.parents(row)
            if len(above):
                depths[row] = depths[above].min() + 1
        return depths

    def direct_subsumptions(self) -> Rows:
        """Return all (child, parent) links, ``int32`` of shape (links, 2)."""
        return self.links

    def indirect_subsumptions(self) -> Rows:
        """Return all (descendant, ancestor) pairs that are no direct link, ``int32`` of shape (pairs, 2)."""
        above: dict[int, set[int]] = {}
        pairs: list[tuple[int, int]] = []
        for row in self.topological.tolist():
            direct = self.parents(row).tolist()
            reached = set(direct).union(*(above[parent] for parent in direct))
            above[row] = reached
            pairs.extend((row, ancestor) for ancestor in sorted(reached.difference(direct)))
        return np.array(pairs, dtype=np.int32).reshape(-1, 2)

    def _closing_links(self) -> list[tuple[tuple[int, int], tuple[int, ...]]]:
        """Return each link that closes a circle, with the circle, in the order of a depth-first walk upward."""
        found: list[tuple[tuple[int, int], tuple[int, ...]]] = []
        done: set[int] = set()
        for start in dict.fromkeys(self.links[:, 0].tolist()):
            if start in done:
                continue
            path: list[int] = [start]
            on_path: dict[int, int] = {start: 0}
            ways = [iter(self.parents(start).tolist())]
            while ways:
                parent = next(ways[-1], None)
                if parent is None:
                    ways.pop()
                    last = path.pop()
                    del on_path[last]
                    done.add(last)
                elif parent in on_path:
                    found.append(((path[-1], parent), (*path[on_path[parent] :], parent)))
                elif parent not in done:
                    on_path[parent] = len(path)
                    path.append(parent)
                    ways.append(iter(self.parents(parent).tolist()))
        return found
