"""A training run with the Trainer of transformers, which provides bfloat16 and resuming."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ontodex.encoders.device import has_bfloat16
from ontodex.errors import TrainingError
from ontodex.trainers.checkpoints import CHECKPOINTS, last_checkpoint

__all__ = ["Run", "expect_finite", "keep_freed_memory", "linear_decay", "run_training"]

WARM_UP = 100
"""Largest number of warm-up steps of the learning rate; runs of under 1,000 steps use a tenth."""


@dataclass(frozen=True)
class Run:
    """Output folder, device and other parameters of a training run.

    Attributes:
        folder: Output folder of the encoder; also holds the checkpoints during training.
        device: Device of the computation; on a GPU machine, the first visible GPU
            (``CUDA_VISIBLE_DEVICES``).
        seed: Seed of the random numbers in the model.
        quiet: Show no progress on stderr.
        replaces: Whether the folder holds an encoder, which stays unchanged if the run fails.
        unit: Name of the unit of progress, and number of units per step.
        resume: Checkpoint to resume from, or ``None``.
    """

    folder: Path
    device: str
    seed: int
    quiet: bool
    replaces: bool = False
    unit: tuple[str, int] = ("step", 1)
    resume: str | None = None

    @property
    def checkpoints(self) -> Path:
        """Folder of the checkpoints."""
        return self.folder / CHECKPOINTS

    def resumed(self, about: Mapping[str, Any]) -> Run:
        """Return the run with ``resume`` set if an interrupted run has the same description.

        Args:
            about: Description of the run; see
                :func:`~ontodex.trainers.checkpoints.last_checkpoint`.

        Raises:
            TrainingError: If the folder of the checkpoints holds other files.
        """
        return replace(self, resume=last_checkpoint(self.checkpoints, about))


def expect_finite(loss: Tensor, batch: int | None = None) -> dict[str, Tensor]:
    """Return ``{"loss": loss}``, the output that the Trainer of transformers expects of a model.

    Args:
        loss: The loss, a scalar.
        batch: Number of the batch, counted from 0, for the message; ``None`` to leave it out.

    Raises:
        TrainingError: If the loss is not finite; the message counts batches from 1.
    """
    if not torch.isfinite(loss):
        where = "" if batch is None else f"batch {batch + 1}: "
        raise TrainingError(f"{where}the loss became {loss.item()}; lower the learning rates")
    return {"loss": loss}


def run_training(
    run: Run,
    model: nn.Module,
    batches: Sequence[Any] | Any,
    groups: Sequence[dict[str, Any]],
    *,
    save_every: int = 0,
    callbacks: Sequence[Any] = (),
) -> None:
    """Train on every batch once, in order, with a linearly decaying learning rate.

    Args:
        run: Folder of the checkpoints and other parameters of the run.
        model: Takes ``batch`` and returns ``{"loss": loss}``.
        batches: The batches, indexed by step.
        groups: Parameter groups with learning rates ``lr``.
        save_every: Steps between checkpoints; 0 for none.
        callbacks: Additional callbacks of transformers.
    """
    if run.device == "cpu":
        keep_freed_memory()
    # The import takes seconds, which runs in memory do not need.
    from transformers import PrinterCallback, ProgressCallback, Trainer, TrainingArguments

    from ontodex.trainers.progress import ProgressOnStderr

    steps = len(batches)
    groups = [group for group in groups if group["params"]]
    arguments = TrainingArguments(
        output_dir=str(run.checkpoints),
        max_steps=steps,
        per_device_train_batch_size=1,
        train_sampling_strategy="sequential",
        learning_rate=groups[0]["lr"],
        lr_scheduler_type="linear",
        warmup_steps=_warm_up(steps),
        max_grad_norm=1.0,
        bf16=has_bfloat16(run.device),
        use_cpu=run.device == "cpu",
        seed=run.seed,
        logging_steps=50,
        logging_nan_inf_filter=False,
        save_strategy="steps" if save_every else "no",
        save_steps=save_every or steps,
        save_total_limit=1,
        report_to=[],
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        log_level="error",
    )
    # With two GPUs, the Trainer would collate two batches into one.
    arguments._n_gpu = min(arguments.n_gpu, 1)
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=batches,
        data_collator=lambda batches: {"batch": batches[0]},
        optimizers=(torch.optim.AdamW(groups, weight_decay=0.0, fused=True), None),
        callbacks=[ProgressOnStderr(run.quiet, run.unit), *callbacks],
    )
    for callback in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(callback)
    trainer.train(resume_from_checkpoint=run.resume)


def linear_decay(steps: int) -> Callable[[int], float]:
    """Return the schedule of :func:`run_training`: the factor of the learning rate at each step."""
    warm_up = _warm_up(steps)
    return lambda step: (
        step / warm_up if step < warm_up else (steps - step) / max(1, steps - warm_up)
    )


def _warm_up(steps: int) -> int:
    return min(WARM_UP, steps // 10)


def keep_freed_memory() -> None:
    """Let the C library reuse freed blocks of up to 32 MiB instead of returning them to the system.

    Each training step frees and allocates the same few hundred megabytes; requesting them from the
    system took a fifth of a step of Self-StrAE. Only glibc has these settings; elsewhere the call
    does nothing.
    """
    # M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD of malloc.h
    trim, top_pad, map_threshold = -1, -2, -3
    with suppress(OSError, AttributeError, TypeError):
        tune = ctypes.CDLL(None).mallopt
        for parameter, value in (
            (map_threshold, 1 << 25),
            (trim, (1 << 31) - 1),
            (top_pad, 1 << 26),
        ):
            tune(parameter, value)
