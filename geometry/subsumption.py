"""The decision rule of HiT: whether a child is subsumed by a parent, from a distance and two hyperbolic norms.

He et al. (NeurIPS 2024, section 3.3) score s(child ⊑ parent) = -(d(child, parent) + λ(‖parent‖ - ‖child‖)) and accept a
pair whose score is above a threshold; λ and the threshold come from validation pairs. The paper takes them from a grid,
here both are searched exactly. And here the two norms need not count alike: δ‖child‖ is added to the score, because what is
near enough for a deep child need not be so for one high up. A logistic curve (Platt, 1999) turns scores into
probabilities: the share of true pairs among those that it was fitted to, so that it says most of pairs that are met as
those were.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ontodex.errors import SettingsError
from ontodex.geometry import poincare
from ontodex.geometry.logistic import checked_pairs, platt, sigmoid

__all__ = [
    "LARGEST_WEIGHT",
    "Subsumption",
    "best_threshold",
    "calibrated",
    "differences",
    "fit",
    "metrics",
]

LARGEST_WEIGHT = 64.0
"""The largest λ that is searched; the best ones lie below 10, and beyond 64 the norms alone decide."""
TOLERANCE = 1e-4
"""What F1 may lose against the best λ at all."""
NARROWEST = 1e-9
"""Width, as a share of the searched range, below which an interval of λ is not halved again."""
_BLOCK = 16_384
"""Pairs that are measured at once."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Subsumption:
    """The rule: child ⊑ parent if and only if the score is above the threshold.

    Args:
        weight: λ, how much the difference of the norms counts; not negative.
        threshold: The score above which a pair is accepted.
        slope: Steepness of the logistic curve; positive.
        offset: The curve's logit at score zero.
        tilt: δ, how much more the child's norm counts than the parent's; at least -λ, and 0 in the paper.

    Raises:
        SettingsError: If a value is not finite, ``weight`` is negative, ``tilt`` below -``weight``, or ``slope`` not
            positive.

    Example:
        >>> rule = Subsumption(weight=2.0, threshold=-10.0, slope=0.5, offset=5.0)
        >>> scores = rule.score(np.array([8.0, 20.0]), gain=np.array([-1.0, 3.0]), child=4.0)
        >>> scores.tolist(), rule.probability(scores).round(3).tolist()
        ([-6.0, -26.0], [0.881, 0.0])
    """

    weight: float
    threshold: float
    slope: float
    offset: float
    tilt: float = 0.0

    def __post_init__(self) -> None:
        finite = all(map(math.isfinite, astuple(self)))
        if not finite or self.weight < 0 or self.child_weight < 0 or self.slope <= 0:
            raise SettingsError(
                f"expected finite numbers, weight >= 0, tilt >= -weight and slope > 0, found {self}; fit the rule again"
            )

    @property
    def child_weight(self) -> float:
        """λ + δ, how much the child's norm counts."""
        return self.weight + self.tilt

    def score(self, distance: ArrayLike, gain: ArrayLike, child: ArrayLike) -> Floats:
        """Score pairs: -(distance + λ gain - δ child), the higher, the surer; shapes broadcast.

        Args:
            distance: Hyperbolic distances between child and parent.
            gain: Hyperbolic norm of the parent less that of the child.
            child: Hyperbolic norm of the child.
        """
        distance, gain, child = (np.asarray(part, np.float64) for part in (distance, gain, child))
        return np.asarray(-(distance + self.weight * gain - self.tilt * child))

    def probability(self, scores: ArrayLike) -> Floats:
        """Turn scores into probabilities: 1 / (1 + exp(-(slope · score + offset))), of the same shape."""
        return np.asarray(sigmoid(self.slope * np.asarray(scores, np.float64) + self.offset))


