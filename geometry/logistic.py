"""Logistic curves from scores to probabilities, fitted to labelled pairs by Newton's method."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ontodex.errors import SettingsError

__all__ = ["checked_pairs", "platt", "regression", "sigmoid"]

WEAK_PENALTY = 100.0
"""Inverse strength of the penalty in :func:`regression`; few weights are fitted to many pairs."""

SPREAD = 2.0
"""Standard deviation of the prior of a weight in :func:`regression`, in the units of the scores."""

Floats = NDArray[np.float64]


def checked_pairs(labels: ArrayLike, **named: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    """Check the labels of pairs and one array of numbers.

    Args:
        labels: Whether each pair is true, of shape (n,).
        **named: One keyword argument: scores or features of the pairs, of shape (n,). Messages
            use its name.

    Returns:
        The numbers as ``float64`` and the labels as ``bool``.

    Raises:
        SettingsError: If the shapes differ, a number is not finite, or the labels are all equal.
    """
    ((name, given),) = named.items()
    values, truth = np.asarray(given, np.float64), np.asarray(labels)
    if values.ndim != 1 or values.shape != truth.shape:
        raise SettingsError(
            f"{name}: expected one number for each label, found shapes {values.shape} and "
            f"{truth.shape}"
        )
    if not values.size:
        raise SettingsError(
            f"{name}: expected at least one true and one false pair, found no pairs"
        )
    if not np.isfinite(values).all():
        first = int(np.flatnonzero(~np.isfinite(values))[0])
        raise SettingsError(
            f"{name}: expected finite numbers, found {values[first]} for pair {first}"
        )
    if not np.isin(truth, (0, 1)).all():
        raise SettingsError(
            f"labels: expected true or false (1 or 0), found {truth[~np.isin(truth, (0, 1))][0]!r}"
        )
    truth = truth.astype(bool)
    if truth.all() or not truth.any():
        raise SettingsError(
            f"labels: expected true and false pairs, found {truth.size} that are all {truth[0]}; "
            f"add pairs that are {not truth[0]}"
        )
    return values, truth


def platt(scores: Floats, truth: NDArray[np.bool_]) -> tuple[float, float]:
    """Fit 1 / (1 + exp(-(slope · score + offset))) by Newton's method.

    Platt 1999, as implemented by Lin, Lin and Weng 2007. Targets are smoothed by Platt's rule, so
    that separable pairs have a finite slope. If the fitted slope is not positive, a slope just
    above zero is returned instead. Probabilities therefore always rank pairs in the order of their
    scores.

    Args:
        scores: Scores of shape (n,).
        truth: Whether each pair is true, of shape (n,); with at least one true and one false pair.

    Returns:
        Slope and offset.

    Example:
        >>> truth = np.array([False, True, False, True])
        >>> slope, offset = platt(np.array([0.0, 1.0, 1.0, 2.0]), truth)
        >>> slope > 0, round(offset / slope, 6)
        (True, -1.0)
    """
    middle, spread = float(scores.mean()), float(scores.std()) or 1.0
    true, false = int(np.count_nonzero(truth)), int(np.count_nonzero(~truth))
    targets = np.where(truth, (true + 1) / (true + 2), 1 / (false + 2))
    inputs = np.stack([(scores - middle) / spread, np.ones_like(scores)])

    curve = _newton(inputs, targets, np.array([0.0, _logit(true / truth.size)]))
    if curve[0] < 1e-6:
        curve = np.array([1e-6, _logit(true / truth.size)])
    slope = float(curve[0]) / spread
    return slope, float(curve[1]) - slope * middle


def regression(
    scores: Floats, truth: NDArray[np.bool_], prior: Sequence[float] | None = None
) -> tuple[list[float], float]:
    """Fit 1 / (1 + exp(-(weights · scores + offset))) by weakly regularised logistic regression.

    Args:
        scores: Several scores of each pair, of shape (scores, n).
        truth: Whether each pair is true, of shape (n,); with at least one true and one false pair.
        prior: If given, the mean of a Gaussian prior of each weight, whose standard deviation is
            :data:`SPREAD`. It bounds the weight of a score that is not constant for a few pairs
            alone.

    Returns:
        The weight of each score, and the offset.

    Example:
        >>> scores = np.array([[0.0, 1.0, 1.0, 2.0], [1.0, 0.0, 1.0, 0.0]])
        >>> weights, offset = regression(scores, np.array([False, True, False, True]))
        >>> (np.array(weights) @ scores + offset).round(1).tolist()
        [-5.6, 4.1, -4.1, 5.6]
    """
    middle, spread = scores.mean(axis=1, keepdims=True), scores.std(axis=1, keepdims=True)
    spread[spread <= 1e-9 * np.abs(middle)] = 1.0  # a constant score, up to rounding
    inputs = np.concatenate([(scores - middle) / spread, np.ones((1, truth.size))])
    mean, ridge = np.zeros(len(inputs)), np.append(np.full(len(scores), 1 / WEAK_PENALTY), 0.0)
    if prior is not None:
        mean[:-1] = np.array(prior) * spread[:, 0]
        ridge[:-1] += 1 / (SPREAD * spread[:, 0]) ** 2
    curve = _newton(inputs, truth.astype(np.float64), mean, ridge / truth.size)
    weights = curve[:-1] / spread[:, 0]
    return weights.tolist(), float(curve[-1] - weights @ middle[:, 0])


def _newton(inputs: Floats, targets: Floats, start: Floats, ridge: Floats | float = 0.0) -> Floats:
    """Minimise the mean logistic loss plus half of the penalised squared distance from the start.

    Args:
        inputs: Scores of the pairs, and ones in the last row, of shape (scores + 1, n).
        targets: Wanted probability of each pair, of shape (n,).
        start: Weights and offset to start from, of shape (scores + 1,).
        ridge: Strength of the penalty of each weight and of the offset.

    Returns:
        The weights and the offset.
    """
    curve, strength = start, ridge * np.ones(len(start))

    def loss(at: Floats) -> float:
        logits = at @ inputs
        away = strength @ (at - start) ** 2 / 2
        return float(np.mean(np.logaddexp(0, logits) - targets * logits) + away)

    for _ in range(100):
        shares = sigmoid(curve @ inputs)
        gradient = inputs @ (shares - targets) / targets.size + strength * (curve - start)
        bend = (inputs * (shares * (1 - shares))) @ inputs.T / targets.size
        step = np.linalg.solve(bend + np.diag(strength + 1e-12), gradient)
        now = loss(curve)
        while np.abs(step).max() > 1e-9 and loss(curve - step) > now:
            step /= 2
        curve = curve - step
        if np.abs(step).max() < 1e-7:
            break
    return curve


def sigmoid(logits: Floats) -> Floats:
    """Return 1 / (1 + exp(-logits)), of the same shape; positive for logits down to -709."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-logits)))


def _logit(share: float) -> float:
    return math.log(share / (1 - share))
