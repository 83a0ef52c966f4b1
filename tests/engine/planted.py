"""Points of the ball in which a hierarchy and some errors are planted, as by a perfect encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ontodex.engine.hierarchy import Subsumptions
from ontodex.engine.resolve import ResolvedTerm
from ontodex.engine.results.hits import Hit
from ontodex.geometry import poincare, subsumption
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph
from ontodex.scoring.neighbour_voting import NeighbourVoting, VoteOffsets

DIM = 200
C = poincare.curvature(DIM)


def plant(
    graph: KnowledgeGraph, parents: Mapping[str, str], texts: Mapping[str, str]
) -> Subsumptions:
    """Place every entity one step beyond its first parent, in a direction of its own.

    Args:
        graph: Graph with the asserted hierarchy.
        parents: Parents other than the asserted one, by label or text.
        texts: Parents of free texts.
    """
    hierarchy = graph.hierarchy()
    above = {
        graph.labels[child]: graph.labels[parent] for child, parent in hierarchy.links.tolist()
    }
    others = {label: "sea" for label in graph.labels if label not in above and label != "thing"}
    above = {**others, **above, **parents, **texts}

    def tangent(name: str) -> np.ndarray:
        own = np.random.default_rng(list(name.encode())).normal(size=DIM)
        step = 0.3 * np.sqrt(DIM) * own / np.linalg.norm(own)
        return step + tangent(above[name]) if name in above else step

    def items(names: list[str]) -> np.ndarray:
        points = poincare.exp_origin(np.stack([tangent(name) for name in names]), C)
        return poincare.lift_items(points.astype(np.float32), C)

    lifted = items(list(graph.labels))
    rng = np.random.default_rng(0)
    true = np.concatenate([hierarchy.links, hierarchy.indirect_subsumptions()])
    false = rng.integers(graph.n_entities, size=(10 * len(true), 2))
    false = false[~hierarchy.is_ancestor(*false.T) & (false[:, 0] != false[:, 1])]
    child, parent = np.concatenate([true, false]).T
    points, norms = (
        poincare.unlift(lifted.astype(np.float64), C),
        poincare.item_norms(lifted.astype(np.float64), C),
    )
    rule = subsumption.fit(
        poincare.distance(points[child], points[parent], C),
        norms[parent] - norms[child],
        norms[child],
        np.arange(len(child)) < len(true),
    )
    vectors = Vectors([lifted[:20], lifted[20:]])
    return Subsumptions(graph, hierarchy, vectors, C, rule, encode=items)


def brute(subsumptions: Subsumptions, row: int, upward: bool) -> np.ndarray:
    """Score every entity as a parent (or child) of another, in float64."""
    items = np.concatenate(subsumptions.space.vectors.shards).astype(np.float64)
    points, norms = poincare.unlift(items, C), poincare.item_norms(items, C)
    parents, children = (norms, norms[row]) if upward else (norms[row], norms)
    return subsumptions.rule.score(
        poincare.distance(points[row], points, C), parents - children, children
    )


def with_votes(planted: Subsumptions) -> Subsumptions:
    """Return the subsumptions with neighbour voting: offsets of some scores and logits."""

    def added(entities: Sequence[ResolvedTerm]) -> list[VoteOffsets]:
        found = []
        for one in entities:
            rows = np.arange(0, planted.graph.n_entities, 3 if one.row is None else 2)
            rng = np.random.default_rng(one.row or 0)
            found.append(
                VoteOffsets(rows, 9 * rng.random(len(rows)) - 3, rng.normal(size=len(rows)))
            )
        return found

    votes = (
        NeighbourVoting(
            slope=0.6, offset=-0.6 * planted.rule.threshold, itself=1.0, parents=1.0, ancestors=1.0
        ),
        added,
    )
    graph, space = planted.graph, planted.space
    both = dict.fromkeys(("parents", "children"), votes)
    return Subsumptions(
        graph,
        planted.hierarchy,
        space.vectors,
        C,
        planted.rule,
        encode=planted._encode,
        voting=both,
    )


def as_parents(subsumptions: Subsumptions, row: int) -> np.ndarray:
    """Return the scores of all entities as parents of an entity, with neighbour voting."""
    scores = brute(subsumptions, row, upward=True)
    [added] = subsumptions.vote_offsets(
        "parents", subsumptions.resolve([subsumptions.graph.ids[row]])
    )
    scores[added.rows] += added.scores
    return scores


def probabilities_as_parents(subsumptions: Subsumptions, row: int) -> np.ndarray:
    """Return the probabilities of all entities as parents of an entity."""
    [added] = subsumptions.vote_offsets(
        "parents", subsumptions.resolve([subsumptions.graph.ids[row]])
    )
    return subsumptions.probabilities(
        "parents", (np.arange(subsumptions.graph.n_entities), as_parents(subsumptions, row)), added
    )


def names(hits: Sequence[Hit]) -> list[str]:
    return [hit.label for hit in hits]
