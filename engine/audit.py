"""Which asserted links a model doubts most, and which missing ones it is most sure of."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, checked, milliseconds, no_rows
from ontodex.engine.results.audit_rows import Audit, AuditRow, predicate_of
from ontodex.engine.search.subsumption_space import SubsumptionSpace
from ontodex.engine.search.topk import Searcher
from ontodex.engine.subsumptions import Subsumptions
from ontodex.graph.arrays import distinct
from ontodex.indexers.evidence.kin import Added
from ontodex.indexers.evidence.structure import Bonus
from ontodex.indexers.storage.vectors import Vectors

__all__ = ["audit"]

FEW = 5
"""Missing parents of one child, at most."""

BATCH = 512
"""Children that are looked at at once."""

PAIRS = 8192
"""Members in a part of what is searched."""


class _Pairs(NamedTuple):
    """Pairs of a child and a parent, each column of shape (pairs,).

    They are their rows, subsumption scores, probabilities, and leads: how far a score is above the best of the child's
    other asserted parents, and that of an asserted parent above the best of the missing ones too; 0 if there are none.
    """

    children: Rows
    parents: Rows
    scores: NDArray[np.float64]
    chances: NDArray[np.float64]
    leads: NDArray[np.float64]

    @classmethod
    def none(cls) -> _Pairs:
        """Return no pair."""
        return cls(no_rows(), no_rows(), np.zeros(0), np.zeros(0), np.zeros(0))

    def at(self, places: Rows) -> _Pairs:
        """Return those at some places, in that order."""
        return _Pairs._make(column[places] for column in self)


def audit(subsumptions: Subsumptions, k: int) -> Audit:
    """Compare the asserted hierarchy with the model; see :meth:`ontodex.engine.engine.Engine.audit`."""
    k = checked(k)
    start = time.perf_counter()
    graph, members = subsumptions.graph, subsumptions.hierarchy.members.astype(np.int64)
    searcher, places = _among_members(subsumptions, members), np.full(len(graph.ids), -1)
    places[members] = np.arange(len(members))
    asserted, others = [_Pairs.none()], [_Pairs.none()]
    for first in range(0, len(members), BATCH):
        batch = members[first : first + BATCH]
        points = subsumptions.space.vectors[batch]
        added = subsumptions.added("parents", subsumptions.read([graph.ids[row] for row in batch.tolist()]))
        related = [places[_related(subsumptions, child)] for child in batch.tolist()]
        related = [rows[rows >= 0] for rows in related]
        found = searcher.top(points, FEW, related, [_among(places, more) for more in added])
        for child, point, more, (best, scores) in zip(batch.tolist(), points, added, found, strict=True):
            parents = subsumptions.hierarchy.parents(child).astype(np.int64)
            known = subsumptions.above.among(point, parents, len(parents), more.bonus)
            own, rest = known[1].tolist(), scores.tolist()
            of_own = [_lead(one, [*own[:at], *own[at + 1 :], *rest]) for at, one in enumerate(own)]
            of_rest = [_lead(one, own) for one in rest]
            for pairs, scored, leads in ((asserted, known, of_own), (others, (members[best], scores), of_rest)):
                chances = subsumptions.chances("parents", scored, more)
                pairs.append(_Pairs(np.full(len(chances), child), *scored, chances, np.array(leads, dtype=np.float64)))
    rows = [
        AuditRow(graph.ids[child], graph.labels[child], graph.ids[parent], graph.labels[parent], chance, score, verdict)
        for verdict, pairs in (("doubtful", _doubtful(_joined(asserted), k)), ("missing", _missing(_joined(others), k)))
        for child, parent, score, chance, _ in zip(*(column.tolist() for column in pairs), strict=True)
    ]
    method, took = subsumptions.methods["parents"], milliseconds(start, 1)
    return Audit(tuple(rows), method, took, predicate_of(graph), dict(graph.prefixes))


def _doubtful(asserted: _Pairs, k: int) -> _Pairs:
    """Return at most k asserted links that are no likelier than not, the most doubtful first.

    Most doubtful is what comes first in two orders taken together: by probability, and by lead. Right links too are
    unlikely, if their child's name tells little of what is above it; but then all its other parents are as unlikely.
    """
    places = _places(asserted.chances) + _places(asserted.leads)
    worst = np.lexsort((asserted.parents, asserted.children, asserted.scores, asserted.chances, places))
    return asserted.at(worst[asserted.chances[worst] <= 0.5][:k])


def _missing(others: _Pairs, k: int) -> _Pairs:
    """Return at most k pairs, the best first: by score and by lead, taken together; one of two alike one way round."""
    places = _places(others.scores) + _places(others.leads)
    best = np.lexsort((others.parents, others.children, -others.scores, -places))
    ends = np.sort(np.stack([others.children, others.parents], axis=1)[best], axis=1)
    return others.at(best[np.sort(np.unique(ends, axis=0, return_index=True)[1])][:k])


def _places(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return how many values are below each."""
    return np.searchsorted(np.sort(values), values)


def _lead(score: float, others: Sequence[float]) -> float:
    return score - max(others, default=score)


def _joined(pairs: Sequence[_Pairs]) -> _Pairs:
    return _Pairs(*(np.concatenate(columns) for columns in zip(*pairs, strict=True)))


def _related(subsumptions: Subsumptions, child: int) -> Rows:
    """Return what is no missing parent of an entity: itself, what is above and below, and what is near, rightly.

    Near are entities that share a parent, or a name.
    """
    hierarchy = subsumptions.hierarchy
    above, below, beside = hierarchy.ancestors(child), hierarchy.descendants(child), hierarchy.siblings(child)
    return distinct(np.concatenate([[child], subsumptions.namesakes(child), above, below, beside]).astype(np.int64))


def _among(places: Rows, added: Added) -> Bonus:
    """Return what is added to scores by the places of members, without what is none."""
    there = places[added.rows] >= 0
    return places[added.rows[there]], added.scores[there]


def _among_members(subsumptions: Subsumptions, members: Rows) -> Searcher:
    """Return a search for parents among the members alone, whose rows are their places in ``members``."""
    vectors = subsumptions.space.vectors
    if len(members) == len(vectors):
        return subsumptions.above
    parts = np.array_split(members, max(1, len(members) // PAIRS))
    vectors = Vectors([vectors[part] for part in parts])
    space = SubsumptionSpace(vectors, subsumptions.space.curvature, subsumptions.rule.weight, subsumptions.rule.tilt)
    return Searcher(vectors, subsumptions.device, space=space)
