"""Parts that all training runs share: checkpoints and output folders."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

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
    "clear_checkpoints",
    "clear_model",
    "data_hash",
    "expect_own",
    "last_checkpoint",
]

SETTINGS = "ontodex-run.json"
"""File among the checkpoints that describes the run; it marks the folder as written by ontodex."""

_MODEL_FILES = (
    *("*.safetensors", "*.safetensors.index.json", "*config*.json", "modules.json"),
    *("*token*.json", "vocab.*", "merges.txt", "*.model"),
)
"""Name patterns of the files of a text encoder, other than its README."""


def expect_own(folder: Path, own: bool, start: Path | None = None) -> None:
    """Refuse to write a trained encoder into a folder with other files.

    Args:
        folder: Output folder of the run.
        own: Whether the folder holds an encoder of the same kind, which may be replaced.
        start: Folder of the text encoder that training starts from, if any.

    Raises:
        TrainingError: If the path is a file; if the folder has files that are neither such an
            encoder nor checkpoints of a run; or if the folder and ``start`` are the same or one
            contains the other.
    """
    if folder.exists() and not folder.is_dir():
        raise TrainingError(
            f"{folder}: expected a folder to write, found a file; choose another name"
        )
    checkpoints = folder / CHECKPOINTS
    empty = folder.is_dir() and not any(path for path in folder.rglob("*") if path != checkpoints)
    if folder.is_dir() and not own and not empty and not (checkpoints / SETTINGS).exists():
        raise TrainingError(
            f"{folder}: expected an empty folder, or what a previous run has left, found other "
            "files; choose another name"
        )
    output, source = folder.resolve(), start.resolve() if start is not None else None
    if source is not None and (source.is_relative_to(output) or output.is_relative_to(source)):
        raise TrainingError(
            f"{folder}: expected a folder apart from the encoder to start from, found that encoder "
            f"in {start}; choose another name"
        )


def last_checkpoint(folder: Path, run: Mapping[str, Any]) -> str | None:
    """Return the last checkpoint of an interrupted run; remove the checkpoints of a different run.

    Args:
        folder: Folder of the checkpoints; created if missing.
        run: Description that must be equal for the run to resume: settings, and fingerprints of its
            inputs.

    Raises:
        TrainingError: If the folder holds other files.
    """
    about = folder / SETTINGS
    content = json.dumps(dict(run), sort_keys=True)
    if about.exists():
        if about.read_text(encoding="utf-8") == content:
            # The Trainer writes its state last: a checkpoint without a state is incomplete.
            complete = [state.parent for state in folder.glob("checkpoint-*/trainer_state.json")]
            steps = {int(checkpoint.name.rpartition("-")[2]): checkpoint for checkpoint in complete}
            return str(steps[max(steps)]) if steps else None
        clear_checkpoints(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise TrainingError(
            f"{folder}: expected checkpoints of ontodex, found other files; choose another output "
            "folder"
        )
    about.write_text(content, encoding="utf-8")
    return None


def data_hash(texts: Iterable[str], *columns: NDArray[Any]) -> str:
    """Return a hash of a run's texts and arrays, for :func:`last_checkpoint` (hex, 128 bits)."""
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        digest.update(f"{text}\0".encode("utf-8", "replace"))
    for column in columns:
        digest.update(column.tobytes())
    return digest.hexdigest()


def clear_checkpoints(folder: Path) -> None:
    """Remove the checkpoints of a run, then the file that describes the run; leave other files."""
    for checkpoint in folder.glob("checkpoint-*"):
        shutil.rmtree(checkpoint)
    for best in folder.glob("best.*"):
        best.unlink()
    (folder / SETTINGS).unlink(missing_ok=True)
    with suppress(OSError):  # the folder has other files
        folder.rmdir()


def clear_model(folder: Path) -> None:
    """Remove all files of a previous encoder, so that no file of it mixes with the new encoder."""
    for own in (NETWORK, HIERARCHY, GAUSSIAN, CONDITION, CROSS, TREES):
        shutil.rmtree(folder / own, ignore_errors=True)
    for place in (folder, *folder.glob("[0-9]_*")):  # 1_Pooling, 2_Normalize, …
        for name in _MODEL_FILES:
            for file in place.glob(name):
                file.unlink()
