"""Fitting the subsumption rule of a hierarchy encoder to the hierarchy of a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.hit import HiT
from ontodex.errors import GraphError, SettingsError
from ontodex.geometry.poincare import distance as distance_of
from ontodex.geometry.poincare import norm, pairwise
from ontodex.geometry.subsumption import MIN_LINKS, Subsumption, differences, fit
from ontodex.graph import (
    Hierarchy,
    KnowledgeGraph,
    draw_negatives,
    links_fingerprint,
    validation_links,
)
from ontodex.graph.negatives import KINDS
from ontodex.indexers.embedded_hierarchy import EmbeddedHierarchy

__all__ = [
    "CANDIDATES",
    "fit_rule_to_graph",
    "held_out_links",
    "hierarchy_to_fit",
    "with_rule",
]

MAX_LINKS = 2000
"""Largest number of links to which a rule is fitted; more links are sampled."""

QUERIES, CANDIDATES = 500, 10_000
"""Number of links by which the weights are chosen, and of entities in their rankings."""

WEIGHTS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
"""Grid of weights of the norms.

The mean reciprocal rank hardly changes between adjacent values. An exact search, as for the F1 of
pairs, is not possible, because a rank depends on every entity.
"""

TIE = 1e-6
"""Smallest difference of two scores that is not a tie.

The wanted entity may itself be among the candidates, with a slightly different score.
"""

NEGATIVES = 10
"""Number of negatives of each kind (random entities, siblings of the parent) for each link."""


def hierarchy_to_fit(graph: KnowledgeGraph, hit: HiT) -> Hierarchy | None:
    """Return the hierarchy of a graph, or ``None`` if it has fewer than ``MIN_LINKS`` links.

    Raises:
        SettingsError: If the hierarchy is too small, and the encoder has no rule.
    """
    hierarchy = graph.hierarchy(on_cycle="warn") if graph.hierarchy_relations else None
    links = 0 if hierarchy is None else len(hierarchy.links)
    if links < MIN_LINKS and hit.rule is None:
        raise SettingsError(
            f"{graph.source}: expected at least {MIN_LINKS} hierarchy links to fit the rule of a "
            f"hierarchy encoder that has none ({hit.text.folder}), found {links}; give an encoder "
            "that ontodex trained"
        )
    return hierarchy if links >= MIN_LINKS else None


def with_rule(hit: HiT, embedded: EmbeddedHierarchy | None) -> HiT:
    """Return the encoder with a rule fitted to the hierarchy, or unchanged if none can be fitted.

    If the encoder was trained on this hierarchy, the rule is fitted to the links that its training
    held out for validation (``"mixed-hop"``). If it held out none (``"multi-hop"``), the rule is
    fitted to training links, and its threshold is too high for new entities.

    The fitted rule is better than the encoder's own rule, whose weight classifies pairs best but
    ranks the most general entities before direct parents. The threshold depends on the weight.

    Args:
        hit: The encoder.
        embedded: The hierarchy and its points; ``None`` if it is too small to fit a rule to.

    Raises:
        SettingsError: If no rule can be fitted, and the encoder has none.
    """
    rule = hit.rule
    if embedded is not None:
        rule = fit_rule_to_graph(embedded, links=held_out_links(hit, embedded)) or hit.rule
    if rule is None:
        raise SettingsError(
            f"expected {NEGATIVES} entities that are no ancestors, for every link, to fit the rule "
            f"of a hierarchy encoder that has none ({hit.text.folder}), found fewer; give an "
            "encoder that ontodex trained"
        )
    return hit.with_rule(rule)


def held_out_links(hit: HiT, embedded: EmbeddedHierarchy) -> NDArray[np.int32] | None:
    """Return the links that the encoder's training on this hierarchy held out for validation.

    Returns:
        Links (child, parent), of shape (n, 2); ``None`` if the encoder was trained on another
        hierarchy, or if its training held out fewer than ``MIN_LINKS`` links.
    """
    learnt, hierarchy = hit.learnt, embedded.hierarchy
    if (
        learnt is None
        or learnt.task != "mixed-hop"
        or learnt.links != links_fingerprint(hierarchy.links, embedded.names)
    ):
        return None
    links = validation_links(hierarchy, seed=learnt.seed, held_out=learnt.held_out)
    return links if len(links) >= MIN_LINKS else None


def fit_rule_to_graph(
    embedded: EmbeddedHierarchy, *, links: NDArray[np.int32] | None = None
) -> Subsumption | None:
    """Fit a rule to asserted links.

    The weight of the parent's norm is chosen to rank direct parents best among random entities.
    The weight of the child's norm is chosen to rank direct children best. (The weight that best
    separates subsumptions from random pairs would be larger, and would rank the roots first.)
    The threshold has the best F1 against random entities and siblings.

    Args:
        embedded: The hierarchy and its points.
        links: The links that the rule is fitted to, of shape (n, 2); by default all.

    Returns:
        The rule; ``None`` if there are fewer than ``MIN_LINKS`` links, or if nearly all
        entities are ancestors.
    """
    hierarchy, c = embedded.hierarchy, embedded.c
    links = hierarchy.links if links is None else links
    if len(links) < MIN_LINKS:
        return None
    links = links[np.lexsort((embedded.places[links[:, 1]], embedded.places[links[:, 0]]))]
    drawn = np.random.default_rng(0).permutation(len(links))[:MAX_LINKS]
    try:
        pairs = draw_negatives(
            hierarchy, links[np.sort(drawn)], negatives=NEGATIVES, names=embedded.names
        )
    except GraphError:  # nearly all entities are ancestors
        return None
    columns = [pairs.pairs(kind) for kind in KINDS]
    children, parents, labels = (np.concatenate(column) for column in zip(*columns, strict=True))
    rows, places = np.unique(np.concatenate([children, parents]), return_inverse=True)
    measured = differences(
        embedded.points(rows), places[: len(children)], places[len(children) :], c
    )
    return fit(*measured, labels, weights=_best_weights(embedded, links[drawn[:QUERIES]]))


def _best_weights(embedded: EmbeddedHierarchy, links: NDArray[np.integer]) -> tuple[float, float]:
    """Return the weights of the parent's and the child's norm with the best mean reciprocal rank.

    Parents and children of the links are ranked among :data:`CANDIDATES` random entities.
    """
    c, count = embedded.c, len(embedded.items)
    drawn = np.sort(embedded.order[np.random.default_rng(0).permutation(count)[:CANDIDATES]])
    others = embedded.points(drawn)
    ends = [embedded.points(links[:, side]) for side in (0, 1)]
    right, norms = distance_of(ends[0], ends[1], c)[:, None], norm(others, c)
    chosen = []
    for asked, wanted, sign in ((0, 1, 1.0), (1, 0, -1.0)):
        distances = pairwise(ends[asked], others, c)
        share, wanted_share = sign * norms, sign * norm(ends[wanted], c)[:, None]
        others_than_asked = links[:, asked, None] != drawn
        found = []
        for weight in WEIGHTS:
            better = distances + weight * share < right + weight * wanted_share - TIE
            ranks = 1 + (better & others_than_asked).sum(axis=1) * (count / len(drawn))
            found.append(float((1 / ranks).mean()))
        chosen.append(WEIGHTS[int(np.argmax(found))])
    return chosen[0], chosen[1]
