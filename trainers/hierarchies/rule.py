"""Fits the subsumption rule, and scores checkpoints, on held-out pairs."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.subsumption import LARGEST_WEIGHT, Subsumption, differences, fit, metrics
from ontodex.graph.negatives import KINDS, Pairs

__all__ = ["Parts", "fit_rule", "measured", "valid_f1", "warn_at_limit"]

Floats = NDArray[np.float64]
Parts = tuple[Floats, Floats, Floats]
"""Distances, differences of the norms, and norms of the children, each of shape (pairs,)."""


def fit_rule(pairs: Pairs, points: NDArray[np.float32], c: float) -> Subsumption:
    """Fit the rule that is stored with an encoder, to true pairs and random negatives.

    Queries rank all entities, so that random negatives match their use. Hard negatives (siblings)
    would require so great a weight of the norms that the most general entities of other hierarchies
    always come first.

    Args:
        pairs: True pairs with negatives.
        points: Points that the pairs index, of shape (n, dim).
        c: The curvature is -c.
    """
    parts, labels = measured(pairs, "random", points, c)
    return fit(*parts, labels)


def valid_f1(pairs: Pairs, points: NDArray[np.float32], c: float) -> float:
    """Return the mean F1 over random and hard negatives, each with its own best rule.

    The rule has two weights, as the one that is stored with the encoder. Arguments as for
    :func:`fit_rule`.
    """
    found = []
    for kind in KINDS:
        parts, labels = measured(pairs, kind, points, c)
        rule = fit(*parts, labels)
        found.append(metrics(rule.score(*parts), labels, rule.threshold)["f1"])
    return float(np.mean(found))


def measured(
    pairs: Pairs, kind: str, points: NDArray[np.float32], c: float
) -> tuple[Parts, NDArray[np.bool_]]:
    """Return the differences of pairs with one kind of negatives, and their labels.

    Arguments as for :func:`fit_rule`.
    """
    children, parents, labels = pairs.pairs(kind)
    return differences(points, children, parents, c), labels


def warn_at_limit(rule: Subsumption, where: str) -> None:
    """Warn if a fitted weight is as great as the search allows.

    Args:
        rule: The rule.
        where: What the rule is of, for the message.

    Warns:
        UserWarning: If a weight is at the limit.
    """
    if rule.at_limit:
        warnings.warn(
            f"{where}: expected fitted weights below {LARGEST_WEIGHT:g}, the limit of the search, "
            f"found {rule.weight:.3g} for the parent's norm and {rule.child_weight:.3g} for the "
            "child's: the norms decide, and the distance hardly counts; compare with the parent's "
            "norm alone, or train the encoder on this hierarchy",
            stacklevel=3,
        )
