"""What every training run shares: progress on stderr, and where to go on after an interruption."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tqdm import tqdm
from transformers import TrainerCallback
from transformers.trainer_utils import get_last_checkpoint

from ontodex.errors import TrainingError

__all__ = ["CHECKPOINTS", "ProgressOnStderr", "clear_checkpoints", "expect_own", "last_checkpoint"]

CHECKPOINTS = "checkpoints"
"""Folder of the checkpoints inside the folder that a run writes."""

SETTINGS = "settings.json"


class ProgressOnStderr(TrainerCallback):
    """Shows the steps done, the loss and the time left; stdout stays free for results.

    Args:
        quiet: Show nothing.
    """

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: tqdm[Any] | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Open the bar."""
        self._bar = tqdm(
            total=state.max_steps,
            initial=state.global_step,
            desc="training",
            unit="step",
            file=sys.stderr,
            disable=self._quiet,
        )

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Move the bar."""
        if self._bar is not None:
            self._bar.update(state.global_step - self._bar.n)

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        """Show the loss."""
        if self._bar is not None and logs and "loss" in logs:
            self._bar.set_postfix(loss=f"{float(logs['loss']):.3f}", refresh=False)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()


def expect_own(folder: Path, own: bool) -> None:
    """Refuse to write a trained encoder where other files are.

    Args:
        folder: Where the run is to write.
        own: Whether an encoder of that kind is there already, which may be replaced.

    Raises:
        TrainingError: If the folder is none, or holds neither such an encoder nor the checkpoints of a run.
    """
    if folder.exists() and not folder.is_dir():
        raise TrainingError(f"{folder}: expected a folder to write, found a file; choose another name")
    if folder.is_dir() and any(folder.iterdir()) and not own and not (folder / CHECKPOINTS / SETTINGS).exists():
        raise TrainingError(
            f"{folder}: expected an empty folder, or what an earlier run has left, found other files; choose another name"
        )


def last_checkpoint(folder: Path, run: Mapping[str, Any]) -> str | None:
    """Return the last checkpoint of an interrupted run that was the same; clear away those of another.

    Args:
        folder: Where the run keeps its checkpoints; made if it is not there.
        run: What must be the same for the run to go on: settings, and fingerprints of what it reads.

    Raises:
        TrainingError: If the folder holds something else.
    """
    about = folder / SETTINGS
    content = json.dumps(dict(run), sort_keys=True)
    if about.exists():
        if about.read_text(encoding="utf-8") == content:
            last: str | None = get_last_checkpoint(str(folder))  # type: ignore[no-untyped-call]
            return last
        clear_checkpoints(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise TrainingError(
            f"{folder}: expected checkpoints of ontodex, found other files; choose another output folder"
        )
    about.write_text(content, encoding="utf-8")
    return None


def clear_checkpoints(folder: Path) -> None:
    """Remove the checkpoints of a run, and last what tells that they are one's own; nothing else."""
    for checkpoint in folder.glob("checkpoint-*"):
        shutil.rmtree(checkpoint)
    (folder / SETTINGS).unlink(missing_ok=True)
    with suppress(OSError):  # somebody keeps other files in it
        folder.rmdir()
