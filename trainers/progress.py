"""Progress of the Trainer of transformers on stderr."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from tqdm import tqdm
from transformers import TrainerCallback

__all__ = ["ProgressOnStderr"]


class ProgressOnStderr(TrainerCallback):
    """Shows completed steps, loss and remaining time on stderr; stdout is reserved for results.

    Args:
        quiet: Show nothing.
        unit: Name of the unit of progress, and number of units per step.
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
