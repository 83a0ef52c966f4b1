"""Record of ``tests/reliability`` at full length, and the page of guarantees that it supports."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS, ROOT, Measured

__all__ = ["NAME", "PAGE", "TRIED", "add_options", "page", "run", "write_page"]

NAME = "reliability"
PAGE = ROOT / "docs" / "reliability.md"
PROMISE = Path(__file__).with_name("promise.md")

TRIED = {
    "killed": "`kill -9` at random calls of a build, a rebuild, add and remove",
    "power lost": "loss of power at a sync: none, some, or all of the unsynced names persist",
    "disk full": "no space left at a step of a change, or for files above some size",
    "training": "`kill -9` of a training run, resumed; `apart`: largest difference of a weight",
    "damaged": "a file of an index truncated, or with one byte changed",
    "hostile files": "malicious files; the most processor time and memory that one took",
    "fuzzed": "coverage-guided fuzzing of all readers, the manifest and names",
    "ties": "answers with ties, with one and two threads and in batches of three sizes",
    "metamorphic": "the lines of a file in other orders",
    "readers": "processes that read while a writer publishes without pause",
    "threads": "threads that query one engine right after it is opened",
    "opened": "an index opened, queried and closed; the growth afterwards",
    "memory": "peak of unmapped memory, in MB, for a number of entities and four times as many",
}
"""Groups of figures that the tests report."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing: ``--quick`` alone sets the amount of tests."""


def run(options: argparse.Namespace) -> Iterator[Measured]:
    """Run the tests and yield their figures; exit if a test fails."""
    with tempfile.TemporaryDirectory() as folder:
        noted = Path(folder) / "figures.json"
        command = [sys.executable, "-m", "pytest", "tests/reliability", "--figures", str(noted)]
        done = subprocess.run(
            [*command, *([] if options.quick else ["--torture"])], cwd=ROOT, stdout=sys.stderr
        )
        if done.returncode:
            sys.exit("a promise was broken; nothing is recorded")
        figures = json.loads(noted.read_text(encoding="utf-8"))
    notes = [f"{group}: {about}." for group, about in TRIED.items() if group in figures]
    yield Measured(NAME, "Reliability", figures=figures, notes=notes)


def write_page(path: Path = PAGE) -> Path:
    """Write ``docs/reliability.md``; return its path."""
    path.write_text(
        page(json.loads((RESULTS / f"{NAME}.json").read_text(encoding="utf-8"))), encoding="utf-8"
    )
    return path


def page(record: Mapping[str, Any]) -> str:
    """Return ``docs/reliability.md`` for a record."""
    lines = ["| what | figures |", "| --- | --- |"]
    for group, about in TRIED.items():
        figures = "<br>".join(
            f"{key}: {_shown(value)}" for key, value in record["figures"][group].items()
        )
        lines.append(f"| {about} | {figures} |")
    lines += ["", *(f"* {note}" for note in record["notes"] if note.split(":")[0] not in TRIED)]
    return PROMISE.read_text(encoding="utf-8").replace("TRIED", "\n".join(lines))


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.2g}"
