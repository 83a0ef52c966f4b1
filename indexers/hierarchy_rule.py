"""Fitting the rule of a hierarchy encoder to the hierarchy of a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.hit import HiT
from ontodex.errors import GraphError, SettingsError
from ontodex.geometry.poincare import distance as distance_of
from ontodex.geometry.poincare import norm, pairwise, unlift
from ontodex.geometry.subsumption import Subsumption, calibrated, differences, fit
from ontodex.graph import Hierarchy, KnowledgeGraph, draw_negatives, links_fingerprint, validation_links
from ontodex.graph.negatives import KINDS, name_groups
from ontodex.indexers.embed import text_keys

__all__ = [
    "CANDIDATES",
    "LEAST_LINKS",
    "best_answers",
    "fit_rule_to_graph",
    "hierarchy_to_fit",
    "not_learnt",
    "scores_of",
    "some_children",
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

ASKED, LISTED = 500, 10
"""Entities whose best parents the probability is fitted to, and how many of each."""

BLOCK = 8192
"""Entities that are scored at once."""

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

    If the encoder was trained on these very links but for a tenth (``"mixed-hop"``), the rule is fitted to those that were
    held out for validation; if it was trained on all of them (``"multi-hop"``), to what it has learnt: such a rule is
    surer than it should be of what is new. The encoder's own rule would not do instead. Its weight tells pairs apart, and
    puts the most general entities before the direct parents in a ranking; threshold and probability belong to the weight.

    Args:
        hit: The encoder.
        hierarchy: The asserted hierarchy, if it is large enough (:func:`hierarchy_to_fit`).
        names: Text of every entity.
        items: Lifted points of all entities, of shape (entities, dim + 1).

    Raises:
        SettingsError: If none can be fitted, and the encoder has no rule.
    """
    rule = hit.rule
    if hierarchy is not None:
        links = not_learnt(hit, hierarchy, names)
        rule = fit_rule_to_graph(hierarchy, names, items, hit.c, links=links) or hit.rule
    if rule is None:
        raise SettingsError(
            f"expected {NEGATIVES} entities that are no ancestors, for every link, to fit the rule of a hierarchy encoder "
            f"that has none ({hit.text.folder}), found fewer; give an encoder that ontodex trained"
        )
    return HiT(hit.text, rule, hit.texts, adapter=hit.adapter, base=hit.base, learnt=hit.learnt)


def not_learnt(hit: HiT, hierarchy: Hierarchy, names: Sequence[str]) -> NDArray[np.int32] | None:
    """Return the validation links of the encoder's own training, if that was on this hierarchy, and enough are there."""
    learnt = hit.learnt
    if learnt is None or learnt.task != "mixed-hop" or learnt.links != links_fingerprint(hierarchy.links, names):
        return None
    links = validation_links(hierarchy, seed=learnt.seed, held_out=learnt.held_out)
    return links if len(links) >= LEAST_LINKS else None


def fit_rule_to_graph(
    hierarchy: Hierarchy,
    names: Sequence[str],
    items: NDArray[np.float32],
    c: float,
    seed: int = 0,
    *,
    links: NDArray[np.int32] | None = None,
) -> Subsumption | None:
    """Fit a rule to asserted links.

    The weight of a parent's norm is the one that ranks direct parents best among all entities, that of a child's norm the
    one that ranks direct children best: what tells subsumptions best from random pairs is larger, and would put the roots
    before everything else. The threshold is that of the best F1 against random entities and siblings. The probability is
    fitted to answers as users see them: the best parents of some entities, of which those are true that are asserted
    ancestors.

    Args:
        hierarchy: The asserted hierarchy.
        names: Text of every entity.
        items: Lifted points of all entities, of shape (entities, dim + 1).
        c: The curvature is -c.
        seed: Seed of the draws.
        links: Those of its links that the rule is fitted to, of shape (n, 2); all by default.

    Returns:
        The rule, or ``None`` if there are too few links to fit one.
    """
    links = hierarchy.direct_subsumptions() if links is None else links
    if len(links) < LEAST_LINKS:
        return None
    # What is drawn depends on names, not on the order of a file's lines.
    order = np.argsort(text_keys(names), kind="stable")
    place = np.argsort(order)
    links = links[np.lexsort((place[links[:, 1]], place[links[:, 0]]))]
    drawn = np.random.default_rng(seed).permutation(len(links))[:MOST_LINKS]
    try:
        pairs = draw_negatives(hierarchy, links[np.sort(drawn)], negatives=NEGATIVES, seed=seed, names=names)
    except GraphError:  # hardly an entity that is no ancestor
        return None
    columns = [pairs.pairs(kind) for kind in KINDS]
    children, parents, labels = (np.concatenate(column) for column in zip(*columns, strict=True))
    rows, places = np.unique(np.concatenate([children, parents]), return_inverse=True)
    points = unlift(np.array(items[rows], dtype=np.float64), c)
    measured = differences(points, places[: len(children)], places[len(children) :], c)
    weights = _best_weights(links[drawn[:QUERIES]], items, c, seed, order)
    rule = fit(*measured, labels, weights=weights)
    asked = some_children(links, order, np.random.default_rng(seed))
    owners, parents, scores = best_answers("parents", hierarchy, names, items, c, rule, asked)
    found = hierarchy.is_ancestor(asked[owners], parents)
    return calibrated(rule, scores, found) if found.any() and not found.all() else rule


