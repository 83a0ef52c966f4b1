"""Points of the ball in which a hierarchy and some errors are planted, as by a perfect encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import optimize

from ontodex.engine.hierarchy import Subsumptions
from ontodex.engine.resolve import ResolvedTerm
from ontodex.engine.results.hits import Hit
from ontodex.engine.search.score_offsets import no_offsets
from ontodex.geometry import poincare, subsumption
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph
from ontodex.scoring.graph_features import Offsets
from ontodex.scoring.neighbour_voting import NeighbourVoting

DIM = 200
C = poincare.curvature(DIM)
CURVE = (1.0, -0.8, 3.0)


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
        weights=(0.6, 0.6),  # ranks direct parents before more general entities
    )
    vectors = Vectors([lifted[:20], lifted[20:]])
    votes = (
        NeighbourVoting(itself=1.0, curve=CURVE),
        lambda entities: [no_offsets()] * len(entities),
    )
    both = dict.fromkeys(("parents", "children"), votes)
    return Subsumptions(graph, hierarchy, vectors, C, rule, encode=items, voting=both)


def brute(subsumptions: Subsumptions, row: int, upward: bool) -> np.ndarray:
    """Score every entity as a parent (or child) of another, in float64."""
    items = np.concatenate(subsumptions.space.vectors.shards).astype(np.float64)
    points, norms = poincare.unlift(items, C), poincare.item_norms(items, C)
    parents, children = (norms, norms[row]) if upward else (norms[row], norms)
    return subsumptions.rule.score(
        poincare.distance(points[row], points, C), parents - children, children
    )


def with_votes(planted: Subsumptions) -> Subsumptions:
    """Return the subsumptions with neighbour voting: offsets of some scores."""

    def added(entities: Sequence[ResolvedTerm]) -> list[Offsets]:
        found = []
        for one in entities:
            rows = np.arange(0, planted.graph.n_entities, 3 if one.row is None else 2)
            found.append((rows, 9 * np.random.default_rng(one.row or 0).random(len(rows)) - 3))
        return found

    graph, space = planted.graph, planted.space
    both = dict.fromkeys(("parents", "children"), (NeighbourVoting(itself=1.0, curve=CURVE), added))
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
    rows, values = added
    scores[rows] += values
    return scores


def probabilities(
    subsumptions: Subsumptions, question: str, row: int, scores: np.ndarray, new: bool = False
) -> np.ndarray:
    """Return the probabilities of all entities as answers about an entity, given their scores.

    Args:
        new: The entity counts as new, whether it has links or not.
    """
    hierarchy = subsumptions.hierarchy
    circular = hierarchy.descendants(row) if question == "parents" else hierarchy.ancestors(row)
    best = np.sort(np.delete(scores, [row, *circular.tolist()]))[-20:]
    of_score, of_log_sum, intercept = subsumptions._voting[question][0].curve
    logits = of_score * scores + of_log_sum * np.log(np.exp(best).sum()) + intercept
    parents = [len(hierarchy.parents(other)) for other in range(len(scores))]
    if question == "parents" and not parents[row]:  # no more can be right than a child has

        def excess(lowered: float) -> float:
            among = of_score * best + logits[0] - of_score * scores[0] - lowered
            return float((1 / (1 + np.exp(-among))).sum()) - max(parents)

        if excess(0.0) > 0:
            logits = logits - optimize.brentq(excess, 0.0, 100.0)
    own = max(1, parents[row]) if question == "parents" else 1
    ratio = (parents.count(own + 1) + 0.5) / (parents.count(own) + 0.5)
    new = new or row not in hierarchy.links
    odds = 1.0 if new else 0.05 * (own + 1) * ratio
    return odds / (odds + np.exp(-logits))


def probabilities_as_parents(subsumptions: Subsumptions, row: int, new: bool = False) -> np.ndarray:
    """Return the probabilities of all entities as parents of an entity."""
    return probabilities(subsumptions, "parents", row, as_parents(subsumptions, row), new)


def names(hits: Sequence[Hit]) -> list[str]:
    return [hit.label for hit in hits]
