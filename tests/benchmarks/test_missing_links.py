"""The benchmark of link discovery: missing links ranked by probability and by score."""

from __future__ import annotations

import dataclasses
from argparse import ArgumentParser, Namespace

import numpy as np
import pytest

from benchmarks import missing_links
from ontodex.graph import GraphBuilder, write_tsv
from ontodex.graph.known_links import KnownLinks


def test_every_way_is_measured(tmp_path, monkeypatch):
    builder = GraphBuilder("numbers")
    for number in range(120):
        for later in range(number + 1, number + 4):
            builder.triple(f"n{number}", "before", f"n{later % 120}")
            builder.triple(f"n{later % 120}", "after", f"n{number}")
    graph = builder.build()
    out = np.random.default_rng(0).random(graph.n_triples) < 0.1
    kept = {side: getattr(graph, side)[~out] for side in ("heads", "relations", "tails")}
    write_tsv(dataclasses.replace(graph, **kept, test=graph.triples[out]), tmp_path / "wn18rr")
    monkeypatch.setattr(missing_links, "FIRST", (5, 50))
    parser = ArgumentParser()
    missing_links.add_options(parser)
    options = Namespace(
        **vars(parser.parse_args(["--graph", "wn18rr"])), seed=0, quick=True, data=tmp_path
    )
    (measured,) = missing_links.run(options)
    assert list(measured.figures)[::2] == ["ontodex", "by the score of tails and heads"]
    for way, figures in measured.figures.items():
        shares = [figures[f"right of the first {n}"] for n in (5, 50)]
        assert all(0 <= share <= 1 for share in shares)
        assert ("seconds" in figures) == way.startswith("ontodex")
    assert measured.figures["ontodex"]["right of the first 50"] > 0.1


def test_the_best_links_by_score_are_named_once():
    links = KnownLinks(np.array([[0, 0, 1], [2, 0, 3]]), 4, 1)
    monotone = np.array([[0.0, 0.1, 0.2, 0.9]] * 4, dtype=np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(missing_links, "BEST", 2)
        best = missing_links._best(
            links, links.triples[:, :2], frozenset(), lambda rows, _: monotone[rows].copy()
        )
    triples = [(key // 16, key // 4 % 4, key % 4) for key in best.tolist()]
    assert triples[0] == (
        0,
        0,
        3,
    )  # as a tail of its head; for head 3, tail 2 is known and 3 is the head itself
    assert len(set(triples)) == len(triples)
    assert not {(0, 0, 1), (0, 2, 3)} & set(triples)
