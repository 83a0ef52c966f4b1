"""The benchmark of small hierarchies: how parts are drawn, and how ranks are counted."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import small_hierarchies
from ontodex.engine.results.hits import Hit
from ontodex.graph import GraphBuilder


@pytest.fixture(scope="module")
def tree():
    builder = GraphBuilder("tree")
    for number in range(1, 400):
        builder.triple(f"n{number}", "is_a", f"n{number // 3}")
    return builder.build()


def links(graph):
    return {(graph.ids[head], graph.ids[tail]) for head, _, tail in graph.triples.tolist()}


def test_parts_are_small_and_of_the_hierarchy(tree):
    random = np.random.default_rng(0)
    parts = [small_hierarchies._part(tree, tree.hierarchy(), random) for _ in range(20)]
    assert all(8 <= part.n_entities <= 47 and links(part) <= links(tree) for part in parts)
    assert len({part.fingerprint for part in parts}) == 20
    assert all(len({parent for _, parent in links(part)}) >= 3 for part in parts)


def test_each_part_is_built_and_asked(measured_on, tree):
    measured, built = measured_on(small_hierarchies, tree, "--parts", "2")
    assert len(built) == 2
    ways = ("parents", "parents, HiT alone", "children", "children, HiT alone")
    assert tuple(measured.figures) == ways
    for way in ways:
        assert 0 < measured.figures[way]["MRR of the best direct answer"] <= 1


def test_the_rank_is_that_of_the_best_direct_answer(tree):
    rows = np.array([tree.ids.index(name) for name in ("n3", "n4", "n9")])
    answers = [
        [Hit(name, name, 0.0, False) for name in names]
        for names in (("n0", "n1"), ("n1", "n0"), ("n0",))
    ]
    found = small_hierarchies._ranks(tree, tree.hierarchy(), rows, answers)
    assert found == {
        "MRR of the best direct answer": pytest.approx(0.5),
        "hits@1": pytest.approx(1 / 3),
    }
