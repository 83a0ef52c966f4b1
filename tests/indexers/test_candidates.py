from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
import pytest

import ontodex
from ontodex.geometry.cosine import unit
from ontodex.graph import KnowledgeGraph
from ontodex.indexers import build as build_module
from ontodex.indexers import candidates as module
from ontodex.indexers.candidates import load_candidates, make_candidates, measure_recall
from ontodex.indexers.vectors import Vectors

QUESTIONS = [("dog", "lives in"), ("cat", "eats"), ("some beast", "is a"), ("young cow", "lives in")]


@pytest.fixture
def large(tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index of a graph that counts as large."""
    monkeypatch.setattr(build_module, "EXACT_UP_TO", 50)
    path = tmp_path / "large.odx"
    training = ontodex.HyperCLTraining(steps=2, queries=32, negatives=8, rank=4, condition=8, width=16)
    ontodex.build(small_graph, path, encoders=[tiny_encoder], training=training, device="cpu", quiet=True).close()
    return path


def test_a_large_graph_has_candidates_and_their_recall(large: Path) -> None:
    with ontodex.open(large, device="cpu") as engine, ontodex.open(large, device="cpu", exact=True) as exact:
        index = engine.index
        assert {file for file in index.manifest.files if file.endswith(".faiss")} == {"text.faiss", "link.faiss"}
        for space in ("text", "link"):
            assert 0.9 < index.info()["spaces"][space]["recall@10"] <= 1
            assert index.candidates(space).ntotal == 60
            assert index.candidates(space) is index.candidates(space)
            assert engine.searcher(space).approximate is not None
            assert exact.searcher(space).approximate is None
        assert index.verify() == []
        # With every cell looked into, and ten times as many candidates as answers, nothing is missed.
        for head, relation in QUESTIONS:
            assert engine.tails(head, relation, k=5).hits == exact.tails(head, relation, k=5).hits
            assert engine.search(head, k=60).hits == exact.search(head, k=60).hits


def test_a_small_graph_has_none(small_index: Path) -> None:
    with ontodex.open(small_index, device="cpu") as engine:
        assert engine.index.candidates("text") is None
        assert engine.index.info()["spaces"]["text"]["recall@10"] is None


@pytest.mark.parametrize("what", ["missing", "empty", "cut", "garbage", "garbage of that length", "another length"])
def test_a_damaged_cache_is_made_anew(large: Path, what: str) -> None:
    with ontodex.open(large, device="cpu") as engine:
        wanted = [engine.tails(*question).hits for question in QUESTIONS]
    file = large / "gen-000001" / "link.faiss"
    content = file.read_bytes()
    damaged = {
        "empty": b"",
        "cut": content[: len(content) // 2],
        "garbage": b"garbage",
        "garbage of that length": b"x" * len(content),
        "another length": content + b"x",
    }
    file.unlink() if what == "missing" else file.write_bytes(damaged[what])
    with ontodex.open(large, device="cpu") as engine:
        assert [engine.tails(*question).hits for question in QUESTIONS] == wanted
        assert engine.index.candidates("link").ntotal == 60
        problems = engine.index.verify()
        assert len(problems) == 1
        assert str(file) in problems[0]


def test_a_changed_byte_in_the_cache_is_named_by_verify(large: Path) -> None:
    file = large / "gen-000001" / "text.faiss"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))
    with ontodex.open(large, device="cpu") as engine:
        assert engine.index.verify() == [f"{file}: does not fit its checksum (a cache: it is rebuilt when used)"]


def clustered(n: int, dim: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return unit(rng.normal(size=(40, dim))[rng.integers(40, size=n)] + 0.4 * rng.normal(size=(n, dim)))


def test_recall_is_what_brute_force_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROBES", 4)  # few, so that something is missed
    whole = clustered(3000, 16)
    vectors = Vectors([whole[:1000], whole[1000:1001], whole[1001:]])
    index = make_candidates(vectors)
    rows = np.linspace(0, 2999, 200).astype(np.int64)
    exact = np.argsort(-(whole[rows].astype(float) @ whole.T.astype(float)), axis=1, kind="stable")[:, :10]
    _, found = index.search(whole[rows], 100)
    by_hand = np.mean(
        [len(set(wanted) & set(got)) / 10 for wanted, got in zip(exact.tolist(), found.tolist(), strict=True)]
    )
    assert measure_recall(index, vectors) == pytest.approx(by_hand, abs=1e-9)
    assert 0.5 < by_hand < 1


def test_candidates_are_the_same_each_time_and_load_again(tmp_path: Path) -> None:
    vectors = Vectors([clustered(500, 16)])
    first, second = make_candidates(vectors), make_candidates(vectors)
    faiss.write_index(first, str(tmp_path / "a.faiss"))
    loaded = load_candidates(tmp_path / "a.faiss")
    asked = clustered(20, 16)
    for other in (second, loaded):
        assert all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(first.search(asked, 30), other.search(asked, 30), strict=True)
        )
    with pytest.raises(RuntimeError):
        load_candidates(tmp_path / "none.faiss")


@pytest.mark.parametrize("n", [1, 2, 7])
def test_very_few_vectors(n: int) -> None:
    vectors = Vectors([clustered(n, 8)])
    index = make_candidates(vectors)
    assert measure_recall(index, vectors) == 1.0
