"""Run by test_crash.py: changes on a full disk, or under a limit of file sizes. Prints JSON."""

from __future__ import annotations

import errno
import json
import os
import random
import resource
import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ontodex.errors import IndexFailure
from tests.reliability.changes import Change, Models, changes, in_child

SIZES = (3000, 0, 30_000)
"""Limits of the size of a file, in bytes; a run of fewer steps tries the first ones only."""
STEPS = (
    (os, "fsync"),
    (os, "rename"),
    (os, "replace"),
    (os, "posix_fallocate"),
    (Path, "write_text"),
    (Path, "mkdir"),
)
FAILED = 7


def failing_at(change: Change, path: Path, step: int, counter: list[int]) -> int:
    """Apply a change; from one call on, every write to the disk fails as on a full one."""

    def without_room(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **further: Any) -> Any:
            counter[0] += 1
            if counter[0] >= step > 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return function(*arguments, **further)

        return call

    with ExitStack() as stack:
        for where, name in STEPS:
            stack.enter_context(patch.object(where, name, without_room(getattr(where, name))))
        return acted(change, path)


def limited_to(change: Change, path: Path, size: int) -> int:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return acted(change, path)


def acted(change: Change, path: Path) -> int:
    try:
        change.act(path)
    except IndexFailure:
        return FAILED
    return 0


def main(folder: Path, old: Path, text: Path, hit: Path, gauss: Path, steps: int) -> None:
    rng = random.Random(0)
    found = []
    for change in changes(old, Models(text, hit, gauss)):
        change.prepare(folder)
        counter = [0]
        count = change.copy(folder / "count.odx")
        failing_at(change, count, 0, counter)
        shutil.rmtree(count)
        trials = [
            ("step", step)
            for step in sorted(rng.sample(range(1, counter[0] + 1), min(steps, counter[0])))
        ]
        for how, at in [*trials, *(("size", size) for size in SIZES[:steps])]:
            path = change.copy(folder / f"{change.name}-{how}-{at}.odx")
            fail = failing_at if how == "step" else limited_to
            extra = ([0],) if how == "step" else ()
            status = in_child(lambda c=change, p=path, f=fail, n=at, e=extra: f(c, p, n, *e))
            after = change.state(path)
            again = in_child(lambda c=change, p=path: c.again(p))
            one = {
                "change": change.name,
                how: at,
                "of": counter[0],
                "status": status,
                "after": after,
            }
            found.append({**one, "again": again, "finally": change.state(path)})
            shutil.rmtree(path)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:-1]), int(sys.argv[-1]))