def best_threshold(scores: ArrayLike, labels: ArrayLike) -> tuple[float, float]:
    """Find the threshold of the best F1 exactly, by one sort.

    Args:
        scores: Scores of n pairs, shape (n,).
        labels: Whether each pair holds, shape (n,).

    Returns:
        F1, and the threshold: half-way between two distinct scores (just below the lowest, if all pairs are to be
        accepted), the highest of those with the same F1.

    Raises:
        SettingsError: If the shapes differ, a number is not finite, or the labels are all equal.

    Example:
        >>> best_threshold([1.0, 2.0, 2.0, 3.0], [False, True, False, True])
        (0.8, 1.5)
    """
    values, truth = checked_pairs(labels, scores=scores)
    return _best_threshold(values, truth)


def fit(
    distance: ArrayLike,
    gain: ArrayLike,
    child: ArrayLike,
    labels: ArrayLike,
    *,
    weights: tuple[float, float] | None = None,
) -> Subsumption:
    """Choose λ, δ, the threshold and the logistic curve on validation pairs.

    First the best λ without δ is searched; then, in turn, as long as F1 rises, λ for a given λ + δ, and λ + δ for a given
    λ. Each search goes over [0, 64]: the best F1 is at most 1e-4 above that of the weight found. The threshold is exact.
    The curve is fitted to all pairs with Platt's smoothed targets, so that separable pairs have a finite slope.

    Args:
        distance: Hyperbolic distances between child and parent, shape (n,).
        gain: Hyperbolic norms of the parents less those of the children, shape (n,).
        child: Hyperbolic norms of the children, shape (n,).
        labels: Whether the child is subsumed, shape (n,).
        weights: λ and λ + δ, if they are given rather than searched.

    Returns:
        The rule.

    Raises:
        SettingsError: If the shapes differ, a number is not finite, the labels are all equal, or a weight is negative.

    Example:
        >>> rule = fit([2.0, 3.0, 3.0, 8.0], [-1.0, -4.0, 2.0, 0.0], [5.0] * 4, [True, True, False, False])
        >>> rule.score([2.0, 8.0], [-3.0, 1.0], child=5.0) > rule.threshold
        array([ True, False])
    """
    if weights is not None and not all(0 <= weight < math.inf for weight in weights):
        raise SettingsError(f"weights: expected finite numbers of at least 0, found {weights}")
    near, truth = checked_pairs(labels, distance=distance)
    step, truth = checked_pairs(labels, gain=gain)
    out, truth = checked_pairs(labels, child=child)
    above, below = _best_weights(near, step, out, truth) if weights is None else weights
    scores = -(near + above * step - (below - above) * out)
    _, threshold = _best_threshold(scores, truth)
    return Subsumption(above, threshold, *platt(scores, truth), tilt=below - above)


def calibrated(rule: Subsumption, scores: ArrayLike, labels: ArrayLike) -> Subsumption:
    """Fit the logistic curve of a rule to other pairs than those that it was chosen by; weights and threshold stay.

    Where higher scores are not likelier to be true, the curve is all but flat, but still rises: an order by probability
    is the order by score.

    Args:
        rule: The rule, by whose weights the pairs were scored.
        scores: Scores of n pairs, shape (n,).
        labels: Whether each pair holds, shape (n,).

    Raises:
        SettingsError: If the shapes differ, a number is not finite, or the labels are all equal.

    Example:
        >>> rule = Subsumption(weight=1.0, threshold=-8.0, slope=1.0, offset=9.0)
        >>> scores = np.repeat([-5.0, -9.0], 500)
        >>> calibrated(rule, scores, np.arange(1000) % 500 < np.repeat([200, 50], 500)).probability([-5.0, -9.0]).round(2)
        array([0.4, 0.1])
    """
    values, truth = checked_pairs(labels, scores=scores)
    slope, offset = platt(values, truth)
    return replace(rule, slope=slope, offset=offset)


