"""The benchmark of search under a condition, run on a small graph."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import pytest

from benchmarks import conditional_search
from benchmarks.record import make_record


def test_it_runs_and_answers_are_exact():
    parser = ArgumentParser()
    conditional_search.add_options(parser)
    (measured,) = conditional_search.run(
        Namespace(**vars(parser.parse_args([])), seed=0, quick=True)
    )
    goals = make_record(measured, "…")["goals"]
    assert goals["recall of the exact ten"]["met"]
    assert goals["of the paper's two float32 factors"]["met"]
    assert measured.figures["of the paper's two float32 factors"] == pytest.approx(0.205, abs=0.01)
