"""Relation prediction: what the table shows beside ontodex."""

from __future__ import annotations

import json
from argparse import ArgumentParser

import pytest

import ontodex
from benchmarks import relations
from benchmarks.record import RESULTS
from ontodex.graph import write_tsv


@pytest.mark.parametrize("name", relations.GRAPHS)
def test_the_record_has_what_is_published_and_says_which_baseline_is_ahead(name) -> None:
    record = json.loads((RESULTS / f"relations-{name}.json").read_text(encoding="utf-8"))
    figures = record["figures"]
    assert relations._published(name).items() <= figures.items()
    assert record["notes"] == relations._notes(figures)
    ahead = [
        (kind, way)
        for kind in (relations.KNOWN, relations.ONE_NEW, relations.BOTH_NEW)
        for way in (relations.TEXTS, relations.COUNTS)
        if figures[f"{kind} · {way} · mrr"] > figures[f"{kind} · {relations.OURS} · mrr"]
    ]
    said = [note for note in record["notes"] if "has a better MRR than ontodex" in note]
    assert len(said) == len(ahead)
    for note, (kind, way) in zip(said, ahead, strict=True):
        assert note.startswith(f"{kind}: ")
        assert f"“{way}”" in note


def test_every_way_is_measured(tmp_path, small_graph, tiny_encoder, monkeypatch) -> None:
    write_tsv(small_graph, tmp_path / "wn18rr")
    build = ontodex.build
    monkeypatch.setattr(
        ontodex, "build", lambda *given, **named: build(*given, **named, encoders=tiny_encoder)
    )
    parser = ArgumentParser()
    relations.add_options(parser)
    options = parser.parse_args(["--graph", "wn18rr"])
    options.data, options.seed, options.quick = tmp_path, 0, True
    [measured] = relations.run(options)
    assert relations._published("wn18rr").items() <= measured.figures.items()
    for kind in (relations.KNOWN, relations.ONE_NEW, relations.BOTH_NEW):
        for way in (relations.OURS, relations.TEXTS, relations.COUNTS):
            assert 0 < measured.figures[f"{kind} · {way} · mrr"] <= 1
