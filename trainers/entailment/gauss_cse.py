"""Training of GaussCSE on labelled entailment pairs."""

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

from ontodex.encoders.gauss_cse import GaussCSE
from ontodex.encoders.gaussian_heads import GaussianHeads
from ontodex.encoders.locate import DEFAULT_ENCODER, GAUSSIAN
from ontodex.encoders.sentence_transformer import load_tunable
from ontodex.encoders.text import TextEncoder
from ontodex.errors import SettingsError, TrainingError
from ontodex.geometry.entailment import Entailment, area_under_precision_recall, fit_entailment
from ontodex.geometry.gaussian import similarity, typical
from ontodex.trainers.adapter import inject_adapter, write_tuned
from ontodex.trainers.best_checkpoint import BestCheckpoint, run_to_best
from ontodex.trainers.checkpoints import data_hash, expect_own
from ontodex.trainers.data.entailment_pairs import CONTRADICTION, EntailmentPairs
from ontodex.trainers.entailment.batches import EntailmentBatch, EntailmentBatches
from ontodex.trainers.entailment.loss import EntailmentLoss
from ontodex.trainers.entailment.settings import GaussCSETraining
from ontodex.trainers.run import Run, expect_finite
from ontodex.trainers.text_tower import TextTower, tokenise

__all__ = ["GaussCSEModel", "train_gauss_cse"]

DECAY = 0.01
"""Weight decay of matrices; biases and layer norms have none."""

CURVE_RATE = 0.01
"""Learning rate of the two parameters of the logistic curve."""


class GaussCSEModel(nn.Module):
    """Encodes the texts of a batch and returns the loss.

    Args:
        encoder: The text encoder, in float32, without a normalisation module.
        heads: Heads that map text vectors to Gaussians.
        texts: All texts.
        loss: The loss.
        max_tokens: Texts are truncated to this many tokens.
    """

    def __init__(
        self,
        encoder: SentenceTransformer,
        heads: GaussianHeads,
        texts: Sequence[str],
        loss: EntailmentLoss,
        max_tokens: int,
    ) -> None:
        super().__init__()
        self.tower = TextTower(encoder, unit=False)
        self.heads = heads.to(encoder.device)
        self.loss = loss.to(encoder.device)
        self.tokens = tokenise(encoder, texts, max_tokens)

    def forward(self, batch: EntailmentBatch) -> dict[str, Tensor]:
        """Return ``{"loss": loss}``, as the Trainer of transformers expects.

        Raises:
            TrainingError: If the loss is not finite.
        """
        vectors = self.tower([self.tokens[text] for text in batch.texts.tolist()])
        with torch.autocast(vectors.device.type, enabled=False):
            loss = self.loss(self.heads(vectors.float()), batch)
        return expect_finite(loss, batch.number)

    @torch.inference_mode()
    def gaussians(self, tokens: Sequence[NDArray[np.int32]]) -> NDArray[np.float32]:
        """Return the Gaussians of tokenised texts, ``float32`` of shape (texts, 2d).

        The Gaussians are computed as in training.
        """
        vectors = torch.from_numpy(self.tower.encode(tokens)).to(self.tower.encoder.device)
        return np.asarray(self.heads(vectors).cpu().numpy())

    def groups(self, settings: GaussCSETraining) -> list[dict[str, Any]]:
        """Return parameter groups with learning rates; only matrices have weight decay."""
        rate = settings.rate or (1e-4 if settings.tune == "full" else 3e-4)
        groups: list[dict[str, Any]] = [{"params": [self.loss.curve], "lr": CURVE_RATE}]
        for module, own in ((self.tower, rate), (self.heads, settings.head_rate)):
            weights = [weight for weight in module.parameters() if weight.requires_grad]
            groups.append(
                {
                    "params": [one for one in weights if one.ndim > 1],
                    "lr": own,
                    "weight_decay": DECAY,
                }
            )
            groups.append({"params": [one for one in weights if one.ndim < 2], "lr": own})
        return [*groups[1:], groups[0]]


