"""The decision rule of HiT for subsumptions, on the distance and the hyperbolic norms of a pair.

He et al. (NeurIPS 2024, equation 6) score s(child ⊑ parent) = -(d(child, parent) + λ(‖parent‖ -
‖child‖)) and accept a pair if its score is above a threshold. λ and the threshold are fitted on
validation pairs. The paper searches a grid; the search here is exact. Unlike the paper, the rule
adds δ‖child‖ to the score, so that the accepted distance may depend on the depth of the child. The
paper's own rule has δ = 0; :func:`fit_both` fits both rules.

A logistic curve (Platt, 1999) turns scores into probabilities. The probabilities are calibrated for
the distribution of the pairs that the curve was fitted to.
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
    "MIN_LINKS",
    "Subsumption",
    "best_threshold",
    "differences",
    "fit",
    "fit_both",
    "metrics",
]

MIN_LINKS = 50
"""Smallest number of links to which a rule and probabilities are fitted."""
LARGEST_WEIGHT = 64.0
"""Upper end of the search for λ: usual values are below 10; above 64, only norms matter."""
TOLERANCE = 1e-4
"""Largest difference in F1 between the best λ and the λ that the search finds."""
NARROWEST = 1e-9
"""Smallest interval that the search halves, as a share of the whole range."""
_BLOCK = 16_384
"""Number of pairs whose distances are computed at once."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Subsumption:
    """Decision rule: child ⊑ parent if the score is above a threshold.

    Args:
        weight: λ, weight of the difference of the norms; at least 0.
        threshold: Score above which a pair is accepted.
        slope: Slope of the logistic curve; positive.
        offset: Logit of the curve at score 0.
        tilt: δ, additional weight of the child's norm; at least -λ, 0 in the paper.

    Raises:
        SettingsError: If a value is not finite, ``weight`` is negative, ``tilt`` is below
            -``weight``, or ``slope`` is not positive.

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
                "expected finite numbers, weight >= 0, tilt >= -weight and slope > 0, "
                f"found {self}; fit the rule again"
            )

    @property
    def child_weight(self) -> float:
        """λ + δ, weight of the child's norm."""
        return self.weight + self.tilt

    @property
    def at_limit(self) -> bool:
        """Whether the weight of a norm is as great as the search allows, :data:`LARGEST_WEIGHT`.

        Then the distance hardly counts, and a still greater weight might fit better.
        """
        return max(self.weight, self.child_weight) >= LARGEST_WEIGHT * (1 - NARROWEST)

    def score(self, distance: ArrayLike, gain: ArrayLike, child: ArrayLike) -> Floats:
        """Return the scores -(distance + λ gain - δ child); shapes broadcast.

        Args:
            distance: Hyperbolic distances between child and parent.
            gain: For each pair, hyperbolic norm of the parent minus hyperbolic norm of the child.
            child: Hyperbolic norms of the children.
        """
        distance, gain, child = (np.asarray(part, np.float64) for part in (distance, gain, child))
        return np.asarray(-(distance + self.weight * gain - self.tilt * child))

    def probability(self, scores: ArrayLike) -> Floats:
        """Return 1 / (1 + exp(-(slope · score + offset))), of the same shape."""
        return np.asarray(sigmoid(self.slope * np.asarray(scores, np.float64) + self.offset))


