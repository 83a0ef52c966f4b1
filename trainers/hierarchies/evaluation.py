"""Evaluation of subsumption scores: F1 on held-out pairs, and recall of ancestors by distance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry import poincare, subsumption
from ontodex.geometry.logistic import regression
from ontodex.graph import Hierarchy, Pairs
from ontodex.graph.negatives import KINDS
from ontodex.trainers.data.subsumptions import HierarchyTask
from ontodex.trainers.hierarchies.rule import measured, warn_at_limit

__all__ = [
    "HOPS",
    "KINDS",
    "Score",
    "ancestor_recall",
    "at_most",
    "evaluate_points",
    "evaluate_prior",
    "evaluate_regression",
    "evaluate_rule",
    "evaluate_scores",
]

HOPS = ("1", "2", "3", "4+")
"""Groups of ancestors by the number of links on the shortest path up to them."""

QUERIES_PER_BLOCK = 128

Rows = NDArray[np.integer]
Floats = NDArray[np.float64]
Score = Callable[[Rows, Rows], Floats]
"""Function from (children, parents), rows of shape (n,), to scores of shape (n,).

A higher score means a more probable subsumption.
"""


def at_most(task: HierarchyTask, positives: int, seed: int = 0) -> HierarchyTask:
    """Return a task with at most ``positives`` positives in validation and in test, by seed."""
    rng = np.random.default_rng(seed)

    def drawn(pairs: Pairs) -> Pairs:
        if len(pairs.positives) <= positives:
            return pairs
        rows = np.sort(rng.choice(len(pairs.positives), positives, replace=False))
        return replace(
            pairs, positives=pairs.positives[rows], random=pairs.random[rows], hard=pairs.hard[rows]
        )

    return replace(task, valid=drawn(task.valid), test=drawn(task.test))


def evaluate_points(task: HierarchyTask, points: NDArray[np.float32], c: float) -> dict[str, float]:
    """Classify held-out pairs by HiT's score (He et al. 2024, section 3.3).

    All weights and thresholds are chosen on validation, for each kind of negatives.

    Args:
        task: Validation and test pairs.
        points: Points of all entities in the ball, of shape (entities, dim).
        c: Minus the curvature.

    Returns:
        For each kind of negatives, with the prefix ``random.`` or ``hard.``: ``f1``, ``precision``
        and ``recall`` of the test pairs by the paper's rule, whose one weight λ is that of both
        norms; ``weight`` and ``threshold`` of the rule; and ``valid_f1``. The same with the prefix
        ``two_weights.`` by the rule that ontodex stores with an encoder, which has a second weight
        ``tilt`` (δ). The same, without weights, with the prefix ``norm.`` by the parent's norm
        alone, which reads nothing of the child.

    Warns:
        UserWarning: If a fitted weight is at the limit of the search.
    """
    parts = {
        (split, kind): measured(pairs, kind, points, c)
        for split, pairs in (("valid", task.valid), ("test", task.test))
        for kind in KINDS
    }
    rules: dict[str, tuple[subsumption.Subsumption, ...]] = {}
    for kind in KINDS:
        valid, labels = parts["valid", kind]
        rules[kind] = subsumption.fit_both(*valid, labels)
    found: dict[str, float] = {}
    for which, prefix in enumerate(("", "two_weights.")):
        for kind in KINDS:
            (valid, valid_labels), (test, test_labels) = parts["valid", kind], parts["test", kind]
            rule = rules[kind][which]
            warn_at_limit(rule, f"{prefix}{kind}")
            chosen = _chosen(rule)
            if not prefix:
                del chosen["tilt"]
            valid_f1 = subsumption.metrics(rule.score(*valid), valid_labels, rule.threshold)["f1"]
            metrics = subsumption.metrics(rule.score(*test), test_labels, rule.threshold)
            found.update(_named(prefix + kind, metrics, **chosen, valid_f1=valid_f1))
    norms = np.asarray(poincare.norm(points.astype(np.float64), c))
    by_norm = evaluate_scores(task, lambda _, parents: -norms[parents])
    found.update({f"norm.{key}": value for key, value in by_norm.items()})
    return found


def evaluate_prior(task: HierarchyTask) -> dict[str, float]:
    """Classify held-out pairs by how general their parent is in the training links, without texts.

    The score of a pair is the number of entities below its parent by the training links. Without
    training links (transfer) it is how often the parent is one in the positives of validation; a
    pair does not count itself.

    Args:
        task: Training links, validation and test pairs.

    Returns:
        The figures of :func:`evaluate_scores`.
    """
    n = len(task.known.ids)
    if len(task.train):
        below = Hierarchy(*task.train.T, ids=task.known.ids, on_cycle="ignore").subsumption_keys % n
        counts = np.bincount(below, minlength=n).astype(np.float64)
        return evaluate_scores(task, lambda _, parents: counts[parents])
    children, parents = task.valid.positives.astype(np.int64).T
    counts = np.bincount(parents, minlength=n).astype(np.float64)
    own = children * n + parents

    def others(children: Rows, parents: Rows) -> Floats:
        return counts[parents] - np.isin(children.astype(np.int64) * n + parents, own)

    return evaluate_scores(task, others)


def evaluate_rule(
    task: HierarchyTask, points: NDArray[np.float32], c: float, rule: subsumption.Subsumption
) -> dict[str, float]:
    """Classify the test pairs by a given rule; arguments as for :func:`evaluate_points`.

    Returns:
        For each kind of negatives ``f1``, ``precision`` and ``recall``, with the prefix ``random.``
        or ``hard.``; and ``weight``, ``tilt`` and ``threshold`` of the rule.
    """
    found = _chosen(rule)
    for kind in KINDS:
        parts, labels = measured(task.test, kind, points, c)
        found.update(_named(kind, subsumption.metrics(rule.score(*parts), labels, rule.threshold)))
    return found


def evaluate_scores(
    task: HierarchyTask, score: Score, names: Sequence[str] | None = None
) -> dict[str, float]:
    """Classify held-out pairs by any score, with a threshold chosen on validation.

    Args:
        task: Validation and test pairs.
        score: Function from pairs to scores; called once, with all distinct pairs.
        names: Name of each entity, if the score depends on names alone: pairs with the same names
            are scored once.

    Returns:
        As :func:`evaluate_points`, without ``weight`` and ``tilt``.
    """
    drawn = {
        (split, kind): pairs.pairs(kind)
        for split, pairs in (("valid", task.valid), ("test", task.test))
        for kind in KINDS
    }
    children = np.concatenate([one[0] for one in drawn.values()]).astype(np.int64)
    parents = np.concatenate([one[1] for one in drawn.values()]).astype(np.int64)
    if names is not None:
        first: dict[str, int] = {}
        same = np.array(
            [first.setdefault(name, row) for row, name in enumerate(names)], dtype=np.int64
        )
        children, parents = same[children], same[parents]
    size = int(max(children.max(initial=0), parents.max(initial=0))) + 1
    keys, places = np.unique(children * size + parents, return_inverse=True)
    scores = np.asarray(score(keys // size, keys % size), dtype=np.float64)[places]
    parts = np.split(scores, np.cumsum([len(one[0]) for one in drawn.values()])[:-1])
    of = {key: (part, one[2]) for (key, one), part in zip(drawn.items(), parts, strict=True)}
    found: dict[str, float] = {}
    for kind in KINDS:
        valid_f1, threshold = subsumption.best_threshold(*of["valid", kind])
        test = subsumption.metrics(*of["test", kind], threshold)
        found.update(_named(kind, test, threshold=threshold, valid_f1=valid_f1))
    return found


def evaluate_regression(task: HierarchyTask, measure: Score) -> dict[str, float]:
    """Classify held-out pairs by a logistic regression over several scores.

    The regression is fitted on validation for each kind of negatives.

    Args:
        task: Validation and test pairs.
        measure: Function from pairs to scores of shape (scores, n).

    Returns:
        As :func:`evaluate_points`, without ``weight`` and ``tilt``; the threshold has the best F1
        on validation.
    """
    found: dict[str, float] = {}
    for kind in KINDS:
        valid, valid_labels = _measured(task.valid, kind, measure)
        test, test_labels = _measured(task.test, kind, measure)
        weights, _ = regression(valid, valid_labels)
        valid_f1, threshold = subsumption.best_threshold(weights @ valid, valid_labels)
        metrics = subsumption.metrics(weights @ test, test_labels, threshold)
        found.update(_named(kind, metrics, threshold=threshold, valid_f1=valid_f1))
    return found


def ancestor_recall(
    hierarchy: Hierarchy,
    points: NDArray[np.float32],
    c: float,
    *,
    weights: Mapping[str, float],
    queries: int = 2000,
    most: Sequence[int] = (10, 100),
    seed: int = 0,
) -> dict[str, float]:
    """Rank all entities as ancestors of sampled queries; return recall at k by distance.

    Args:
        hierarchy: The full hierarchy; ancestors by training links and by held-out links both count.
        points: Points of all entities, of shape (entities, dim).
        c: Minus the curvature.
        weights: Weights λ of the norms in the score, each by the prefix of its figures.
        queries: Number of members other than roots that are sampled as queries (all, if there are
            fewer).
        most: Values of k.
        seed: Seed of the sample.

    Returns:
        ``hop1.recall@10`` and so on, for each weight with its prefix: of all (query, ancestor)
        pairs with this number of links on the shortest path between them (``hop4+``: four or more),
        the share whose ancestor is ranked among the first 10. ``hop1.pairs``: the number of these
        pairs. Candidates are all members except the query. Distances without ancestors are left
        out.
    """
    members = hierarchy.members
    sample = np.setdiff1d(members, hierarchy.roots)
    if len(sample) > queries:
        sample = np.sort(np.random.default_rng(seed).choice(sample, queries, replace=False))
    place = np.full(len(hierarchy.ids), -1)
    place[members] = np.arange(len(members))
    own = np.ascontiguousarray(points[members])
    items = np.asarray(poincare.lift_items(own, c))
    norms = np.asarray(poincare.norm(own, c))
    longest = min(max(most), len(members) - 1)
    pairs = np.zeros(len(HOPS), dtype=np.int64)
    hits = {prefix: np.zeros((len(HOPS), len(most)), dtype=np.int64) for prefix in weights}
    for start in range(0, len(sample), QUERIES_PER_BLOCK):
        block = sample[start : start + QUERIES_PER_BLOCK]
        rows = place[block]
        vectors = own[rows]
        products = np.asarray(poincare.lift_queries(vectors, c)) @ items.T
        squares = np.square(vectors).sum(-1, keepdims=True)
        distances = poincare.distance_of_products(products, squares, c)
        gains = norms - norms[rows, None]
        above = [hierarchy.hops_upward(row) for row in block.tolist()]
        for hops in above:
            for hop in hops.values():
                pairs[min(hop, len(HOPS)) - 1] += 1
        for prefix, weight in weights.items():
            scores = -(distances + weight * gains)
            scores[np.arange(len(rows)), rows] = -np.inf
            for hops, values in zip(above, scores, strict=True):
                top = np.argpartition(-values, longest - 1)[:longest]
                ranks = {
                    int(members[at]): rank
                    for rank, at in enumerate(top[np.lexsort((top, -values[top]))])
                }
                for ancestor, hop in hops.items():
                    hits[prefix][min(hop, len(HOPS)) - 1] += [
                        ranks.get(ancestor, longest) < length for length in most
                    ]
    found: dict[str, float] = {}
    for group, name in enumerate(HOPS):
        if pairs[group]:
            for prefix, counts in hits.items():
                for at, length in enumerate(most):
                    recall = float(counts[group, at] / pairs[group])
                    found[f"{prefix}hop{name}.recall@{length}"] = recall
            found[f"hop{name}.pairs"] = int(pairs[group])
    return found


def _measured(pairs: Pairs, kind: str, measure: Score) -> tuple[Floats, NDArray[np.bool_]]:
    children, parents, labels = pairs.pairs(kind)
    return measure(children, parents), labels


def _chosen(rule: subsumption.Subsumption) -> dict[str, float]:
    return {"weight": rule.weight, "tilt": rule.tilt, "threshold": rule.threshold}


def _named(kind: str, test: dict[str, float], **others: float) -> dict[str, float]:
    values = {**{name: test[name] for name in ("f1", "precision", "recall")}, **others}
    return {f"{kind}.{name}": float(value) for name, value in values.items()}
