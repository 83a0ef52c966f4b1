"""The benchmark of grounding: held-out synonyms, thresholds of the baselines, and its figures."""

from __future__ import annotations

import random

import numpy as np
import pytest

import ontodex
from benchmarks import ground


def test_synonyms_are_taken_out_once_per_entity(small_graph):
    fewer, hidden = ground.without_some(small_graph, 5, random.Random(0))
    assert len({row for _, row in hidden}) == len(hidden) == 5
    for name, row in hidden:
        assert {*fewer.synonyms[row]} == {*small_graph.synonyms[row]} - {name}


@pytest.mark.parametrize(
    ("rows", "scores", "expected"),
    [
        ([1, 2, 9, 5], [0.9, 0.8, 0.4, 0.3], 0.8),  # the third is wrong
        ([1, 2, 3, 5], [0.9, 0.8, 0.4, 0.7], 0.8),  # the fourth means nothing
        ([9, 9, 9, 5], [0.9, 0.8, 0.4, 0.3], float("inf")),
    ],
)
def test_the_threshold_of_a_baseline_has_the_wanted_shares(rows, scores, expected):
    texts = [("a", 1), ("b", 2), ("c", 3), ("d", -1)]
    found = np.array(rows), np.array(scores)
    assert ground._threshold([("mixed", texts, found, 0.0)]) == expected


def test_every_system_answers_every_kind(small_index):
    with ontodex.open(small_index, device="cpu") as engine:
        rows = {label: row for row, label in enumerate(engine.graph.labels)}
        kinds = {
            "synonyms": [(f"the {name}", rows[name]) for name in ("dog", "cat", "cow", "fox")],
            "misspelt": [("forrest", rows["forest"]), ("hoorse", rows["horse"])],
            "others": [("quarterly report", -1), ("accountant", -1)],
        }
        figures = ground._figures(engine, kinds)
    assert set(figures) == set(kinds)
    for kind, systems in figures.items():
        assert set(systems) == {"ground", "rapidfuzz", "cosine of names"}
        for values in systems.values():
            assert ("right" in values) == (kind != "others")
            assert 0 <= values["matched"] <= 1
    assert figures["misspelt"]["rapidfuzz"]["first right"] == 1
