"""The benchmark of candidates for link weights: fitted and ranked on halves of validation."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import numpy as np
import pytest

import ontodex
from benchmarks import link_weights
from benchmarks.link_ablation import CANDIDATE
from ontodex.graph import GraphBuilder, write_tsv
from ontodex.graph.subgraph import with_triples


@pytest.fixture
def split():
    """A ring of entities, with triples for validation and for the test."""
    builder = GraphBuilder("numbers")
    for number in range(120):
        for later in range(number + 1, number + 4):
            builder.triple(f"n{number}", "before", f"n{later % 120}")
            builder.triple(f"n{later % 120}", "after", f"n{number}")
    whole = builder.build()
    drawn = np.random.default_rng(0).permutation(whole.triples)
    return with_triples(whole, drawn[80:], drawn[:60], drawn[60:80])


def test_every_row_is_ranked_without_the_test(tmp_path, split, tiny_encoder, monkeypatch) -> None:
    link_ranks, ranked = link_weights.Refitting.ranks, []

    def ranks(self, features, graph, *, split, itself):
        ranked.append((split, graph.valid))
        return link_ranks(self, features, graph, split=split, itself=itself)

    load = link_weights.TextEncoder.load
    monkeypatch.setattr(link_weights.TextEncoder, "load", lambda: load(tiny_encoder))
    monkeypatch.setattr(link_weights.Refitting, "ranks", ranks)
    write_tsv(split, tmp_path / "wn18rr")
    graph = ontodex.read(tmp_path / "wn18rr")
    parser = ArgumentParser()
    link_weights.add_options(parser)
    options = Namespace(
        **vars(parser.parse_args(["--graph", "wn18rr", "--keep", str(tmp_path / "kept")])),
        seed=0,
        quick=True,
        data=tmp_path,
    )
    (measured,) = link_weights.run(options)
    assert {split for split, _ in ranked} == {"valid"}
    halves = {tuple(map(tuple, valid.tolist())) for _, valid in ranked}
    assert sorted(row for half in halves for row in half) == sorted(
        map(tuple, graph.valid.tolist())
    )
    assert list(measured.figures) == list(link_weights.ROWS)
    first, *others = measured.figures.values()
    assert 0 < first[f"mrr, {CANDIDATE}"] <= first["mrr"] <= 1
    for row in others:
        assert row["gain"] == pytest.approx(first["mrr"] - row["mrr"])
        assert row["gain, standard error"] >= 0
    monkeypatch.setattr(link_weights, "train_hyper_cl", None)  # what was kept is not learnt again
    monkeypatch.setattr(link_weights, "train_complex", None)
    again = next(link_weights.run(options))
    assert again.figures == measured.figures
    assert again.settings["learnt in an earlier run"] == list(link_weights.FILES)
    assert measured.settings["learnt in an earlier run"] == []


def test_with_loops_the_asked_entity_is_a_candidate_and_nothing_else_changes(split) -> None:
    looped = link_weights._with_loops(split)
    assert looped.reflexive == frozenset(range(split.n_relations))
    added = looped.triples[split.n_triples :]
    assert not np.isin(added[:, 0], split.valid[:, [0, 2]]).any()
    np.testing.assert_array_equal(looped.triples[: split.n_triples], split.triples)


def test_the_gain_is_a_mean_of_differences_with_its_standard_error() -> None:
    found = {"one": {"": np.array([1.0, 0.5, 0.25])}, "two": {"": np.array([0.5, 0.5, 0.25])}}
    figures = link_weights._figures(found)
    assert figures["one"] == {"mrr": pytest.approx(1.75 / 3)}
    assert figures["two"]["gain"] == pytest.approx(0.5 / 3)
    assert figures["two"]["gain, standard error"] == pytest.approx(np.sqrt(1 / 12) / np.sqrt(3))


def test_gains_of_more_than_two_standard_errors_are_named() -> None:
    row = {"mrr": 0.5, "gain": 0.01, "gain, standard error": 0.004}
    assert link_weights._verdict({"one": {"mrr": 0.51}, "two": row}).endswith(
        ": two, gain: +0.0100 ± 0.0040."
    )
    assert link_weights._verdict({"two": {**row, "gain": 0.007}}).endswith("none of the gains.")
