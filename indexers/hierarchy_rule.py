"""Fitting the rule of a hierarchy encoder to the hierarchy of a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.hit import HiT
from ontodex.errors import GraphError, SettingsError
from ontodex.geometry.poincare import distance as distance_of
from ontodex.geometry.poincare import norm, pairwise, unlift
from ontodex.geometry.subsumption import Subsumption, differences, fit
from ontodex.graph import Hierarchy, KnowledgeGraph, draw_negatives
from ontodex.graph.negatives import KINDS

__all__ = ["LEAST_LINKS", "fit_rule", "hierarchy_to_fit", "with_rule"]

LEAST_LINKS = 50
"""Links below which a rule fitted to them would say little."""

MOST_LINKS = 2000
"""Links that are drawn at most."""

QUERIES, CANDIDATES = 500, 10_000
"""Links, and entities, by which the weight is chosen."""

WEIGHTS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
"""Weights that are tried."""

TIE = 1e-6
"""Scores nearer than this are taken for equal: the parent itself is among the entities."""

NEGATIVES = 10
"""Wrong parents of either kind, random and siblings, for each link."""


def hierarchy_to_fit(graph: KnowledgeGraph, hit: HiT) -> Hierarchy | None:
    """Return the graph's own hierarchy, if it is large enough to fit a rule to; call it before anything is encoded.

    Raises:
        SettingsError: If it is not, and the encoder has no rule.
    """
    hierarchy = graph.hierarchy(on_cycle="drop") if graph.hierarchy_relations else None
    links = 0 if hierarchy is None else len(hierarchy.links)
    if links < LEAST_LINKS and hit.rule is None:
        raise SettingsError(
            f"{graph.source}: expected at least {LEAST_LINKS} hierarchy links to fit the rule of a hierarchy encoder that "
            f"has none ({hit.text.folder}), found {links}; give an encoder that ontodex trained"
        )
    return hierarchy if links >= LEAST_LINKS else None


def with_rule(hit: HiT, hierarchy: Hierarchy | None, names: Sequence[str], items: NDArray[np.float32]) -> HiT:
    """Return the encoder with the rule that fits the hierarchy, or with its own where none can be fitted.

    Args:
        hit: The encoder.
        hierarchy: The asserted hierarchy, if it is large enough (:func:`hierarchy_to_fit`).
        names: Text of every entity.
        items: Lifted points of all entities, of shape (entities, dim + 1).

    Raises:
        SettingsError: If none can be fitted, and the encoder has no rule.
    """
    rule = hit.rule if hierarchy is None else fit_rule(hierarchy, names, items, hit.c) or hit.rule
    if rule is None:
        raise SettingsError(
            f"expected {NEGATIVES} entities that are no ancestors, for every link, to fit the rule of a hierarchy encoder "
            f"that has none ({hit.text.folder}), found fewer; give an encoder that ontodex trained"
        )
    return HiT(hit.text, rule, hit.texts, adapter=hit.adapter, base=hit.base)


def fit_rule(
    hierarchy: Hierarchy, names: Sequence[str], items: NDArray[np.float32], c: float, seed: int = 0
) -> Subsumption | None:
    """Fit a rule to asserted links.

    The weight is the one that ranks direct parents best among all entities: the one that tells subsumptions best from
    random pairs is larger, and would put the roots before everything else. Threshold and probability are then fitted
    against random entities and siblings.

    Args:
        hierarchy: The asserted hierarchy.
        names: Text of every entity.
        items: Lifted points of all entities, of shape (entities, dim + 1).
        c: The curvature is -c.
        seed: Seed of the draws.

    Returns:
        The rule, or ``None`` if there are too few links to fit one.
    """
    links = hierarchy.direct_subsumptions()
    if len(links) < LEAST_LINKS:
        return None
    drawn = np.random.default_rng(seed).permutation(len(links))[:MOST_LINKS]
    try:
        pairs = draw_negatives(hierarchy, links[np.sort(drawn)], negatives=NEGATIVES, seed=seed, names=names)
    except GraphError:  # hardly an entity that is no ancestor
        return None
    columns = [pairs.pairs(kind) for kind in KINDS]
    children, parents, labels = (np.concatenate(column) for column in zip(*columns, strict=True))
    rows, places = np.unique(np.concatenate([children, parents]), return_inverse=True)
    points = unlift(np.array(items[rows], dtype=np.float64), c)
    distance, gain = differences(points, places[: len(children)], places[len(children) :], c)
    return fit(distance, gain, labels, weight=_best_weight(links[drawn[:QUERIES]], items, c, seed))


def _best_weight(links: NDArray[np.integer], items: NDArray[np.float32], c: float, seed: int) -> float:
    """Return the weight by which the parents of links rank best (mean reciprocal rank) among entities drawn at random."""
    drawn = np.random.default_rng(seed).permutation(len(items))[:CANDIDATES]
    others = unlift(np.array(items[np.sort(drawn)], dtype=np.float64), c)
    children, parents = (unlift(np.array(items[links[:, side]], dtype=np.float64), c) for side in (0, 1))
    distances, to_parents = pairwise(children, others, c), distance_of(children, parents, c)
    norms, parent_norms = norm(others, c), norm(parents, c)
    itself = links[:, :1] == np.sort(drawn)
    found = []
    for weight in WEIGHTS:
        better = distances + weight * norms < (to_parents + weight * parent_norms - TIE)[:, None]
        ranks = 1 + (better & ~itself).sum(axis=1) * (len(items) / len(drawn))
        found.append(float((1 / ranks).mean()))
    return WEIGHTS[int(np.argmax(found))]