def train_gauss_cse(
    train: EntailmentPairs,
    valid: EntailmentPairs,
    folder: Path,
    *,
    encoder: TextEncoder,
    base: str = DEFAULT_ENCODER,
    settings: GaussCSETraining | None = None,
    quiet: bool = False,
) -> GaussCSE:
    """Train a text encoder and two heads on pairs, and write the best checkpoint to ``folder``.

    The best checkpoint has the greatest area under the precision-recall curve on ``valid``; the
    threshold and the probability calibration are fitted to the same pairs. An interrupted run
    resumes from its last checkpoint if it is started again with the same arguments.

    Args:
        train: Training pairs.
        valid: Validation pairs that select the best checkpoint and fit the rule.
        folder: Output folder: new, empty, or holding a previous GaussCSE encoder, which is
            replaced.
        encoder: The text encoder that training starts from.
        base: Name of ``encoder``; a trained adapter is stored with this name.
        settings: Settings of the run.
        quiet: Show no progress on stderr.

    Raises:
        SettingsError: If there are no entailed pairs, no pairs that are not entailed, or no
            contradictions for a loss that needs them.
        TrainingError: If the folder holds other files, or the loss is not finite. In the latter
            case the best checkpoint so far is written, unless the folder held an encoder before.
    """
    settings = settings or GaussCSETraining()
    run = Run(folder, encoder.device, settings.seed, quiet, replaces=GaussCSE.is_at(folder))
    expect_own(folder, run.replaces, encoder.folder)
    losses = _losses(train, valid, settings.losses)
    if len(valid) > settings.valid:
        drawn = np.random.default_rng((settings.seed, 14)).permutation(len(valid))[: settings.valid]
        valid = valid.part(np.sort(drawn))
    torch.manual_seed(settings.seed)
    trained = load_tunable(encoder.folder, encoder.device, unit=False)
    if settings.tune == "adapter":
        inject_adapter(trained, settings.rank)
    loss = EntailmentLoss(losses, settings.similarity, settings.temperature, settings.pairs)
    heads = GaussianHeads(encoder.dim, settings.activation)
    model = GaussCSEModel(trained, heads, train.texts, loss, settings.max_tokens)
    steps = max(1, round(settings.epochs * max(1, round(len(train) / settings.batch))))
    batches = EntailmentBatches(train, steps=steps, batch=settings.batch, seed=settings.seed)
    tokens = tokenise(trained, valid.texts, settings.max_tokens)

    def measure() -> float:
        found = model.gaussians(tokens)
        if not np.isfinite(found).all():
            raise TrainingError("the vectors became infinite; lower the learning rates")
        return area_under_precision_recall(
            _similarities(found, valid, settings.similarity), valid.entailed
        )

    data = [
        data_hash(part.texts, part.premises, part.hypotheses, part.labels)
        for part in (train, valid)
    ]
    run = run.resumed({"training": asdict(settings), "encoder": encoder.fingerprint, "data": data})
    every = -(-steps // settings.evaluations)
    best = BestCheckpoint(model, run.checkpoints, every, measure, quiet)

    def write() -> GaussCSE:
        rank = settings.rank if settings.tune == "adapter" else None
        text, adapter = write_tuned(
            folder, GAUSSIAN, trained, encoder, base=base, max_tokens=settings.max_tokens, rank=rank
        )
        vectors = text.encode(valid.texts)
        heads.cpu().centre(*typical(heads(torch.from_numpy(vectors)).detach()))
        if adapter is not None:
            heads.half()  # the precision in which they are stored
        made = GaussCSE(
            text,
            heads.frozen(),
            Entailment(0.5, 1.0, 0.0),
            settings.similarity,
            adapter=adapter,
            base=base,
        )
        made.rule = fit_entailment(
            _similarities(made.stored(vectors), valid, settings.similarity), valid.entailed
        )
        made.save(folder)
        return made

    return run_to_best(run, best, batches, model.groups(settings), write, save_every=every)


def _losses(train: EntailmentPairs, valid: EntailmentPairs, losses: str | None) -> str:
    """Return the losses to use; reject pairs without the labels that these losses need."""
    for name, pairs in (("training", train), ("validation", valid)):
        if not pairs.entailed.any() or pairs.entailed.all():
            found = (
                "no pair that is entailed"
                if len(pairs) and not pairs.entailed.any()
                else "entailed pairs alone"
            )
            raise SettingsError(
                f"{name} pairs: expected pairs that are entailed and pairs that are not, found "
                f"{found}"
            )
    contradictions = (train.labels == CONTRADICTION).any()
    if losses is None:
        return "ent+con+rev" if contradictions else "ent+rev"
    if "con" in losses and not contradictions:
        raise SettingsError(
            f"losses: {losses} needs contradictions, found none among {len(train):,} pairs; choose "
            "ent or ent+rev"
        )
    return losses


def _similarities(
    gaussians: NDArray[np.float32], pairs: EntailmentPairs, form: str
) -> NDArray[np.float64]:
    """Return the similarity of each hypothesis to its premise, of shape (pairs,)."""
    wide = gaussians.astype(np.float64)
    return np.asarray(similarity(wide[pairs.hypotheses], wide[pairs.premises], form))
