"""Run by test_crash.py: changes in forks killed at random points. Prints JSON of what is left."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from tests.reliability.changes import Change, Models, changes, in_child

ANYWHERE = ("/indexers/", "/storage/", "/encoders/index_encoders.py")
PUBLISHING = ("/storage/generations.py",)


def counting(
    where: Sequence[str], limit: int, counter: list[int]
) -> Callable[[FrameType, str, Any], None]:
    """Return a profiler that kills the process before the given call made by some code."""

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event in ("call", "c_call") and any(one in frame.f_code.co_filename for one in where):
            counter[0] += 1
            if counter[0] == limit:
                os.kill(os.getpid(), signal.SIGKILL)

    return profile


def calls_of(change: Change, where: Sequence[str], folder: Path) -> int:
    counter = [0]
    path = change.copy(folder / "count.odx")
    sys.setprofile(counting(where, -1, counter))
    change.act(path)
    sys.setprofile(None)
    shutil.rmtree(path)
    return counter[0]


def killed_at(change: Change, where: str, limit: int, path: Path) -> None:
    sys.setprofile(counting(where, limit, [0]))
    change.act(path)


def main(folder: Path, old: Path, text: Path, hit: Path, gauss: Path, points: int) -> None:
    rng = random.Random(0)
    killed = []
    for change in changes(old, Models(text, hit, gauss)):
        change.prepare(folder)
        for where in (ANYWHERE, PUBLISHING):
            calls = calls_of(change, where, folder)
            ends = {calls - 5, calls} if where == PUBLISHING else set()
            for limit in sorted({*rng.sample(range(1, calls), min(points, calls - 1)), *ends}):
                path = change.copy(folder / f"{change.name}-{limit}.odx")
                status = in_child(lambda c=change, w=where, n=limit, p=path: killed_at(c, w, n, p))
                after = change.state(path)
                again = in_child(lambda c=change, p=path: c.again(p))
                left = sorted(
                    entry.name for entry in path.iterdir() if entry.name.startswith("gen-")
                )
                finally_ = change.state(path)
                one = {
                    "change": change.name,
                    "where": where,
                    "call": limit,
                    "of": calls,
                    "status": status,
                }
                killed.append(
                    {**one, "after": after, "again": again, "finally": finally_, "left": left}
                )
                shutil.rmtree(path)
    print(json.dumps(killed))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:-1]), int(sys.argv[-1]))
