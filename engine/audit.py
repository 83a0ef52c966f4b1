"""Which asserted links a model doubts most, and which missing ones it is most sure of."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, Scored, checked, milliseconds, no_rows
from ontodex.engine.audit_rows import Audit, AuditRow
from ontodex.engine.subsumption_space import SubsumptionSpace
from ontodex.engine.subsumptions import Subsumptions
from ontodex.engine.topk import Searcher
from ontodex.graph.hierarchy import distinct
from ontodex.indexers.structure import Bonus
from ontodex.indexers.vectors import Vectors

__all__ = ["audit"]

FEW = 5
"""Missing parents of one child, at most."""

BATCH = 512
"""Children that are looked at at once."""

PAIRS = 8192
"""Members in a part of what is searched."""

Pairs = tuple[Rows, Rows, NDArray[np.float64]]
"""Children, parents and scores."""


def audit(subsumptions: Subsumptions, k: int) -> Audit:
    """Compare the asserted hierarchy with the model; see :meth:`ontodex.engine.engine.Engine.audit`."""
    k = checked(k)
    start = time.perf_counter()
    graph, members = subsumptions.graph, subsumptions.hierarchy.members.astype(np.int64)
    searcher, places = _among_members(subsumptions, members), np.full(len(graph.ids), -1)
    places[members] = np.arange(len(members))
    asserted: list[Scored] = []
    others: list[Scored] = []
    for first in range(0, len(members), BATCH):
        batch = members[first : first + BATCH]
        points = subsumptions.space.vectors[batch]
        bonuses = subsumptions.bonuses("parents", subsumptions.read([graph.ids[row] for row in batch.tolist()]))
        for child, point, bonus in zip(batch.tolist(), points, bonuses, strict=True):
            parents = subsumptions.hierarchy.parents(child).astype(np.int64)
            asserted.append(subsumptions.above.among(point, parents, len(parents), bonus))
        related = [places[_related(subsumptions, child)] for child in batch.tolist()]
        related = [rows[rows >= 0] for rows in related]
        found = searcher.top(points, min(k, FEW), related, [_among(places, bonus) for bonus in bonuses])
        others.extend((members[best], scores) for best, scores in found)
    probability = subsumptions.rules["parents"].probability
    rows = [
        AuditRow(graph.ids[child], graph.labels[child], graph.ids[parent], graph.labels[parent], chance, score, verdict)
        for verdict, (children, parents, scores) in (
            ("doubtful", _doubtful(subsumptions, _pairs(members, asserted), k)),
            ("missing", _missing(_pairs(members, others), k)),
        )
        for child, parent, score, chance in zip(
            children.tolist(), parents.tolist(), scores.tolist(), probability(scores).tolist(), strict=True
        )
    ]
    return Audit(tuple(rows), subsumptions.methods["parents"], milliseconds(start, 1), graph)


def _doubtful(subsumptions: Subsumptions, asserted: Pairs, k: int) -> Pairs:
    """Return at most k asserted links, of the lowest scores, that are no likelier than not, the lowest first."""
    children, parents, scores = asserted
    worst = np.lexsort((parents, children, scores))[:k]
    worst = worst[subsumptions.rules["parents"].probability(scores[worst]) <= 0.5]
    return children[worst], parents[worst], scores[worst]


def _missing(others: Pairs, k: int) -> Pairs:
    """Return at most k pairs of the highest scores, highest first, of two that are alike one way round."""
    children, parents, scores = others
    best = np.lexsort((parents, children, -scores))
    ends = np.sort(np.stack([children, parents], axis=1)[best], axis=1)
    best = best[np.sort(np.unique(ends, axis=0, return_index=True)[1])][:k]
    return children[best], parents[best], scores[best]


def _pairs(members: Rows, found: Sequence[Scored]) -> Pairs:
    """Return what was found for each member as pairs."""
    if not found:
        return no_rows(), no_rows(), np.zeros(0)
    rows, scores = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return np.repeat(members, [len(of_one) for of_one, _ in found]), rows, scores


def _related(subsumptions: Subsumptions, child: int) -> Rows:
    """Return what is no missing parent of an entity: itself, what is above and below, and what is near, rightly.

    Near are entities that share a parent, or a name.
    """
    hierarchy = subsumptions.hierarchy
    above, below, beside = hierarchy.ancestors(child), hierarchy.descendants(child), hierarchy.siblings(child)
    return distinct(np.concatenate([[child], subsumptions.namesakes(child), above, below, beside]).astype(np.int64))


def _among(places: Rows, bonus: Bonus) -> Bonus:
    """Return a bonus by the places of members, without what is none."""
    rows, values = bonus
    there = places[rows] >= 0
    return places[rows[there]], values[there]


def _among_members(subsumptions: Subsumptions, members: Rows) -> Searcher:
    """Return a search for parents among the members alone, whose rows are their places in ``members``."""
    vectors = subsumptions.space.vectors
    if len(members) == len(vectors):
        return subsumptions.above
    parts = np.array_split(members, max(1, len(members) // PAIRS))
    vectors = Vectors([vectors[part] for part in parts])
    space = SubsumptionSpace(vectors, subsumptions.space.curvature, subsumptions.rule.weight, subsumptions.rule.tilt)
    return Searcher(vectors, subsumptions.device, space=space)
