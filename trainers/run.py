"""One training run with transformers' Trainer, which brings bf16 and resuming."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ontodex.encoders.device import has_bfloat16
from ontodex.errors import TrainingError
from ontodex.trainers.checkpoints import CHECKPOINTS, ProgressOnStderr, last_checkpoint

__all__ = ["Run", "expect_finite", "keep_freed_memory", "run_training"]

WARM_UP = 100
"""Steps in which the learning rate rises, or a tenth of all if there are fewer than a thousand."""


@dataclass(frozen=True)
class Run:
    """Where a training run keeps what it makes, and how it goes.

    Attributes:
        folder: Where the encoder is written; until then its checkpoints are kept there.
        device: Where to compute: on a GPU, the first that is visible (``CUDA_VISIBLE_DEVICES``).
        seed: Seed of what is random in the model.
        quiet: Show no progress on stderr.
        replaces: Whether the folder holds an encoder, which a run that fails leaves as it is.
        unit: What progress is shown in, and how many of them a step has.
        resume: The checkpoint to go on from.
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
        """Where checkpoints are kept."""
        return self.folder / CHECKPOINTS

    def resumed(self, about: Mapping[str, Any]) -> Run:
        """Return the run as it goes on where an interrupted one stopped, if that was the same.

        Args:
            about: What must be the same; see :func:`~ontodex.trainers.checkpoints.last_checkpoint`.

        Raises:
            TrainingError: If there are other files where its checkpoints are to be.
        """
        return replace(self, resume=last_checkpoint(self.checkpoints, about))


def expect_finite(loss: Tensor, batch: int | None = None) -> dict[str, Tensor]:
    """Return ``{"loss": loss}``, as transformers' Trainer expects of a model.

    Raises:
        TrainingError: If the loss is no number; it names the batch, counted from 1, if its number from 0 is given.
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
    """Train on every batch once, in order, the learning rate falling to zero.

    Args:
        run: Where checkpoints are kept, and how it goes.
        model: Takes ``batch`` and returns ``{"loss": loss}``.
        batches: The batches, by number.
        groups: Parameters with their learning rates ``lr``.
        save_every: Steps between checkpoints; 0 for none.
        callbacks: Further callbacks of transformers.
    """
    if run.device == "cpu":
        keep_freed_memory()
    from transformers import PrinterCallback, ProgressCallback, Trainer, TrainingArguments

    steps = len(batches)
    groups = [group for group in groups if group["params"]]
    arguments = TrainingArguments(
        output_dir=str(run.checkpoints),
        max_steps=steps,
        per_device_train_batch_size=1,
        train_sampling_strategy="sequential",
        learning_rate=groups[0]["lr"],
        lr_scheduler_type="linear",
        warmup_steps=min(WARM_UP, steps // 10),
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
    arguments._n_gpu = min(
        arguments.n_gpu, 1
    )  # with two, the Trainer would hand out two batches at a time
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


def keep_freed_memory() -> None:
    """Let the C library keep what is freed, up to 32 MiB each: every step frees and takes the same hundred megabytes.

    To take them from the system anew was a fifth of a step of Self-StrAE. Only glibc has such settings.
    """
    trim, top_pad, map_threshold = (
        -1,
        -2,
        -3,
    )  # M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD of malloc.h
    with suppress(OSError, AttributeError, TypeError):
        tune = ctypes.CDLL(None).mallopt
        for parameter, value in (
            (map_threshold, 1 << 25),
            (trim, (1 << 31) - 1),
            (top_pad, 1 << 26),
        ):
            tune(parameter, value)
