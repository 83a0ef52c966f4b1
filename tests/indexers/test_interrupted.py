"""Killed builds: the next build continues with the vectors and encoders already made."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ontodex.encoders import text as text_encoder
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.hypernetwork import HyperNetwork, LinkNetworkSettings
from ontodex.encoders.index_encoders import Encoders, StoredEncoders
from ontodex.encoders.text import TextEncoder
from ontodex.graph import GraphBuilder, KnowledgeGraph, entity_names, entity_texts, write_tsv
from ontodex.indexers.build import build_index
from ontodex.indexers.embed import embed
from ontodex.readers import read
from ontodex.storage.index import Index
from tests.plain import build_plain


@pytest.fixture(scope="module")
def new_graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another graph as a file, for the process that is killed and for this one."""
    builder = GraphBuilder("new")
    for number in range(70):
        builder.triple(f"animal {number % 7} wild {number}", "is_a", f"animal {number % 7}")
    path = tmp_path_factory.mktemp("new") / "new.tsv"
    write_tsv(builder.build(), path)
    return path


@pytest.fixture(scope="module")
def workplace(
    tmp_path_factory: pytest.TempPathFactory, new_graph: Path, tiny_encoder: Path
) -> Path:
    """Folder with an index whose build was killed after four chunks of eight texts."""
    folder = tmp_path_factory.mktemp("interrupted")
    script = Path(__file__).with_name("killed_build.py")
    places = filter(None, (os.environ.get("PYTHONPATH"), str(Path(__file__).parents[2])))
    done = subprocess.run(
        [sys.executable, str(script), str(folder), str(tiny_encoder), str(new_graph)],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(places)},
    )
    assert done.returncode == -9, done.stderr[-3000:]
    return folder


def test_an_interrupted_build_goes_on_where_it_was(
    workplace: Path,
    new_graph: Path,
    tiny_encoder: Path,
    monkeypatch: pytest.MonkeyPatch,
    encoded: list[str],
) -> None:
    resumed = workplace / "resumed.odx"
    assert [entry.name for entry in resumed.glob("*.tmp")] == ["build.tmp"]
    monkeypatch.setattr(text_encoder, "CHUNK", 8)
    graph = read(new_graph)
    with build_plain(graph, resumed, tiny_encoder) as engine:
        assert len(encoded) == graph.n_entities - 4 * 8
        found = engine.index.vectors("text")[np.arange(graph.n_entities)]
        assert engine.index.verify() == []
    encoded.clear()
    with build_plain(graph, workplace / "whole.odx", tiny_encoder) as engine:
        assert len(encoded) == graph.n_entities
        assert np.array_equal(engine.index.vectors("text")[np.arange(graph.n_entities)], found)


def test_an_interrupted_build_of_something_else_is_begun_anew(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path, encoded: list[str]
) -> None:
    left = tmp_path / "a.odx" / "build.tmp"
    left.mkdir(parents=True)
    (tmp_path / "a.odx" / "LOCK").touch()
    for content in ('{"job": "another"}', "{", "[]", ""):
        (left / "job.json").write_text(content)
        (left / "text.json").write_text('{"chunks": 1, "job": "another"}')
        (left / "junk").write_text("x")
        interrupted(build_plain, small_graph, tmp_path / "a.odx", tiny_encoder)
        assert set(entity_texts(small_graph)) <= set(encoded)
        assert not (left / "junk").exists()
        encoded.clear()


@pytest.mark.parametrize(
    "journal", ["", "{", "[]", '{"chunks": 1}', '{"chunks": 1, "job": "another"}']
)
def test_a_journal_that_says_nothing_or_of_other_texts_is_not_believed(
    tmp_path: Path,
    small_graph: KnowledgeGraph,
    tiny_encoder: Path,
    encoded: list[str],
    journal: str,
) -> None:
    index = tmp_path / "a.odx"
    interrupted(build_plain, small_graph, index, tiny_encoder)
    (index / "build.tmp" / "name.json").write_text(journal)
    encoded.clear()
    build_plain(small_graph, index, tiny_encoder).close()
    assert set(entity_names(small_graph).texts) <= set(encoded)


def test_vectors_of_other_texts_are_not_taken_up(tmp_path: Path, tiny_encoder: Path) -> None:
    encoder, file = TextEncoder(tiny_encoder, "cpu"), tmp_path / "text.vectors"
    embed(["dog", "cat"], encoder, file, quiet=True)
    again = embed(["dog", "a cat"], encoder, file, quiet=True)
    np.testing.assert_allclose(again, encoder.encode(["dog", "a cat"]), atol=1e-6)


def test_a_trained_encoder_with_a_text_encoder_of_its_own_is_taken_up_whole(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path, other_encoder: Path
) -> None:
    """As after ``tune="full"``: the trained text encoder is not that of the text space."""
    trained = []

    def train(graph: KnowledgeGraph, text: TextEncoder, embeddings: Any, folder: Path) -> HyperCL:
        import torch

        trained.append(folder)
        TextEncoder(other_encoder, "cpu").save(folder)
        torch.manual_seed(0)
        made = HyperCL(
            TextEncoder(folder, "cpu"), HyperNetwork(LinkNetworkSettings(dim=16, rank=4))
        )
        made.save(folder)
        return made

    def make(path: Path) -> np.ndarray:
        build_index(
            small_graph, path, Encoders(TextEncoder(tiny_encoder, "cpu")), train=train, quiet=True
        )
        index = Index.open(path)
        assert index.verify() == []
        vectors = index.vectors("link")[np.arange(60)]
        encoder = StoredEncoders(index, "cpu").link
        assert encoder.text.fingerprint == TextEncoder(other_encoder, "cpu").fingerprint
        assert np.allclose(
            encoder.projections(["is a"]).left[0], index.projections.left[0], atol=1e-4
        )
        index.close()
        return vectors

    whole = make(tmp_path / "whole.odx")
    assert whole.shape == (60, 16)
    interrupted(make, tmp_path / "resumed.odx")
    assert np.array_equal(make(tmp_path / "resumed.odx"), whole)
    assert len(trained) == 2


def interrupted(action: Callable[..., object], *arguments: object) -> None:
    """Build, and interrupt after encoding and training."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ontodex.indexers.build.write_store", interrupt)
        with pytest.raises(KeyboardInterrupt):
            action(*arguments)


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is encoded."""
    return count_encoded(monkeypatch)


def count_encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []
    encode: Callable[..., Any] = TextEncoder._encode_unique

    def counted(self: TextEncoder, unique: list[str]) -> Any:
        texts.extend(unique)
        return encode(self, unique)

    monkeypatch.setattr(TextEncoder, "_encode_unique", counted)
    return texts
