"""Random search of settings within a budget."""

from __future__ import annotations

import numpy as np

from benchmarks.random_search import draw, search

GRIDS = (
    {"dim": (32, 64, 128), "rate": (0.1, 0.3)},
    {"dim": (256,), "margin": (3.0, 6.0)},
)


def burn(seconds):
    """Use processor time."""
    from time import process_time

    until = process_time() + seconds
    while process_time() < until:
        pass


def test_settings_are_drawn_from_one_grid_by_seed() -> None:
    drawn = [draw(GRIDS, random) for random in [np.random.default_rng(3)] * 60]
    again = [draw(GRIDS, random) for random in [np.random.default_rng(3)] * 60]
    assert drawn == again
    for setting in drawn:
        [grid] = [grid for grid in GRIDS if set(grid) == set(setting)]
        assert all(value in grid[name] for name, value in setting.items())
    assert {tuple(setting.items()) for setting in drawn} == {
        *((("dim", dim), ("rate", rate)) for dim in (32, 64, 128) for rate in (0.1, 0.3)),
        *((("dim", 256), ("margin", margin)) for margin in (3.0, 6.0)),
    }


def test_the_best_setting_is_chosen_within_the_budget() -> None:
    seen = []

    def score(setting):
        burn(0.01)
        seen.append(setting["dim"])
        return -abs(setting["dim"] - 64)

    choice = search(score, GRIDS[:1], seconds=0.3, seed=0)
    assert choice.tried == len(seen)
    assert 2 < len(seen) <= 30
    assert choice.score == -min(abs(dim - 64) for dim in seen)
    assert choice.score == -abs(choice.setting["dim"] - 64)


def test_one_setting_is_tried_without_a_budget() -> None:
    assert search(lambda _: 0.5, GRIDS, seconds=0.0, seed=0).tried == 1
