"""The benchmark of similarity under a condition: its table, and goals for figures in it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import pytest

from benchmarks import conditional
from benchmarks.record import make_record
from ontodex.graph import write_tsv

SEEN = {
    "hyper, low rank": 0.5,
    "hyper, full rank": 0.52,
    "hadamard": 0.2,
    "concat": 0.3,
    "bi-encoder": 0.6,
}


def options_of(*arguments: object) -> Namespace:
    parser = ArgumentParser()
    conditional.add_options(parser)
    return Namespace(**vars(parser.parse_args([*map(str, arguments)])), seed=0, quick=False)


@pytest.fixture
def farm(tmp_path, monkeypatch, small_graph):
    write_tsv(small_graph, tmp_path / "wn18rr")
    monkeypatch.setattr(
        conditional, "_untrained", lambda pairs: {"seen spearman, plain cosine": 0.0}
    )

    def figures(training, pairs):
        made = {
            "architecture": training.architecture,
            **({"rank": 0} if training.rank == 0 else {}),
        }
        (row,) = (name for name, settings in conditional.ROWS.items() if settings == made)
        return {
            "seen spearman": SEEN[row],
            "unseen conditions spearman": 0.44,
            "passes": training.epochs,
        }

    monkeypatch.setattr(conditional, "_figures", figures)
    return tmp_path


def test_every_goal_is_of_a_figure(farm):
    options = options_of("--graph", "wn18rr", "--tune", "full")
    options.data = farm
    (measured,) = conditional.run(options)
    goals = make_record(measured, "…")["goals"]
    assert set(measured.figures) == {"no training", *SEEN, "goals"}
    assert measured.figures["goals"][conditional.AHEAD.removeprefix("goals · ")] == pytest.approx(
        20
    )
    assert {name: goal["met"] for name, goal in goals.items()} == {
        conditional.AHEAD: True,
        conditional.SHARE: True,
        conditional.DROP: False,
    }


def test_a_frozen_encoder_leaves_the_bi_encoder_out(farm):
    options = options_of("--graph", "wn18rr")
    options.data = farm
    (measured,) = conditional.run(options)
    assert set(measured.goals) == {conditional.AHEAD, conditional.DROP}
    assert "bi-encoder" not in measured.figures


def test_rows_may_have_passes_of_their_own(farm):
    rows = ["--row", "hyper, full rank", "--row", "bi-encoder"]
    options = options_of("--graph", "wn18rr", "--tune", "full", *rows, "--epochs", 5, 2)
    options.data = farm
    (measured,) = conditional.run(options)
    assert [measured.figures[row]["passes"] for row in ("hyper, full rank", "bi-encoder")] == [5, 2]
    assert "hyper, full rank 5 times, bi-encoder 2 times" in measured.notes[0]


def test_passes_are_of_all_rows_or_of_each(farm):
    options = options_of("--graph", "wn18rr", "--epochs", 5, 2)
    options.data = farm
    with pytest.raises(SystemExit, match="one for each of 4 rows, found 2"):
        conditional.run(options)
