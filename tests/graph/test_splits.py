from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.errors import GraphError, SettingsError
from ontodex.graph import GraphBuilder, KnowledgeGraph, split
from tests.graph_strategies import graphs, says


@settings(deadline=None, max_examples=60)
@given(graphs(), st.integers(0, 3))
def test_nothing_is_lost_and_nothing_is_unseen(graph: KnowledgeGraph, seed: int) -> None:
    made = split(graph, valid=0.3, test=0.3, seed=seed)
    before, after = says(graph), says(made)
    parts = [after["known"], after["valid"], after["test"]]
    assert set.union(*parts) == before["known"]
    assert sum(map(len, parts)) == len(before["known"])
    seen = {
        name
        for head, relation, tail in after["known"]
        for name in (("e", head), ("r", relation), ("e", tail))
    }
    for head, relation, tail in after["valid"] | after["test"]:
        assert {("e", head), ("r", relation), ("e", tail)} <= seen
    assert split(graph, valid=0.3, test=0.3, seed=seed).fingerprint == made.fingerprint


def dense() -> KnowledgeGraph:
    builder = GraphBuilder("dense")
    for head in range(20):
        for tail in range(20):
            builder.triple(str(head), "near", str(tail))
    return builder.build()


def test_sizes_and_seeds() -> None:
    graph = dense()
    made = split(graph, valid=0.1, test=0.2)
    assert (made.n_triples, len(made.valid), len(made.test)) == (280, 40, 80)
    assert made.fingerprint != split(graph, valid=0.1, test=0.2, seed=1).fingerprint
    assert split(graph, valid=0, test=0).fingerprint == graph.fingerprint


def test_refusals() -> None:
    with pytest.raises(GraphError, match="split already"):
        split(split(dense()))
    for valid, test in ((-0.1, 0.1), (0.5, 0.5), (float("nan"), 0.1)):
        with pytest.raises(SettingsError):
            split(dense(), valid=valid, test=test)
