"""Run by test_hostile_files.py: read files, each in a fork, and print what came of each and what it cost.

The fork has what reading needs imported already, and nothing else in its memory. The parser's process is included.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import signal
import sys
import time
import warnings
from multiprocessing.connection import Connection
from typing import Any

from ontodex.errors import OntodexError
from ontodex.readers import read
from tests.reliability.status import megabytes

SECONDS = 60
"""After so many seconds a reader is killed, as one that hangs."""


def read_one(path: str, answer: Connection) -> None:
    """Read a file in this process, and send what came of it."""
    signal.alarm(SECONDS)
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    try:
        outcome = f"read: {read(path)!r}"
    except OntodexError as error:
        outcome = f"refused: {error}"
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    # Not ru_maxrss for itself: that begins with what the process that started it has had.
    peak = megabytes("VmHWM")
    answer.send(
        {
            "outcome": outcome,
            "wall": time.perf_counter() - start,
            "cpu": sum(one.ru_utime + one.ru_stime for one in used),
            "memory": peak + used[1].ru_maxrss / 1024,
        }
    )


def in_fork(path: str) -> dict[str, Any]:
    """Return what a fork says of a file, or how it died."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=read_one, args=(path, there))
    process.start()
    there.close()
    try:
        said: dict[str, Any] = here.recv()
    except EOFError:
        process.join()
        said = {"outcome": f"died: {process.exitcode}", "wall": 0.0, "cpu": 0.0, "memory": 0.0}
    process.join()
    return said


if __name__ == "__main__":
    print(json.dumps([in_fork(path) for path in sys.argv[1:]]))
