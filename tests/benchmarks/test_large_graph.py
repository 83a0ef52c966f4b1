"""The benchmark of large graphs: a random graph, built and queried in separate processes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import ontodex
from benchmarks.large_graph import write_triples


def test_the_graph_is_that_of_the_seed_and_has_groups(tmp_path: Path) -> None:
    words = [f"word-{number}" for number in range(100)]
    made = []
    for seed in (0, 0, 1):
        write_triples(tmp_path / "made.tsv", words, 3000, 20_000, 5, seed)
        made.append((tmp_path / "made.tsv").read_text())
    assert made[0] == made[1] != made[2]
    graph = ontodex.read(tmp_path / "made.tsv")
    assert 2500 < graph.n_entities <= 3000
    assert 15_000 < graph.n_triples <= 20_000
    assert graph.n_relations == 5
    most, *_, least = sorted(np.bincount(graph.relations), reverse=True)
    assert most > 3 * least
    degrees = np.sort(np.bincount(graph.tails, minlength=graph.n_entities))[::-1]
    assert degrees[: len(degrees) // 10].sum() > 0.3 * graph.n_triples
