"""Timing of several calls in turn, so that other load on the machine affects all alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["in_turn"]


def in_turn(calls: Mapping[str, Callable[[], Any]], peer: str, rounds: int) -> dict[str, float]:
    """Time each call once in every round, after a warm-up round.

    Args:
        calls: Functions by name.
        peer: Name of the call that the others are compared with; it contains "ms".
        rounds: Number of rounds.

    Returns:
        Median milliseconds by name, and for all but the peer the median over the rounds of its
        time / the peer's.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for counts in (False, *[True] * rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if counts:
                times[name].append((time.perf_counter() - start) * 1000)
    figures = {peer: float(np.median(times[peer]))}
    for name in calls:
        if name != peer:
            figures[f"{name}, ms"] = float(np.median(times[name]))
            figures[f"{name}, ratio"] = float(np.median(np.divide(times[name], times[peer])))
    return figures
