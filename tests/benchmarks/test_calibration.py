"""The benchmark of probabilities: its error, and that every kind of question is asked."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import calibration


def test_right_probabilities_have_no_error():
    random = np.random.default_rng(0)
    stated = random.uniform(0.05, 0.95, 20_000)
    right = random.uniform(size=len(stated)) < stated
    found = calibration.calibration_of(stated.tolist(), right.tolist())
    assert found["calibration error, ten bands"] < 0.01
    assert found["log loss"] < 0.9 * found["log loss of the share that is true"]
    halved = calibration.calibration_of((stated / 2).tolist(), right.tolist())
    assert halved["calibration error, ten bands"] == pytest.approx(0.25, abs=0.01)
    assert found["area under the ROC curve"] == pytest.approx(halved["area under the ROC curve"])


def test_answers_without_a_probability_are_counted_apart():
    found = calibration._figures([(None, True), (0.5, True), (0.5, False), (None, False)])
    assert (found["answers"], found["with a probability"], found["true"]) == (4, 0.5, 0.5)
    assert calibration._figures([(None, True)]) == {"answers": 1, "with a probability": 0}


def test_triples_are_held_out_once(small_graph):
    few = len(small_graph.triples) // 20
    graph, held_out = calibration._without_triples(small_graph, 100, np.random.default_rng(0))
    assert len(held_out) == few > 0
    assert len(graph.triples) == len(small_graph.triples) - few
    known = set(map(tuple, graph.triples.tolist()))
    assert not known & set(map(tuple, held_out.tolist()))
    assert known | set(map(tuple, held_out.tolist())) == set(
        map(tuple, small_graph.triples.tolist())
    )
