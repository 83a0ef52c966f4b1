"""The benchmark of audits: links added to and removed from a hierarchy, and which are found."""

from __future__ import annotations

import numpy as np

from benchmarks import audit
from ontodex.graph import GraphBuilder, Hierarchy


def test_links_are_replaced_and_taken_out_and_looked_for(measured_on, small_graph):
    measured, built = measured_on(audit, small_graph)
    before, after = (
        {tuple(link) for link in graph.hierarchy(on_cycle="warn").links.tolist()}
        for graph in (small_graph, built[0])
    )
    wrong, taken = measured.settings["wrong"], measured.settings["taken out"]
    assert len(after - before) == wrong > 0
    assert len(before - after) == wrong + taken
    assert set(measured.figures) == {"audit", "audit, HiT alone", *audit.BASELINES}
    assert 0 <= measured.settings["wrong, outside triangles"] <= wrong
    for way, figures in measured.figures.items():
        assert 0 <= figures["doubtful, wrong of the first 500"] <= wrong
        assert (
            figures["doubtful, wrong outside triangles of the first 500"]
            <= figures["doubtful, wrong of the first 500"]
        )
        if "check" not in way:
            assert (
                figures["missing, taken out of the first 500"]
                + figures["missing, replaced of the first 500"]
                <= figures["missing, ancestors of the first 500"]
            )


def of_links(*links):
    children, parents = np.array(links).T
    return Hierarchy(children, parents, ids=[f"e{row}" for row in range(np.max(links) + 1)])


def test_a_wrong_link_replaces_one_of_a_leaf_and_taken_ones_leave_a_parent():
    rng = np.random.default_rng(0)
    children = np.concatenate([np.arange(3, 80), np.arange(40, 80)])
    hierarchy = Hierarchy(
        children,
        (rng.random(len(children)) * children / 2).astype(int),
        ids=[f"e{row}" for row in range(80)],
    )
    replaced = audit._replaced(hierarchy, 10, rng)
    changed = {leaf for leaf, _ in replaced}
    assert len(replaced) == len(changed) == 10
    for (leaf, right), (same, parent) in replaced.items():
        assert leaf == same
        assert not len(hierarchy.children(leaf))
        assert right in hierarchy.parents(leaf)
        assert parent not in {leaf, *hierarchy.ancestors(leaf).tolist()}
    taken = audit._taken(hierarchy, 10, rng, changed)
    assert len(taken) == 10
    for child, parent in taken:
        assert child not in changed
        assert parent in hierarchy.parents(child)
        assert len(hierarchy.parents(child)) > 1
    several = sum(len(hierarchy.parents(row)) > 1 for row in range(80) if row not in changed)
    assert len(audit._taken(hierarchy, 80, rng, changed)) == (several + 1) // 2


def test_the_redundancy_check_finds_triangles():
    hierarchy = of_links((1, 0), (2, 1), (3, 2), (3, 0), (3, 4))
    assert audit._redundant(hierarchy) == ([(3, 0)], [(3, 2)])
    assert audit._redundant(of_links((1, 0), (2, 0), (3, 1), (3, 2))) == ([], [])


def test_a_parent_that_no_neighbour_has_is_doubted_first():
    builder = GraphBuilder("pets")
    for name in ("red dog", "blue dog", "green dog", "grey dog"):
        builder.triple(name, "is_a", "canine" if name != "grey dog" else "tool")
    builder.triple("hammer", "is_a", "tool")
    graph = builder.build()
    hierarchy = graph.hierarchy()
    doubtful, missing = audit._by_votes(graph, hierarchy)
    row = {name: at for at, name in enumerate(graph.ids)}
    assert doubtful[0] == (row["grey dog"], row["tool"])
    assert missing[0] == (row["grey dog"], row["canine"])


def test_links_of_children_with_several_parents_are_counted():
    hierarchy = of_links((1, 0), (2, 0), (3, 1), (3, 2))
    assert audit._of_several(hierarchy, {(3, 2), (1, 0)}) == {
        "links of children with several parents": 2,
        "wrong, of children with several parents": 1,
    }
