"""Damaged indexes: an error that names the damage, never a crash or a wrong answer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ontodex
from ontodex.encoders.locate import fingerprint
from ontodex.errors import IndexDamaged, IndexFailure, IndexMismatch
from ontodex.storage import blobs, manifest
from ontodex.storage.index import Index
from ontodex.storage.manifest import file_info
from tests.plain import build_plain


def generation(index: Path) -> Path:
    return index / (index / "CURRENT").read_text().strip()


def edit_manifest(index: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change a manifest and make its checksum fit again."""
    path = generation(index) / "manifest.json"
    content = json.loads(path.read_text())
    del content["blake2b"]
    change(content)
    path.write_text(json.dumps({"blake2b": manifest._digest(content), **content}))


def flip_in(path: Path, content: bytes) -> None:
    """Change one byte in the middle of some contents of a file, in all copies of its page."""
    middle = len(content) // 2
    changed = content[:middle] + bytes([content[middle] ^ 0x40]) + content[middle + 1 :]
    whole = path.read_bytes()
    assert content in whole
    path.unlink()  # a new file, as another test may have mapped the old one
    path.write_bytes(whole.replace(content, changed))


def test_every_file_cut_short_is_named_on_opening(own_index: Path) -> None:
    folder = generation(own_index)
    names = [*json.loads((folder / "manifest.json").read_text())["files"], "manifest.json"]
    assert {
        "store.mdb",
        "encoders/text/model.safetensors",
        "encoders/link/hyper_cl/config.json",
    } < set(names)
    for name in names:
        whole = (folder / name).read_bytes()
        for length in {0, 1, len(whole) // 2, len(whole) - 1}:
            (folder / name).write_bytes(whole[:length])
            with pytest.raises(IndexDamaged, match=f"{name}: expected"):
                Index.open(own_index)
        (folder / name).unlink()
        with pytest.raises(IndexDamaged, match=f"{name}: expected|expected the live generation"):
            Index.open(own_index)
        (folder / name).write_bytes(whole)
    with ontodex.open(own_index, device="cpu") as engine:
        assert engine.index.verify() == []


def test_a_flipped_byte_in_a_small_blob_is_found_by_asking(
    own_index: Path, small_index: Path
) -> None:
    with ontodex.open(small_index, device="cpu") as engine:
        labels = engine.graph.labels.data.tobytes()
        vectors = engine.index.vectors("text").shards[0].tobytes()
    flip_in(generation(own_index) / "store.mdb", vectors)
    with (
        ontodex.open(own_index, device="cpu") as engine,
        pytest.raises(IndexDamaged, match="blob 'text/vectors/0' does not match its checksum"),
    ):
        engine.search("ex:dog")
    flip_in(generation(own_index) / "store.mdb", labels)  # a small blob, in a page with others
    with pytest.raises(
        IndexDamaged, match=r"store\.mdb: the pages around its large blobs do not match"
    ):
        ontodex.open(own_index)


def test_a_flipped_byte_in_a_large_blob_is_named_by_verify(
    own_index: Path, small_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ontodex.open(small_index, device="cpu") as engine:
        vectors = engine.index.vectors("link").shards[0].tobytes()
    monkeypatch.setattr(blobs, "CHECKED_ON_READ", 1000)
    flip_in(generation(own_index) / "store.mdb", vectors)
    with ontodex.open(own_index, device="cpu") as engine:
        found = engine.index.verify()
    assert len(found) == 2
    assert "store.mdb: does not match its checksum" in found[0]
    assert "blob 'link/vectors/0' does not match its checksum" in found[1]


def test_verify_names_every_changed_or_missing_file(own_index: Path) -> None:
    folder = generation(own_index)
    names = [
        name
        for name in json.loads((folder / "manifest.json").read_text())["files"]
        if name != "store.mdb"
    ]
    with ontodex.open(own_index, device="cpu") as engine:
        for name in names:
            content = (folder / name).read_bytes()
            (folder / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
            assert engine.index.verify() == [f"{folder / name}: does not match its checksum"]
            (folder / name).unlink()
            assert engine.index.verify() == [f"{folder / name}: missing"]
            (folder / name).write_bytes(content)


def test_verify_finds_numbers_that_are_not_finite(
    own_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ontodex.open(own_index, device="cpu") as engine:
        engine.index.vectors("text").shards[0] = np.full((60, 32), np.nan, dtype=np.float32)
        assert [problem.split(": ", 1)[1] for problem in engine.index.verify()] == [
            "space 'text' has vectors that are not valid in its geometry"
        ]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'"x"', b"null", b"{}", b"\xff\xfe", b'{"blake2b": 1}']
)
def test_a_manifest_that_is_none(own_index: Path, content: bytes) -> None:
    (generation(own_index) / "manifest.json").write_bytes(content)
    with pytest.raises(IndexDamaged, match=r"manifest\.json"):
        Index.open(own_index)


def test_a_manifest_of_a_newer_version(own_index: Path) -> None:
    edit_manifest(own_index, lambda content: content.update(format=99, news={"a": 1}))
    with pytest.raises(
        IndexMismatch, match=r"has format 99, this version reads up to \d+; update ontodex"
    ):
        Index.open(own_index)


def as_development_version(content: dict[str, Any]) -> None:
    """Change a manifest to the last format before the first release."""
    del content["kind"]
    content.update(format=12)


def test_an_index_of_a_development_version_is_refused(own_index: Path) -> None:
    edit_manifest(own_index, as_development_version)
    with pytest.raises(
        IndexFailure, match=r"made by a development version \(format 12\); build it anew"
    ):
        Index.open(own_index)
    with pytest.raises(IndexFailure, match="made by a development version"):
        ontodex.remove(["ex:dog"], own_index, device="cpu", quiet=True)


def test_an_index_of_a_development_version_is_built_anew_in_its_place(
    own_index: Path, small_graph: Any, tiny_encoder: Path
) -> None:
    edit_manifest(own_index, as_development_version)
    with build_plain(small_graph, own_index, [tiny_encoder]) as engine:
        assert engine.index.manifest.generation == 2
        assert engine.index.verify() == []
    assert [entry.name for entry in own_index.glob("gen-*")] == ["gen-000002"]


def test_a_manifest_of_another_kind(own_index: Path) -> None:
    edit_manifest(own_index, lambda content: content.update(kind="another"))
    with pytest.raises(IndexDamaged, match="kind: expected 'ontodex index', found 'another'"):
        Index.open(own_index)


def test_a_damaged_kind_is_no_development_version(own_index: Path) -> None:
    path = generation(own_index) / "manifest.json"
    path.write_text(path.read_text().replace('"kind"', '"kinf"'))
    with pytest.raises(IndexDamaged, match="the manifest does not match its checksum"):
        Index.open(own_index)


def test_an_index_of_a_newer_version_is_not_replaced(
    own_index: Path, small_graph: Any, tiny_encoder: Path
) -> None:
    edit_manifest(own_index, lambda content: content.update(format=99))
    (own_index / "gen-000002.tmp").mkdir()
    (own_index / "gen-000002.tmp" / "job.json").write_text('{"job": "of the newer version"}')
    with pytest.raises(IndexMismatch, match="has format 99"):
        build_plain(small_graph, own_index, [tiny_encoder])
    with pytest.raises(IndexMismatch, match="has format 99"):
        ontodex.remove(["ex:dog"], own_index, device="cpu", quiet=True)
    assert sorted(entry.name for entry in own_index.glob("gen-*")) == [
        "gen-000001",
        "gen-000002.tmp",
    ]
    assert (own_index / "gen-000002.tmp" / "job.json").exists()
    assert (own_index / "CURRENT").read_text() == "gen-000001\n"


def test_a_manifest_with_an_unknown_key(own_index: Path) -> None:
    edit_manifest(own_index, lambda content: content.update(spases={}))
    with pytest.raises(IndexDamaged, match="unknown setting 'spases'; did you mean 'spaces'"):
        Index.open(own_index)


def test_a_manifest_that_lacks_a_part(own_index: Path) -> None:
    edit_manifest(own_index, lambda content: content.pop("graph"))
    with pytest.raises(IndexDamaged, match=r"manifest\.json.*'graph'"):
        Index.open(own_index)


def test_a_manifest_that_was_edited(own_index: Path) -> None:
    path = generation(own_index) / "manifest.json"
    path.write_text(path.read_text().replace('"dim": 32', '"dim": 33'))
    with pytest.raises(
        IndexDamaged, match="the manifest does not match its checksum; build the index anew"
    ):
        Index.open(own_index)


def test_current_names_what_is_not_there(own_index: Path) -> None:
    (own_index / "CURRENT").write_text("gen-000007\n")
    with pytest.raises(
        IndexDamaged,
        match="gen-000007: expected the live generation that CURRENT names, found none",
    ):
        Index.open(own_index)
    (own_index / "CURRENT").write_bytes(b"\x00garbage")
    with pytest.raises(IndexDamaged, match="CURRENT: expected the name of a generation"):
        Index.open(own_index)
    (own_index / "CURRENT").unlink()
    with pytest.raises(IndexFailure, match="found no CURRENT in it"):
        Index.open(own_index)


def test_an_index_that_cannot_be_opened_holds_nothing(own_index: Path) -> None:
    store = generation(own_index) / "store.mdb"
    whole = store.read_bytes()
    store.write_bytes(whole[:-1])
    with pytest.raises(IndexDamaged) as caught:
        Index.open(own_index)
    from ontodex.storage import generations

    assert generations._dropped(generation(own_index) / "manifest.json")
    assert "store.mdb" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"), [({"dim": 33}, "33 dimensions"), ({"rows": 61}, "61 vectors")]
)
def test_manifest_and_store_contradict_each_other(
    own_index: Path, change: dict[str, int], message: str
) -> None:
    edit_manifest(own_index, lambda content: content["spaces"]["text"].update(change))
    with ontodex.open(own_index, device="cpu") as engine:
        with pytest.raises(IndexMismatch, match=f"{message}.*the store holds 60 of 32|{message}"):
            engine.search("dog")
        assert any(message in problem for problem in engine.index.verify())


def test_an_encoder_of_the_same_length_was_put_in_its_place(own_index: Path) -> None:
    weights = generation(own_index) / "encoders" / "text" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(bytes(content))
    with ontodex.open(own_index, device="cpu") as engine:
        assert len(engine.tails("dog", "lives in"))  # needs no encoder
        with pytest.raises(
            IndexMismatch, match=r"encoders.text: not the encoder that the index was built with"
        ):
            engine.search("some words")


def test_a_hypernetwork_of_the_same_length_was_put_in_its_place(own_index: Path) -> None:
    weights = generation(own_index) / "encoders" / "link" / "hyper_cl" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(bytes(content))
    with ontodex.open(own_index, device="cpu") as engine:
        assert len(engine.tails("dog", "lives in"))
        with pytest.raises(
            IndexMismatch, match=r"encoders.link: not the encoder that the index was built with"
        ):
            engine.tails("dog", "some relation")


def test_an_encoder_of_another_dimension(own_index: Path, other_encoder: Path) -> None:
    folder = generation(own_index) / "encoders" / "text"
    shutil.rmtree(folder)
    shutil.copytree(other_encoder, folder)
    with pytest.raises(IndexDamaged, match="encoders/text/"):
        Index.open(own_index)

    def change(content: dict[str, Any]) -> None:
        for name in [name for name in content["files"] if name.startswith("encoders/text/")]:
            del content["files"][name]
        for file in folder.rglob("*"):
            if file.is_file():
                info = file_info(file)
                content["files"][file.relative_to(generation(own_index)).as_posix()] = vars(info)
        content["encoders"]["text"]["fingerprint"] = fingerprint(folder)

    edit_manifest(own_index, change)
    with (
        ontodex.open(own_index, device="cpu") as engine,
        pytest.raises(
            IndexMismatch,
            match="vectors of 32 dimensions, its encoder makes 16; build the index anew",
        ),
    ):
        engine.search("some words")


def test_a_space_or_encoder_that_the_index_does_not_have(own_index: Path) -> None:
    with (
        ontodex.open(own_index, device="cpu") as engine,
        pytest.raises(IndexMismatch, match="no space 'ball'; it has name, text, definition, link"),
    ):
        engine.index.vectors("ball")