def best_threshold(scores: ArrayLike, labels: ArrayLike) -> tuple[float, float]:
    """Find the threshold with the best F1, exactly, by one sort.

    Args:
        scores: Scores of n pairs, of shape (n,).
        labels: Whether each pair is true, of shape (n,).

    Returns:
        F1 and the threshold. The threshold is half-way between two distinct scores, or just below
        the lowest score if all pairs are accepted. If several thresholds have the best F1, the
        highest is returned.

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
    """Fit λ, δ, the threshold and the logistic curve to validation pairs.

    The first search finds the best λ for δ = 0. Then searches for λ (with λ + δ fixed) and for
    λ + δ (with λ fixed) alternate as long as F1 rises. Each search covers [0, 64] and finds a
    weight whose F1 is within 1e-4 of the best. The threshold is exact. The logistic curve is fitted
    to all pairs with Platt's smoothed targets, so that separable pairs have a finite slope.

    Args:
        distance: Hyperbolic distances between child and parent, of shape (n,).
        gain: For each pair, hyperbolic norm of the parent minus hyperbolic norm of the child, of
            shape (n,).
        child: Hyperbolic norms of the children, of shape (n,).
        labels: Whether the child is subsumed by the parent, of shape (n,).
        weights: λ and λ + δ. If ``None``, both are searched.

    Returns:
        The rule.

    Raises:
        SettingsError: If the shapes differ, a number is not finite, the labels are all equal, or a
            weight is negative.

    Example:
        >>> labels = [True, True, False, False]
        >>> rule = fit([2.0, 3.0, 3.0, 8.0], [-1.0, -4.0, 2.0, 0.0], [5.0] * 4, labels)
        >>> rule.score([2.0, 8.0], [-3.0, 1.0], child=5.0) > rule.threshold
        array([ True, False])
    """
    if weights is not None and not all(0 <= weight < math.inf for weight in weights):
        raise SettingsError(f"weights: expected finite numbers of at least 0, found {weights}")
    parts, truth = _checked(distance, gain, child, labels)
    if weights is None:
        weights = _best_weights(*parts, truth, _best_weight(*parts[:2], truth))
    return _rule(parts, truth, *weights)


def fit_both(
    distance: ArrayLike, gain: ArrayLike, child: ArrayLike, labels: ArrayLike
) -> tuple[Subsumption, Subsumption]:
    """Fit the paper's rule, with one weight (δ = 0), and the rule of :func:`fit`, with two.

    The first search of both is the same and is done once. Arguments and errors as for :func:`fit`.

    Example:
        >>> one, two = fit_both([2.0, 3.0, 8.0], [-1.0, -4.0, 0.0], [5.0] * 3, [True, True, False])
        >>> one.tilt, two == fit([2.0, 3.0, 8.0], [-1.0, -4.0, 0.0], [5.0] * 3, [True, True, False])
        (0.0, True)
    """
    parts, truth = _checked(distance, gain, child, labels)
    weight = _best_weight(*parts[:2], truth)
    weights = _best_weights(*parts, truth, weight)
    return _rule(parts, truth, weight, weight), _rule(parts, truth, *weights)


def _checked(
    distance: ArrayLike, gain: ArrayLike, child: ArrayLike, labels: ArrayLike
) -> tuple[tuple[Floats, Floats, Floats], NDArray[np.bool_]]:
    near, truth = checked_pairs(labels, distance=distance)
    step, truth = checked_pairs(labels, gain=gain)
    out, truth = checked_pairs(labels, child=child)
    return (near, step, out), truth


def _rule(
    parts: tuple[Floats, Floats, Floats], truth: NDArray[np.bool_], above: float, below: float
) -> Subsumption:
    """Fit the threshold and the logistic curve for given weights of the parent and the child."""
    near, step, out = parts
    scores = -(near + above * step - (below - above) * out)
    _, threshold = _best_threshold(scores, truth)
    return Subsumption(above, threshold, *platt(scores, truth), tilt=below - above)


def differences(
    points: NDArray[np.floating],
    children: NDArray[np.integer],
    parents: NDArray[np.integer],
    c: float,
) -> tuple[Floats, Floats, Floats]:
    """Return the features of a rule: distances, differences of the norms and norms of the children.

    Args:
        points: Points of the ball, of shape (n, dim).
        children: Row of each pair's child, of shape (pairs,).
        parents: Row of each pair's parent, of shape (pairs,).
        c: The curvature is -c.

    Returns:
        Hyperbolic distances, gains (norm of the parent minus norm of the child), and norms of the
        children, each ``float64`` of shape (pairs,).

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
    """Return precision, recall and F1 of accepting the pairs above a threshold.

    A measure whose denominator is zero, such as the precision if no pair is accepted, is 0.

    Args:
        scores: Scores of n pairs, of shape (n,).
        labels: Whether each pair is true, of shape (n,).
        threshold: Score above which a pair is accepted.

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
    """A node of the branch and bound: intervals of mixtures and thresholds, and undecided points.

    A mixture is the weight p of the gain in :func:`_best_weight`.

    Attributes:
        low: Lower end of the interval of mixtures.
        high: Upper end of the interval of mixtures.
        lowest: Lower end of the interval of thresholds, excluded.
        highest: Upper end of the interval of thresholds, included.
        points: Distinct (distance, gain) of the pairs that some, but not all, mixtures and
            thresholds of the node accept, of shape (2, m).
        counts: Number of true pairs and of all pairs at each point, of shape (2, m).
        sure: Number of true pairs and of all pairs that every mixture and threshold of the node
            accepts, of shape (2, 1).
    """

    low: float
    high: float
    lowest: float
    highest: float
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
    distance: Floats, gain: Floats, child: Floats, truth: NDArray[np.bool_], weight: float
) -> tuple[float, float]:
    """Search the weights of both norms from the best common weight, in turn while F1 rises."""
    parent = gain + child
    above = below = weight
    f1, _ = _best_threshold(-(distance + above * gain), truth)
    while True:
        wider = _best_weight(distance - below * child, parent, truth)
        deeper = _best_weight(distance + wider * parent, -child, truth)
        found, _ = _best_threshold(-(distance + wider * parent - deeper * child), truth)
        if found <= f1 + TOLERANCE:
            return above, below
        above, below, f1 = wider, deeper, found


def _best_weight(distance: Floats, gain: Floats, truth: NDArray[np.bool_]) -> float:
    """Search λ by branch and bound over the mixture p in -((1 - p) distance + p gain).

    Distance and gain are standardised. A point is a distinct (distance, gain) with all its pairs.
    F1 exceeds a goal if the sum of (2·true - goal·all) over the accepted points exceeds goal·total.
    Here true and all are the numbers of true pairs and of all pairs at a point, and total is the
    number of all true pairs. Scores are linear in p. Over an interval of p, an upper bound of the
    sum takes each point with a positive term at its highest score, and each other point at its
    lowest score. An interval whose bound does not exceed the best F1 so far is discarded. Other
    intervals are halved, with the thresholds and points that are still undecided.
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
    # The origin is arbitrary. Bounds are tightest if it lies among the points near the threshold.
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
            # The half nearer to the best mixture so far is searched first.
            todo.extend(halves if best > middle else halves[::-1])
    return float(best / (1 - best) * ratio)


