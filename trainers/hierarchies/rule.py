"""Fits the subsumption rule, and scores checkpoints, on held-out pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.subsumption import Subsumption, differences, fit, metrics
from ontodex.graph.negatives import KINDS, Pairs

__all__ = ["fit_rule", "measured", "valid_f1"]

Floats = NDArray[np.float64]


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

    Arguments as for :func:`fit_rule`.
    """
    found = []
    for kind in KINDS:
        parts, labels = measured(pairs, kind, points, c)
        rule = fit(*parts, labels)
        found.append(metrics(rule.score(*parts), labels, rule.threshold)["f1"])
    return float(np.mean(found))


def measured(
    pairs: Pairs, kind: str, points: NDArray[np.float32], c: float
) -> tuple[tuple[Floats, Floats, Floats], NDArray[np.bool_]]:
    """Return the differences of pairs with one kind of negatives, and their labels.

    Arguments as for :func:`fit_rule`.
    """
    children, parents, labels = pairs.pairs(kind)
    return differences(points, children, parents, c), labels
