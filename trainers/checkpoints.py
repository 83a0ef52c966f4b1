"""What every training run shares: progress on stderr, and where to go on after an interruption."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from tqdm import tqdm
from transformers import TrainerCallback

from ontodex.encoders.locate import (
    CHECKPOINTS,
    CONDITION,
    CROSS,
    GAUSSIAN,
    HIERARCHY,
    NETWORK,
    TREES,
)
from ontodex.errors import TrainingError

__all__ = [
    "CHECKPOINTS",
    "ProgressOnStderr",
    "clear_checkpoints",
    "clear_model",
    "data_hash",
    "expect_own",
    "last_checkpoint",
]

SETTINGS = "ontodex-run.json"
"""What a run reads and how, among its checkpoints: by its name they are known to be of ontodex."""

_MODEL_FILES = (
    *("*.safetensors", "*.safetensors.index.json", "*config*.json", "modules.json"),
    *("*token*.json", "vocab.*", "merges.txt", "*.model"),
)
"""What a text encoder's folder holds besides its README."""


class ProgressOnStderr(TrainerCallback):
    """Shows the steps done, the loss and the time left; stdout stays free for results.

    Args:
        quiet: Show nothing.
        unit: What a step is counted in, and how many of them it has.
    """

    def __init__(self, quiet: bool, unit: tuple[str, int] = ("step", 1)) -> None:
        self._quiet = quiet
        self._unit, self._each = unit
        self._bar: tqdm[Any] | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Open the bar."""
        self._bar = tqdm(
            total=state.max_steps * self._each,
            initial=state.global_step * self._each,
            desc="training",
            unit=self._unit,
            file=sys.stderr,
            disable=self._quiet,
        )

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Move the bar."""
        if self._bar is not None:
            self._bar.update(state.global_step * self._each - self._bar.n)

    def on_log(
        self,
        args: Any,
        state: Any,
        control: Any,
        logs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Show the loss."""
        if self._bar is not None and logs and "loss" in logs:
            self._bar.set_postfix(loss=f"{float(logs['loss']):.3f}", refresh=False)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()


def expect_own(folder: Path, own: bool, start: Path | None = None) -> None:
    """Refuse to write a trained encoder where other files are.

    Args:
        folder: Where the run is to write.
        own: Whether an encoder of that kind is there already, which may be replaced.
        start: Folder of the text encoder to start from, if there is one.

    Raises:
        TrainingError: If the folder is none, holds neither such an encoder nor the checkpoints of a run, or holds the
            encoder to start from, or is inside that.
    """
    if folder.exists() and not folder.is_dir():
        raise TrainingError(
            f"{folder}: expected a folder to write, found a file; choose another name"
        )
    left = folder / CHECKPOINTS
    alone = folder.is_dir() and not any(path for path in folder.rglob("*") if path != left)
    if folder.is_dir() and not own and not alone and not (left / SETTINGS).exists():
        raise TrainingError(
            f"{folder}: expected an empty folder, or what an earlier run has left, found other files; choose another name"
        )
    whole, before = folder.resolve(), start.resolve() if start is not None else None
    if before is not None and (before.is_relative_to(whole) or whole.is_relative_to(before)):
        raise TrainingError(
            f"{folder}: expected a folder apart from the encoder to start from, found that in {start}"
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
            # The trainer writes its state last: a checkpoint without one was cut off.
            whole = [state.parent for state in folder.glob("checkpoint-*/trainer_state.json")]
            steps = {int(checkpoint.name.rpartition("-")[2]): checkpoint for checkpoint in whole}
            return str(steps[max(steps)]) if steps else None
        clear_checkpoints(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise TrainingError(
            f"{folder}: expected checkpoints of ontodex, found other files; choose another output folder"
        )
    about.write_text(content, encoding="utf-8")
    return None


def data_hash(texts: Iterable[str], *columns: NDArray[Any]) -> str:
    """Hash the texts and numbers that a run reads, for :func:`last_checkpoint` (hex, 128 bits)."""
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        digest.update(f"{text}\0".encode("utf-8", "replace"))
    for column in columns:
        digest.update(column.tobytes())
    return digest.hexdigest()


def clear_checkpoints(folder: Path) -> None:
    """Remove the checkpoints of a run, and last what tells that they are one's own; nothing else."""
    for checkpoint in folder.glob("checkpoint-*"):
        shutil.rmtree(checkpoint)
    for best in folder.glob("best.*"):
        best.unlink()
    (folder / SETTINGS).unlink(missing_ok=True)
    with suppress(OSError):  # somebody keeps other files in it
        folder.rmdir()


def clear_model(folder: Path) -> None:
    """Remove the encoder that is to be replaced: no file of it may be left among those of the new one."""
    for own in (NETWORK, HIERARCHY, GAUSSIAN, CONDITION, CROSS, TREES):
        shutil.rmtree(folder / own, ignore_errors=True)
    for place in (folder, *folder.glob("[0-9]_*")):  # 1_Pooling, 2_Normalize, …
        for name in _MODEL_FILES:
            for file in place.glob(name):
                file.unlink()