def scores_of(
    question: str,
    rule: Subsumption,
    distances: NDArray[np.float64],
    asked: NDArray[np.float64],
    others: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Score entities as parents, or children, of others, by their distances and the norms of both."""
    if question == "parents":
        return rule.score(distances, others - asked, asked)
    return rule.score(distances, asked - others, others)


def some_children(
    links: NDArray[np.integer], order: NDArray[np.int64], random: np.random.Generator
) -> NDArray[np.int64]:
    """Draw children of links, whatever order the graph has them in."""
    place = np.argsort(order)
    drawn: NDArray[np.int64] = random.permutation(order[np.unique(place[links[:, 0]])])[:ASKED]
    return drawn


def best_answers(
    question: str,
    hierarchy: Hierarchy,
    names: Sequence[str],
    items: NDArray[np.float32],
    c: float,
    rule: Subsumption,
    asked: NDArray[np.integer],
    k: int = LISTED,
    *,
    bonuses: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]] = (),
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Rank all entities as parents or children of some, as the engine does; what is no answer is left out.

    That is a namesake, and what is asserted below an entity whose parents are asked for (or above, for children).

    Args:
        question: ``"parents"`` or ``"children"``.
        hierarchy: The asserted hierarchy, upside down for children.
        names: Text of every entity.
        items: Lifted points of all entities, of shape (entities, dim + 1).
        c: The curvature is -c.
        rule: Scores them.
        asked: Rows of the entities, of shape (n,).
        k: How many answers for each.
        bonuses: Rows of answers, and what is added to their scores, of each entity.

    Returns:
        Position in ``asked``, row and score of each answer, the best of each entity first.
    """
    points = unlift(np.array(items[asked], dtype=np.float64), c)
    norms = norm(points, c)[:, None]
    owners, refused = _refused(hierarchy, names, asked)
    raised = np.concatenate([np.zeros(0, dtype=np.int64), *(reached for reached, _ in bonuses)])
    by = np.argsort(raised, kind="stable")
    gainers = np.repeat(np.arange(len(bonuses)), [len(reached) for reached, _ in bonuses])[by]
    gains = np.concatenate([np.zeros(0), *(gain for _, gain in bonuses)])[by]
    raised = raised[by]
    rows = np.zeros((len(asked), 0), dtype=np.int64)
    scores = np.zeros((len(asked), 0))
    for start in range(0, len(items), BLOCK):
        block = unlift(np.array(items[start : start + BLOCK], dtype=np.float64), c)
        here = slice(*np.searchsorted(refused, [start, start + len(block)]))
        found = scores_of(question, rule, pairwise(points, block, c), norms, norm(block, c))
        better = slice(*np.searchsorted(raised, [start, start + len(block)]))
        found[gainers[better], raised[better] - start] += gains[better]
        found[owners[here], refused[here] - start] = -np.inf
        scores = np.concatenate([scores, found], axis=1)
        rows = np.concatenate([rows, np.broadcast_to(np.arange(start, start + len(block)), found.shape)], axis=1)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        rows, scores = np.take_along_axis(rows, best, axis=1), np.take_along_axis(scores, best, axis=1)
    there = np.isfinite(scores)
    return np.nonzero(there)[0], rows[there], scores[there]


def _refused(
    hierarchy: Hierarchy, names: Sequence[str], asked: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (position in ``asked``, row) of what is no answer: the entity, its descendants, its namesakes; by row."""
    groups = name_groups(names)
    alike = np.argsort(groups, kind="stable")
    starts, ends = (np.searchsorted(groups[alike], groups[asked], side=side) for side in ("left", "right"))
    owners, rows = [], []
    for at, row in enumerate(asked.tolist()):
        same = np.setdiff1d(alike[starts[at] : ends[at]], hierarchy.ancestors(row))
        rows.append(np.union1d(same, hierarchy.descendants(row)).astype(np.int64))
        owners.append(np.full(len(rows[-1]), at))
    flat = np.concatenate(rows)
    order = np.argsort(flat, kind="stable")
    return np.concatenate(owners)[order], flat[order]


def _best_weights(
    links: NDArray[np.integer], items: NDArray[np.float32], c: float, seed: int, order: NDArray[np.int64]
) -> tuple[float, float]:
    """Return the weights by which parents of links, and children, rank best (mean reciprocal rank) among random entities."""
    drawn = np.sort(order[np.random.default_rng(seed).permutation(len(items))[:CANDIDATES]])
    others = unlift(np.array(items[drawn], dtype=np.float64), c)
    ends = [unlift(np.array(items[links[:, side]], dtype=np.float64), c) for side in (0, 1)]
    right, norms = distance_of(ends[0], ends[1], c)[:, None], norm(others, c)
    chosen = []
    for asked, wanted, sign in ((0, 1, 1.0), (1, 0, -1.0)):
        distances = pairwise(ends[asked], others, c)
        share, wanted_share = sign * norms, sign * norm(ends[wanted], c)[:, None]
        others_than_asked = links[:, asked, None] != drawn
        found = []
        for weight in WEIGHTS:
            better = distances + weight * share < right + weight * wanted_share - TIE
            ranks = 1 + (better & others_than_asked).sum(axis=1) * (len(items) / len(drawn))
            found.append(float((1 / ranks).mean()))
        chosen.append(WEIGHTS[int(np.argmax(found))])
    return chosen[0], chosen[1]
