from __future__ import annotations

import warnings

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.errors import CycleError
from ontodex.graph import GraphBuilder, Hierarchy, ReadWarning

LINKS = st.lists(
    st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda pair: pair[0] > pair[1]),
    max_size=30,
)


def made(links: list[tuple[int, int]], on_cycle: str = "raise") -> Hierarchy:
    pairs = np.array(links, dtype=np.int32).reshape(-1, 2)
    return Hierarchy(
        pairs[:, 0], pairs[:, 1], ids=[f"e{row}" for row in range(12)], on_cycle=on_cycle
    )


@settings(deadline=None)
@given(LINKS)
def test_like_networkx_on_random_dags(links: list[tuple[int, int]]) -> None:
    reference = networkx.DiGraph()
    reference.add_nodes_from(range(12))
    reference.add_edges_from(links)
    hierarchy = made(links)
    for row in range(12):
        above = networkx.descendants(reference, row)
        assert set(hierarchy.ancestors(row).tolist()) == above
        assert set(hierarchy.descendants(row).tolist()) == networkx.ancestors(reference, row)
        assert hierarchy.turned().ancestors(row).tolist() == hierarchy.descendants(row).tolist()
        for of in ("parents", "children", "ancestors"):
            one, many = getattr(hierarchy, of), getattr(hierarchy, f"{of}_of")
            owners, found = many(np.array([row, 0, row]))
            assert found[owners == 2].tolist() == one(row).tolist() == found[owners == 0].tolist()
            assert found[owners == 1].tolist() == one(0).tolist()
        roots = [node for node in above | {row} if reference.out_degree(node) == 0]
        assert hierarchy.depth[row] == min(
            networkx.shortest_path_length(reference, row, root) for root in roots
        )
    closure = {(a, b) for a in reference for b in networkx.descendants(reference, a)}
    assert {tuple(pair) for pair in hierarchy.indirect_subsumptions().tolist()} == closure - set(
        links
    )
    assert hierarchy.indirect_subsumptions().tolist() == sorted(
        hierarchy.indirect_subsumptions().tolist()
    )
    assert {tuple(link) for link in hierarchy.redundant_links().tolist()} == {
        (child, parent)
        for child, parent in links
        if any((child, other) in links and (other, parent) in closure for other in range(12))
    }
    rows = np.arange(12)
    table = hierarchy.is_ancestor(rows[:, None], rows[None])
    assert {(child, parent) for child, parent in np.argwhere(table).tolist()} == closure
    positions, siblings = hierarchy.siblings_of(rows[::-1])
    expected = [
        (11 - one, other)
        for one in range(11, -1, -1)
        for other in range(12)
        if other != one
        and any((one, parent) in links and (other, parent) in links for parent in range(12))
    ]
    assert list(zip(positions.tolist(), siblings.tolist(), strict=True)) == expected
    assert [
        (11 - one, other) for one in range(11, -1, -1) for other in hierarchy.siblings(one).tolist()
    ] == expected
    place = {row: at for at, row in enumerate(hierarchy.topological.tolist())}
    assert all(place[parent] < place[child] for child, parent in links)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=25))
def test_dropping_leaves_a_dag(links: list[tuple[int, int]]) -> None:
    hierarchy = made(links, "ignore")
    left = networkx.DiGraph([tuple(pair) for pair in hierarchy.links.tolist()])
    assert networkx.is_directed_acyclic_graph(left)
    assert bool(hierarchy.dropped) == (
        not networkx.is_directed_acyclic_graph(networkx.DiGraph(links))
    )


def test_a_cycle_is_listed() -> None:
    builder = GraphBuilder("circle")
    for child, parent in ("ab", "bc", "ca"):
        builder.triple(child, "is_a", parent)
    with pytest.raises(CycleError, match="a -> b -> c -> a") as error:
        builder.build().hierarchy()
    assert error.value.cycle == ("a", "b", "c", "a")
    with pytest.warns(
        ReadWarning, match=r"^circle: .*left out 1 link.*close one: c -> a; mend"
    ) as caught:
        assert builder.build().hierarchy(on_cycle="warn").dropped == ((2, 0),)
    assert (len(caught), caught[0].filename) == (1, __file__)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert builder.build().hierarchy(on_cycle="ignore").dropped == ((2, 0),)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=25),
    st.permutations(range(8)),
)
def test_what_is_left_out_does_not_hang_on_the_order_of_rows(
    links: list[tuple[int, int]], places: list[int]
) -> None:
    names = "abcdefgh"
    left = []
    for order in (list(range(8)), places):
        rows = np.array(
            [(order.index(child), order.index(parent)) for child, parent in links], dtype=np.int32
        )
        children, parents = rows.reshape(-1, 2).T
        ids = [names[number] for number in order]
        dropped = Hierarchy(children, parents, ids=ids, on_cycle="ignore").dropped
        left.append([(ids[child], ids[parent]) for child, parent in dropped])
    assert left[0] == left[1]


def test_nothing_is_said_of_a_hierarchy_without_cycles() -> None:
    builder = GraphBuilder("pets")
    builder.triple("dog", "is_a", "animal")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert builder.build().hierarchy(on_cycle="warn").dropped == ()


def test_nothing_is_above_anything_without_links() -> None:
    empty = made([])
    assert empty.indirect_subsumptions().shape == (0, 2)
    assert empty.redundant_links().shape == (0, 2)
    assert not empty.is_ancestor(np.arange(12)[:, None], np.arange(12)).any()
    assert [found.tolist() for found in empty.siblings_of(np.arange(12))] == [[], []]
    nobody = Hierarchy(np.zeros(0, np.int32), np.zeros(0, np.int32), ids=[])
    assert (len(nobody.subsumption_keys), len(nobody.indirect_subsumptions())) == (0, 0)


def test_keys_of_more_than_two_to_the_31() -> None:
    n = 70_000
    links = np.arange(n - 4, n - 1, dtype=np.int32)
    hierarchy = Hierarchy(links + 1, links, ids=[str(row) for row in range(n)])
    assert hierarchy.indirect_subsumptions().tolist() == [
        [n - 2, n - 4],
        [n - 1, n - 4],
        [n - 1, n - 3],
    ]
    assert hierarchy.is_ancestor(np.int32(n - 1), links).tolist() == [True, True, True]
    assert hierarchy.siblings_of(links + 1)[0].tolist() == []


def test_a_long_chain_is_closed() -> None:
    links = np.arange(500, dtype=np.int32)
    hierarchy = Hierarchy(links + 1, links, ids=[str(row) for row in range(501)])
    assert len(hierarchy.subsumption_keys) == 501 * 500 // 2
    assert np.array_equal(hierarchy.subsumption_keys, np.unique(hierarchy.subsumption_keys))


def test_many_ways_up_are_walked_once() -> None:
    depth = 60
    child = np.array([2 * level + one for level in range(depth) for one in (0, 1) for _ in (0, 1)])
    parent = np.array(
        [2 * (level + 1) + other for level in range(depth) for _ in (0, 1) for other in (0, 1)]
    )
    hierarchy = Hierarchy(child, parent, ids=[f"e{row}" for row in range(2 * depth + 2)])
    assert hierarchy.ancestors(0).tolist() == list(range(2, 2 * depth + 2))
    assert hierarchy.descendants(2 * depth).tolist() == list(range(2 * depth))
