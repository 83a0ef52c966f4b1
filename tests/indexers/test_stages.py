"""Builds in stages: what is published when, and what an unfinished index answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ontodex
from ontodex.errors import IndexFailure, IndexMismatch, SettingsError
from ontodex.graph import KnowledgeGraph
from ontodex.indexers import build as module
from ontodex.indexers.steps.embed_hierarchy import FitHierarchy
from ontodex.storage import generations
from ontodex.storage.index import Index
from tests.plain import build_plain

TRAINING = ontodex.HyperCLTraining(steps=4, queries=16, negatives=4, rank=2, condition=4, width=8)


@pytest.fixture
def build(
    small_graph: KnowledgeGraph,
    tiny_encoder: Path,
    tiny_hit: Path,
    tiny_gauss: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., ontodex.Engine]:
    monkeypatch.setattr(module, "STAGED_FROM", 0)

    def made(path: Path, **further: Any) -> ontodex.Engine:
        given = {"hierarchy": tiny_hit, "entailment": tiny_gauss, "train": True, **further}
        return build_plain(small_graph, path, tiny_encoder, training=TRAINING, **given)

    return made


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], list[str], list[str]]]:
    """Spaces, encoders and pending stages of each generation, as it is published."""
    seen = []
    publish = generations.publish

    def noted(index: Path, built: Path, generation: int) -> None:
        publish(index, built, generation)
        opened = Index.open(index)
        assert opened.verify() == []
        manifest = opened.manifest
        seen.append((list(manifest.spaces), list(manifest.encoders), manifest.pending))
        opened.close()

    monkeypatch.setattr(generations, "publish", noted)
    return seen


NAMES, SEARCH = ["name"], ["name", "text", "definition"]
LINKS = [*SEARCH, "link", "hybrid"]


def test_each_stage_of_a_first_build_is_published(
    build: Callable[..., ontodex.Engine], published: list[Any], tmp_path: Path
) -> None:
    build(tmp_path / "a.odx").close()
    every = [*LINKS, "hierarchy", "entailment"]
    assert published == [
        ([], [], ["search", "texts", "links", "hierarchy", "entailment"]),
        (NAMES, ["text"], ["texts", "links", "hierarchy", "entailment"]),
        (SEARCH, ["text"], ["links", "hierarchy", "entailment"]),
        (LINKS, ["text", "link"], ["hierarchy", "entailment"]),
        (every[:-1], ["text", "link", "hierarchy"], ["entailment"]),
        (every, ["text", "link", "hierarchy", "entailment"], []),
    ]
    assert sorted(entry.name for entry in (tmp_path / "a.odx").iterdir()) == [
        "CURRENT",
        "LOCK",
        "gen-000006",
    ]


def test_a_stage_in_front_is_published_first(
    build: Callable[..., ontodex.Engine], published: list[Any], tmp_path: Path
) -> None:
    with build(tmp_path / "a.odx", first="entailment") as engine:
        assert engine.entailed_by("a dog", k=1)
    assert [spaces for spaces, _, _ in published[1:]] == [
        NAMES,
        SEARCH,
        [*SEARCH, "entailment"],
        [*SEARCH, "entailment", "link", "hybrid"],
        [*SEARCH, "entailment", "link", "hybrid", "hierarchy"],
    ]
    assert published[3][2] == ["links", "hierarchy"]


def test_only_some_stages_are_built(
    build: Callable[..., ontodex.Engine], published: list[Any], tmp_path: Path
) -> None:
    with build(tmp_path / "a.odx", only="hierarchy") as engine:
        assert list(engine.index.manifest.spaces) == [*SEARCH, "hierarchy"]
        with pytest.raises(IndexMismatch, match="no entailment space; build it anew"):
            engine.entailed_by("a dog")
    with build(tmp_path / "b.odx", only=["search"]) as engine:
        assert list(engine.index.manifest.spaces) == SEARCH
        assert engine.index.manifest.encoders.keys() == {"text"}
    with pytest.raises(SettingsError, match="only: expected one of search, texts, links"):
        build(tmp_path / "c.odx", only=["serach"])
    with pytest.raises(SettingsError, match="first: expected one of search, texts, links"):
        build(tmp_path / "c.odx", first="parents")


def test_a_whole_index_is_replaced_at_the_end_alone(
    build: Callable[..., ontodex.Engine], published: list[Any], tmp_path: Path
) -> None:
    build(tmp_path / "a.odx").close()
    published.clear()
    build(tmp_path / "a.odx").close()
    assert [pending for _, _, pending in published] == [[]]


def test_the_stages_of_a_small_graph_are_not_published(
    build: Callable[..., ontodex.Engine],
    published: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "STAGED_FROM", 1000)
    build(tmp_path / "a.odx").close()
    assert [pending for _, _, pending in published] == [[]]


def test_an_unfinished_index_answers_what_is_done_and_says_when_the_rest_comes(
    build: Callable[..., ontodex.Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, messages = tmp_path / "a.odx", []
    publish, run = generations.publish, FitHierarchy.run

    def asked(index: Path, built: Path, generation: int) -> None:
        publish(index, built, generation)
        with ontodex.open(index, device="cpu") as engine:
            hits = engine.search("dog", k=2)
            assert hits[0].label == "dog"
            assert engine.complete("do")[0].name == "dog"
            messages.append(hits.method)
            if engine.index.manifest.pending:
                with pytest.raises(IndexMismatch) as caught:
                    engine.entailed_by("a dog")
                messages.append(str(caught.value).split("; ")[-1])

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(generations, "publish", asked)
    monkeypatch.setattr(FitHierarchy, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        build(path)
    assert messages[0] == "similarity of letters (trigrams); names and texts are not encoded yet"
    assert messages[2].endswith("of words; texts are not encoded yet")
    assert messages[4].endswith("of letters (trigrams) and of words")
    assert messages[1] == "the build is running"
    assert all(message.startswith("the build expects it at about ") for message in messages[3::2])
    assert len(messages) == 8
    with ontodex.open(path, device="cpu") as engine:
        assert engine.tails("dog", "is a", k=1)
        with pytest.raises(IndexMismatch, match="'hierarchy' of this index is not built yet; the"):
            engine.parents("a dog")
        with pytest.raises(IndexMismatch, match="stopped; start it again to go on"):
            engine.entailed_by("a dog")
    with pytest.raises(IndexFailure, match="found one whose build has stopped before hierarchy"):
        ontodex.remove("dog", path, device="cpu", quiet=True)
    monkeypatch.setattr(FitHierarchy, "run", run)
    messages.clear()
    with build(path) as engine:
        assert engine.index.manifest.pending == []
        assert engine.parents("a dog", k=1)
    assert len(messages) == 3  # hierarchy and entailment are published; search and links are there


def test_progress_names_the_stages_to_come(
    build: Callable[..., ontodex.Engine], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(tmp_path / "a.odx", quiet=False, train=False, only="hierarchy").close()
    lines = [line for line in capsys.readouterr().err.splitlines() if "ready after" in line]
    assert [line.split(" ready after ")[0] for line in lines] == [
        "names:",
        "search:",
        "texts:",
        "hierarchy:",
    ]
    assert "; to come: texts, hierarchy, about " in lines[1]
    assert "; to come: hierarchy, about " in lines[2]
    assert "to come" not in lines[0] + lines[3]


def test_a_build_that_is_likely_to_need_more_memory_than_is_free_says_so(
    build: Callable[..., ontodex.Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ontodex.indexers.memory.free_bytes", lambda: 1_000_000_000)
    with pytest.warns(UserWarning, match=r"take 1\.5 GB of memory, and 1\.0 GB are free"):
        build(tmp_path / "a.odx", only="search").close()


def test_an_index_that_is_being_written_is_told_from_one_that_is_not(tmp_path: Path) -> None:
    tmp_path.joinpath("a.odx").mkdir()
    assert not generations.is_written(tmp_path / "a.odx")
    with generations.writer(tmp_path / "a.odx"):
        found: list[bool] = []
        thread = threading.Thread(
            target=lambda: found.append(generations.is_written(tmp_path / "a.odx"))
        )
        thread.start()
        thread.join()
        assert found == [True]
