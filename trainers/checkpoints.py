"""What every training run shares: progress on stderr, and where to go on after an interruption."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tqdm import tqdm
from transformers import TrainerCallback
from transformers.trainer_utils import get_last_checkpoint

__all__ = ["ProgressOnStderr", "last_checkpoint"]


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


def last_checkpoint(folder: Path, settings: Mapping[str, Any]) -> str | None:
    """Return the last checkpoint of an interrupted run with the same settings; clear away any other.

    Args:
        folder: Where the run keeps its checkpoints.
        settings: What must be the same for the run to go on.
    """
    about = folder / "settings.json"
    content = json.dumps(dict(settings), sort_keys=True)
    if about.exists() and about.read_text(encoding="utf-8") == content:
        last: str | None = get_last_checkpoint(str(folder))  # type: ignore[no-untyped-call]
        return last
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    about.write_text(content, encoding="utf-8")
    return None
