"""Tree layouts in the Poincaré disk."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.engine.plotting.hierarchy import geodesics, samples
from ontodex.engine.plotting.layout import DiskLayout, disk_layout
from ontodex.errors import SettingsError
from ontodex.graph import Hierarchy

READABLE = 0.055
"""Dots of 30 nodes are at least this far apart: 0.2 inches in a picture of 10."""


def made(links: list[tuple[int, int]], n: int) -> Hierarchy:
    pairs = np.array(links, dtype=np.int32).reshape(-1, 2)
    return Hierarchy(pairs[:, 0], pairs[:, 1], ids=[f"e{row}" for row in range(n)])


def random_tree(n: int, seed: int, spread: int = 12) -> Hierarchy:
    rng = np.random.default_rng(seed)
    return made(
        [(row, int(rng.integers(max(0, row // 2 - spread), row))) for row in range(1, n)], n
    )


def nearest(positions: np.ndarray) -> float:
    apart = np.hypot(*(positions[:, None] - positions[None]).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    return float(apart.min())


def check(hierarchy: Hierarchy, root: int, layout: DiskLayout) -> None:
    rows = layout.rows.tolist()
    assert rows[0] == root
    assert len(set(rows)) == len(rows) == len(layout.positions) == len(layout.kinds)
    assert layout.positions.dtype == np.float64
    assert np.array_equal(layout.positions[0], [0, 0])
    assert np.hypot(*layout.positions.T).max() < 1
    drawn = {(rows[child], rows[parent]) for child, parent in layout.edges.tolist()}
    asserted = {
        (child, parent)
        for child, parent in hierarchy.links.tolist()
        if {child, parent} <= set(rows)
    }
    assert drawn == asserted
    assert (layout.hangs_from[1:] < np.arange(1, len(rows))).all()
    above, below = (
        set(hierarchy.ancestors(root).tolist()),
        set(hierarchy.descendants(root).tolist()),
    )
    siblings = set(hierarchy.siblings(root).tolist()) - above - below
    kinds = {"ancestor": above, "descendant": below, "sibling": siblings, "entity": {root}}
    for row, kind in zip(rows, layout.kinds, strict=True):
        assert kind == "answer" or row in kinds[kind]
    assert layout.left_out == len((above | below | siblings | {root}) - set(rows))


LINKS = st.lists(
    st.tuples(st.integers(0, 24), st.integers(0, 24)).filter(lambda pair: pair[0] > pair[1]),
    max_size=60,
)


@settings(deadline=None, max_examples=60)
@given(LINKS, st.integers(0, 24), st.integers(1, 30))
def test_any_graph_is_laid_out_whole_or_up_to_the_limit(
    links: list[tuple[int, int]], root: int, limit: int
) -> None:
    hierarchy = made(links, 25)
    layout = disk_layout(hierarchy, root, limit=limit)
    check(hierarchy, root, layout)
    assert len(layout.rows) <= limit
    assert layout.left_out == 0 or len(layout.rows) == limit


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("root", [0, 3])
def test_thirty_nodes_are_readable(seed: int, root: int) -> None:
    layout = disk_layout(random_tree(30, seed), root)
    assert nearest(layout.positions) > READABLE


def test_a_star_and_a_chain_are_readable() -> None:
    star = disk_layout(made([(row, 0) for row in range(1, 30)], 30), 0)
    assert nearest(star.positions) > READABLE
    chain = disk_layout(made([(row, row - 1) for row in range(1, 16)], 16), 8)
    assert nearest(chain.positions) > READABLE


def test_links_get_shorter_outwards_and_ancestors_are_above() -> None:
    chain = disk_layout(made([(row, row - 1) for row in range(1, 10)], 10), 4)
    place = dict(zip(chain.rows.tolist(), chain.positions, strict=True))
    for way in ([4, 3, 2, 1, 0], [4, 5, 6, 7, 8, 9]):
        lengths = [np.hypot(*(place[row] - place[after])) for row, after in itertools.pairwise(way)]
        assert (np.diff(lengths) < 1e-9).all()
    assert all((place[row][1] > 0) == (row < 4) for row in range(10) if row != 4)


def test_several_parents_and_the_limit() -> None:
    links = [(3, 1), (3, 2), (1, 0), (2, 0), (4, 1), (4, 2), (5, 3), (6, 3), (6, 5)]
    hierarchy = made(links, 7)
    layout = disk_layout(hierarchy, 3)
    check(hierarchy, 3, layout)
    assert (len(layout.rows), len(layout.edges), layout.kinds.count("sibling")) == (7, 9, 1)
    few = disk_layout(hierarchy, 3, limit=3)
    assert (few.rows.tolist(), few.left_out) == ([3, 1, 5], 4)


def test_those_with_most_children_are_kept() -> None:
    hierarchy = made([(row, 0) for row in range(1, 9)] + [(9, 7), (10, 7), (11, 5)], 12)
    assert disk_layout(hierarchy, 0, limit=3).rows.tolist() == [0, 7, 5]


def test_answers_are_drawn_in_any_case() -> None:
    hierarchy = made([(1, 0), *((row, 1) for row in range(2, 12)), (13, 12)], 14)
    layout = disk_layout(hierarchy, 1, limit=5, more_parents=[12, 0], more_children=[11, 13])
    place = dict(zip(layout.rows.tolist(), layout.positions, strict=True))
    kinds = dict(zip(layout.rows.tolist(), layout.kinds, strict=True))
    assert set(place) == {0, 1, 11, 12, 13}
    assert (kinds[0], kinds[12], kinds[13]) == ("ancestor", "answer", "answer")
    assert place[12][1] > 0 > place[13][1]
    assert layout.left_out == 9


def test_one_node() -> None:
    layout = disk_layout(made([], 1), 0)
    assert (layout.rows.tolist(), layout.positions.tolist(), layout.edges.shape) == (
        [0],
        [[0.0, 0.0]],
        (0, 2),
    )


def test_three_thousand_nodes_quickly_and_always_alike() -> None:
    hierarchy = random_tree(4000, 0, spread=200)
    start = time.process_time()
    layout = disk_layout(hierarchy, 0)
    assert time.process_time() - start < 10
    assert (len(layout.rows), layout.left_out) == (3000, 1000)
    assert np.hypot(*layout.positions.T).max() < 1
    assert nearest(layout.positions) > 0.002
    again = disk_layout(random_tree(4000, 0, spread=200), 0)
    assert np.array_equal(layout.positions, again.positions)


@pytest.mark.parametrize(
    ("root", "more", "limit"), [(-1, [], 9), (5, [], 9), (0, [7], 9), (0, [], 0), (0, [1], 1)]
)
def test_what_cannot_be_drawn(root: int, more: list[int], limit: int) -> None:
    with pytest.raises(SettingsError, match="expected"):
        disk_layout(made([(1, 0)], 5), root, limit=limit, more_parents=more)


POINT = st.tuples(st.floats(0, 0.98), st.floats(0, 2 * np.pi))


@given(POINT, POINT)
def test_curves_are_geodesics(start: tuple[float, float], end: tuple[float, float]) -> None:
    ends = [
        np.array([[radius * np.cos(angle), radius * np.sin(angle)]])
        for radius, angle in (start, end)
    ]
    points = samples(geodesics(*ends), 21)
    assert np.allclose(points[[0, -1]], np.concatenate(ends))

    def distance(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        rims = (1 - (left**2).sum(-1)) * (1 - (right**2).sum(-1))
        return 2 * np.arcsinh(np.sqrt(((left - right) ** 2).sum(-1) / rims))

    whole = distance(*ends)[0]
    by_way = distance(points, ends[0]) + distance(points, ends[1])
    assert (by_way <= whole + 0.02 * (1 + whole)).all()
