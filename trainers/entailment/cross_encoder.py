"""Training of an entailment cross-encoder on labelled pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn

from ontodex.encoders.entailment_cross_encoder import EntailmentCrossEncoder
from ontodex.encoders.locate import DEFAULT_ENCODER, PAIRS
from ontodex.encoders.sentence_transformer import load_tunable
from ontodex.encoders.text import TextEncoder
from ontodex.errors import SettingsError
from ontodex.geometry.logistic import regression
from ontodex.trainers.adapter import as_adapter, only_matrices, write_tuned
from ontodex.trainers.best_checkpoint import BestCheckpoint, run_to_best
from ontodex.trainers.checkpoints import data_hash, expect_own
from ontodex.trainers.data.entailment_pairs import EntailmentPairs
from ontodex.trainers.entailment.settings import EntailmentCrossEncoderTraining
from ontodex.trainers.epoch_batches import EpochBatches
from ontodex.trainers.run import Run, expect_finite
from ontodex.trainers.text_tower import TextTower, tokenise

__all__ = ["train_entailment_cross_encoder"]

DECAY = 0.01
"""Weight decay of matrices; biases and layer norms have none."""

NEAR = 8
"""Number of batches whose pairs are sorted by length together, so that rows are filled."""

Rows = NDArray[np.int64]


class _Model(nn.Module):
    """Encodes the pairs of a batch jointly and returns the logistic loss."""

    def __init__(
        self, encoder: SentenceTransformer, linear: nn.Linear, pairs: EntailmentPairs, longest: int
    ) -> None:
        super().__init__()
        self.tower = TextTower(encoder, unit=False)
        self.linear = linear.to(encoder.device)
        self.tokens = tokenise(encoder, _texts(pairs), longest)
        self.entailed = torch.from_numpy(pairs.entailed).float()

    def forward(self, batch: Rows) -> dict[str, Tensor]:
        """Return ``{"loss": loss}`` of some pairs, as the Trainer of transformers expects."""
        vectors = self.tower([self.tokens[row] for row in batch.tolist()])
        with torch.autocast(vectors.device.type, enabled=False):
            logits = self.linear(vectors.float())[:, 0]
            wanted = self.entailed[torch.from_numpy(batch)].to(logits.device)
            loss = nn.functional.binary_cross_entropy_with_logits(logits, wanted)
        return expect_finite(loss)

    @torch.inference_mode()
    def logits(self, tokens: Sequence[NDArray[np.int32]]) -> NDArray[np.float64]:
        """Return the logits of tokenised pairs, of shape (pairs,)."""
        vectors = torch.from_numpy(self.tower.encode(tokens)).to(self.tower.encoder.device)
        return np.asarray(self.linear(vectors)[:, 0].double().cpu().numpy())

    def groups(self, settings: EntailmentCrossEncoderTraining) -> list[dict[str, Any]]:
        """Return parameter groups with learning rates; only matrices have weight decay."""
        weights = [weight for weight in self.parameters() if weight.requires_grad]
        return [
            {
                "params": [one for one in weights if one.ndim > 1],
                "lr": settings.rate,
                "weight_decay": DECAY,
            },
            {"params": [one for one in weights if one.ndim < 2], "lr": settings.rate},
        ]


class _Batches(EpochBatches[Rows, list[Rows]]):
    """Batches of pairs of similar length, in random order."""

    def __init__(self, lengths: Rows, *, steps: int, batch: int, seed: int) -> None:
        super().__init__(steps, per_epoch=max(1, round(len(lengths) / batch)))
        self._lengths, self._seed = lengths, seed

    def _batch(self, step: int, turn: int, order: list[Rows]) -> Rows:
        return order[turn]

    def _draw_order(self, epoch: int) -> list[Rows]:
        rng = np.random.default_rng((self._seed, 15, epoch))
        order = rng.permutation(len(self._lengths))
        near = max(1, self.per_epoch // NEAR)
        order = np.concatenate(
            [
                part[np.argsort(self._lengths[part], kind="stable")]
                for part in np.array_split(order, near)
            ]
        )
        batches = np.array_split(order, self.per_epoch)
        return [batches[at] for at in rng.permutation(len(batches)).tolist()]


def train_entailment_cross_encoder(
    train: EntailmentPairs,
    valid: EntailmentPairs,
    folder: Path,
    *,
    encoder: TextEncoder,
    base: str = DEFAULT_ENCODER,
    settings: EntailmentCrossEncoderTraining | None = None,
    seen: Sequence[str] = (),
    quiet: bool = False,
) -> EntailmentCrossEncoder:
    """Train a text encoder on pairs that it reads jointly, and write the best checkpoint.

    The loss is logistic: whether the premise entails the hypothesis. The best checkpoint has the
    smallest logistic loss on ``valid``, to which the curve of the probabilities is fitted. An
    interrupted run resumes from its last checkpoint if it is started again with the same arguments.

    Args:
        train: Training pairs.
        valid: Validation pairs.
        folder: Output folder: new, empty, or holding a previous encoder of this kind, which is
            replaced.
        encoder: The text encoder that training starts from.
        base: Name of ``encoder``; a trained adapter is stored with this name.
        settings: Settings of the run.
        seen: Names of the data sets of the pairs, to store with the encoder.
        quiet: Show no progress on stderr.

    Raises:
        SettingsError: If there are no entailed pairs, or no others.
        TrainingError: If the folder holds other files, or the loss is not finite.
    """
    settings = settings or EntailmentCrossEncoderTraining()
    for name, pairs in (("training", train), ("validation", valid)):
        if not pairs.entailed.any() or pairs.entailed.all():
            raise SettingsError(
                f"{name} pairs: expected pairs that are entailed and pairs that are not, found "
                "only one of the two"
            )
    replaces = EntailmentCrossEncoder.is_at(folder)
    run = Run(folder, encoder.device, settings.seed, quiet, replaces=replaces)
    expect_own(folder, run.replaces, encoder.folder)
    torch.manual_seed(settings.seed)
    trained = load_tunable(encoder.folder, encoder.device, unit=False)
    if settings.tune == "adapter":
        only_matrices(trained)
    linear = nn.Linear(encoder.dim, 1)
    model = _Model(trained, linear, train, settings.max_tokens)
    steps = max(1, round(settings.epochs * max(1, round(len(train) / settings.batch))))
    lengths = np.array([len(tokens) for tokens in model.tokens])
    batches = _Batches(lengths, steps=steps, batch=settings.batch, seed=settings.seed)
    tokens = tokenise(trained, _texts(valid), settings.max_tokens)

    def measure() -> float:
        return -_loss(model.logits(tokens), valid.entailed)

    data = [
        data_hash(part.texts, part.premises, part.hypotheses, part.labels)
        for part in (train, valid)
    ]
    run = run.resumed({"training": asdict(settings), "encoder": encoder.fingerprint, "data": data})
    every = -(-steps // settings.evaluations)
    best = BestCheckpoint(model, run.checkpoints, every, measure, quiet)

    def write() -> EntailmentCrossEncoder:
        if settings.tune == "adapter":
            as_adapter(trained, encoder, settings.rank)
        text, adapter = write_tuned(
            folder,
            PAIRS,
            trained,
            encoder,
            base=base,
            max_tokens=settings.max_tokens,
            rank=settings.rank if settings.tune == "adapter" else None,
        )
        weights = {
            name: np.asarray(weight.detach().cpu()) for name, weight in linear.named_parameters()
        }
        made = EntailmentCrossEncoder(text, weights, adapter=adapter, base=base, seen=seen)
        (made.slope,), made.offset = regression(made.logits(_texts(valid))[None], valid.entailed)
        made.save(folder)
        return made

    return run_to_best(run, best, batches, model.groups(settings), write, save_every=every)


def _texts(pairs: EntailmentPairs) -> list[tuple[str, str]]:
    return [(premise, hypothesis) for premise, hypothesis, _ in pairs.rows()]


def _loss(logits: NDArray[np.float64], entailed: NDArray[np.bool_]) -> float:
    return float(np.logaddexp(0, np.where(entailed, -logits, logits)).mean())
