"""Positions of new terms in a hierarchy: a parent, and the children that move below the term."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, Scored, checked, hits_of, milliseconds
from ontodex.engine.hierarchy import Subsumptions
from ontodex.engine.results.placements import Placement, Placements

__all__ = ["complete_taxonomy"]

POOL = 50
"""Number of best children among which those that move are looked for; 5 k if that is larger, where
k is the number of positions."""


def complete_taxonomy(subsumptions: Subsumptions, texts: Sequence[str], k: int) -> list[Placements]:
    """Find the positions of each text; see :meth:`ontodex.engine.engine.Engine.place`."""
    k = checked(k)
    start = time.perf_counter()
    resolved = subsumptions.resolve(texts)
    points = subsumptions.points(resolved)
    all_votes = subsumptions.vote_offsets("parents", resolved)
    found, log_odds = subsumptions.predicted("parents", resolved, points, all_votes, k)
    refused = subsumptions.refused("children", resolved)
    children = subsumptions.below.top(points, max(POOL, 5 * k), refused)
    positions = []
    for point, one, votes, predicted, common, below, none in zip(
        points, resolved, all_votes, found, log_odds.tolist(), children, refused, strict=True
    ):
        ancestors, descendants = subsumptions.asserted("parents", one.row)
        best = subsumptions.asserted_first("parents", one, point, votes, predicted, k)
        probabilities = subsumptions.probabilities("parents", best[1], common, one.row)
        hits = hits_of(subsumptions.graph, best, ancestors, probabilities)
        moving = [_moving(subsumptions, point, parent, below, none) for parent in best[0].tolist()]
        positions.append(
            tuple(
                Placement(hit, hits_of(subsumptions.graph, some, descendants))
                for hit, some in zip(hits, moving, strict=True)
            )
        )
    took = milliseconds(start, len(resolved))
    return [
        Placements(of_one, {"text": one.resolution}, subsumptions.methods["parents"], took)
        for of_one, one in zip(positions, resolved, strict=True)
    ]


def _moving(
    subsumptions: Subsumptions,
    point: NDArray[np.float32],
    parent: int,
    below: Scored,
    refused: Rows,
) -> Scored:
    """Return the entities below the parent that move below the concept, best first.

    Candidates are the children of the parent, and the descendants of the parent among the concept's
    best children. A candidate moves if the rule accepts it as a child of the concept, if it scores
    higher as a child of the concept than of the parent, and if its hyperbolic norm is larger than
    the concept's. Of an ancestor and its descendant only the ancestor is returned.

    Args:
        subsumptions: The scores and the hierarchy.
        point: Lifted point of the concept, of shape (d+1,).
        parent: Row of the parent.
        below: Rows and scores of the concept's best children.
        refused: Rows that must not move.
    """
    hierarchy, space = subsumptions.hierarchy, subsumptions.space
    direct = hierarchy.children(parent).astype(np.int64)
    deeper = below[0][hierarchy.is_ancestor(below[0], np.array(parent))]
    rows = np.setdiff1d(np.union1d(direct, deeper), refused)
    rows, scores = subsumptions.below.among(point, rows, len(rows))
    likely = scores > subsumptions.rule.threshold
    likely &= scores > space.pair_scores(space.vectors[rows], np.full(len(rows), parent))
    likely &= space.norms[rows] > space.prepare(point[None]).norms[0]
    rows, scores = rows[likely], scores[likely]
    general = ~hierarchy.is_ancestor(rows[:, None], rows[None]).any(axis=1)
    return rows[general], scores[general]