def _best_at(part: _Part, p: float, total: float) -> tuple[float, float]:
    """Return the best F1 of mixture p within the node, and the lowest accepted score."""
    starts, sums = _steps(_mixed(part.points, p), part.counts, part.lowest, part.highest)
    right, accepted = part.sure + sums
    f1 = 2 * right / (accepted + total)
    best = int(np.argmax(f1))
    return float(f1[best]), float(starts[best])


def _narrowed(part: _Part, goal: float, total: float) -> _Part | None:
    """Return the node with only the thresholds at which F1 may exceed ``goal``.

    If there is no such threshold, return ``None``.
    """
    ends = [_mixed(part.points, p) for p in (part.low, part.high)]
    lowest, highest = np.minimum(*ends), np.maximum(*ends)
    worth = np.array([2, -goal])
    gains = worth @ part.counts
    starts, sums = _steps(
        np.where(gains > 0, highest, lowest), gains[None], part.lowest, part.highest
    )
    useful = np.flatnonzero(sums[0] + worth @ part.sure > goal * total)
    if not useful.size:
        return None
    top = float(starts[useful[0]])
    bottom = float(starts[useful[-1] + 1]) if useful[-1] + 1 < starts.size else part.lowest
    sure = lowest >= top
    left = ~sure & (highest > bottom)
    return replace(
        part,
        lowest=bottom,
        highest=top,
        points=part.points[:, left],
        counts=part.counts[:, left],
        sure=part.sure + part.counts[:, sure].sum(1, keepdims=True),
    )


def _mixed(points: Floats, p: float) -> Floats:
    return np.asarray(-((1 - p) * points[0] + p * points[1]))


def _steps(
    scores: Floats, counts: Floats, lowest: float = -math.inf, highest: float = math.inf
) -> tuple[Floats, Floats]:
    """Sum the counts of the points whose score is at least a threshold, for every threshold.

    Args:
        scores: Score of each point, of shape (m,).
        counts: Counts to sum, of shape (r, m).
        lowest: Points with this score or a lower score are left out.
        highest: Highest threshold.

    Returns:
        Thresholds of shape (k,), descending: ``highest``, then the distinct lower scores. And the
        sums for each threshold, of shape (r, k).
    """
    inside = scores > lowest
    scores = np.append(np.minimum(scores[inside], highest), highest)
    order = np.argsort(-scores)
    scores = scores[order]
    last = np.append(scores[1:] < scores[:-1], True)  # the last of equal scores
    sums = np.cumsum(np.pad(counts[:, inside], ((0, 0), (0, 1)))[:, order], axis=1)
    return scores[last], sums[:, last]
