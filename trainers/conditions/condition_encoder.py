"""Training of a condition encoder on rows of C-STS or on rows generated from a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ontodex.encoders.condition import ConditionEncoder, expect_readable
from ontodex.encoders.condition_network import ConditionNetwork
from ontodex.encoders.device import has_bfloat16
from ontodex.encoders.sentence_transformer import load_tunable
from ontodex.encoders.text import TextEncoder
from ontodex.errors import TrainingError
from ontodex.trainers.best_checkpoint import BestCheckpoint, run_to_best
from ontodex.trainers.checkpoints import clear_model, data_hash, expect_own
from ontodex.trainers.conditions.batches import ConditionBatches, batch_of
from ontodex.trainers.conditions.loss import ConditionLoss
from ontodex.trainers.conditions.models import (
    ConditionModel,
    FrozenConditionModel,
    TunedBiEncoderModel,
    TunedConditionModel,
)
from ontodex.trainers.conditions.settings import ConditionTraining
from ontodex.trainers.correlation import spearman
from ontodex.trainers.data.csts_rows import LABELS, CstsRows
from ontodex.trainers.run import Run

__all__ = ["train_condition"]

VALIDATION_ROWS = 256
"""Number of validation rows that are compared at once."""


def train_condition(
    train: CstsRows,
    valid: CstsRows,
    folder: Path,
    *,
    encoder: TextEncoder,
    settings: ConditionTraining | None = None,
    texts: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> ConditionEncoder:
    """Train a condition encoder and write the weights of the best epoch to ``folder``.

    The best epoch has the highest Spearman correlation on the validation rows. An interrupted run
    with ``tune="full"`` resumes from its last epoch if it is started again with the same arguments.

    Args:
        train: Training rows, in adjacent pairs that have the same two texts and different
            conditions.
        valid: Validation rows that select the best epoch; they need not be paired.
        folder: Output folder: new, empty, or holding a previous condition encoder, which is
            replaced.
        encoder: The text encoder that training starts from.
        settings: Settings of the run.
        texts: How entity texts were built (the fields of ``ontodex.TextSettings``), if the rows
            compare entities.
        quiet: Show no progress on stderr.

    Raises:
        TrainingError: If there are no rows, the training rows are not paired, a label is out of
            range, the folder holds other files, or the loss is not finite.
        SettingsError: If the rank is greater than the encoder's dimension, or a condition is empty
            or too long.
    """
    settings = settings or ConditionTraining()
    shape = settings.network(encoder.dim)
    if not len(train) or not len(valid):
        raise TrainingError(
            f"expected training and validation rows, found {len(train)} and {len(valid)}"
        )
    for name, rows in (("training", train), ("validation", valid)):
        _expect_labels(name, rows)
    _expect_pairs(train)
    run = Run(folder, encoder.device, settings.seed, quiet, replaces=ConditionEncoder.is_at(folder))
    expect_own(folder, run.replaces, encoder.folder)
    torch.manual_seed(settings.seed)
    network = ConditionNetwork(shape)
    frozen = settings.tune == "frozen"
    expect_readable(
        encoder, train.conditions + valid.conditions, None if frozen else settings.max_tokens
    )
    pairs = settings.pairs or (256 if frozen else 64)
    passes = settings.epochs or (min(50, max(5, 1000 * 2 * pairs // len(train))) if frozen else 3)
    batches = ConditionBatches(train, pairs, passes, settings.seed)
    both = CstsRows.of(train.rows() + valid.rows())
    model = _model(network, settings, encoder, both)
    read = [str(len(train)), *both.texts, *both.conditions]
    data = data_hash(read, both.first, both.second, both.which, both.labels)
    run = run.resumed({"training": asdict(settings), "encoder": encoder.fingerprint, "data": data})

    def measure() -> float:
        return _measure(model, both, len(train), encoder.device)

    best = BestCheckpoint(model, run.checkpoints, batches.per_epoch, measure, quiet)

    def write() -> ConditionEncoder:
        clear_model(folder)
        text = encoder
        if isinstance(model, TunedConditionModel | TunedBiEncoderModel):
            trained = model.tower.encoder
            # Truncate texts as in training.
            trained.max_seq_length = min(
                settings.max_tokens, trained.max_seq_length or settings.max_tokens
            )
            trained.save(str(folder), create_model_card=False)
            text = TextEncoder(folder, encoder.device)
        made = ConditionEncoder(text, network, texts, train.conditions)
        made.save(folder)
        return made

    tower = [weight for name, weight in model.named_parameters() if name.startswith("tower.")]
    groups = [
        {"params": list(network.parameters()), "lr": settings.rate},
        {"params": tower, "lr": settings.encoder_rate},
    ]
    return run_to_best(
        run, best, batches, groups, write, save_every=0 if frozen else batches.per_epoch
    )


def _expect_labels(name: str, rows: CstsRows) -> None:
    """Reject labels that are out of range."""
    least, most = LABELS
    wrong = np.flatnonzero(~((rows.labels >= least) & (rows.labels <= most)))
    if len(wrong):
        raise TrainingError(
            f"{name} row {wrong[0]}: expected a label from {least:g} to {most:g}, found "
            f"{rows.labels[wrong[0]]:g}"
        )


def _expect_pairs(rows: CstsRows) -> None:
    """Reject rows that are not in adjacent pairs with the same two texts."""
    even = len(rows) // 2 * 2
    apart = np.flatnonzero(
        (rows.first[0:even:2] != rows.first[1:even:2])
        | (rows.second[0:even:2] != rows.second[1:even:2])
    )
    if len(apart) or even < len(rows):
        row = 2 * int(apart[0]) if len(apart) else even
        raise TrainingError(
            f"training row {row}: expected two rows of the same two texts under two conditions, "
            f"one after the other, found one row of {rows.texts[rows.first[row]][:40]!r} and "
            f"{rows.texts[rows.second[row]][:40]!r}"
        )


def _model(
    network: ConditionNetwork, settings: ConditionTraining, encoder: TextEncoder, data: CstsRows
) -> ConditionModel:
    loss = ConditionLoss(settings.loss, settings.temperature)
    if settings.tune == "frozen":
        return FrozenConditionModel(
            network, loss, encoder.encode(data.texts), encoder.encode(data.conditions)
        )
    kind = TunedBiEncoderModel if settings.architecture == "bi-encoder" else TunedConditionModel
    trained = load_tunable(encoder.folder, encoder.device)
    return kind(network, loss, trained, data.texts, data.conditions, settings.max_tokens)


@torch.no_grad()
def _measure(model: ConditionModel, data: CstsRows, start: int, device: str) -> float:
    """Return Spearman's correlation of cosines and labels of all rows from ``start`` on."""
    rows = np.arange(start, len(data))
    with torch.autocast(device.split(":")[0], torch.bfloat16, enabled=has_bfloat16(device)):
        found = [
            model.cosines(batch_of(data, rows[at : at + VALIDATION_ROWS])).float().cpu().numpy()
            for at in range(0, len(rows), VALIDATION_ROWS)
        ]
    return spearman(np.concatenate(found), data.targets[start:])
