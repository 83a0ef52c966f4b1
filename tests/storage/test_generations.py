from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ontodex
from ontodex.errors import IndexDamaged, IndexFailure, IndexLocked
from ontodex.graph import KnowledgeGraph
from ontodex.storage import generations
from tests.plain import build_plain

HOLD = """
import sys
from pathlib import Path
from ontodex.storage import generations
with generations.writer(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_refused_with_the_first_named(
    own_index: Path, small_graph: KnowledgeGraph, tiny_encoder: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(own_index)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(
            IndexLocked, match=f"process {other.pid} is writing this index; wait for it to end"
        ):
            build_plain(small_graph, own_index, [tiny_encoder])
        with ontodex.open(own_index, device="cpu") as engine:  # readers are not disturbed
            assert engine.index.manifest.generation == 1
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert (own_index / "WRITER").exists()  # left by the killed writer, and harmless
    build_plain(small_graph, own_index, [tiny_encoder]).close()
    assert generations.current(own_index) == 2
    assert not (own_index / "WRITER").exists()


def test_a_second_writer_in_the_same_process(tmp_path: Path) -> None:
    locked = pytest.raises(IndexLocked, match=f"process {os.getpid()} is writing this index")
    with generations.writer(tmp_path / "a.odx"), locked, generations.writer(tmp_path / "a.odx"):
        pass
    with generations.writer(tmp_path / "a.odx"):
        pass


def test_a_path_that_cannot_be_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "a.odx"):
        with (
            pytest.raises(IndexFailure, match="expected a folder that can be written"),
            generations.writer(path),
        ):
            pass


def test_current(tmp_path: Path) -> None:
    with pytest.raises(
        IndexFailure,
        match=r"expected an index, found no such folder; make one with `ontodex build`",
    ):
        generations.current(tmp_path / "none")
    with pytest.raises(IndexFailure, match="found no CURRENT in it"):
        generations.current(tmp_path)
    for content in (
        b"",
        b"gen-1\n",
        b"gen-000001 x",
        b"../gen-000001",
        b"\xff\xfe\x00",
        b"gen-000001\ngen-000002",
    ):
        (tmp_path / "CURRENT").write_bytes(content)
        with pytest.raises(IndexDamaged, match="expected the name of a generation"):
            generations.current(tmp_path)
    (tmp_path / "CURRENT").write_bytes(b"gen-1234567\r\n")
    assert generations.current(tmp_path) == 1234567


def test_which_folders_are_indexes(tmp_path: Path) -> None:
    assert not generations.is_index(tmp_path)
    (tmp_path / "gen-000001.tmp").mkdir()
    assert generations.is_index(tmp_path)
    (tmp_path / "other").touch()
    assert not generations.is_index(tmp_path)
    (tmp_path / "LOCK").touch()
    assert generations.is_index(tmp_path)
    for content, answer in (("gen-000001\n", True), ("MANIFEST-000005\n", False), ("", False)):
        (tmp_path / "CURRENT").write_text(content)
        assert generations.is_index(tmp_path) is answer


def test_a_database_of_another_program_is_refused(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path
) -> None:
    for name, content in (
        ("CURRENT", "MANIFEST-000002\n"),
        ("LOCK", ""),
        ("000003.log", "x"),
    ):  # LevelDB
        (tmp_path / name).write_text(content)
    with pytest.raises(
        IndexFailure, match="expected an index or an empty folder, found other files"
    ):
        build_plain(small_graph, tmp_path, [tiny_encoder])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000003.log", "CURRENT", "LOCK"]


def make(index: Path, number: int) -> Path:
    folder = index / f"gen-{number:06d}.tmp"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    return folder


def test_publish_and_drop(tmp_path: Path) -> None:
    assert generations.next_number(tmp_path) == 1
    for number in (1, 2, 3):
        generations.publish(tmp_path, make(tmp_path, number), number)
        assert generations.current(tmp_path) == number
    held = generations.hold(generations.folder_of(tmp_path, 2))
    (tmp_path / "gen-000001x").mkdir()
    (tmp_path / "notes").mkdir()
    generations.drop_old(tmp_path, keep=3)
    names = {entry.name for entry in tmp_path.iterdir()}
    assert names == {"CURRENT", "gen-000001x", "notes", "gen-000002", "gen-000003"}
    assert generations.next_number(tmp_path) == 4
    held.close()
    generations.drop_old(tmp_path, keep=3)
    assert not generations.folder_of(tmp_path, 2).exists()


def test_two_holders_of_one_generation(tmp_path: Path) -> None:
    generations.publish(tmp_path, make(tmp_path, 1), 1)
    first, second = (generations.hold(generations.folder_of(tmp_path, 1)) for _ in range(2))
    first.close()
    generations.drop_old(tmp_path, keep=9)
    assert generations.folder_of(tmp_path, 1).exists()
    second.close()
    generations.drop_old(tmp_path, keep=9)
    assert not generations.folder_of(tmp_path, 1).exists()
    with pytest.raises(OSError, match="No such file"):
        generations.hold(generations.folder_of(tmp_path, 1))


def test_a_generation_removed_during_opening_is_an_error(
    own_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, folder = generations.fcntl.flock, generations.folder_of(own_index, 1)
    with generations.hold(folder):
        generations.drop_old(own_index, keep=2)
        assert (folder / "manifest.json").exists()

    def late(file: object, way: int) -> None:
        (folder / "manifest.json").unlink(
            missing_ok=True
        )  # as a writer may, between the reader's open and its lock
        lock(file, way)

    monkeypatch.setattr(generations.fcntl, "flock", late)
    with pytest.raises(FileNotFoundError, match="removed as it was opened"):
        generations.hold(folder)
