"""The decision rule of entailment: whether a premise entails a hypothesis, from the similarity of their Gaussians.

Yoda et al. (EACL 2024, section 4.1) accept a pair whose similarity is at or above a threshold that maximises the accuracy on
validation pairs; they search it in steps of 0.001, here it is exact. A logistic curve turns similarities into probabilities.
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
    """The rule: a premise entails a hypothesis if and only if the similarity is above the threshold.

    Args:
        threshold: The similarity above which a pair is accepted.
        slope: Steepness of the logistic curve; positive.
        offset: The curve's logit at similarity zero.

    Raises:
        SettingsError: If a value is not finite, or ``slope`` is not positive.

    Example:
        >>> Entailment(threshold=0.6, slope=10.0, offset=-6.0).probability([0.6, 1.0]).round(3).tolist()
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

    def probability(self, similarities: ArrayLike) -> NDArray[np.float64]:
        """Turn similarities into probabilities: 1 / (1 + exp(-(slope · similarity + offset))), of the same shape."""
        return sigmoid(self.slope * np.asarray(similarities, np.float64) + self.offset)


def fit_entailment(similarities: ArrayLike, labels: ArrayLike) -> Entailment:
    """Choose the threshold of the best accuracy, exactly, and the logistic curve.

    Args:
        similarities: Of n validation pairs, shape (n,).
        labels: Whether the premise entails the hypothesis, shape (n,).

    Returns:
        The rule; its threshold lies half-way between two similarities, the lowest of those with the same accuracy.

    Raises:
        SettingsError: If the shapes differ, a number is not finite, or the labels are all equal.

    Example:
        >>> fit_entailment([0.2, 0.4, 0.5, 0.8], [False, True, False, True]).threshold.__round__(6)
        0.3
    """
    scores, truth = checked_pairs(labels, similarities=similarities)
    values, counts = np.unique(scores, return_counts=True)
    right = np.bincount(np.searchsorted(values, scores), truth, len(values))
    # accepted above values[i - 1]: the true of i and beyond, and the false of what comes before
    correct = np.append(right[::-1].cumsum()[::-1], 0) + np.append(0, (counts - right).cumsum())
    best = int(np.argmax(correct))
    low = values[best - 1] if best else np.nextafter(values[0], -np.inf)
    high = values[best] if best < len(values) else values[-1]
    middle = low + (high - low) / 2
    return Entailment(float(middle if middle < high else low), *platt(scores, truth))


def accuracy(similarities: ArrayLike, labels: ArrayLike, threshold: float) -> float:
    """Return the share of pairs that a threshold decides rightly.

    >>> accuracy([0.2, 0.4, 0.5], [False, True, False], threshold=0.3)
    0.6666666666666666
    """
    return float(np.mean((np.asarray(similarities) > threshold) == np.asarray(labels, bool)))


def area_under_precision_recall(similarities: ArrayLike, labels: ArrayLike) -> float:
    """Return the area under the curve of precision over recall, by trapezoids between all thresholds.

    As in the paper of GaussCSE, whose thresholds are a grid; equal similarities share a threshold.

    Args:
        similarities: Of n pairs, shape (n,).
        labels: Whether each pair holds, shape (n,).

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
