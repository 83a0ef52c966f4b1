"""Imports of the benchmarks, which are not installed, from the root of the project."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest

import ontodex

sys.path.append(str(Path(__file__).resolve().parents[2]))


@pytest.fixture
def measured_on(monkeypatch, tmp_path, tiny_encoder, tiny_hit):
    """Run a benchmark of untrained hierarchies with tiny encoders; return builds and figures."""
    from benchmarks import untrained

    built = []
    ontodex_build = ontodex.build

    def build(graph, *given, **named):
        built.append(graph)
        return ontodex_build(
            graph, *given, **named, encoders=tiny_encoder, hierarchy=tiny_hit, device="cpu"
        )

    def measured_on(benchmark, graph, *arguments):
        monkeypatch.setattr(ontodex, "build", build)
        monkeypatch.setitem(untrained.LOADERS, "doid-2016", lambda data: graph)
        monkeypatch.setattr(untrained, "expect_data", lambda *_: None)
        parser = ArgumentParser()
        benchmark.add_options(parser)
        options = parser.parse_args(["--graph", "doid-2016", *arguments])
        options.data, options.seed, options.quick = tmp_path, 0, False
        (measured,) = benchmark.run(options)
        return measured, built

    return measured_on
