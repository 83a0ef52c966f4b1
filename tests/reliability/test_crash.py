"""After a kill or a loss of power an index is the old or the new one, and a build continues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def tried(
    tmp_path: Path,
    small_index: Path,
    tiny_encoder: Path,
    tiny_hit: Path,
    tiny_gauss: Path,
    run_script: Callable[..., Any],
    torture: bool,
) -> Callable[..., Any]:
    """Run a script that interrupts changes, at more points with ``--torture``."""

    def run(script: str, full: int, short: int) -> Any:
        models = small_index, tiny_encoder, tiny_hit, tiny_gauss
        return run_script(script, tmp_path, *models, full if torture else short, timeout=3000)

    return run


def test_a_killed_change_leaves_the_old_index_or_the_new_one(
    tried: Callable[..., Any], figures: Callable[..., None], torture: bool
) -> None:
    killed = tried("killed.py", full=25, short=1)
    for one in killed:
        assert one["status"] == -9, one
        assert one["after"] in ("old", "new") or one["after"].startswith("stage "), one
        assert (one["again"], one["finally"]) == (0, "new"), one
        # the next change removes the old generation
        assert len(one["left"]) == 1 or one["after"] == "new", one
    assert len(killed) >= (200 if torture else 12)
    states = Counter(one["after"] for one in killed)
    assert states["old"]
    assert states["new"]  # killed while publishing, after the flip
    figures("killed", points=len(killed), **states, changes=len({one["change"] for one in killed}))


def test_a_loss_of_power_leaves_the_old_index_or_the_new_one(
    tried: Callable[..., Any], figures: Callable[..., None], torture: bool
) -> None:
    found = tried("power_loss.py", full=12, short=1)
    for one in found:
        assert one["after"] in ("old", "new") or one["after"].startswith("stage "), one
        assert (one["again"], one["finally"]) == (0, "new"), one
    states = Counter(one["after"] for one in found)
    assert states["old"]
    assert states["new"]
    figures("power lost", states=len(found), **states)


def test_a_full_disk_is_an_index_failure_and_leaves_the_old_index(
    tried: Callable[..., Any], figures: Callable[..., None], torture: bool
) -> None:
    found = tried("full_disk.py", full=60, short=1)
    for one in found:
        assert one["status"] == 7 or (one["status"], one["after"]) == (0, "new"), one
        assert one["after"] in ("old", "new") or one["after"].startswith("stage "), one
        assert (one["again"], one["finally"]) == (0, "new"), one
    assert Counter(one["after"] for one in found)["old"] > len(found) / 2
    figures("disk full", steps=len(found))


def test_a_killed_training_run_ends_as_one_that_was_not(
    tmp_path: Path,
    tiny_encoder: Path,
    run_script: Callable[..., Any],
    figures: Callable[..., None],
    torture: bool,
) -> None:
    found = run_script(
        "killed_training.py", tmp_path, tiny_encoder, 10 if torture else 2, timeout=3000
    )
    for one in found:
        assert one["status"] == -9, one
        assert one["again"] == 0, one
        assert 0 <= one["apart"] < 1e-4, one
    assert any(one["left"] for one in found)
    figures("training", points=len(found), apart=max(one["apart"] for one in found))
