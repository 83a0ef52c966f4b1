from __future__ import annotations

import warnings

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.errors import CycleError
from ontodex.graph import GraphBuilder, Hierarchy, ReadWarning

LINKS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda pair: pair[0] > pair[1]), max_size=30)


def made(links: list[tuple[int, int]], on_cycle: str = "raise") -> Hierarchy:
    pairs = np.array(links, dtype=np.int32).reshape(-1, 2)
    return Hierarchy(pairs[:, 0], pairs[:, 1], ids=[f"e{row}" for row in range(12)], on_cycle=on_cycle)


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
        roots = [node for node in above | {row} if reference.out_degree(node) == 0]
        assert hierarchy.depth[row] == min(networkx.shortest_path_length(reference, row, root) for root in roots)
    closure = {(a, b) for a in reference for b in networkx.descendants(reference, a)}
    assert {tuple(pair) for pair in hierarchy.indirect_subsumptions().tolist()} == closure - set(links)
    place = {row: at for at, row in enumerate(hierarchy.topological.tolist())}
    assert all(place[parent] < place[child] for child, parent in links)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=25))
def test_dropping_leaves_a_dag(links: list[tuple[int, int]]) -> None:
    hierarchy = made(links, "drop")
    left = networkx.DiGraph([tuple(pair) for pair in hierarchy.links.tolist()])
    assert networkx.is_directed_acyclic_graph(left)
    assert bool(hierarchy.dropped) == (not networkx.is_directed_acyclic_graph(networkx.DiGraph(links)))


def test_a_cycle_is_listed() -> None:
    builder = GraphBuilder("circle")
    for child, parent in ("ab", "bc", "ca"):
        builder.triple(child, "is_a", parent)
    with pytest.raises(CycleError, match="a -> b -> c -> a") as error:
        builder.build().hierarchy()
    assert error.value.cycle == ("a", "b", "c", "a")
    with pytest.warns(ReadWarning, match=r"^circle: .*left out 1 link.*first c -> a") as caught:
        assert builder.build().hierarchy(on_cycle="drop").dropped == ((2, 0),)
    assert (len(caught), caught[0].filename) == (1, __file__)


def test_nothing_is_said_of_a_hierarchy_without_cycles() -> None:
    builder = GraphBuilder("pets")
    builder.triple("dog", "is_a", "animal")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert builder.build().hierarchy(on_cycle="drop").dropped == ()
