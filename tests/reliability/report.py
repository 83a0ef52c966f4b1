"""``docs/reliability.md``: what a user may rely on, and what was tried, from the record that ``make torture`` writes.

``python -m tests.reliability.report`` makes the page again; a test compares the two.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reliability.md"
RECORD = ROOT / "docs" / "reliability.json"

PROMISE = Path(__file__).with_name("promise.md")

ROWS = (
    ("killed", "`kill -9` at random calls of a first build, a build over an index, add and remove"),
    ("power lost", "loss of power at a sync: nothing, some, or all names of what was not synced"),
    ("disk full", "no room left at a step of a change, or for files of more than some size"),
    ("training", "`kill -9` of a training run that then went on; `apart`: largest difference of a weight"),
    ("damaged", "a file of an index cut short, or one byte of it changed"),
    ("hostile files", "files of those who mean no good; the most that one took of processor time and memory"),
    ("fuzzed", "coverage-guided fuzzing of all readers, the manifest and names"),
    ("fuzzed for long", "the same, once"),
    ("ties", "answers with ties, at one and two threads and in batches of three sizes"),
    ("metamorphic", "the lines of a file in other orders"),
    ("readers", "reading processes beside a writer that publishes all the time"),
    ("threads", "threads that ask one engine, fresh from opening"),
    ("opened", "an index opened, asked and closed; what had grown then"),
    ("memory", "peak of memory that is not mapped from files, in MB, for so many entities and four times as many"),
)


def render(record: Mapping[str, Any]) -> str:
    """Return the page for a record."""
    lines = ["| what | figures | tried |", "| --- | --- | --- |"]
    for name, about in ROWS:
        if name in record:
            group = record[name]
            figures = "<br>".join(f"{key}: {_shown(value)}" for key, value in group["figures"].items())
            lines.append(f"| {about} | {figures} | {group['date'][:10]}, {group['commit'][:10]} |")
    return PROMISE.read_text(encoding="utf-8").replace("TRIED", "\n".join(lines))


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:.2g}" if isinstance(value, float) else str(value)


def load() -> dict[str, Any]:
    """Return the record, empty if there is none yet."""
    return dict(json.loads(RECORD.read_text(encoding="utf-8"))) if RECORD.exists() else {}


def note(groups: Mapping[str, Mapping[str, Any]], commit: str) -> None:
    """Put figures of this run into the record, in the place of earlier ones, and make the page."""
    record = load()
    about = {"commit": commit, "date": datetime.now(timezone.utc).isoformat(timespec="seconds")}
    record.update({name: {"figures": dict(figures), **about} for name, figures in groups.items()})
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(render(record), encoding="utf-8")


if __name__ == "__main__":
    PAGE.write_text(render(load()), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE}\n")
