"""Keeps the weights with the best validation score of a training run."""

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
    """Measures a model during training and stores its trainable weights when the score improves.

    The history of scores is stored as well, so that a resumed run continues it.

    Args:
        model: The model in training.
        folder: Folder of the stored weights.
        every: Steps between two measurements.
        measure: Returns the validation score of the model; higher is better.
        quiet: Print no scores on stderr.

    Attributes:
        model: The model in training.
        folder: Folder of the stored weights.
        history: (step, score) of every measurement.
    """

    def __init__(
        self,
        model: nn.Module,
        folder: Path,
        every: int,
        measure: Callable[[], float],
        quiet: bool,
    ) -> None:
        self.model, self.folder = model, folder
        self._every, self._measure, self._quiet = every, measure, quiet
        self.history: list[tuple[int, float]] = []
        if (folder / SCORE).exists():
            self.history = [
                (int(step), float(value))
                for step, value in json.loads((folder / SCORE).read_text())
            ]

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Measure the model if a measurement is due, and store the weights if they are the best."""
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
        """Step and score of the best weights; ``None`` before the first measurement."""
        if not self.history or not self.weights.exists():
            return None
        return max(self.history, key=lambda found: found[1])

    def restore(self) -> None:
        """Load the best weights into the model."""
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
    """Train a model, restore its best weights and write the encoder.

    Args:
        run: Output folder and other parameters of the run.
        best: Measures the model.
        batches: The batches, indexed by step.
        groups: Parameter groups with learning rates ``lr``.
        write: Writes and returns the encoder; called after the best weights are restored.
        save_every: Steps between checkpoints for resuming; 0 for none.

    Raises:
        TrainingError: If the loss is not finite. In this case the best checkpoint so far is
            written, unless the folder held an encoder before the run.
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
            f"{error}, and give another output folder ({_remains(run, best)})"
        ) from error
    made = write_best()
    clear_checkpoints(run.checkpoints)
    return made


def _remains(run: Run, best: BestCheckpoint) -> str:
    """Describe what a failed run leaves behind, for the error message."""
    if best.best is None:
        return "nothing was measured yet, so there is no checkpoint to keep"
    step, value = best.best
    where = (
        f"in {best.weights}; the encoder in {run.folder} is as it was"
        if run.replaces
        else f"an encoder in {run.folder}"
    )
    return f"the best checkpoint, of step {step}, {value:.4f} on validation, is {where}"
