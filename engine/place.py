"""From the ranked parents and children of a concept to positions in the hierarchy."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Scored, checked, milliseconds, own_row
from ontodex.engine.placements import Placement, Placements
from ontodex.engine.subsumptions import METHOD, Subsumptions

__all__ = ["place"]

POOL = 50
"""So many of the best parents, and of the best children, are put together, or five for each position asked for."""


def place(subsumptions: Subsumptions, texts: Sequence[str], k: int) -> list[Placements]:
    """Find the positions of each text; see :meth:`ontodex.engine.engine.Engine.place`."""
    k = checked(k)
    start = time.perf_counter()
    read = subsumptions.read(texts)
    points = subsumptions.points(read)
    itself = [own_row(one) for one in read]
    pool = max(POOL, 5 * k)
    parents = subsumptions.above.top(points, pool, itself)
    children = subsumptions.below.top(points, pool, itself)
    found = [
        _positions(subsumptions, point, one.row, above, below, k)
        for point, one, above, below in zip(points, read, parents, children, strict=True)
    ]
    took = milliseconds(start, len(texts))
    return [
        Placements(positions, {"text": one.reading}, METHOD, took) for positions, one in zip(found, read, strict=True)
    ]


def _positions(
    subsumptions: Subsumptions, point: NDArray[np.float32], row: int | None, above: Scored, below: Scored, k: int
) -> tuple[Placement, ...]:
    direct = _direct(subsumptions, above)
    best = np.lexsort((-above[1], -direct))[: 3 * k]
    ancestors, descendants = subsumptions.asserted("parents", row)
    found = []
    for at in best.tolist():
        (parent,) = subsumptions.hits((above[0][[at]], above[1][[at]]), ancestors)
        children = subsumptions.hits(_moving(subsumptions, point, row, int(above[0][at]), below), descendants)
        chances = [child.probability or 0.0 for child in children]
        share = float(np.exp(np.mean(np.log(chances)))) if chances else 1.0
        found.append(Placement(parent, children, float(direct[at]) * share))
    return tuple(sorted(found, key=lambda one: -one.probability)[:k])


def _direct(subsumptions: Subsumptions, above: Scored) -> NDArray[np.float64]:
    """Return how likely each is a parent while none of its own descendants is: what is above a likely one is no news."""
    rows, scores = above
    chances = subsumptions.rule.probability(scores)
    beneath = subsumptions.hierarchy.is_ancestor(rows[:, None], rows[None])
    return np.asarray(chances * (1 - np.where(beneath, chances[:, None], 0.0).max(axis=0, initial=0.0)))


def _moving(
    subsumptions: Subsumptions, point: NDArray[np.float32], row: int | None, parent: int, below: Scored
) -> Scored:
    """Return what lies below the parent and rather below the concept, the most general alone, best first.

    That is every child of the parent, and every one of the concept's best children deeper down, that is more likely below
    the concept than not, and further from the origin than it.
    """
    hierarchy, space = subsumptions.hierarchy, subsumptions.space
    direct = hierarchy.children(parent).astype(np.int64)
    deeper = below[0][hierarchy.is_ancestor(below[0], np.array(parent))]
    rows = np.setdiff1d(np.union1d(direct, deeper), [] if row is None else [row])
    rows, scores = subsumptions.below.among(point, rows, len(rows))
    likely = subsumptions.rule.probability(scores) > 0.5
    likely &= space.norms[rows] > space.ask(point[None]).norms[0]
    rows, scores = rows[likely], scores[likely]
    general = ~hierarchy.is_ancestor(rows[:, None], rows[None]).any(axis=1)
    return rows[general], scores[general]
