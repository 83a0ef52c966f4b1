"""Killed at any point, or without power, an index is the old one or the new one, and the next build goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def old(small_index: Path, tiny_encoder: Path, tiny_hit: Path, tiny_gauss: Path) -> tuple[Path, ...]:
    return small_index, tiny_encoder, tiny_hit, tiny_gauss


def test_a_killed_change_leaves_the_old_index_or_the_new_one(
    tmp_path: Path,
    old: tuple[Path, ...],
    run_script: Callable[..., Any],
    figures: Callable[..., None],
    torture: bool,
) -> None:
    killed = run_script("killed.py", tmp_path, *old, 25 if torture else 1, timeout=3000)
    for one in killed:
        assert one["status"] == -9, one
        assert one["after"] in ("old", "new"), one
        assert (one["again"], one["finally"]) == (0, "new"), one
        assert len(one["left"]) == 1 or one["after"] == "new", one  # the old generation goes with the next change
    assert len(killed) >= (200 if torture else 12)
    states = Counter(one["after"] for one in killed)
    assert states["old"]
    assert states["new"]  # killed while publishing, after the flip
    figures("killed", points=len(killed), **states, changes=sorted({one["change"] for one in killed}))


def test_a_loss_of_power_leaves_the_old_index_or_the_new_one(
    tmp_path: Path,
    old: tuple[Path, ...],
    run_script: Callable[..., Any],
    figures: Callable[..., None],
    torture: bool,
) -> None:
    found = run_script("power_loss.py", tmp_path, *old, 12 if torture else 1, timeout=3000)
    for one in found:
        assert one["after"] in ("old", "new"), one
        assert (one["again"], one["finally"]) == (0, "new"), one
    states = Counter(one["after"] for one in found)
    assert states["old"]
    assert states["new"]
    figures("power lost", states=len(found), **states)


def test_a_full_disk_is_an_index_failure_and_leaves_the_old_index(
    tmp_path: Path,
    old: tuple[Path, ...],
    run_script: Callable[..., Any],
    figures: Callable[..., None],
    torture: bool,
) -> None:
    found = run_script("full_disk.py", tmp_path, *old, 60 if torture else 3, timeout=3000)
    for one in found:
        assert one["status"] == 7 or (one["status"], one["after"]) == (0, "new"), one
        assert one["after"] in ("old", "new"), one
        assert (one["again"], one["finally"]) == (0, "new"), one
    assert Counter(one["after"] for one in found)["old"] > len(found) / 2
    figures("disk full", steps=len(found))


def test_a_killed_training_run_ends_as_one_that_was_not(
    tmp_path: Path, tiny_encoder: Path, run_script: Callable[..., Any], figures: Callable[..., None], torture: bool
) -> None:
    found = run_script("killed_training.py", tmp_path, tiny_encoder, 10 if torture else 2, timeout=3000)
    for one in found:
        assert one["status"] == -9, one
        assert one["again"] == 0, one
        assert 0 <= one["apart"] < 1e-4, one
    assert any(one["left"] for one in found)
    figures("training", points=len(found), apart=max(one["apart"] for one in found))
