"""From the ranked parents and children of a concept to positions in the hierarchy."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, Scored, checked, hits_of, milliseconds
from ontodex.engine.results.placements import Placement, Placements
from ontodex.engine.subsumptions import Subsumptions

__all__ = ["place"]

POOL = 50
"""So many of the best parents, and of the best children, are looked through, or five for each position asked for."""

SURE = 0.9
"""Above this probability of a parent, what lies above it is no news. A lower one costs direct parents their places."""


def place(subsumptions: Subsumptions, texts: Sequence[str], k: int) -> list[Placements]:
    """Find the positions of each text; see :meth:`ontodex.engine.engine.Engine.place`."""
    k = checked(k)
    start = time.perf_counter()
    read = subsumptions.read(texts)
    points = subsumptions.points(read)
    refused = {question: subsumptions.refused(question, read) for question in ("parents", "children")}
    pool, added = max(POOL, 5 * k), subsumptions.added("parents", read)
    parents = subsumptions.above.top(points, pool, refused["parents"], [more.bonus for more in added])
    children = subsumptions.below.top(points, pool, refused["children"])
    positions = []
    for point, one, above, more, below, none in zip(
        points, read, parents, added, children, refused["children"], strict=True
    ):
        ancestors, descendants = subsumptions.asserted("parents", one.row)
        chances = subsumptions.chances("parents", above, more)
        best = np.argsort(_no_news(subsumptions, above[0], chances), kind="stable")[:k]
        rows, scores = (column[best] for column in above)
        hits = hits_of(subsumptions.graph, (rows, scores), ancestors, chances[best])
        moving = [_moving(subsumptions, point, parent, below, none) for parent in rows.tolist()]
        positions.append(
            tuple(
                Placement(hit, hits_of(subsumptions.graph, some, descendants, subsumptions.rule.probability(some[1])))
                for hit, some in zip(hits, moving, strict=True)
            )
        )
    took = milliseconds(start, len(read))
    return [
        Placements(of_one, {"text": one.reading}, subsumptions.methods["parents"], took)
        for of_one, one in zip(positions, read, strict=True)
    ]


def _no_news(subsumptions: Subsumptions, parents: Rows, chances: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which parents lie above one that is all but sure to be a parent."""
    likely = parents[chances > SURE]
    return np.asarray(subsumptions.hierarchy.is_ancestor(likely[:, None], parents[None]).any(axis=0))


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
