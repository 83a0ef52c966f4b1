"""A pytest plugin that copies the sources that tests read, for ``answers.py --sources``.

It wraps ``ontodex.read`` and copies every file or folder that a test gives to it, with the keyword
arguments, into the folder that the environment variable ``GOLDEN_SOURCES`` names::

    GOLDEN_SOURCES=sources python -m pytest -p tests.golden.collect_sources tests/graph/readers

The folder must not exist. ``index.json`` in it lists the calls: ``test``, ``sources`` (paths
relative to the folder) and ``settings``. Equal calls are listed once. Calls with a source in
memory, with settings that JSON cannot hold, or with more than 4 MB of files are left out. The
plugin adds a frame to the call stack, so three tests of the line that a warning is attributed to
fail under it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import ontodex

FOLDER = Path(os.environ["GOLDEN_SOURCES"])
MOST_BYTES = 4_000_000
MOST_CALLS = 40
"""Most calls of one test; a test with hypothesis makes many."""

calls: dict[str, dict[str, Any]] = {}
copied: dict[str, int] = {}
reading = 0


def record(sources: tuple[Any, ...], settings: dict[str, Any]) -> None:
    """Copy the sources of one call, unless they are in memory, too large, or copied already."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if not all(isinstance(one, str | Path) for one in sources) or copied.get(test, 0) >= MOST_CALLS:
        return
    try:
        paths, stated = [Path(one) for one in sources], json.dumps(settings, sort_keys=True)
        digest = digest_of(paths, stated)
    except (TypeError, OSError, ValueError):
        return
    if digest is None or digest in calls:
        return
    folder = FOLDER / f"{len(calls):04}"
    copies = [folder / str(number) / path.resolve().name for number, path in enumerate(paths)]
    for path, copy in zip(paths, copies, strict=True):
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, copy, symlinks=True)
        elif path.exists():
            shutil.copyfile(path, copy)
    copied[test] = copied.get(test, 0) + 1
    calls[digest] = {
        "test": test,
        "sources": [str(copy.relative_to(FOLDER)) for copy in copies],
        "settings": settings,
    }


def digest_of(paths: list[Path], stated: str) -> str | None:
    """Return a hash of names, contents and settings; ``None`` if the files are too large."""
    digest, size = hashlib.blake2b(stated.encode(), digest_size=16), 0
    for path in paths:
        for file in [path, *sorted(path.rglob("*"))] if path.is_dir() else [path]:
            digest.update(f"\n{path.name}/{file.relative_to(path)}\n".encode())
            if not file.is_file():
                continue
            size += file.stat().st_size
            if size > MOST_BYTES:
                return None
            digest.update(file.read_bytes())
    return digest.hexdigest()


def wrapped(read: Any) -> Any:
    """Return a function that reads as ``ontodex.read``, and records outermost calls."""

    @functools.wraps(read)
    def recording(source: Any, *more: Any, **settings: Any) -> Any:
        global reading
        if not reading:
            record((source, *more), settings)
        reading += 1
        try:
            return read(source, *more, **settings)
        finally:
            reading -= 1

    return recording


def pytest_configure() -> None:
    """Replace ``ontodex.read`` by the wrapped function in all modules that import it."""
    FOLDER.mkdir(parents=True)
    original = ontodex.read
    recording = wrapped(original)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "ontodex" and vars(module).get("read") is original:
            vars(module)["read"] = recording


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write ``index.json``."""
    text = json.dumps([*calls.values()], ensure_ascii=False, indent=1)
    (FOLDER / "index.json").write_text(text, encoding="utf-8")
