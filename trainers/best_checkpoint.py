"""Keeping the weights that were best on validation."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import nn
from transformers import TrainerCallback

__all__ = ["BestCheckpoint"]

WEIGHTS, SCORE = "best.safetensors", "best.json"


class BestCheckpoint(TrainerCallback):
    """Measures a model during a run and keeps its trained weights where they are best; an interrupted run knows them again.

    Args:
        model: What is trained.
        folder: Where the weights are kept.
        every: Steps between two measurements.
        measure: Measures the model, higher is better.
        quiet: Say nothing on stderr.

    Attributes:
        history: Step and measure of every measurement.
    """

    def __init__(self, model: nn.Module, folder: Path, every: int, measure: Callable[[], float], quiet: bool) -> None:
        self._model, self._folder, self._every, self._measure, self._quiet = model, folder, every, measure, quiet
        self.history: list[tuple[int, float]] = []
        if (folder / SCORE).exists():
            self.history = [(int(step), float(value)) for step, value in json.loads((folder / SCORE).read_text())]

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Measure, if it is time, and keep the weights if none were better."""
        step = state.global_step
        if step % self._every and step != state.max_steps:
            return
        self.history = [(at, value) for at, value in self.history if at < step]
        was_training = self._model.training
        self._model.eval()
        found = self._measure()
        self._model.train(was_training)
        if not self._quiet:
            print(f"step {step:,}: {found:.4f} on validation", file=sys.stderr)  # noqa: T201
        if all(found > value for _, value in self.history):
            weights = {name: weight.detach().contiguous() for name, weight in self._trained()}
            save_file(weights, self._folder / f"{WEIGHTS}.tmp")
            os.replace(self._folder / f"{WEIGHTS}.tmp", self._folder / WEIGHTS)
        self.history.append((step, found))
        (self._folder / f"{SCORE}.tmp").write_text(json.dumps(self.history))
        os.replace(self._folder / f"{SCORE}.tmp", self._folder / SCORE)

    @property
    def weights(self) -> Path:
        """File of the best weights."""
        return self._folder / WEIGHTS

    @property
    def best(self) -> tuple[int, float] | None:
        """Step and measure of the best weights; ``None`` as long as there are none."""
        if not self.history or not self.weights.exists():
            return None
        return max(self.history, key=lambda found: found[1])

    def restore(self) -> None:
        """Put the best weights back into the model."""
        if (self._folder / WEIGHTS).exists():
            self._model.load_state_dict(load_file(self._folder / WEIGHTS), strict=False)

    def _trained(self) -> list[tuple[str, nn.Parameter]]:
        return [(name, weight) for name, weight in self._model.named_parameters() if weight.requires_grad]
