"""Layout of the hierarchy around an entity as a tree in the Poincaré disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import SettingsError
from ontodex.graph import Hierarchy

__all__ = ["DiskLayout", "disk_layout"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

RIM = 0.985
"""Maximal Euclidean radius of a node."""
OUTER = 2 * np.arctanh(0.93)
"""Hyperbolic radius of the outermost level."""
STEP = 1.2
"""Hyperbolic distance between levels, if there is room."""
SPACING = 1.2
"""Hyperbolic distance between neighbours on a level, if there is room."""
WIDEST = 1.35 * np.pi
"""Largest sector of a node outside the centre, in radians."""
UPPER = (np.pi / 2.2, 1.25 * np.pi)
"""Smallest and largest sector of the nodes above the entity, if others are below, in radians."""
GAP = np.pi / 16
"""Angle between the sectors above and below, in radians."""


@dataclass(frozen=True, eq=False)
class DiskLayout:
    """Nodes and links of a plot; node 0 is the entity in the centre.

    Attributes:
        rows: Entity of each node, ``int64`` of shape (n,).
        positions: Position of each node in the open unit disk, ``float64`` of shape (n, 2).
        edges: Asserted links among the nodes, (child, parent), ``int64`` of shape (links, 2).
        left_out: Number of relatives of the entity that have no node.
        kinds: Kind of each node: ``"entity"``, ``"ancestor"``, ``"descendant"``, ``"sibling"``, or
            ``"answer"`` for a predicted entity that is none of these.
        hangs_from: Predecessor of each node in the spanning tree, ``int64`` of shape (n,); -1 for
            the entity.
    """

    rows: Rows
    positions: Floats
    edges: Rows
    left_out: int
    kinds: tuple[str, ...]
    hangs_from: Rows


def disk_layout(
    hierarchy: Hierarchy,
    root: int,
    *,
    limit: int = 3000,
    more_parents: Sequence[int] = (),
    more_children: Sequence[int] = (),
) -> DiskLayout:
    """Lay out an entity, its ancestors (above), descendants and siblings in the Poincaré disk.

    Each node gets a part of its predecessor's sector, as wide as its subtree needs, and lies on the
    hyperbolic circle of its level. Distances thus shrink towards the rim (Lamping, Rao & Pirolli,
    CHI 1995). A node with several parents hangs from the parent that is visited first; ``edges``
    has all links.

    Args:
        hierarchy: Asserted hierarchy.
        root: Row of the entity in the centre.
        limit: Maximal number of nodes. Ancestors are taken first, up to half of the limit; then
            other relatives, the nearest to the entity first, and at equal distance those with more
            children first.
        more_parents: Rows that always have a node. It is above the entity, unless the row is a
            relative of the entity.
        more_children: Rows that always have a node. It is below the entity, unless the row is a
            relative of the entity.

    Raises:
        SettingsError: If a row is not in the hierarchy, or ``limit`` is too small for the entity
            and the rows that always have a node.

    Example:
        >>> names = ["animal", "dog", "poodle", "beagle"]
        >>> pets = Hierarchy(np.array([1, 2, 3]), np.array([0, 1, 1]), ids=names)
        >>> layout = disk_layout(pets, 1)
        >>> layout.rows.tolist(), layout.kinds[1], bool(layout.positions[1, 1] > 0)
        ([1, 0, 2, 3], 'ancestor', True)
    """
    answers = dict.fromkeys(int(row) for row in (*more_parents, *more_children))
    answers.pop(root, None)
    for row in (root, *answers):
        if not 0 <= row < len(hierarchy.ids):
            raise SettingsError(
                f"expected a row of the hierarchy, 0 to {len(hierarchy.ids) - 1}, found {row}"
            )
    if limit < 1 + len(answers):
        raise SettingsError(
            f"limit: expected at least {1 + len(answers)} (entity and answers), found {limit}"
        )
    family = _family(hierarchy, root, limit)
    order = list(family)
    shown = dict.fromkeys(order[: limit - len(answers)])
    for row in (*answers, *order):
        if len(shown) == limit:
            break
        shown.setdefault(row)
    at = {row: node for node, row in enumerate(shown)}
    whole = {
        row: family[row] if row in family and family[row][1] in at else ("answer", root)
        for row in at
    }
    whole[root] = ("entity", root)
    kinds = tuple(whole[row][0] for row in at)
    hangs_from = np.array([at[whole[row][1]] for row in at], dtype=np.int64)
    hangs_from[0] = -1
    further_above = {at[int(row)] for row in more_parents if int(row) in at}
    tree = _Tree(kinds, hangs_from, further_above)
    links = [
        (at[row], at[int(parent)])
        for row in at
        for parent in hierarchy.parents(row)
        if int(parent) in at
    ]
    return DiskLayout(
        rows=np.array(list(at), dtype=np.int64),
        positions=tree.positions(),
        edges=np.array(links, dtype=np.int64).reshape(-1, 2),
        left_out=len(family.keys() | at.keys()) - len(at),
        kinds=kinds,
        hangs_from=hangs_from,
    )


def _family(hierarchy: Hierarchy, root: int, limit: int) -> dict[int, tuple[str, int]]:
    """Return kind and predecessor of the entity and of each relative, by row, in priority order."""
    above = _walk(hierarchy, root, upward=True)
    below = _walk(hierarchy, root, upward=False)
    beside: dict[int, tuple[int, int]] = {}
    for parent in hierarchy.parents(root).tolist():
        for row in hierarchy.children(parent).tolist():
            if row != root and row not in above and row not in below:
                beside.setdefault(row, (2, parent))
    placed = {row: ("ancestor", before) for row, (_, before) in list(above.items())[: limit // 2]}
    far = list(above.items())[limit // 2 :]
    rest = [
        (distance, -len(hierarchy.children(row)), row, "descendant", by)
        for row, (distance, by) in below.items()
    ]
    rest += [(distance, 0, row, "sibling", by) for row, (distance, by) in beside.items()]
    placed = (
        {root: ("entity", root)}
        | placed
        | {row: (kind, by) for _, _, row, kind, by in sorted(rest)}
    )
    return placed | {row: ("ancestor", by) for row, (_, by) in far}


def _walk(hierarchy: Hierarchy, root: int, *, upward: bool) -> dict[int, tuple[int, int]]:
    """Return distance and predecessor of each ancestor or descendant, by row, nearest first."""
    step = hierarchy.parents if upward else hierarchy.children
    found: dict[int, tuple[int, int]] = {}
    front, distance = [root], 0
    while front:
        distance += 1
        reached: dict[int, tuple[int, int]] = {}
        for at in front:
            for row in step(at).tolist():
                if row not in found:
                    reached.setdefault(row, (distance, at))
        front = sorted(reached, key=lambda row: (-len(hierarchy.children(row)), row))
        found |= {row: reached[row] for row in front}
    return found


class _Tree:
    """The spanning tree; every node comes after its predecessor."""

    def __init__(self, kinds: Sequence[str], hangs_from: Rows, further_above: set[int]) -> None:
        self.n = len(kinds)
        self.up = np.zeros(self.n, dtype=bool)
        self.level = np.zeros(self.n, dtype=np.int64)
        below: list[list[int]] = [[] for _ in kinds]
        for node in range(1, self.n):
            parent = int(hangs_from[node])
            below[parent].append(node)
            self.level[node] = self.level[parent] + 1
            self.up[node] = kinds[node] in ("ancestor", "sibling") or node in further_above
        self.leaf = np.array([not nodes for nodes in below])
        self.below = [self._arranged(nodes, kinds) for nodes in below]

    def _arranged(self, nodes: list[int], kinds: Sequence[str]) -> list[int]:
        """Reorder nodes so that branches are spread evenly among leaves."""
        leaves = [node for node in nodes if self.leaf[node] and kinds[node] != "ancestor"]
        branches = [node for node in nodes if not (self.leaf[node] and kinds[node] != "ancestor")]
        spots = [
            ((spot + 0.5) / len(group), node)
            for group in (branches, leaves)
            for spot, node in enumerate(group)
        ]
        return [node for _, node in sorted(spots)]

    def positions(self) -> Floats:
        """Return the position of each node, ``float64`` of shape (n, 2)."""
        if self.n == 1:
            return np.zeros((1, 2))
        sides = {
            up: [node for node in self.below[0] if self.up[node] == up] for up in (True, False)
        }
        count = {up: int((self.up[1:] == up).sum()) for up in (True, False)}
        angle = np.zeros(self.n)
        radius = np.zeros(self.n)
        widths = self._widths(count)
        for up, start in (
            (True, np.pi / 2 - widths[True] / 2),
            (False, 1.5 * np.pi - widths[False] / 2),
        ):
            if sides[up]:
                self._lay_out(sides[up], (start, widths[up]), angle, radius)
        return _apart(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1))

    def _widths(self, count: dict[bool, int]) -> dict[bool, float]:
        """Return the sectors of the nodes above (``True``) and below, in radians."""
        if not count[True]:
            return {True: 0.0, False: 2 * np.pi}
        if not count[False]:
            return {True: UPPER[1], False: 0.0}
        share = 2 * np.pi * count[True] / (self.n - 1)
        upper = float(np.clip(share, *UPPER))
        return {True: upper, False: 2 * np.pi - upper - 2 * GAP}

    def _lay_out(
        self, first: list[int], sector: tuple[float, float], angle: Floats, radius: Floats
    ) -> None:
        """Set the angles and Euclidean radii of the trees with roots ``first``."""
        nodes = list(first)
        for node in nodes:
            nodes.extend(self.below[node])
        counts = np.bincount(self.level[nodes])[1:]
        circles = np.append(_circles(counts, sector[1]), RIM)
        need = np.zeros(self.n)
        for node in reversed(nodes):
            own = 1 / circles[self.level[node] - 1]
            need[node] = max(own, float(need[self.below[node]].sum()))
        todo = [(first, *sector)]
        while todo:
            group, start, width = todo.pop()
            total = need[group].sum()
            for place, node in enumerate(group):
                share = width * need[node] / total
                angle[node] = start + share / 2
                inner, outer = circles[self.level[node] - 1], circles[self.level[node]]
                radius[node] = inner
                if self.leaf[node]:
                    arcs = int(np.clip(np.sqrt((outer - inner) / (inner * share)), 1, 6))
                    radius[node] += 0.9 * (outer - inner) * (place % arcs) / arcs
                narrow = min(share, WIDEST)
                if self.below[node]:
                    todo.append((self.below[node], angle[node] - narrow / 2, narrow))
                start += share


def _circles(counts: Rows, width: float) -> Floats:
    """Return the Euclidean radius of each level.

    The circumference of a hyperbolic circle of radius r is 2 pi sinh(r), so a level with more nodes
    needs a larger radius.
    """
    step = min(STEP, 0.7 * OUTER / len(counts))

    def radii(spacing: float) -> list[float]:
        found = [0.0]
        for wanted in np.arcsinh(counts * spacing / width).tolist():
            found.append(max(found[-1] + step, wanted))
        return found[1:]

    low, high = 0.0, SPACING
    if radii(high)[-1] > OUTER:
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if radii(middle)[-1] <= OUTER else (low, middle)
    else:
        low = high
    found = radii(low)
    for level in range(len(found) - 1, 0, -1):  # move inner levels out with outer ones
        found[level - 1] = max(found[level - 1], 0.9 * found[level] * level / (level + 1))
    return np.tanh(np.array(found) / 2)


def _apart(positions: Floats) -> Floats:
    """Move nodes apart that are too close to each other; the first one stays in the centre."""
    least = min(0.09, 0.45 * np.sqrt(np.pi / len(positions)))
    for _ in range(40):
        order = np.lexsort((positions[:, 1], positions[:, 0]))
        push = np.zeros_like(positions)
        for shift in range(1, len(order)):
            left, right = order[:-shift], order[shift:]
            apart = positions[right] - positions[left]
            if apart[:, 0].min() >= least:
                break
            length = np.hypot(apart[:, 0], apart[:, 1])
            close = length < least
            if not close.any():
                continue
            way = np.where(
                length[close, None] > 1e-9,
                apart[close] / np.maximum(length[close, None], 1e-9),
                [1.0, 0.0],
            )
            move = 0.5 * (1.02 * least - length[close, None]) * way
            np.add.at(push, right[close], move)
            np.add.at(push, left[close], -move)
        if not push.any():
            break
        push[0] = 0
        positions = positions + np.clip(push, -least, least)
        positions *= np.minimum(
            1, RIM / np.maximum(np.hypot(positions[:, 0], positions[:, 1]), RIM)
        )[:, None]
    return positions
