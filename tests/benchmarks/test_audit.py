"""The benchmark of audits: links added to and removed from a hierarchy, and which are found."""

from __future__ import annotations

import numpy as np

from benchmarks import audit
from ontodex.graph import Hierarchy


def test_links_are_put_in_and_taken_out_and_looked_for(measured_on, small_graph):
    measured, built = measured_on(audit, small_graph)
    before, after = (
        {tuple(link) for link in graph.hierarchy(on_cycle="warn").links.tolist()}
        for graph in (small_graph, built[0])
    )
    assert len(after - before) == measured.settings["wrong"] > 0
    assert len(before - after) == measured.settings["taken out"]
    assert set(measured.figures) == {"audit", "audit, HiT alone"}
    for figures in measured.figures.values():
        assert 0 <= figures["doubtful, wrong of the first 500"] <= measured.settings["wrong"]
        assert (
            figures["missing, taken out of the first 500"]
            <= figures["missing, ancestors of the first 500"]
        )


def test_wrong_links_are_to_no_ancestor_and_taken_ones_leave_a_parent():
    rng = np.random.default_rng(0)
    children = np.concatenate([np.arange(3, 80), np.arange(40, 80)])
    hierarchy = Hierarchy(
        children,
        (rng.random(len(children)) * children / 2).astype(int),
        ids=[f"e{row}" for row in range(80)],
    )
    wrong, taken = audit._wrong(hierarchy, 10, rng), audit._taken(hierarchy, 10, rng)
    assert len(wrong) == len(taken) == 10
    for leaf, parent in wrong:
        assert not len(hierarchy.children(leaf))
        assert parent not in {leaf, *hierarchy.ancestors(leaf).tolist()}
    for child, parent in taken:
        assert parent in hierarchy.parents(child)
        assert len(hierarchy.parents(child)) > 1
