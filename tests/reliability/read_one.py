"""Run by test_hostile_files.py: read files in forks; print outcome, time and memory of each.

The fork has imported the readers, and holds nothing else in memory. The process of the parser is
included.
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
"""Seconds after which a reader is killed."""


def read_one(path: str, answer: Connection) -> None:
    """Read a file in this process, and send the outcome."""
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
    """Return the outcome that a fork sends for a file, or its exit status."""
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
