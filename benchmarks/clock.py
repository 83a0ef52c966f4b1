"""The clock of benchmarks whose two sides take unlike times: short ones end before another process gets its turn."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

__all__ = ["clock_name", "seconds"]


def _clock() -> Callable[[], float]:
    """Return the clock: with one thread of a CPU that of the process, which others on the machine do not disturb."""
    alone = torch.get_num_threads() == 1 and not torch.cuda.is_available()
    return time.process_time if alone else time.perf_counter


def clock_name() -> str:
    """Return what is measured."""
    return "CPU time of one thread" if _clock() is time.process_time else "wall time"


def seconds(what: Callable[[], object]) -> float:
    """Return how long something takes."""
    clock = _clock()
    start = clock()
    what()
    return clock() - start
