from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import auc, precision_recall_curve

from ontodex.errors import SettingsError
from ontodex.geometry.entailment import (
    Entailment,
    accuracy,
    area_under_precision_recall,
    fit_entailment,
)

PAIRS = st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=2, max_size=40).filter(
    lambda pairs: 0 < sum(label for _, label in pairs) < len(pairs)
)


@given(PAIRS)
def test_the_threshold_is_the_best_there_is(pairs):
    scores, labels = (
        np.array([score / 12 for score, _ in pairs]),
        np.array([label for _, label in pairs]),
    )
    rule = fit_entailment(scores, labels)
    tried = [np.mean((scores > at) == labels) for at in [-1.0, *(scores + 1e-9)]]
    assert accuracy(scores, labels, rule.threshold) == pytest.approx(max(tried))


@given(PAIRS)
def test_the_area_is_that_of_scikit_learn(pairs):
    scores, labels = (
        np.array([score / 12 for score, _ in pairs]),
        np.array([label for _, label in pairs]),
    )
    precision, recall, _ = precision_recall_curve(labels, scores)
    assert area_under_precision_recall(scores, labels) == pytest.approx(auc(recall, precision))


def test_the_probability_is_that_of_a_logistic_regression():
    rng = np.random.default_rng(0)
    scores = rng.random(4000)
    labels = rng.random(4000) < 1 / (1 + np.exp(-(12 * scores - 7)))
    rule = fit_entailment(scores, labels)
    wanted = (
        LogisticRegression(C=1e9).fit(scores[:, None], labels).predict_proba(scores[:, None])[:, 1]
    )
    np.testing.assert_allclose(rule.probability(scores), wanted, atol=2e-3)


@pytest.mark.parametrize(
    ("scores", "labels", "match"),
    [
        ([0.1, 0.2], [True, True], "all True"),
        (
            [0.1, np.nan],
            [True, False],
            "similarities: expected finite numbers, found nan for pair 1",
        ),
        ([0.1], [True, False], "one number for each label"),
        ([], [], "no pairs"),
    ],
)
def test_what_cannot_be_fitted_is_named(scores, labels, match):
    with pytest.raises(SettingsError, match=match):
        fit_entailment(scores, labels)


@pytest.mark.parametrize("values", [(np.nan, 1.0, 0.0), (0.5, 0.0, 0.0), (0.5, 1.0, np.inf)])
def test_a_rule_of_impossible_numbers_is_refused(values):
    with pytest.raises(SettingsError, match="fit the rule again"):
        Entailment(*values)
