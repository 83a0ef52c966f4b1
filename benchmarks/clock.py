"""Clock of benchmarks that compare calls of unequal length.

CPU time is used where possible: a short call ends before another process is scheduled, a long one
is interrupted, and wall time would favour the short one.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

__all__ = ["clock_name", "seconds"]


def _clock() -> Callable[[], float]:
    """Return the process clock for one thread on a CPU, as other processes do not disturb it.

    Several threads or a GPU are timed by the wall clock.
    """
    alone = torch.get_num_threads() == 1 and not torch.cuda.is_available()
    return time.process_time if alone else time.perf_counter


def clock_name() -> str:
    """Return the name of the time that :func:`seconds` measures."""
    return "CPU time of one thread" if _clock() is time.process_time else "wall time"


def seconds(what: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    clock = _clock()
    start = clock()
    what()
    return clock() - start
