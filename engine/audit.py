"""Which asserted links a model doubts most, and which missing ones it is most sure of."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, Scored, checked, milliseconds
from ontodex.engine.audit_rows import Audit, AuditRow
from ontodex.engine.subsumption_space import SubsumptionSpace
from ontodex.engine.subsumptions import Subsumptions
from ontodex.engine.topk import Searcher
from ontodex.indexers.structure import Bonus
from ontodex.indexers.vectors import Vectors

__all__ = ["audit"]

FEW = 5
"""Missing parents of one child, at most."""

BATCH = 512
"""Children, or links, that are looked at at once."""

PAIRS = 8192
"""Members in a part of what is searched."""

Pairs = tuple[Rows, Rows, NDArray[np.float64]]
"""Children, parents and scores."""


def audit(subsumptions: Subsumptions, k: int) -> Audit:
    """Compare the asserted hierarchy with the model; see :meth:`ontodex.engine.engine.Engine.audit`."""
    k = checked(k)
    start = time.perf_counter()
    graph = subsumptions.graph
    rows = [
        AuditRow(graph.ids[child], graph.labels[child], graph.ids[parent], graph.labels[parent], chance, score, verdict)
        for verdict, (children, parents, scores) in (
            ("doubtful", _doubtful(subsumptions, k)),
            ("missing", _missing(subsumptions, k)),
        )
        for child, parent, score, chance in zip(
            children.tolist(),
            parents.tolist(),
            scores.tolist(),
            subsumptions.rules["parents"].probability(scores).tolist(),
            strict=True,
        )
    ]
    return Audit(tuple(rows), subsumptions.methods["parents"], milliseconds(start, 1), graph)


def _doubtful(subsumptions: Subsumptions, k: int) -> Pairs:
    """Return at most k asserted links that the rule does not accept, of the lowest scores, lowest first."""
    children, parents = subsumptions.hierarchy.links.astype(np.int64).T
    scores = np.empty(len(children))
    for start in range(0, len(children), BATCH):
        part = slice(start, start + BATCH)
        asked, owners = np.unique(children[part], return_inverse=True)
        scores[part] = subsumptions.space.pair_scores(subsumptions.space.vectors[children[part]], parents[part])
        scores[part] += _raised(_bonuses(subsumptions, asked), owners, parents[part])
    worst = np.lexsort((parents, children, scores))[:k]
    worst = worst[scores[worst] <= subsumptions.rules["parents"].threshold]
    return children[worst], parents[worst], scores[worst]


def _missing(subsumptions: Subsumptions, k: int) -> Pairs:
    """Return at most k pairs that the rule accepts and the hierarchy does not relate, of the highest scores, highest first.

    Entities that share a parent, or a name, are not paired: near to each other they are, and rightly so.
    """
    hierarchy = subsumptions.hierarchy
    members = hierarchy.members.astype(np.int64)
    if not len(members):
        none = np.zeros(0, dtype=np.int64)
        return none, none, np.zeros(0)
    searcher = _among_members(subsumptions, members)
    found: list[tuple[int, Scored]] = []
    for start in range(0, len(members), BATCH):
        batch = members[start : start + BATCH].tolist()
        related = [
            np.concatenate(
                [
                    [child],
                    subsumptions.namesakes(child),
                    hierarchy.siblings(child),
                    hierarchy.ancestors(child),
                    hierarchy.descendants(child),
                ]
            )
            for child in batch
        ]
        places = [np.searchsorted(members, np.intersect1d(rows, members)).astype(np.int64) for rows in related]
        points = searcher.vectors[np.arange(start, start + len(batch))]
        bonuses = [_among(members, bonus) for bonus in _bonuses(subsumptions, members[start : start + BATCH])]
        found.extend(zip(batch, searcher.top(points, min(k, FEW), places, bonuses), strict=True))
    children = np.repeat([child for child, _ in found], [len(rows) for _, (rows, _) in found]).astype(np.int64)
    parents = members[np.concatenate([rows for _, (rows, _) in found])]
    scores = np.concatenate([scores for _, (_, scores) in found])
    best = np.lexsort((parents, children, -scores))
    pair = np.minimum(children, parents) * len(subsumptions.graph.ids) + np.maximum(children, parents)
    first = np.sort(np.unique(pair[best], return_index=True)[1])  # of two that are alike, one way round is enough
    best = best[first][:k]
    best = best[scores[best] > subsumptions.rules["parents"].threshold]
    return children[best], parents[best], scores[best]


def _bonuses(subsumptions: Subsumptions, children: Rows) -> list[Bonus]:
    """Return what like entities add to the scores of all parents of each child."""
    ids = subsumptions.graph.ids
    return subsumptions.bonuses("parents", subsumptions.read([ids[row] for row in children.tolist()]))


def _raised(bonuses: Sequence[Bonus], owners: Rows, parents: Rows) -> NDArray[np.float64]:
    """Return what is added to the scores of pairs: (which of the bonuses, parent)."""
    added = np.zeros(len(parents))
    for at, (owner, parent) in enumerate(zip(owners.tolist(), parents.tolist(), strict=True)):
        rows, values = bonuses[owner]
        added[at] = values[rows == parent].sum()
    return added


def _among(members: Rows, bonus: Bonus) -> Bonus:
    """Return a bonus by places in ``members``, without what is none."""
    rows, values = bonus
    there = np.isin(rows, members)
    return np.searchsorted(members, rows[there]), values[there]


def _among_members(subsumptions: Subsumptions, members: Rows) -> Searcher:
    """Return a search for parents among the members alone, whose rows are their places in ``members``."""
    vectors = subsumptions.space.vectors
    if len(members) == len(vectors):
        return subsumptions.above
    parts = np.array_split(members, max(1, len(members) // PAIRS))
    vectors = Vectors([vectors[part] for part in parts])
    space = SubsumptionSpace(vectors, subsumptions.space.curvature, subsumptions.rule.weight, subsumptions.rule.tilt)
    return Searcher(vectors, subsumptions.device, space=space)
