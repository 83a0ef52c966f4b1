"""Benchmarks of architectures and of untrained answers: their splits and random draws."""

from __future__ import annotations

import dataclasses
from argparse import ArgumentParser, Namespace

import numpy as np

from benchmarks import architectures, link_ablation, zero_shot
from ontodex.graph import write_tsv


def test_strata_of_the_test_triples(small_graph):
    train = small_graph.triples
    backward, apart = train[:1, [2, 1, 0]], np.array([[0, 0, 0]], dtype=np.int32)
    other = train[1:2].copy()
    other[0, 1] = (other[0, 1] + 1) % small_graph.n_relations
    graph = dataclasses.replace(small_graph, test=np.concatenate([backward, other, apart]))
    ranks = {"tail": np.array([1.0, 2.0, 4.0]), "head": np.array([1.0, 4.0, 4.0])}
    found = link_ablation.strata(graph, ranks)
    assert found[link_ablation.REVERSED]["mrr"] == 1.0
    assert found["the pair is linked in train, the reverse triple is not there"]["mrr"] == 0.375
    assert found[link_ablation.NOT_LINKED]["mrr"] == 0.25
    shares = [found[name]["share of the test triples"] for name in list(found)[:3]]
    assert shares == [1 / 3] * 3
    kept, removed = link_ablation.reverses_of_held_out(graph)
    assert train[0].tolist() in removed.tolist()
    assert kept.n_triples + len(removed) == graph.n_triples


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
    for row in rows:
        figures = measured.figures[row]
        papers = figures[f"mrr, {link_ablation.CANDIDATE}"]
        assert 0 < papers <= figures["mrr"] <= 1


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