def differences(
    points: NDArray[np.floating],
    children: NDArray[np.integer],
    parents: NDArray[np.integer],
    c: float,
) -> tuple[Floats, Floats, Floats]:
    """Measure what a rule decides by: the distance of each pair, how much farther out its parent is, and the child's norm.

    Args:
        points: Points of the ball, of shape (n, dim).
        children: Row of each pair's child, of shape (pairs,).
        parents: Row of each pair's parent.
        c: The curvature is -c.

    Returns:
        Distances, gains (norm of the parent less norm of the child) and norms of the children, ``float64`` of shape
        (pairs,).

    Example:
        >>> differences(np.array([[0.0], [0.5]]), np.array([1]), np.array([0]), c=1.0)
        (array([1.09861229]), array([-1.09861229]), array([1.09861229]))
    """
    distances, gains, norms = (np.empty(len(children)) for _ in range(3))
    for start in range(0, len(children), _BLOCK):
        here = slice(start, start + _BLOCK)
        below, above = (
            points[children[here]].astype(np.float64),
            points[parents[here]].astype(np.float64),
        )
        distances[here] = poincare.distance(below, above, c)
        norms[here] = poincare.norm(below, c)
        gains[here] = poincare.norm(above, c) - norms[here]
    return distances, gains, norms


def metrics(scores: ArrayLike, labels: ArrayLike, threshold: float) -> dict[str, float]:
    """Measure precision, recall and F1 of accepting the pairs above the threshold.

    A measure without cases (the precision when nothing is accepted, say) is 0.

    Args:
        scores: Scores of n pairs, shape (n,).
        labels: Whether each pair holds, shape (n,).
        threshold: A pair is accepted if its score is above.

    Example:
        >>> metrics([1.0, 2.0, 2.0, 3.0], [False, True, False, True], threshold=2.5)
        {'precision': 1.0, 'recall': 0.5, 'f1': 0.6666666666666666}
    """
    truth = np.asarray(labels, bool)
    accepted = np.asarray(scores) > threshold
    right, made, wanted = (
        int(np.count_nonzero(part)) for part in (accepted & truth, accepted, truth)
    )
    return {
        "precision": right / made if made else 0.0,
        "recall": right / wanted if wanted else 0.0,
        "f1": 2 * right / (made + wanted) if made + wanted else 0.0,
    }


@dataclass(frozen=True, eq=False)
class _Part:
    """Mixtures from ``low`` to ``high``, thresholds above ``floor`` up to ``ceiling``, and the points that they divide.

    ``points`` are distinct distances and gains, shape (2, m); ``counts`` how many true pairs and how many pairs lie on
    each, shape (2, m); ``sure`` how many of both all these mixtures accept at all these thresholds, shape (2, 1).
    """

    low: float
    high: float
    floor: float
    ceiling: float
    points: Floats
    counts: Floats
    sure: Floats


def _best_threshold(scores: Floats, truth: NDArray[np.bool_]) -> tuple[float, float]:
    starts, (right, accepted) = _steps(scores, np.stack([truth, np.ones_like(truth)]).astype(float))
    f1 = 2 * right / (accepted + right[-1])
    best = int(np.argmax(f1))
    upper = starts[best]
    lower = starts[best + 1] if best + 1 < starts.size else np.nextafter(upper, -np.inf)
    middle = lower + (upper - lower) / 2
    return float(f1[best]), float(middle if middle < upper else lower)


def _best_weights(
    distance: Floats, gain: Floats, child: Floats, truth: NDArray[np.bool_]
) -> tuple[float, float]:
    """Search the weights of both norms, first as one, then in turn as long as F1 rises."""
    parent = gain + child
    above = below = _best_weight(distance, gain, truth)
    f1, _ = _best_threshold(-(distance + above * gain), truth)
    while True:
        wider = _best_weight(distance - below * child, parent, truth)
        deeper = _best_weight(distance + wider * parent, -child, truth)
        found, _ = _best_threshold(-(distance + wider * parent - deeper * child), truth)
        if found <= f1 + TOLERANCE:
            return above, below
        above, below, f1 = wider, deeper, found


