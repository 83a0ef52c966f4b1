"""The benchmark of unseen relations: relations left out of training, and queries with them."""

from __future__ import annotations

import dataclasses
from argparse import ArgumentParser, Namespace

import numpy as np

from benchmarks import unseen_relations
from benchmarks.zero_shot import KEPT
from ontodex.graph import write_tsv


def test_a_relation_left_out_is_untrained_but_known(small_graph):
    rare = small_graph.triples[:3]
    graph = dataclasses.replace(small_graph, valid=rare[:1], test=rare[1:])
    known, asked = unseen_relations.left_out(graph, 4, seed=0)
    gone = set(graph.triples[:, 1].tolist()) - set(known.triples[:, 1].tolist())
    assert len(gone) == 1
    assert set(asked.test[:, 1].tolist()) == gone
    assert (len(asked.test), len(known.valid), len(known.test)) == (4, 0, 0)
    assert {tuple(one) for one in known.triples.tolist()} <= {
        tuple(one) for one in asked.triples.tolist()
    }
    assert {tuple(one) for one in asked.valid.tolist()} == {tuple(one) for one in rare.tolist()}
    again = unseen_relations.left_out(graph, 4, seed=0)[1]
    assert np.array_equal(asked.test, again.test)


def test_every_way_is_measured(tmp_path, small_graph):
    write_tsv(small_graph, tmp_path / "fb15k-237")
    parser = ArgumentParser()
    unseen_relations.add_options(parser)
    options = Namespace(**vars(parser.parse_args([])), seed=0, quick=True, data=tmp_path)
    (measured,) = unseen_relations.run(options)
    assert list(measured.figures)[-1] == "trained on the others"
    assert all({*KEPT} <= of.keys() and 0 < of["mrr"] <= 1 for of in measured.figures.values())
