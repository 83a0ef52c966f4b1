"""Links that are put into a hierarchy and taken out of it, and what an audit finds of them."""

from __future__ import annotations

from argparse import ArgumentParser

import numpy as np

import ontodex
from benchmarks import audit
from ontodex.graph import Hierarchy


def test_links_are_put_in_and_taken_out_and_looked_for(monkeypatch, small_graph, tmp_path, tiny_encoder, tiny_hit):
    built = []

    def build(graph, *given, **named):
        built.append(graph)
        return ontodex_build(graph, *given, **named, encoders=tiny_encoder, hierarchy=tiny_hit, device="cpu")

    ontodex_build = ontodex.build
    monkeypatch.setattr(ontodex, "build", build)
    monkeypatch.setitem(audit.LOADERS, "doid-2016", lambda data: small_graph)
    monkeypatch.setattr(audit, "expect_data", lambda *_: None)
    parser = ArgumentParser()
    audit.add_options(parser)
    options = parser.parse_args(["--graph", "doid-2016"])
    options.data, options.seed, options.quick = tmp_path, 0, False
    (measured,) = audit.run(options)
    before, after = (
        {tuple(link) for link in graph.hierarchy(on_cycle="drop").links.tolist()} for graph in (small_graph, built[0])
    )
    assert len(after - before) == measured.settings["wrong"] > 0
    assert len(before - after) == measured.settings["taken out"]
    assert set(measured.figures) == {"audit", "audit, HiT alone"}
    for figures in measured.figures.values():
        assert 0 <= figures["doubtful, wrong of the first 500"] <= measured.settings["wrong"]
        assert figures["missing, taken out of the first 500"] <= figures["missing, ancestors of the first 500"]


def test_wrong_links_are_to_no_ancestor_and_taken_ones_leave_a_parent():
    rng = np.random.default_rng(0)
    children = np.concatenate([np.arange(3, 80), np.arange(40, 80)])
    hierarchy = Hierarchy(
        children, (rng.random(len(children)) * children / 2).astype(int), ids=[f"e{row}" for row in range(80)]
    )
    wrong, taken = audit._wrong(hierarchy, 10, rng), audit._taken(hierarchy, 10, rng)
    assert len(wrong) == len(taken) == 10
    for leaf, parent in wrong:
        assert not len(hierarchy.children(leaf))
        assert parent not in {leaf, *hierarchy.ancestors(leaf).tolist()}
    for child, parent in taken:
        assert parent in hierarchy.parents(child)
        assert len(hierarchy.parents(child)) > 1
