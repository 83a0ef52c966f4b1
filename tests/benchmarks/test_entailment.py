"""The benchmark of entailment, run on a few pairs in the layout of SNLI."""

from __future__ import annotations

import gzip
from argparse import ArgumentParser, Namespace

import numpy as np
import pytest

from benchmarks import entailment, entailment_search
from benchmarks.record import make_record

ANIMALS = ("dog", "cat", "cow", "wolf", "fox", "hen")
SICK = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\tentailment_AB\tentailment_BA\tSemEval_set\n"
)


def options_of(module, *arguments: object) -> Namespace:
    parser = ArgumentParser()
    module.add_options(parser)
    return Namespace(**vars(parser.parse_args([*map(str, arguments)])), seed=0, quick=True)


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "nli"
    folder.mkdir()
    rows = [
        (
            f"A {one} runs in a field.",
            f"A {other} runs.",
            "entailment" if one == other else "contradiction",
        )
        for one in ANIMALS
        for other in ANIMALS
    ]
    table = "premise\thypothesis\tlabel\n" + "".join("\t".join(row) + "\n" for row in rows)
    for name in (
        "snli_train_subset",
        "mnli_train_subset",
        "scitail_train_subset",
        "snli_dev",
        "snli_test",
    ):
        (folder / f"{name}.tsv.gz").write_bytes(gzip.compress(table.encode()))
    (folder / "mnli_dev_matched.tsv.gz").write_bytes(gzip.compress(table.encode()))
    verbs = {"entailment": ("entails", "neutral"), "contradiction": ("contradicts", "contradicts")}
    lines = [
        f"{at}\t{one}\t{two}\t{label.upper()}\tA_{verbs[label][0]}_B\tB_{verbs[label][1]}_A\t{part}\n"
        for part in ("TRAIN", "TEST")
        for at, (one, two, label) in enumerate(rows)
    ]
    (folder / "SICK.txt.gz").write_bytes(gzip.compress((SICK + "".join(lines)).encode()))
    return tmp_path


def test_every_kind_of_row_is_measured(data):
    options = options_of(
        entailment,
        "--epochs",
        "0.5",
        "--row",
        entailment.BEST,
        "--row",
        entailment.POINTS,
        "--row",
        entailment.BOX,
    )
    options.data = data
    (measured,) = entailment.run(options)
    figures = measured.figures
    assert set(figures) == {entailment.BEST, entailment.POINTS, entailment.BOX}
    assert all(
        set(row) == {"SNLI", "MNLI", "SICK", "mean accuracy", "mean direction.accuracy"}
        for row in figures.values()
    )
    assert figures[entailment.POINTS]["mean direction.accuracy"] == 0  # a cosine has no direction
    box = figures[entailment.BOX]
    assert min(box["mean accuracy"], box["mean direction.accuracy"]) > 0.9
    assert box["SNLI"]["direction.characters"] == box["SNLI"]["direction.words"] == 1.0
    assert set(make_record(measured, "…")["goals"]) == {
        f"{entailment.BEST} · mean accuracy",
        f"{entailment.BEST} · mean direction.accuracy",
    }


def test_the_search_is_measured_against_passes_and_goals_are_of_figures():
    (measured,) = entailment_search.run(options_of(entailment_search))
    record = make_record(measured, "…")
    for question in ("entailed by", "entailing"):
        assert record["goals"][f"{question}, batch 64 · equal to float64's, share"]["met"]
        among = measured.figures[
            f"{question}, the best by the mean over dimensions among so many by KL"
        ]
        assert np.all(np.diff(list(among.values())) >= 0)
