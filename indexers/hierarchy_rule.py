"""Fitting the rule of a hierarchy encoder to the hierarchy of a graph."""

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
    "LEAST_LINKS",
    "fit_rule_to_graph",
    "hierarchy_to_fit",
    "not_learnt",
    "with_rule",
]

LEAST_LINKS = 50
"""Links below which a rule fitted to them would say little."""

MOST_LINKS = 2000
"""Links that are drawn at most."""

QUERIES, CANDIDATES = 500, 10_000
"""Links, and entities, by which the weight is chosen."""

WEIGHTS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
"""Weights that are tried. A grid, where F1 of pairs has an exact search: a rank depends on every entity, so that no bound
is known for a whole range of weights, and between neighbours here it hardly moves."""

TIE = 1e-6
"""Scores nearer than this are taken for equal: the parent itself is among the entities."""

NEGATIVES = 10
"""Wrong parents of either kind, random and siblings, for each link."""


def hierarchy_to_fit(graph: KnowledgeGraph, hit: HiT) -> Hierarchy | None:
    """Return the graph's own hierarchy, if it is large enough to fit a rule to; call it before anything is encoded.

    Raises:
        SettingsError: If it is not, and the encoder has no rule.
    """
    hierarchy = graph.hierarchy(on_cycle="warn") if graph.hierarchy_relations else None
    links = 0 if hierarchy is None else len(hierarchy.links)
    if links < LEAST_LINKS and hit.rule is None:
        raise SettingsError(
            f"{graph.source}: expected at least {LEAST_LINKS} hierarchy links to fit the rule of a hierarchy encoder that "
            f"has none ({hit.text.folder}), found {links}; give an encoder that ontodex trained"
        )
    return hierarchy if links >= LEAST_LINKS else None


def with_rule(hit: HiT, embedded: EmbeddedHierarchy | None) -> HiT:
    """Return the encoder with the rule that fits the hierarchy, or with its own where none can be fitted.

    If the encoder was trained on these very links but for a tenth (``"mixed-hop"``), the rule is fitted to those that were
    held out for validation; if it was trained on all of them (``"multi-hop"``), to what it has learnt: such a rule is
    surer than it should be of what is new. The encoder's own rule would not do instead. Its weight tells pairs apart, and
    puts the most general entities before the direct parents in a ranking; threshold and probability belong to the weight.

    Args:
        hit: The encoder.
        embedded: The asserted hierarchy as the encoder embeds it, if it is large enough (:func:`hierarchy_to_fit`).

    Raises:
        SettingsError: If none can be fitted, and the encoder has no rule.
    """
    rule = hit.rule
    if embedded is not None:
        rule = fit_rule_to_graph(embedded, links=not_learnt(hit, embedded)) or hit.rule
    if rule is None:
        raise SettingsError(
            f"expected {NEGATIVES} entities that are no ancestors, for every link, to fit the rule of a hierarchy encoder "
            f"that has none ({hit.text.folder}), found fewer; give an encoder that ontodex trained"
        )
    return HiT(hit.text, rule, hit.texts, adapter=hit.adapter, base=hit.base, learnt=hit.learnt)


def not_learnt(hit: HiT, embedded: EmbeddedHierarchy) -> NDArray[np.int32] | None:
    """Return the validation links of the encoder's own training, if that was on this hierarchy, and enough are there."""
    learnt, hierarchy = hit.learnt, embedded.hierarchy
    if (
        learnt is None
        or learnt.task != "mixed-hop"
        or learnt.links != links_fingerprint(hierarchy.links, embedded.names)
    ):
        return None
    links = validation_links(hierarchy, seed=learnt.seed, held_out=learnt.held_out)
    return links if len(links) >= LEAST_LINKS else None


def fit_rule_to_graph(
    embedded: EmbeddedHierarchy, *, links: NDArray[np.int32] | None = None
) -> Subsumption | None:
    """Fit a rule to asserted links.

    The weight of a parent's norm is the one that ranks direct parents best among all entities, that of a child's norm the
    one that ranks direct children best: what tells subsumptions best from random pairs is larger, and would put the roots
    before everything else. The threshold is that of the best F1 against random entities and siblings. The probability is
    fitted to answers as users see them: the best parents of some entities, of which those are true that are asserted
    ancestors.

    Args:
        embedded: The asserted hierarchy, and where its entities are.
        links: Those of its links that the rule is fitted to, of shape (n, 2); all by default.

    Returns:
        The rule, or ``None`` if there are too few links to fit one.
    """
    hierarchy, c = embedded.hierarchy, embedded.c
    links = hierarchy.links if links is None else links
    if len(links) < LEAST_LINKS:
        return None
    links = links[np.lexsort((embedded.places[links[:, 1]], embedded.places[links[:, 0]]))]
    drawn = np.random.default_rng(0).permutation(len(links))[:MOST_LINKS]
    try:
        pairs = draw_negatives(
            hierarchy, links[np.sort(drawn)], negatives=NEGATIVES, names=embedded.names
        )
    except GraphError:  # hardly an entity that is no ancestor
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
    """Return the weights by which parents of links, and children, rank best (mean reciprocal rank) among random entities."""
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
