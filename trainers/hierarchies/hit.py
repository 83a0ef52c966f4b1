"""Training of HiT on a hierarchy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn

from ontodex.encoders.hit import HiT, Learnt
from ontodex.encoders.locate import DEFAULT_ENCODER, HIERARCHY
from ontodex.encoders.sentence_transformer import load_tunable
from ontodex.encoders.text import TextEncoder
from ontodex.errors import TrainingError
from ontodex.geometry.poincare import clip, curvature
from ontodex.graph import links_fingerprint
from ontodex.graph.negatives import Pairs, draw_negatives, homonym_rate
from ontodex.trainers.adapter import inject_adapter, weaken, write_tuned
from ontodex.trainers.best_checkpoint import BestCheckpoint, run_to_best
from ontodex.trainers.checkpoints import data_hash, expect_own
from ontodex.trainers.data.subsumptions import HierarchyTask
from ontodex.trainers.hierarchies.batches import (
    HierarchyBatch,
    HierarchyBatches,
    TextHierarchy,
    TripletBatches,
)
from ontodex.trainers.hierarchies.evaluation import at_most
from ontodex.trainers.hierarchies.loss import HierarchyLoss
from ontodex.trainers.hierarchies.rule import fit_rule, valid_f1
from ontodex.trainers.hierarchies.settings import HiTTraining
from ontodex.trainers.run import Run, expect_finite
from ontodex.trainers.text_tower import TextTower, tokenise

__all__ = ["HiTModel", "train_hit"]


class HiTModel(nn.Module):
    """Encodes the texts of a batch and returns the loss.

    Args:
        encoder: The text encoder, in float32, without a normalisation module.
        texts: All texts.
        loss: The loss.
        max_tokens: Texts are truncated to this many tokens.
    """

    def __init__(
        self,
        encoder: SentenceTransformer,
        texts: Sequence[str],
        loss: HierarchyLoss,
        max_tokens: int,
    ) -> None:
        super().__init__()
        self.tower = TextTower(encoder, unit=False)
        self.loss = loss
        self.tokens = tokenise(encoder, texts, max_tokens)
        self.batch = 0

    def forward(self, batch: HierarchyBatch) -> dict[str, Tensor]:
        """Return ``{"loss": loss}``, as the Trainer of transformers expects.

        Raises:
            TrainingError: If the loss is not finite.
        """
        self.batch = batch.number + 1
        vectors = self.tower([self.tokens[text] for text in batch.texts.tolist()])
        device = vectors.device
        places = (
            torch.from_numpy(array).to(device)
            for array in (batch.children, batch.parents, batch.negatives)
        )
        return expect_finite(self.loss(vectors, *places), batch.number)

    def points(
        self, texts: np.ndarray[Any, np.dtype[np.int64]], c: float
    ) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return the points of the given texts, ``float32`` of shape (texts, dim).

        The points are computed as in training.

        Raises:
            TrainingError: If a vector is not finite.
        """
        found = self.tower.encode([self.tokens[text] for text in texts.tolist()])
        if not np.isfinite(found).all():
            raise TrainingError(
                f"batch {self.batch}: the vectors became infinite; lower the learning rate"
            )
        return np.asarray(clip(found, c))


