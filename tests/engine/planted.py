"""Points of the ball in which a hierarchy is planted: what a perfect encoder would make of it, but for some errors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ontodex.engine.subsumptions import Subsumptions
from ontodex.geometry import poincare, subsumption
from ontodex.graph import KnowledgeGraph
from ontodex.indexers.vectors import Vectors

DIM = 200
C = poincare.curvature(DIM)


def plant(graph: KnowledgeGraph, parents: Mapping[str, str], texts: Mapping[str, str]) -> Subsumptions:
    """Plant every entity a step beyond its first parent, in a direction of its own.

    Args:
        graph: What is asserted.
        parents: Other places for some: label or text, and what it is planted under.
        texts: What free texts are planted under.
    """
    hierarchy = graph.hierarchy()
    above = {graph.labels[child]: graph.labels[parent] for child, parent in hierarchy.links.tolist()}
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
    points, norms = poincare.unlift(lifted.astype(np.float64), C), poincare.item_norms(lifted.astype(np.float64), C)
    rule = subsumption.fit(
        poincare.distance(points[child], points[parent], C),
        norms[parent] - norms[child],
        norms[child],
        np.arange(len(child)) < len(true),
    )
    vectors = Vectors([lifted[:20], lifted[20:]])
    return Subsumptions(graph, hierarchy, vectors, C, rule, encode=items)
