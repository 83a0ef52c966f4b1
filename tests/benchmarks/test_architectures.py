"""Benchmarks of architectures and of untrained answers: their splits and random draws."""

from __future__ import annotations

import dataclasses
from argparse import ArgumentParser, Namespace

import numpy as np

from benchmarks import architectures, zero_shot
from ontodex.graph import write_tsv


def test_test_pairs_are_split_by_what_train_links_either_way_round(small_graph):
    backward = small_graph.triples[:3, [2, 1, 0]]
    apart = np.array([[0, 0, 0]], dtype=np.int32)
    graph = dataclasses.replace(small_graph, test=np.concatenate([backward, apart]))
    linked, others = architectures._by_link(graph)
    assert linked.test.tolist() == backward.tolist()
    assert others.test.tolist() == apart.tolist()
    assert (
        len(linked.valid) + len(linked.test)
        == len(others.valid) + len(others.test)
        == len(graph.valid) + 4
    )


def test_every_row_is_trained_and_ranked(tmp_path, small_graph, monkeypatch, tiny_encoder):
    write_tsv(dataclasses.replace(small_graph, test=small_graph.test[:4]), tmp_path / "wn18rr")
    parser = ArgumentParser()
    architectures.add_options(parser)
    options = Namespace(
        **vars(parser.parse_args(["--graph", "wn18rr"])), seed=0, quick=True, data=tmp_path
    )
    (measured,) = architectures.run(options)
    rows = [name for name in architectures.ROWS if name != "bi-encoder"]
    assert [name for name in measured.figures if name in architectures.ROWS] == rows
    assert all(0 < measured.figures[row]["mrr"] <= 1 for row in rows)


def test_relation_phrases_are_drawn_by_seed_and_read_like_names():
    names = [["member of"], ["dog"], ["eat food"], ["event"]]
    drawn = [
        zero_shot.relation_phrases(
            names, [["they", "went", "home"]], 300, np.random.default_rng(seed)
        )
        for seed in (0, 0)
    ]
    assert drawn[0] == drawn[1]
    assert {"member of", "dog", "has dog", "went home"} <= set(drawn[0])
