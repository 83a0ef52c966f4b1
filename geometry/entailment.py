"""The decision rule of entailment, on the similarity of the Gaussians of premise and hypothesis.

Yoda et al. (EACL 2024, section 3.1) accept a pair if its similarity is at least a threshold. They
choose the threshold with the best accuracy on validation pairs from a grid in steps of 0.001; the
search here is exact. A logistic curve turns similarities into probabilities.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ontodex.errors import SettingsError
from ontodex.geometry.logistic import checked_pairs, platt, sigmoid

__all__ = ["Entailment", "accuracy", "area_under_precision_recall", "fit_entailment"]


@dataclass(frozen=True)
class Entailment:
    """Decision rule: a premise entails a hypothesis if the similarity is above a threshold.

    Args:
        threshold: Similarity above which a pair is accepted.
        slope: Slope of the logistic curve; positive.
        offset: Logit of the curve at similarity 0.

    Raises:
        SettingsError: If a value is not finite, or ``slope`` is not positive.

    Example:
        >>> rule = Entailment(threshold=0.6, slope=10.0, offset=-6.0)
        >>> rule.probability([0.6, 1.0]).round(3).tolist()
        [0.5, 0.982]
    """

    threshold: float
    slope: float
    offset: float

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, astuple(self))) or self.slope <= 0:
            raise SettingsError(
                f"expected finite numbers and slope > 0, found {self}; fit the rule again"
            )

    def log_odds(self, similarities: ArrayLike) -> NDArray[np.float64]:
        """Return slope · similarity + offset, of the same shape."""
        return self.slope * np.asarray(similarities, np.float64) + self.offset

    def probability(self, similarities: ArrayLike) -> NDArray[np.float64]:
        """Return 1 / (1 + exp(-(slope · similarity + offset))), of the same shape."""
        return sigmoid(self.log_odds(similarities))


def fit_entailment(similarities: ArrayLike, labels: ArrayLike) -> Entailment:
    """Fit the threshold with the best accuracy, by an exact search, and the logistic curve.

    Args:
        similarities: Similarities of n validation pairs, of shape (n,).
        labels: Whether the premise of each pair entails the hypothesis, of shape (n,).

    Returns:
        The rule. Its threshold lies half-way between two similarities. If several thresholds have
        the best accuracy, the lowest is used.

    Raises:
        SettingsError: If the shapes differ, a number is not finite, or the labels are all equal.

    Example:
        >>> rule = fit_entailment([0.2, 0.4, 0.5, 0.8], [False, True, False, True])
        >>> round(rule.threshold, 6)
        0.3
    """
    scores, truth = checked_pairs(labels, similarities=similarities)
    values, counts = np.unique(scores, return_counts=True)
    right = np.bincount(np.searchsorted(values, scores), truth, len(values))
    # correct[i]: true pairs at values[i] and above, plus false pairs below values[i].
    correct = np.append(right[::-1].cumsum()[::-1], 0) + np.append(0, (counts - right).cumsum())
    best = int(np.argmax(correct))
    low = values[best - 1] if best else np.nextafter(values[0], -np.inf)
    high = values[best] if best < len(values) else values[-1]
    middle = low + (high - low) / 2
    return Entailment(float(middle if middle < high else low), *platt(scores, truth))


def accuracy(similarities: ArrayLike, labels: ArrayLike, threshold: float) -> float:
    """Return the share of pairs that a threshold classifies correctly.

    >>> accuracy([0.2, 0.4, 0.5], [False, True, False], threshold=0.3)
    0.6666666666666666
    """
    return float(np.mean((np.asarray(similarities) > threshold) == np.asarray(labels, bool)))


def area_under_precision_recall(similarities: ArrayLike, labels: ArrayLike) -> float:
    """Return the area under the precision-recall curve, by the trapezoid rule over all thresholds.

    Equal similarities share a threshold. The paper of GaussCSE computes the same area, but over a
    grid of thresholds.

    Args:
        similarities: Similarities of n pairs, of shape (n,).
        labels: Whether each pair is true, of shape (n,).

    Raises:
        SettingsError: If the shapes differ, a number is not finite, or the labels are all equal.

    Example:
        >>> area_under_precision_recall([0.9, 0.8, 0.1], [True, True, False])
        1.0
    """
    scores, truth = checked_pairs(labels, similarities=similarities)
    order = np.argsort(-scores, kind="stable")
    scores, truth = scores[order], truth[order]
    last = np.append(scores[1:] < scores[:-1], True)
    right, made = np.cumsum(truth)[last], np.flatnonzero(last) + 1
    precision, recall = np.append(1.0, right / made), np.append(0.0, right / truth.sum())
    return float(np.sum(np.diff(recall) * (precision[1:] + precision[:-1]) / 2))
