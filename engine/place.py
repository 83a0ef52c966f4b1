"""From the ranked parents and children of a concept to positions in the hierarchy."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, Scored, checked, milliseconds
from ontodex.engine.placements import Placement, Placements
from ontodex.engine.subsumptions import Subsumptions

__all__ = ["place"]

POOL = 50
"""So many of the best parents, and of the best children, are put together, or five for each position asked for."""


def place(subsumptions: Subsumptions, texts: Sequence[str], k: int) -> list[Placements]:
    """Find the positions of each text; see :meth:`ontodex.engine.engine.Engine.place`."""
    k = checked(k)
    start = time.perf_counter()
    read = subsumptions.read(texts)
    points = subsumptions.points(read)
    pool = max(POOL, 5 * k)
    refused = {question: subsumptions.refused(question, read) for question in ("parents", "children")}
    parents = subsumptions.best_parents(read, points, pool, refused["parents"])
    children = subsumptions.below.top(points, pool, refused["children"])
    found = [
        _positions(subsumptions, point, one.row, above, below, no_children, k)
        for point, one, above, below, no_children in zip(
            points, read, parents, children, refused["children"], strict=True
        )
    ]
    took = milliseconds(start, len(texts))
    return [
        Placements(positions, {"text": one.reading}, subsumptions.methods["parents"], took)
        for positions, one in zip(found, read, strict=True)
    ]


def _positions(
    subsumptions: Subsumptions,
    point: NDArray[np.float32],
    row: int | None,
    above: Scored,
    below: Scored,
    refused: Rows,
    k: int,
) -> tuple[Placement, ...]:
    direct = _direct(subsumptions, above)
    best = np.lexsort((-above[1], -direct))[:k]
    ancestors, descendants = subsumptions.asserted("parents", row)
    found = []
    for at in best.tolist():
        (parent,) = subsumptions.hits((above[0][[at]], above[1][[at]]), ancestors, subsumptions.rules["parents"])
        moving = _moving(subsumptions, point, int(above[0][at]), below, refused)
        children = subsumptions.hits(moving, descendants, subsumptions.rule)
        found.append(Placement(parent, children, float(direct[at])))
    return tuple(found)


def _direct(subsumptions: Subsumptions, above: Scored) -> NDArray[np.float64]:
    """Return how likely each is a parent, less so as far as one of its descendants is more likely one than not.

    What is above a likely parent is no news. Where nothing is likely, the order stays that of the scores: it finds the
    direct parents of ontologies two to four times as often among the first five as one that always favours descendants.
    """
    rows, scores = above
    chances = subsumptions.rules["parents"].probability(scores)
    beneath = subsumptions.hierarchy.is_ancestor(rows[:, None], rows[None])
    sure = np.maximum(0.0, 2 * chances - 1)
    return np.asarray(chances * (1 - np.where(beneath, sure[:, None], 0.0).max(axis=0, initial=0.0)))


def _moving(
    subsumptions: Subsumptions, point: NDArray[np.float32], parent: int, below: Scored, refused: Rows
) -> Scored:
    """Return what lies below the parent and rather below the concept, the most general alone, best first.

    That is every child of the parent, and every one of the concept's best children deeper down, that the rule accepts as
    below the concept, that scores higher below it than below the parent, and that is further from the origin than it.
    """
    hierarchy, space = subsumptions.hierarchy, subsumptions.space
    direct = hierarchy.children(parent).astype(np.int64)
    deeper = below[0][hierarchy.is_ancestor(below[0], np.array(parent))]
    rows = np.setdiff1d(np.union1d(direct, deeper), refused)
    rows, scores = subsumptions.below.among(point, rows, len(rows))
    likely = scores > subsumptions.rule.threshold
    likely &= scores > space.pair_scores(space.vectors[rows], np.full(len(rows), parent))
    likely &= space.norms[rows] > space.ask(point[None]).norms[0]
    rows, scores = rows[likely], scores[likely]
    general = ~hierarchy.is_ancestor(rows[:, None], rows[None]).any(axis=1)
    return rows[general], scores[general]
