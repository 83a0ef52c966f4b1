"""The audit of a hierarchy: doubtful, missing and redundant links."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, checked, milliseconds, no_rows
from ontodex.engine.hierarchy import Subsumptions
from ontodex.engine.results.audit_rows import Audit, AuditRow, predicate_of
from ontodex.engine.search.subsumption_space import SubsumptionSpace
from ontodex.engine.search.topk import Searcher
from ontodex.geometry.vectors import Vectors
from ontodex.graph import Hierarchy
from ontodex.graph.arrays import distinct, within
from ontodex.scoring.graph_features import Offsets

__all__ = ["audit"]

MAX_MISSING = 5
"""Maximal number of missing parents that the audit lists for one child."""

BATCH = 512
"""Number of children in one block of the audit."""

PAIRS = 8192
"""Approximate number of classes in one shard of the audit's search."""


class _Pairs(NamedTuple):
    """Columns of (child, parent) pairs, each of shape (pairs,).

    Attributes:
        children: Row of the child.
        parents: Row of the parent.
        scores: Subsumption score.
        probabilities: Probability of the link; NaN if none could be fitted.
    """

    children: Rows
    parents: Rows
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]

    @classmethod
    def none(cls) -> _Pairs:
        """Return columns of no pairs."""
        return cls(no_rows(), no_rows(), np.zeros(0), np.zeros(0))

    def at(self, places: Rows) -> _Pairs:
        """Return the pairs at the given positions, in their order."""
        return _Pairs._make(column[places] for column in self)


def audit(subsumptions: Subsumptions, k: int) -> Audit:
    """Compare the asserted hierarchy with the model; see :meth:`ontodex.Engine.audit`."""
    k = checked(k)
    start = time.perf_counter()
    graph, hierarchy = subsumptions.graph, subsumptions.hierarchy
    members = hierarchy.members.astype(np.int64)
    classes: Rows = np.setdiff1d(members, hierarchy.individuals)
    searcher, places = _among_classes(subsumptions, classes), np.full(len(graph.ids), -1)
    places[classes] = np.arange(len(classes))
    are_of_classes = places[hierarchy.links[:, 0]] >= 0
    of_classes = Hierarchy(*hierarchy.links[are_of_classes].T, ids=graph.ids)
    asserted, others = [_Pairs.none()], [_Pairs.none()]
    for first in range(0, len(members), BATCH):
        batch = members[first : first + BATCH]
        points = subsumptions.space.vectors[batch]
        resolved = subsumptions.resolve([graph.ids[row] for row in batch.tolist()])
        all_votes = subsumptions.vote_offsets("parents", resolved)
        log_odds = subsumptions.log_odds("parents", resolved, points, all_votes)
        related = [places[_related(subsumptions, of_classes, child)] for child in batch.tolist()]
        related = [rows[rows >= 0] for rows in related]
        offsets = [_offsets_of_classes(places, votes) for votes in all_votes]
        found = searcher.top(points, MAX_MISSING, related, offsets)
        for child, point, votes, common, (best, scores) in zip(
            batch.tolist(), points, all_votes, log_odds.tolist(), found, strict=True
        ):
            parents = hierarchy.parents(child).astype(np.int64)
            known = subsumptions.above.among(point, parents, len(parents), votes)
            for pairs, scored, entity in (
                (asserted, known, None),
                (others, (classes[best], scores), child),
            ):
                probabilities = subsumptions.probabilities("parents", scored[1], common, entity)
                if probabilities is None:
                    probabilities = np.full(len(scored[1]), np.nan)
                pairs.append(_Pairs(np.full(len(probabilities), child), *scored, probabilities))
    links = _joined(asserted)
    implied = _redundant(hierarchy, links)
    rows = [
        AuditRow(
            graph.ids[child],
            graph.labels[child],
            graph.ids[parent],
            graph.labels[parent],
            None if math.isnan(probability) else probability,
            score,
            verdict,
        )
        for verdict, pairs in (
            ("doubtful", _doubtful(links.at(np.flatnonzero(~implied)), k)),
            ("missing", _missing(_joined(others), k)),
            ("redundant", links.at(np.flatnonzero(implied)[:k])),
        )
        for child, parent, score, probability in zip(
            *(column.tolist() for column in pairs), strict=True
        )
    ]
    method, took = subsumptions.methods["parents"], milliseconds(start, 1)
    judged = not bool(np.isnan(links.probabilities).any())
    return Audit(tuple(rows), method, took, judged, predicate_of(graph), dict(graph.prefixes))


def _redundant(hierarchy: Hierarchy, links: _Pairs) -> NDArray[np.bool_]:
    """Return whether each asserted link is implied by others, of shape (links,)."""
    count = len(hierarchy.ids)
    keys = hierarchy.redundant_links().astype(np.int64) @ np.array([count, 1])
    return within(keys, links.children * count + links.parents)


def _doubtful(asserted: _Pairs, k: int) -> _Pairs:
    """Return at most k asserted links with a probability of at most 0.5, the least likely first."""
    worst = np.lexsort(
        (asserted.parents, asserted.children, asserted.scores, asserted.probabilities)
    )
    return asserted.at(worst[asserted.probabilities[worst] <= 0.5][:k])


def _missing(others: _Pairs, k: int) -> _Pairs:
    """Return at most k pairs, the most likely first; without probabilities, by score.

    Of the two directions between two entities, only the better one is returned.
    """
    best = np.lexsort((others.parents, others.children, -others.scores, -others.probabilities))
    ends = np.sort(np.stack([others.children, others.parents], axis=1)[best], axis=1)
    return others.at(best[np.sort(np.unique(ends, axis=0, return_index=True)[1])][:k])


def _joined(pairs: Sequence[_Pairs]) -> _Pairs:
    return _Pairs(*(np.concatenate(columns) for columns in zip(*pairs, strict=True)))


def _related(subsumptions: Subsumptions, of_classes: Hierarchy, child: int) -> Rows:
    """Return the entities that cannot be missing parents of ``child``.

    These are the child itself, its ancestors, descendants and siblings, and entities with the same
    label. Siblings are looked up in the hierarchy of classes alone: an individual may have a
    million others beside it.
    """
    hierarchy = subsumptions.hierarchy
    above, below, beside = (
        hierarchy.ancestors(child),
        hierarchy.descendants(child),
        of_classes.children_of(hierarchy.parents(child))[1],
    )
    return distinct(
        np.concatenate([[child], subsumptions.namesakes(child), above, below, beside]).astype(
            np.int64
        )
    )


def _offsets_of_classes(places: Rows, votes: Offsets) -> Offsets:
    """Return the score offsets of the classes of the hierarchy.

    Args:
        places: Position of each entity among the classes; -1 for entities that are none.
        votes: Score offsets by row.
    """
    rows, values = votes
    there = places[rows] >= 0
    return places[rows[there]], values[there]


def _among_classes(subsumptions: Subsumptions, classes: Rows) -> Searcher:
    """Return a searcher for parents among the classes; its rows are positions in ``classes``."""
    vectors = subsumptions.space.vectors
    if len(classes) == len(vectors):
        return subsumptions.above
    parts = np.array_split(classes, max(1, len(classes) // PAIRS))
    vectors = Vectors([vectors[part] for part in parts])
    space = SubsumptionSpace(
        vectors, subsumptions.space.curvature, subsumptions.rule.weight, subsumptions.rule.tilt
    )
    return Searcher(vectors, subsumptions.device, space=space)