def train_hit(
    task: HierarchyTask,
    names: Sequence[str],
    folder: Path,
    *,
    encoder: TextEncoder,
    base: str = DEFAULT_ENCODER,
    settings: HiTTraining | None = None,
    texts: dict[str, Any] | None = None,
    seen: Sequence[str] = (),
    quiet: bool = False,
) -> HiT:
    """Train a text encoder on the links of a hierarchy and write the best checkpoint to ``folder``.

    An interrupted run resumes from its last checkpoint if it is started again with the same task,
    encoder and settings.

    Args:
        task: Training links, and held-out pairs that select the best checkpoint and fit the rule.
        names: Text of every entity.
        folder: Output folder: new, empty, or holding a previous HiT encoder, which is replaced.
        encoder: The text encoder that training starts from.
        base: Name of ``encoder``; a trained adapter is stored with this name.
        settings: Settings of the run.
        texts: How ``names`` were built (the fields of ``ontodex.TextSettings``); stored with the
            encoder.
        seen: Names of the graphs that are trained on; stored with the encoder.
        quiet: Show no progress on stderr.

    Raises:
        TrainingError: If there are no links, the folder holds other files, or the loss is not
            finite. In the last case the best checkpoint so far is written, unless the folder held
            an encoder before.
    """
    settings = settings or HiTTraining()
    rate = settings.rate or (1e-4 if settings.tune == "full" else 1e-3)
    run = Run(folder, encoder.device, settings.seed, quiet, replaces=HiT.is_at(folder))
    expect_own(folder, run.replaces, encoder.folder)
    hierarchy = TextHierarchy(task, names)
    shared = homonym_rate(names)
    if shared > 0.01:
        warnings.warn(
            f"{shared:.1%} of the entities share their text with another; training treats them as "
            "one",
            stacklevel=2,
        )
    torch.manual_seed(settings.seed)
    c = curvature(encoder.dim)
    trained = load_tunable(encoder.folder, encoder.device, unit=False)
    if settings.tune == "adapter":
        inject_adapter(trained, settings.rank)
    families = settings.batches == "families"
    loss = HierarchyLoss(
        c, settings.cluster, settings.centripetal, settings.contraction, smooth=families
    )
    model = HiTModel(trained, hierarchy.texts, loss, settings.max_tokens)
    batches = _batches(task, names, hierarchy, settings)
    valid = at_most(task, settings.valid, settings.seed).valid
    parts = [hierarchy.of_entity[part] for part in (valid.positives, valid.random, valid.hard)]
    wanted = np.unique(np.concatenate([part.ravel() for part in parts]))
    pairs = Pairs(*(np.searchsorted(wanted, part).astype(np.int32) for part in parts))

    def measure() -> float:
        return valid_f1(pairs, model.points(wanted, c), c)

    data = data_hash(
        names,
        task.train,
        task.valid.positives,
        task.valid.random,
        task.valid.hard,
        task.known.links,
    )
    run = run.resumed({"training": asdict(settings), "encoder": encoder.fingerprint, "task": data})
    every = -(-len(batches) // settings.evaluations)
    best = BestCheckpoint(model, run.checkpoints, every, measure, quiet)

    def write() -> HiT:
        weaken(trained, encoder, settings.strength)
        rank = settings.rank if settings.tune == "adapter" else None
        text, adapter = write_tuned(
            folder,
            HIERARCHY,
            trained,
            encoder,
            base=base,
            max_tokens=settings.max_tokens,
            rank=rank,
        )
        made = HiT(text, None, texts or {}, adapter=adapter, base=base, seen=seen)
        made.rule = fit_rule(
            pairs, made.points([hierarchy.texts[text] for text in wanted.tolist()]), c
        )
        made.learnt = _training_of(task, names)
        made.save(folder)
        return made

    groups = [
        {"params": [weight for weight in model.parameters() if weight.requires_grad], "lr": rate}
    ]
    return run_to_best(run, best, batches, groups, write, save_every=every)


def _training_of(task: HierarchyTask, names: Sequence[str]) -> Learnt | None:
    if task.settings is None:
        return None
    made = task.settings
    return Learnt(links_fingerprint(task.known.links, names), made.task, made.seed, made.held_out)


def _batches(
    task: HierarchyTask, names: Sequence[str], hierarchy: TextHierarchy, settings: HiTTraining
) -> HierarchyBatches | TripletBatches:
    if settings.batches == "families":
        per_epoch = HierarchyBatches.epoch_length(hierarchy, settings.families, settings.children)
        steps = max(1, round(settings.epochs * per_epoch))
        return HierarchyBatches(
            hierarchy,
            steps=steps,
            families=settings.families,
            children=settings.children,
            seed=settings.seed,
        )
    pairs = draw_negatives(
        task.known, task.train, negatives=settings.negatives, seed=settings.seed, names=names
    )
    kind = settings.batches.removesuffix("-triplets")
    steps = max(
        1, round(settings.epochs * len(task.train) * settings.negatives / settings.triplets)
    )
    return TripletBatches(
        hierarchy, pairs, kind, steps=steps, triplets=settings.triplets, seed=settings.seed
    )
