"""Keeping the weights that were best on validation."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from safetensors.torch import load_file, save_file
from torch import nn
from transformers import TrainerCallback

from ontodex.errors import TrainingError
from ontodex.trainers.checkpoints import clear_checkpoints
from ontodex.trainers.run import Run, run_training

__all__ = ["BestCheckpoint", "run_to_best"]

T = TypeVar("T")

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
        model: As given.
        folder: As given.
        history: Step and measure of every measurement.
    """

    def __init__(
        self, model: nn.Module, folder: Path, every: int, measure: Callable[[], float], quiet: bool
    ) -> None:
        self.model, self.folder, self._every, self._measure, self._quiet = (
            model,
            folder,
            every,
            measure,
            quiet,
        )
        self.history: list[tuple[int, float]] = []
        if (folder / SCORE).exists():
            self.history = [
                (int(step), float(value))
                for step, value in json.loads((folder / SCORE).read_text())
            ]

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Measure, if it is time, and keep the weights if none were better."""
        step = state.global_step
        if step % self._every and step != state.max_steps:
            return
        self.history = [(at, value) for at, value in self.history if at < step]
        was_training = self.model.training
        self.model.eval()
        found = self._measure()
        self.model.train(was_training)
        if not self._quiet:
            print(f"step {step:,}: {found:.4f} on validation", file=sys.stderr)  # noqa: T201
        if all(found > value for _, value in self.history):
            weights = {name: weight.detach().contiguous() for name, weight in self._trained()}
            save_file(weights, self.folder / f"{WEIGHTS}.tmp")
            os.replace(self.folder / f"{WEIGHTS}.tmp", self.folder / WEIGHTS)
        self.history.append((step, found))
        (self.folder / f"{SCORE}.tmp").write_text(json.dumps(self.history))
        os.replace(self.folder / f"{SCORE}.tmp", self.folder / SCORE)

    @property
    def weights(self) -> Path:
        """File of the best weights."""
        return self.folder / WEIGHTS

    @property
    def best(self) -> tuple[int, float] | None:
        """Step and measure of the best weights; ``None`` as long as there are none."""
        if not self.history or not self.weights.exists():
            return None
        return max(self.history, key=lambda found: found[1])

    def restore(self) -> None:
        """Put the best weights back into the model."""
        if (self.folder / WEIGHTS).exists():
            self.model.load_state_dict(load_file(self.folder / WEIGHTS), strict=False)

    def _trained(self) -> list[tuple[str, nn.Parameter]]:
        return [
            (name, weight) for name, weight in self.model.named_parameters() if weight.requires_grad
        ]


def run_to_best(
    run: Run,
    best: BestCheckpoint,
    batches: Sequence[Any] | Any,
    groups: Sequence[dict[str, Any]],
    write: Callable[[], T],
    *,
    save_every: int,
) -> T:
    """Train a model, and write it as it was best.

    Args:
        run: Where it is written, and how it goes.
        best: Measures the model.
        batches: The batches, by number.
        groups: Parameters with their learning rates ``lr``.
        write: Writes the encoder, and returns it; its best weights are in the model then.
        save_every: Steps between checkpoints to go on from; 0 for none.

    Raises:
        TrainingError: If the loss is no number: then the best checkpoint so far is written, unless the folder held an
            encoder before.
    """

    def write_best() -> T:
        best.restore()
        return write()

    try:
        run_training(run, best.model, batches, groups, save_every=save_every, callbacks=[best])
    except TrainingError as error:
        if best.best is not None and not run.replaces:
            write_best()
        raise TrainingError(
            f"{error}, and give another output folder ({_kept(run, best)})"
        ) from error
    made = write_best()
    clear_checkpoints(run.checkpoints)
    return made


def _kept(run: Run, best: BestCheckpoint) -> str:
    """Say what is left of a run that failed."""
    if best.best is None:
        return "nothing was measured yet, so there is no checkpoint to keep"
    step, value = best.best
    where = (
        f"in {best.weights}; the encoder in {run.folder} is as it was"
        if run.replaces
        else f"an encoder in {run.folder}"
    )
    return f"the best checkpoint, of step {step}, {value:.4f} on validation, is {where}"