def _best_weight(distance: Floats, gain: Floats, truth: NDArray[np.bool_]) -> float:
    """Search λ by branch and bound over the mixture p: -((1 - p) distance + p gain), both standardised.

    That F1 exceeds a goal means that 2·true - goal·all, summed over the accepted points, exceeds goal·total. Scores are
    linear in p. So over an interval of p no sum is greater than if every point that adds to it had its highest score of
    the interval and every other its lowest. Where this does not reach the best F1 found, the interval is done;
    otherwise it is halved, and only thresholds and points that may still matter go on to the halves.
    """
    scale = float(np.std(distance)) or 1.0, float(np.std(gain))
    if not scale[1]:
        return 0.0
    ratio = scale[0] / scale[1]
    limit = LARGEST_WEIGHT / (LARGEST_WEIGHT + ratio)
    distinct, where, made = np.unique(distance + 1j * gain, return_inverse=True, return_counts=True)
    points = np.stack([distinct.real / scale[0], distinct.imag / scale[1]])
    counts = np.stack([np.bincount(where, truth), made])
    total = float(counts[0].sum())
    part = _Part(0.0, limit, -math.inf, math.inf, points, counts, np.zeros((2, 1)))
    grid = [(*_best_at(part, p, total), p) for p in np.linspace(0, limit, 17).tolist()]
    f1, threshold, best = max(grid, key=lambda found: found[0])
    # Any point may be subtracted from all; the bounds are tightest if it is where the pairs are hard to tell.
    hard = np.argsort(np.abs(_mixed(points, best) - threshold))[: max(1, made.size // 50)]
    todo = [replace(part, points=points - points[:, hard].mean(1, keepdims=True))]
    while todo:
        part = todo.pop()
        middle = (part.low + part.high) / 2
        found = _best_at(part, middle, total)[0]
        if found > f1:
            f1, best = found, middle
        smaller = _narrowed(part, f1 + TOLERANCE, total)
        if smaller is not None and part.high - part.low > NARROWEST * limit:
            halves = [replace(smaller, high=middle), replace(smaller, low=middle)]
            todo.extend(
                halves if best > middle else halves[::-1]
            )  # the one nearer to the best comes first
    return float(best / (1 - best) * ratio)


def _best_at(part: _Part, p: float, total: float) -> tuple[float, float]:
    """The best F1 of mixture p among the thresholds of the part, and the score from which it accepts."""
    starts, sums = _steps(_mixed(part.points, p), part.counts, part.floor, part.ceiling)
    right, accepted = part.sure + sums
    f1 = 2 * right / (accepted + total)
    best = int(np.argmax(f1))
    return float(f1[best]), float(starts[best])


def _narrowed(part: _Part, goal: float, total: float) -> _Part | None:
    """Leave only the thresholds that might reach more than ``goal``, and the points that these divide."""
    ends = [_mixed(part.points, p) for p in (part.low, part.high)]
    lowest, highest = np.minimum(*ends), np.maximum(*ends)
    worth = np.array([2, -goal])
    gains = worth @ part.counts
    starts, sums = _steps(
        np.where(gains > 0, highest, lowest), gains[None], part.floor, part.ceiling
    )
    useful = np.flatnonzero(sums[0] + worth @ part.sure > goal * total)
    if not useful.size:
        return None
    ceiling = float(starts[useful[0]])
    floor = float(starts[useful[-1] + 1]) if useful[-1] + 1 < starts.size else part.floor
    sure = lowest >= ceiling
    left = ~sure & (highest > floor)
    return replace(
        part,
        floor=floor,
        ceiling=ceiling,
        points=part.points[:, left],
        counts=part.counts[:, left],
        sure=part.sure + part.counts[:, sure].sum(1, keepdims=True),
    )


def _mixed(points: Floats, p: float) -> Floats:
    return np.asarray(-((1 - p) * points[0] + p * points[1]))


def _steps(
    scores: Floats, counts: Floats, floor: float = -math.inf, ceiling: float = math.inf
) -> tuple[Floats, Floats]:
    """Add up ``counts`` (r, m) of the scores from a threshold on.

    Returns:
        The ceiling and the distinct scores between it and the floor (excluded), falling, shape (k,), and the sums from
        each of them on, shape (r, k).
    """
    kept = scores > floor
    scores = np.append(np.minimum(scores[kept], ceiling), ceiling)
    order = np.argsort(-scores)
    scores = scores[order]
    last = np.append(scores[1:] < scores[:-1], True)  # of each run of equal scores
    return scores[last], np.cumsum(np.pad(counts[:, kept], ((0, 0), (0, 1)))[:, order], axis=1)[
        :, last
    ]
