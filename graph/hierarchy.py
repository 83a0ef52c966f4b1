"""The is-a hierarchy: a directed acyclic graph from children to parents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import CycleError, expect_choice
from ontodex.graph.arrays import Keys, distinct, runs, within

__all__ = ["Hierarchy"]

Rows = NDArray[np.int32]


class Hierarchy:
    """Parents and children of every entity, with ancestors, depths and subsumptions.

    Args:
        children: Child of each link, ``int32`` of shape (links,).
        parents: Parent of each link, ``int32`` of shape (links,).
        ids: Id of each row.
        individuals: Entities that are instances of classes, and no classes themselves; none of them
            can be a parent.
        on_cycle: ``"raise"`` raises an error if there is a cycle; ``"ignore"`` removes the links
            that close a cycle, and lists them in ``dropped``.

    Raises:
        CycleError: If the links have a cycle and ``on_cycle`` is ``"raise"``; the message lists the
            entities of one cycle.

    Example:
        >>> pets = Hierarchy(np.array([1, 2]), np.array([0, 1]), ids=["animal", "dog", "poodle"])
        >>> pets.ancestors(2).tolist(), pets.depth.tolist()
        ([0, 1], [0, 1, 2])
    """

    def __init__(
        self,
        children: Rows,
        parents: Rows,
        *,
        ids: Sequence[str],
        individuals: Sequence[int] | Rows = (),
        on_cycle: str = "raise",
    ) -> None:
        expect_choice("on_cycle", on_cycle, ("raise", "ignore"))
        self.ids = ids
        self.individuals: Rows = np.unique(np.asarray(individuals, dtype=np.int32))
        n = max(len(ids), 1)
        keys = distinct(np.asarray(children, dtype=np.int64) * n + parents)
        pairs = np.stack(np.divmod(keys, n), axis=1).astype(np.int32)
        self.links: Rows = pairs
        self._index()
        cycles = self._closing_links() if self._runs_in_a_circle() else []
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

    def turned(self) -> Hierarchy:
        """Return the inverse hierarchy, in which parents are children."""
        return Hierarchy(self.links[:, 1], self.links[:, 0], ids=self.ids)

    def __repr__(self) -> str:
        counts = f"{len(self.members):,} entities, {len(self.links):,} links"
        return f"Hierarchy({counts}, {len(self.roots):,} roots)"

    def has(self, entity: int) -> bool:
        """Return whether an entity is a member, that is, has a link."""
        return bool(len(self.parents(entity)) or len(self.children(entity)))

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
        return self.siblings_of(np.array([entity]))[1]

    def siblings_of(self, entities: NDArray[np.integer]) -> tuple[Keys, Rows]:
        """Return the siblings of many entities, ascending.

        Returns:
            For each (entity, sibling) pair, the position in ``entities`` and the row of the
            sibling, both of shape (pairs,).
        """
        rows, n = np.asarray(entities), max(len(self.ids), 1)
        owners, parents = self.parents_of(rows)
        through, children = self.children_of(parents)
        keys = distinct(owners[through] * n + children)
        found = keys[keys % n != rows[keys // n]]
        return found // n, (found % n).astype(np.int32)

    def parents_of(self, entities: NDArray[np.integer]) -> tuple[Keys, Rows]:
        """Return the direct parents of many entities.

        Returns:
            For each (entity, parent) pair, the position in ``entities`` and the row of the
            parent, both of shape (pairs,).
        """
        starts = self._parent_starts
        owners, places = runs(starts[entities], starts[np.asarray(entities) + 1] - starts[entities])
        return owners, self._parents[places]

    def children_of(self, entities: NDArray[np.integer]) -> tuple[Keys, Rows]:
        """Return the direct children of many entities.

        Returns:
            For each (entity, child) pair, the position in ``entities`` and the row of the
            child, both of shape (pairs,).
        """
        starts = self._child_starts
        owners, places = runs(starts[entities], starts[np.asarray(entities) + 1] - starts[entities])
        return owners, self._children[places]

    def ancestors_of(self, entities: NDArray[np.integer]) -> tuple[Keys, Rows]:
        """Return the ancestors of many entities.

        Returns:
            For each (entity, ancestor) pair, the position in ``entities`` and the row of the
            ancestor, both of shape (pairs,).
        """
        n, keys = max(len(self.ids), 1), self.subsumption_keys
        first = np.searchsorted(keys, np.asarray(entities, dtype=np.int64) * n)
        owners, places = runs(
            first, np.searchsorted(keys, (np.asarray(entities, dtype=np.int64) + 1) * n) - first
        )
        return owners, (keys[places] % n).astype(np.int32)

    def ancestors(self, entity: int) -> Rows:
        """Return the ancestors of ``entity``, ascending, without itself."""
        return np.array(sorted(self.hops_upward(entity)), dtype=np.int32)

    def descendants(self, entity: int) -> Rows:
        """Return the descendants of ``entity``, ascending, without itself."""
        found, level = np.zeros(0, dtype=np.int64), np.array([entity])
        while len(level):  # a level at a time: a top concept has very many
            below = distinct(self.children_of(level)[1].astype(np.int64))
            level = below[~within(found, below)]
            found = distinct(np.concatenate([found, level]))
        return found.astype(np.int32)

    def hops_upward(self, entity: int) -> dict[int, int]:
        """Return the number of links on the shortest path from ``entity`` to each ancestor."""
        found: dict[int, int] = {}
        front, hop = [entity], 0
        while front:
            hop += 1
            above = (row for at in front for row in self.parents(at).tolist() if row not in found)
            front = list(dict.fromkeys(above))
            found.update(dict.fromkeys(front, hop))
        return found

    @cached_property
    def topological(self) -> Rows:
        """Members in topological order: every parent before its children."""
        order = np.lexsort((self.members, self._longest[self.members]))
        ordered: Rows = self.members[order]
        return ordered

    @cached_property
    def _longest(self) -> NDArray[np.int64]:
        """Length of the longest path from a root to each row, ``int64`` of shape (entities,)."""
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
        """Length of the shortest path from each row to a root; 0 for roots and non-members."""
        depths = np.zeros(len(self.ids), dtype=np.int64)
        for row in self.topological.tolist():
            above = self.parents(row)
            if len(above):
                depths[row] = depths[above].min() + 1
        return depths

    def indirect_subsumptions(self) -> Rows:
        """Return the (descendant, ancestor) pairs without a direct link, ascending.

        The array is ``int32`` of shape (pairs, 2).
        """
        n, keys = max(len(self.ids), 1), self.subsumption_keys
        indirect = keys[~within(self.links[:, 0].astype(np.int64) * n + self.links[:, 1], keys)]
        return np.stack([indirect // n, indirect % n], axis=1).astype(np.int32)

    def redundant_links(self) -> Rows:
        """Return the asserted links that other asserted links imply, ascending.

        A link from c to q is redundant if another parent of c is a descendant of q. The array is
        ``int32`` of shape (links, 2): child and parent.
        """
        links, others = self.parents_of(self.links[:, 0])
        implied = self.is_ancestor(others, self.links[links, 1])
        return self.links[distinct(links[implied])]

    def is_ancestor(
        self, children: NDArray[np.integer], parents: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        """Return whether each parent is a direct or indirect ancestor of its child.

        No entity is an ancestor of itself.

        Args:
            children: Rows, of any shape.
            parents: Rows, of a shape that broadcasts with ``children``, such as ``(1, m)`` with
                ``(n, 1)``.
        """
        return within(
            self.subsumption_keys, np.asarray(children, dtype=np.int64) * len(self.ids) + parents
        )

    @cached_property
    def subsumption_keys(self) -> Keys:
        """All (descendant, ancestor) pairs as sorted keys, ``int64`` of shape (pairs,).

        The key of a pair is ``descendant * len(ids) + ancestor``.
        """
        n, levels = max(len(self.ids), 1), self._longest[self.links[:, 0]]
        links = self.links[np.argsort(levels, kind="stable")].astype(np.int64)
        starts, counts = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        keys, used = np.zeros(2 * len(links), dtype=np.int64), 0
        for level in np.split(
            links, np.flatnonzero(np.diff(np.sort(levels))) + 1
        ):  # parents before their children
            child, parent = level.T
            link, place = runs(starts[parent], counts[parent])
            found = distinct(
                np.concatenate([child * n + parent, child[link] * n + keys[place] % n])
            )
            first = np.flatnonzero(np.diff(found // n, prepend=-1))
            owners = found[first] // n
            starts[owners], counts[owners] = used + first, np.diff(first, append=len(found))
            if used + len(found) > len(keys):
                keys = np.concatenate([keys, np.zeros(len(keys) + len(found), dtype=np.int64)])
            keys[used : used + len(found)] = found
            used += len(found)
        return np.sort(keys[:used])

    def _runs_in_a_circle(self) -> bool:
        """Return whether the links have a cycle.

        Entities without parents are removed repeatedly; entities on a cycle always remain.
        """
        left = np.diff(self._parent_starts)
        free = np.flatnonzero(left == 0)
        gone = len(free)
        while len(free):
            starts = self._child_starts[free]
            _, places = runs(starts, self._child_starts[free + 1] - starts)
            below, links = np.unique(self._children[places], return_counts=True)
            left[below] -= links
            free = below[left[below] == 0]
            gone += len(free)
        return gone < len(self.ids)

    def _closing_links(self) -> list[tuple[tuple[int, int], tuple[int, ...]]]:
        """Find the links that close a cycle by a depth-first search upwards, in the order of ids.

        Returns:
            For each such link, the link as (child, parent), and the rows of its cycle from the
            parent upwards to the same parent.
        """
        found: list[tuple[tuple[int, int], tuple[int, ...]]] = []
        done: set[int] = set()

        def by_id(rows: Rows) -> list[int]:
            return sorted(rows.tolist(), key=self.ids.__getitem__)

        for start in by_id(np.unique(self.links[:, 0])):
            if start in done:
                continue
            path: list[int] = [start]
            on_path: dict[int, int] = {start: 0}
            ways = [iter(by_id(self.parents(start)))]
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
                    ways.append(iter(by_id(self.parents(parent))))
        return found
