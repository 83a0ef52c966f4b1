from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.metrics import precision_recall_fscore_support

from ontodex.errors import SettingsError
from ontodex.geometry.subsumption import (
    LARGEST_WEIGHT,
    Subsumption,
    best_threshold,
    fit,
    metrics,
)

PAIRS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(-6, 6), st.booleans()), min_size=2, max_size=14
).filter(lambda pairs: len({label for *_, label in pairs}) == 2)


def columns(pairs: list[tuple[int, int, bool]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    distance, gain, labels = (np.array(column) for column in zip(*pairs, strict=True))
    return distance.astype(float), gain.astype(float), labels


def f1_of_every_threshold(scores: np.ndarray, labels: np.ndarray) -> float:
    return max(metrics(scores, labels, t)["f1"] for t in [*scores, scores.min() - 1])


def f1_of_every_weight(distance: np.ndarray, gain: np.ndarray, labels: np.ndarray) -> float:
    """The order of the pairs changes only where two scores meet: try λ between all these places."""
    meetings = {0.0, LARGEST_WEIGHT}
    for (d, g), (e, h) in itertools.combinations(zip(distance, gain, strict=True), 2):
        if g != h and 0 < (e - d) / (g - h) < LARGEST_WEIGHT:
            meetings.add((e - d) / (g - h))
    places = sorted(meetings)
    between = [(a + b) / 2 for a, b in itertools.pairwise(places)]
    return max(f1_of_every_threshold(-(distance + weight * gain), labels) for weight in between)


def hierarchy_pairs(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs, one true to ten false; true ones are closer, parents nearer to the origin."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 11 == 0
    child = rng.normal(16, 2.5, n)
    parent = np.where(labels, child - np.abs(rng.normal(3, 2, n)), rng.normal(16, 2.5, n))
    gain = parent - child
    far = 0.7 * (child + parent) + rng.normal(-3, 4, n)
    return (
        np.where(labels, np.abs(gain) + np.abs(rng.normal(4, 4, n)), np.maximum(far, 0)),
        gain,
        labels,
    )


@given(PAIRS)
def test_best_threshold_is_the_best_of_all(pairs: list[tuple[int, int, bool]]) -> None:
    scores, _, labels = columns(pairs)
    f1, threshold = best_threshold(scores, labels)
    assert f1 == pytest.approx(f1_of_every_threshold(scores, labels))
    assert f1 == pytest.approx(metrics(scores, labels, threshold)["f1"])
    assert threshold not in scores


def test_best_threshold_between_neighbouring_floats_and_below_all() -> None:
    low, high = 1.0, float(np.nextafter(1.0, 2))
    _, threshold = best_threshold([low, high], [False, True])
    assert ((np.array([low, high]) > threshold) == [False, True]).all()
    f1, threshold = best_threshold([5.0, 5.0], [False, True])
    assert f1 == pytest.approx(2 / 3)
    assert threshold < 5


@settings(deadline=None, max_examples=150)
@given(PAIRS)
@example([(0, 0, True), (0, 0, False), (1, -1, True), (2, 1, False)])
@example([(1, 1, True), (3, 1, False), (3, 1, True)])  # equal gains
@example([(4, -2, True), (4, 0, True), (4, 3, False), (4, -3, False)])  # equal distances
def test_fit_finds_the_best_weight_of_all(pairs: list[tuple[int, int, bool]]) -> None:
    distance, gain, labels = columns(pairs)
    rule = fit(distance, gain, np.zeros(len(gain)), labels)
    found = metrics(rule.score(distance, gain, 0.0), labels, rule.threshold)["f1"]
    assert 0 <= rule.weight <= LARGEST_WEIGHT * (1 + 1e-12)
    assert found >= f1_of_every_weight(distance, gain, labels) - 1e-4
    assert rule.slope > 0


@pytest.mark.parametrize("seed", range(3))
def test_fit_is_as_good_as_a_fine_grid_and_better_than_distance_alone(seed: int) -> None:
    distance, gain, labels = hierarchy_pairs(3000, seed)
    rule = fit(distance, gain, np.ones(3000), labels)
    found = metrics(rule.score(distance, gain, 1.0), labels, rule.threshold)["f1"]
    grid = [
        best_threshold(-(distance + weight * gain), labels)[0] for weight in np.arange(0, 10, 0.01)
    ]
    assert found >= max(grid) - 1e-4
    assert found > grid[0] + 0.02
    assert found == pytest.approx(best_threshold(rule.score(distance, gain, 1.0), labels)[0])


def by_depth(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs whose true distances grow with the norm of the child."""
    distance, gain, labels = hierarchy_pairs(n, seed)
    child = np.random.default_rng(seed + 100).normal(16, 3, n)
    return distance + 0.8 * (child - 16), gain, child, labels


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("turned", [False, True])
def test_the_norm_of_the_child_counts_by_itself(seed: int, turned: bool) -> None:
    distance, gain, child, labels = by_depth(3000, seed)
    if turned:  # the threshold of the distance depends on the norm of the child
        distance -= 1.6 * (child - 16)
    rule = fit(distance, gain, child, labels)
    found = metrics(rule.score(distance, gain, child), labels, rule.threshold)["f1"]
    assert (
        found
        > best_threshold(
            -(distance + fit(distance, gain, np.zeros(3000), labels).weight * gain), labels
        )[0]
        + 0.02
    )
    assert (rule.tilt < 0) == turned
    assert rule.child_weight == rule.weight + rule.tilt >= 0
    parent = gain + child
    for weight in np.linspace(0, 8, 161):  # no change of one weight is better
        assert (
            best_threshold(-(distance + weight * parent - rule.child_weight * child), labels)[0]
            <= found + 2e-4
        )
        assert (
            best_threshold(-(distance + rule.weight * parent - weight * child), labels)[0]
            <= found + 2e-4
        )


def test_a_norm_that_says_nothing_leaves_the_rule_of_the_paper() -> None:
    distance, gain, labels = hierarchy_pairs(500)
    assert fit(distance, gain, np.full(500, 7.0), labels) == fit(
        distance, gain, np.zeros(500), labels
    )
    assert fit(distance, gain, np.full(500, 7.0), labels).tilt == 0


def test_the_best_weight_does_not_hang_on_units_or_order() -> None:
    distance, gain, child, labels = by_depth(2000, 0)
    f1 = [
        best_threshold(rule.score(scale * distance, scale * gain, scale * child), labels)[0]
        for scale in (1.0, 1e-3, 1e3)
        for rule in [fit(scale * distance, scale * gain, scale * child, labels)]
    ]
    assert max(f1) - min(f1) <= 1e-3
    turned, straight = (
        fit(distance[way], gain[way], child[way], labels[way])
        for way in (slice(None, None, -1), slice(None))
    )
    assert (turned.weight, turned.tilt) == pytest.approx((straight.weight, straight.tilt), rel=1e-9)


def test_many_pairs_are_fitted_in_seconds() -> None:
    start = time.process_time()
    fit(*by_depth(60_000, 0))
    assert time.process_time() - start < 20  # takes a second or two


def test_equal_pairs_with_both_labels_do_not_hold_up_the_search() -> None:
    rng = np.random.default_rng(0)
    distance, gain, labels = hierarchy_pairs(6000)
    start = time.process_time()
    fit(np.round(distance), np.round(gain), np.round(distance / 3), labels)
    few = rng.integers(300, size=(3, 6000))
    fit(distance[few[0]], gain[few[1]], distance[few[2]], labels)
    assert time.process_time() - start < 20


def test_weights_that_are_given_are_kept() -> None:
    distance, gain, labels = hierarchy_pairs(500)
    for weight in (0, 2.5, 100.0):
        rule = fit(distance, gain, np.zeros(500), labels, weights=(weight, 1.5))
        assert (rule.weight, rule.child_weight) == (weight, 1.5)
        assert rule.threshold == best_threshold(-(distance + weight * gain), labels)[1]


def test_the_smallest_of_equally_good_weights_is_taken_when_distance_says_all() -> None:
    rule = fit([1.0, 2.0, 8.0, 9.0], [-1.0, -2.0, 1.0, 2.0], [3.0] * 4, [True, True, False, False])
    assert (rule.weight, rule.threshold, rule.tilt) == (0.0, -5.0, 0.0)


def test_the_curve_is_that_of_a_general_optimiser() -> None:
    distance, gain, labels = hierarchy_pairs(4000)
    rule = fit(distance, gain, np.zeros(4000), labels, weights=(1.0, 1.0))
    scores = rule.score(distance, gain, 0.0)
    true, false = labels.sum(), (~labels).sum()
    targets = np.where(labels, (true + 1) / (true + 2), 1 / (false + 2))

    def loss(curve: np.ndarray) -> Any:
        logits = curve[0] * scores + curve[1]
        return np.mean(np.logaddexp(0, logits) - targets * logits)

    wanted = minimize(
        loss,
        [0.1, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 5000},
    )
    np.testing.assert_allclose([rule.slope, rule.offset], wanted.x, rtol=1e-4)
    assert rule.probability(scores).mean() == pytest.approx(labels.mean(), abs=1e-3)


def test_separable_and_hopeless_pairs_have_a_finite_rising_curve() -> None:
    separable = fit([1.0, 2.0, 8.0, 9.0], [0.0] * 4, [0.0] * 4, [True, True, False, False])
    assert separable.probability(separable.score([1.0, 9.0], 0.0, 0.0)) == pytest.approx(
        [0.75, 0.25], abs=0.1
    )
    hopeless = fit([8.0, 9.0, 1.0, 2.0], [0.0] * 4, [0.0] * 4, [True, True, False, False])
    assert hopeless.probability(hopeless.score([1.0, 9.0], 0.0, 0.0)) == pytest.approx(
        [0.5, 0.5], abs=1e-3
    )
    alike = fit([3.0, 3.0, 3.0, 3.0], [1.0] * 4, [1.0] * 4, [True, False, False, False])
    assert alike.probability(alike.score(3.0, 1.0, 1.0)) == pytest.approx(0.25, abs=1e-3)
    assert 0 < hopeless.slope < 1e-5


def test_probability_is_safe_far_out_and_rises() -> None:
    rule = Subsumption(weight=1.0, threshold=0.0, slope=2.0, offset=0.5)
    found = rule.probability(np.array([-1e6, -1.0, 0.0, 1.0, 1e6]))
    assert found[[0, -1]].tolist() == [0.0, 1.0]
    assert (np.diff(found) > 0).all()
    assert rule.score(np.zeros((2, 1)), np.ones(3), 0.0).tolist() == [[-1.0] * 3] * 2
    tilted = Subsumption(weight=1.0, threshold=0.0, slope=2.0, offset=0.5, tilt=-0.5)
    assert tilted.score(2.0, 3.0, 4.0) == -(2 + 3 * 1.0 + 4 * 0.5)


@given(PAIRS, st.integers(-1, 13))
def test_metrics_are_scikit_learns(pairs: list[tuple[int, int, bool]], threshold: int) -> None:
    scores, _, labels = columns(pairs)
    wanted = precision_recall_fscore_support(
        labels, scores > threshold, average="binary", zero_division=0.0
    )
    assert list(metrics(scores, labels, threshold).values()) == pytest.approx(wanted[:3])


GOOD = {
    "distance": [1.0, 2.0, 3.0],
    "gain": [0.0, 1.0, 2.0],
    "child": [1.0, 1.0, 2.0],
    "labels": [True, False, True],
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"labels": [True] * 3},
            "labels: expected true and false pairs, found 3 that are all True",
        ),
        ({"labels": [0, 0, 0]}, "found 3 that are all False"),
        ({"labels": [0, 1, 2]}, "labels: expected true or false .* found .*2"),
        (
            {"distance": [1.0, float("nan"), 3.0]},
            "distance: expected finite numbers, found nan for pair 1",
        ),
        (
            {"gain": [1.0, 2.0, float("-inf")]},
            "gain: expected finite numbers, found -inf for pair 2",
        ),
        (
            {"child": [1.0, float("nan"), 1.0]},
            "child: expected finite numbers, found nan for pair 1",
        ),
        (
            {"child": [1.0]},
            r"child: expected one number for each label, found shapes \(1,\) and \(3,\)",
        ),
        ({"distance": [], "gain": [], "labels": []}, "found no pairs"),
        (
            {"gain": [1.0, 2.0]},
            r"gain: expected one number for each label, found shapes \(2,\) and \(3,\)",
        ),
        ({"distance": [[1.0], [2.0], [3.0]]}, "distance: expected one number for each label"),
        ({"weights": (-0.1, 1.0)}, r"weights: expected .* found \(-0.1, 1.0\)"),
        ({"weights": (1.0, float("nan"))}, "weights: expected .* nan"),
    ],
)
def test_bad_input_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        fit(**{**GOOD, **changed})


@pytest.mark.parametrize(
    "bad",
    [
        (-1.0, 0.0, 1.0, 0.0),
        (1.0, float("nan"), 1.0, 0.0),
        (1.0, 0.0, 0.0, 0.0),
        (1.0, 0.0, 1.0, 0.0, -1.1),
    ],
)
def test_a_rule_that_cannot_be_is_refused(bad: tuple[float, ...]) -> None:
    with pytest.raises(SettingsError, match="weight >= 0, tilt >= -weight and slope > 0"):
        Subsumption(*bad)
