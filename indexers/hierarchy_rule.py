"""Fitting the subsumption rule of a hierarchy encoder to the hierarchy of a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.hit import HiT
from ontodex.errors import GraphError, SettingsError
from ontodex.geometry.poincare import distance as distance_of
from ontodex.geometry.poincare import norm, pairwise
from ontodex.geometry.subsumption import Subsumption, calibrated, differences, fit
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
    "MIN_LINKS",
    "fit_rule_to_graph",
    "held_out_links",
    "hierarchy_to_fit",
    "with_rule",
]

MIN_LINKS = 50
"""Links below which no rule is fitted."""

MAX_LINKS = 2000
"""Links at most that a rule is fitted to."""

QUERIES, CANDIDATES = 500, 10_000
"""Links by which the weights are chosen, and entities among which their ends are ranked."""

WEIGHTS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
"""Grid of weights. A rank depends on every entity, so there is no exact search as for the F1 of
pairs; between neighbours of the grid the mean reciprocal rank hardly changes."""

TIE = 1e-6
"""Scores that differ by less are ties: the wanted parent itself may be among the entities."""

NEGATIVES = 10
"""Negatives of each kind, random entities and siblings of the parent, for each link."""


def hierarchy_to_fit(graph: KnowledgeGraph, hit: HiT) -> Hierarchy | None:
    """Return the hierarchy of a graph, or ``None`` if it has fewer than :data:`MIN_LINKS` links.

    Raises:
        SettingsError: If it is too small, and the encoder has no rule.
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
    """Return the encoder with a rule fitted to the hierarchy, or its own if none can be fitted.

    If the encoder was trained on this hierarchy, the rule is fitted to the links that its training
    held out for validation (``"mixed-hop"``). If it held out none (``"multi-hop"``), the rule is
    fitted to training links, and its probabilities are too high for new entities.

    The rule that the encoder brings does not replace a fitted one: its weight is that which
    classifies pairs best, and ranks the most general entities before direct parents; threshold and
    probability depend on the weight.

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
    return HiT(
        hit.text,
        rule,
        hit.texts,
        adapter=hit.adapter,
        base=hit.base,
        learnt=hit.learnt,
        seen=hit.seen,
    )


def held_out_links(hit: HiT, embedded: EmbeddedHierarchy) -> NDArray[np.int32] | None:
    """Return the links that the encoder's training on this hierarchy held out for validation.

    Returns:
        Of shape (n, 2); ``None`` if it was trained on another hierarchy, or held out fewer than
        :data:`MIN_LINKS`.
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

    The weight of a parent's norm is the one that ranks direct parents best among all entities, that
    of a child's norm the one that ranks direct children best. (The weight that separates
    subsumptions best from random pairs is larger: it would rank the roots first.) The threshold is
    that of the best F1 against random entities and siblings. The probability is fitted to answers
    as users see them: the best parents of some entities, where asserted ancestors are true.

    Args:
        embedded: The hierarchy and its points.
        links: The links that the rule is fitted to, of shape (n, 2); by default all.

    Returns:
        ``None`` if there are too few links, or nearly all entities are ancestors.
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
    rule = fit(*measured, labels, weights=_best_weights(embedded, links[drawn[:QUERIES]]))
    asked = embedded.some_asked("parents", links, np.random.default_rng(0))
    owners, parents, scores = embedded.best_answers("parents", rule, asked)
    found = hierarchy.is_ancestor(asked[owners], parents)
    return calibrated(rule, scores, found) if found.any() and not found.all() else rule


def _best_weights(embedded: EmbeddedHierarchy, links: NDArray[np.integer]) -> tuple[float, float]:
    """Return the weights with the best mean reciprocal rank, of links' parents and of children.

    They are ranked among :data:`CANDIDATES` random entities.
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
