"""Random search: settings drawn from a grid, the best by a validation score, within a budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Choice", "Grid", "Setting", "draw", "search"]

Setting = dict[str, Any]
"""A value of each setting, by name."""

Grid = Mapping[str, Sequence[Any]]
"""The values of each setting that can be drawn, by name."""


class Choice(NamedTuple):
    """What a search chose.

    Attributes:
        setting: The setting with the best score.
        score: Its score on validation.
        tried: Number of settings that were tried.
    """

    setting: Setting
    score: float
    tried: int


def draw(grids: Sequence[Grid], random: np.random.Generator) -> Setting:
    """Draw a grid, and a value of each of its settings, all with equal probability.

    Example:
        >>> draw([{"dim": [64]}], np.random.default_rng(0))
        {'dim': 64}
    """
    grid = grids[random.integers(len(grids))]
    return {name: values[random.integers(len(values))] for name, values in grid.items()}


def search(
    score: Callable[[Setting], float], grids: Sequence[Grid], seconds: float, seed: int
) -> Choice:
    """Draw settings and score them until the budget is used up; return the best one.

    Args:
        score: Trains with a setting; returns its score on validation, of which more is better.
        grids: The grids to draw from.
        seconds: The budget in seconds of processor time. A setting that was begun within the
            budget is finished; at least one setting is tried.
        seed: Seed of the draws.

    Returns:
        The setting of the greatest score, the first one among equals.
    """
    random = np.random.default_rng(seed)
    until = time.process_time() + seconds
    scored: list[tuple[float, Setting]] = []
    while not scored or time.process_time() < until:
        setting = draw(grids, random)
        scored.append((score(setting), setting))
    best, setting = max(scored, key=lambda one: one[0])
    return Choice(setting, best, len(scored))
