from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
import pytest

import ontodex
from ontodex.geometry.cosine import unit
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph
from ontodex.storage import candidates as module
from ontodex.storage.candidates import (
    load_candidates,
    make_candidates,
    measure_recall,
    move_to_device,
)
from ontodex.storage.manifest import FileInfo, file_info

QUESTIONS = [
    ("dog", "lives in"),
    ("cat", "eats"),
    ("some beast", "is a"),
    ("young cow", "lives in"),
]


@pytest.fixture
def large(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """An index with a low threshold of large graphs."""
    monkeypatch.setattr("ontodex.indexers.store.EXACT_UP_TO", 50)
    path = tmp_path / "large.odx"
    training = ontodex.HyperCLTraining(
        steps=2, queries=32, negatives=8, rank=4, condition=8, width=16
    )
    ontodex.build(
        small_graph,
        path,
        encoders=[tiny_encoder],
        structure=False,
        hierarchy=False,
        training=training,
        device="cpu",
        entailment=False,
        quiet=True,
    ).close()
    return path


def test_a_large_graph_has_candidates_and_their_recall(large: Path) -> None:
    with (
        ontodex.open(large, device="cpu") as engine,
        ontodex.open(large, device="cpu", exact=True) as exact,
    ):
        index = engine.index
        assert {file for file in index.manifest.files if file.endswith(".faiss")} == {
            "text.faiss",
            "link.faiss",
        }
        for space in ("text", "link"):
            assert 0.9 < index.info()["spaces"][space]["recall@10"] <= 1
            assert index.candidates(space).ntotal == 60
            candidates = engine.resources.candidates
            assert candidates(space) is candidates(space)
            assert engine.searcher(space).approximate is not None
            assert exact.searcher(space).approximate is None
        assert index.verify() == []
        # Nothing is missed if all cells are searched for ten times as many candidates as answers.
        for head, relation in QUESTIONS:
            assert engine.tails(head, relation, k=5).hits == exact.tails(head, relation, k=5).hits
            assert engine.search(head, k=60).hits == exact.search(head, k=60).hits


def test_a_small_graph_has_none(small_index: Path) -> None:
    with ontodex.open(small_index, device="cpu") as engine:
        assert engine.resources.candidates("text") is None
        assert engine.index.info()["spaces"]["text"]["recall@10"] is None


@pytest.mark.parametrize(
    "what", ["missing", "empty", "cut", "garbage", "garbage of that length", "another length"]
)
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
        assert engine.resources.candidates("link").ntotal == 60
        assert engine.index.verify() == []
    assert file.read_bytes() == content
    assert not list(file.parent.glob("*.tmp"))


@pytest.mark.parametrize("writable", [True, False])
def test_a_changed_byte_in_the_cache_is_named_by_verify_and_never_used(
    large: Path, writable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = large / "gen-000001" / "text.faiss"
    content = file.read_bytes()
    middle = len(content) // 2
    file.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])

    def refuse(*_: object) -> None:
        raise RuntimeError("could not open for writing: Read-only file system")

    whole = faiss.deserialize_index(np.frombuffer(content, dtype=np.uint8))
    if not writable:
        monkeypatch.setattr(faiss, "write_index", refuse)
    named = [f"{file}: does not match its checksum (a cache: it is rebuilt when used)"]
    with ontodex.open(large, device="cpu") as engine:
        assert engine.index.verify() == named
        found, asked = engine.resources.candidates("text"), all_vectors(engine, "text")
        assert np.array_equal(found.search(asked, 60)[0], whole.search(asked, 60)[0])
        assert engine.index.verify() == ([] if writable else named)


def test_a_structure_made_anew_that_is_not_the_same_is_not_written_back(tmp_path: Path) -> None:
    vectors = Vectors([clustered(50, 8)])
    (tmp_path / "a.faiss").write_bytes(b"damaged")
    assert load_candidates(tmp_path / "a.faiss", FileInfo(7, "another"), vectors).ntotal == 50
    assert load_candidates(tmp_path / "none.faiss", None, vectors).ntotal == 50
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [
        ("a.faiss", b"damaged")
    ]


@pytest.mark.parametrize(
    ("device", "gpus", "moved"),
    [
        ("cpu", 2, False),
        ("mps", 2, False),
        ("cuda", 0, False),
        ("cuda", 2, None),
        ("cuda:1", 2, [1]),
    ],
)
def test_where_a_structure_is_placed(
    device: str, gpus: int, moved: list[int] | bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: gpus)
    monkeypatch.setattr(faiss, "index_cpu_to_gpus_list", lambda index, gpus: (index, gpus))
    index = make_candidates(Vectors([clustered(7, 8)]))
    assert move_to_device(index, device) == (index if moved is False else (index, moved))


def all_vectors(engine: ontodex.Engine, space: str) -> np.ndarray:
    return engine.index.vectors(space)[np.arange(60)]


def clustered(n: int, dim: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return unit(
        rng.normal(size=(40, dim))[rng.integers(40, size=n)] + 0.4 * rng.normal(size=(n, dim))
    )


def test_recall_is_what_brute_force_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROBES", 4)  # few, so that some answers are missed
    whole = clustered(3000, 16)
    vectors = Vectors([whole[:1000], whole[1000:1001], whole[1001:]])
    index = make_candidates(vectors)
    rows = np.linspace(0, 2999, 200).astype(np.int64)
    exact = np.argsort(-(whole[rows].astype(float) @ whole.T.astype(float)), axis=1, kind="stable")[
        :, :10
    ]
    _, found = index.search(whole[rows], 100)
    by_hand = np.mean(
        [
            len(set(wanted) & set(got)) / 10
            for wanted, got in zip(exact.tolist(), found.tolist(), strict=True)
        ]
    )
    assert measure_recall(index, vectors) == pytest.approx(by_hand, abs=1e-9)
    assert 0.5 < by_hand < 1


def test_candidates_are_the_same_each_time_and_load_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = Vectors([clustered(500, 16)])
    first, second = make_candidates(vectors), make_candidates(vectors)
    faiss.write_index(first, str(tmp_path / "a.faiss"))
    monkeypatch.setattr(module, "make_candidates", None)
    loaded = load_candidates(tmp_path / "a.faiss", file_info(tmp_path / "a.faiss"), vectors)
    asked = clustered(20, 16)
    for other in (second, loaded):
        assert all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(first.search(asked, 30), other.search(asked, 30), strict=True)
        )


@pytest.mark.parametrize("n", [1, 2, 7])
def test_very_few_vectors(n: int) -> None:
    vectors = Vectors([clustered(n, 8)])
    index = make_candidates(vectors)
    assert measure_recall(index, vectors) == 1.0
