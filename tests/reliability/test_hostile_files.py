"""Hostile files are read or refused in 5 s and 500 MB; nothing is fetched or printed raw."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ontodex
from tests.plain import build_plain
from tests.reliability.hostile_files import REFUSED, hostile_files
from tests.shell import run_ontodex

SECONDS = 5
MEGABYTES = 500
SECRET = "the secret of the house"


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    """A server that hostile files refer to; any connection to it is recorded."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def test_a_hostile_file_is_refused_soon_and_says_why(
    tmp_path: Path,
    listener: socket.socket,
    run_script: Callable[..., Any],
    figures: Callable[..., None],
) -> None:
    (tmp_path / "secret.txt").write_text(SECRET)
    here = {
        b"PORT": str(listener.getsockname()[1]).encode(),
        b"SECRET": f"file://{tmp_path}/secret.txt".encode(),
    }
    paths, wanted = [], []
    for name, make, expected in hostile_files():
        content = make()
        for word, meant in here.items():
            content = content.replace(word, meant) if len(content) < 1000 else content
        paths.append(tmp_path / name)
        paths[-1].write_bytes(content)
        wanted.append(expected)
    found = run_script("read_one.py", *paths)
    wrong = []
    for path, expected, came in zip(paths, wanted, found, strict=True):
        fits = (
            expected in came["outcome"]
            and SECRET not in came["outcome"]
            and not came["outcome"].startswith("died")
        )
        if not fits or came["cpu"] > SECONDS or came["memory"] > MEGABYTES:
            wrong.append((path.name, expected, came))
    assert not wrong, "\n".join(map(str, wrong))
    with pytest.raises(BlockingIOError):
        listener.accept()
    figures(
        "hostile files",
        files=len(found),
        refused=sum(came["outcome"].startswith(REFUSED) for came in found),
        seconds=round(max(came["cpu"] for came in found), 1),
        megabytes=round(max(came["memory"] for came in found)),
    )


def test_the_file_name_inside_a_gzip_file_is_ignored(tmp_path: Path) -> None:
    with (
        (tmp_path / "a.tsv.gz").open("wb") as raw,
        gzip.GzipFile("../../owned.tsv", "wb", fileobj=raw) as file,
    ):
        file.write(b"a\tr\tb\n")
    assert ontodex.read(tmp_path / "a.tsv.gz").n_triples == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tsv.gz"]
    assert not any((tmp_path / up / "owned.tsv").exists() for up in ("..", "../.."))


STEERING = "\x1b[2J\x9b31m\u202eevil"


@pytest.fixture(scope="module")
def steering_index(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    """Index of a graph whose labels, synonyms and definitions would clear the screen."""
    folder = tmp_path_factory.mktemp("steering")
    (folder / "a.obo").write_text(
        f'format-version: 1.4\n\n[Term]\nid: A:1\nname: {STEERING}\ndef: "{STEERING}" []\n'
        f'synonym: "{STEERING} too" EXACT []\n\n[Term]\nid: A:2\nname: dog\nis_a: A:1\n',
        encoding="utf-8",
    )
    build_plain(
        ontodex.read(folder / "a.obo", on_error="skip"), folder / "a.odx", [tiny_encoder]
    ).close()
    return folder / "a.odx"


@pytest.mark.parametrize("form", [[], ["--json"], ["--tsv"]])
@pytest.mark.parametrize(
    "question", [["search", STEERING], ["tails", "A:2", "is_a"], ["tails", "A:9", "is_a"], ["info"]]
)
def test_terminal_control_characters_are_not_printed_raw(
    steering_index: Path, question: list[str], form: list[str]
) -> None:
    if question == ["info"] and form:
        form = []
    command, *rest = question
    _, stdout, stderr = run_ontodex([command, steering_index, *rest, *form])
    said = stdout + stderr
    assert said
    assert all(letter.isprintable() or letter in "\n\t" for letter in said), repr(said)


def test_a_fault_in_a_file_is_not_printed_raw(tmp_path: Path) -> None:
    for name, content in {
        "a.tsv": f"a\tr\tb\n{STEERING}\n",
        "a.obo": f"format-version: 1.4\n\n[Term]\nid: A:1\n{STEERING}: x\nis_a: {STEERING}\n",
        "a.ttl": f"<http://a> {STEERING} <http://b> .\n",
        "a.nt": f"{STEERING}\n",
        "a.json": f'{{"graphs": [{{"nodes": [1, "{STEERING[-4:]}"], "edges": []}}]}}',
    }.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        status, _, stderr = run_ontodex(
            ["build", tmp_path / name, "-o", tmp_path / "x.odx", "--on-error", "raise"]
        )
        assert status == 1, stderr
        assert all(letter.isprintable() or letter in "\n\t" for letter in stderr), stderr
