"""Logistic regression, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from ontodex.geometry.logistic import WEAK_PENALTY, regression, sigmoid


@pytest.mark.parametrize("kind", ["noisy", "separable", "constant score", "equal scores"])
def test_the_weights_are_those_of_scikit_learn(kind: str) -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=(3, 500)) * [[0.1], [1.0], [50.0]] + 7.0
    truth = random.random(500) < 1 / (1 + np.exp(-(scores[1] - 7.0)))
    if kind == "separable":
        truth = scores[0] > 7.0
    elif kind == "constant score":
        scores[2] = 0.1
    elif kind == "equal scores":
        scores[2] = scores[1]
    middle, spread = scores.mean(axis=1, keepdims=True), scores.std(axis=1, keepdims=True)
    if kind == "constant score":
        spread[2] = 1.0
    theirs = LogisticRegression(C=WEAK_PENALTY, tol=1e-9, max_iter=1000).fit(
        ((scores - middle) / spread).T, truth
    )
    weights, offset = regression(scores, truth)
    np.testing.assert_allclose(np.array(weights) * spread[:, 0], theirs.coef_[0], atol=1e-3)
    np.testing.assert_allclose(offset + np.array(weights) @ middle, theirs.intercept_, atol=1e-3)


def test_the_logistic_function_is_exact_far_from_zero() -> None:
    logits = np.array([-700.0, -38.0, 0.0, 38.0, 800.0])
    found = sigmoid(logits)
    np.testing.assert_allclose(found[:2], np.exp(logits[:2]), rtol=1e-12)
    assert found[2:].tolist() == [0.5, 1.0, 1.0]
    assert sigmoid(np.array([-800.0])).tolist() == [0.0]


def test_a_prior_bounds_the_weight_of_a_score_of_few_pairs() -> None:
    random = np.random.default_rng(0)
    usual = random.normal(size=2000)
    true = random.random(2000) < sigmoid(usual - 3)
    rare = np.zeros(2000)
    rare[np.flatnonzero(true)[:3]] = 1.0  # true by chance
    (free, blown), _ = regression(np.stack([usual, rare]), true)
    (bound, kept), _ = regression(np.stack([usual, rare]), true, [1.0, 0.0])
    assert blown > 6 > 4 > kept > 0
    assert bound == pytest.approx(free, abs=0.1)


def test_a_prior_alone_decides_where_a_score_is_constant() -> None:
    scores = np.stack([np.array([0.0, 1.0, 2.0, 3.0]), np.ones(4)])
    weights, _ = regression(scores, np.array([False, True, False, True]), [0.5, 1.5])
    assert weights[1] == pytest.approx(1.5)
