"""Training HiT on a hierarchy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
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
from ontodex.errors import SettingsError, TrainingError, expect_choice, expect_number, expect_whole
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
from ontodex.trainers.run import Run, expect_finite
from ontodex.trainers.text_tower import TextTower, tokenise

__all__ = ["HiTModel", "HiTTraining", "train_hit"]


@dataclass(frozen=True)
class HiTTraining:
    """Settings of a training run.

    Attributes:
        tune: ``"full"`` trains the whole text encoder, ``"adapter"`` a LoRA adapter of a few megabytes.
        batches: ``"families"``: parents with some of their children, every other text of the batch a negative, the nearest
            most of all;
            ``"random-triplets"`` or ``"hard-triplets"``: the paper's, each link with negatives of its own.
        epochs: Passes over the links.
        families: Families in a batch.
        children: Most children in a family.
        negatives: Negatives of a link, in triplets.
        triplets: Triplets in a batch.
        cluster: Margin of the clustering loss.
        centripetal: Margin of the centripetal loss.
        contraction: Weight of the mean distance to the origin in the loss, which keeps the points together; 0 in the paper.
        rate: Learning rate; 0 takes 1e-4 for the whole encoder and 1e-3 for an adapter.
        rank: Rank of the adapter.
        strength: Share of what the weights have changed that is kept; 1 in the paper. An encoder that keeps less is better
            for hierarchies that it has not learnt, and little less is no loss for its own (WiSE-FT, Wortsman et al., CVPR
            2022).
        max_tokens: Texts are cut to this many tokens, the two that frame them counted.
        evaluations: Times that the run is evaluated on validation, to keep the best checkpoint.
        valid: Most positive pairs that are used for that.
        seed: Seed of weights and batches.

    Raises:
        SettingsError: If one makes no sense.
    """

    tune: str = "full"
    batches: str = "families"
    epochs: float = 8.0
    families: int = 40
    children: int = 4
    negatives: int = 10
    triplets: int = 256
    cluster: float = 5.0
    centripetal: float = 0.1
    contraction: float = 0.0
    rate: float = 0.0
    rank: int = 32
    strength: float = 1.0
    max_tokens: int = 32
    evaluations: int = 8
    valid: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        expect_choice("tune", self.tune, ("full", "adapter"))
        expect_choice("batches", self.batches, ("families", "random-triplets", "hard-triplets"))
        expect_whole(self, families=1, children=1, negatives=1, triplets=1, rank=1, max_tokens=3)
        expect_whole(self, evaluations=1, valid=1, seed=0)
        expect_number(self, "epochs", "strength")
        if self.strength > 1:
            raise SettingsError(
                f"strength: expected a number above 0 and at most 1, found {self.strength!r}"
            )
        expect_number(self, "cluster", "centripetal", "contraction", "rate", zero=True)


class HiTModel(nn.Module):
    """Encodes the texts of a batch and returns the loss.

    Args:
        encoder: The text encoder, in float32, without a module that scales its vectors.
        texts: Every text.
        loss: The loss.
        max_tokens: Texts are cut to this many tokens.
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
        """Return ``{"loss": loss}``, as transformers' Trainer expects.

        Raises:
            TrainingError: If the loss is no number.
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
        """Return the points of the given texts, ``float32`` of shape (texts, dim), computed as in training.

        Raises:
            TrainingError: If they are no numbers.
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
    quiet: bool = False,
) -> HiT:
    """Train a text encoder on the links of a hierarchy, and write the best checkpoint to ``folder``.

    An interrupted run goes on from its last checkpoint, if it is called again with the same task, encoder and settings.

    Args:
        task: What is learnt, and the held-out pairs by which the best checkpoint and the rule are chosen.
        names: Text of every entity.
        folder: Where the encoder is written: a new or empty folder, or one that holds an earlier one, which it replaces.
        encoder: The text encoder to start from.
        base: Its name, under which an adapter will find it again.
        settings: How to train.
        texts: How ``names`` were built (the fields of ``ontodex.TextSettings``); written beside the encoder.
        quiet: Show no progress on stderr.

    Raises:
        TrainingError: If there are no links, the folder holds other files, or the loss is no number: then the best
            checkpoint so far is written, unless the folder held an encoder before.
    """
    settings = settings or HiTTraining()
    rate = settings.rate or (1e-4 if settings.tune == "full" else 1e-3)
    run = Run(folder, encoder.device, settings.seed, quiet, replaces=HiT.is_at(folder))
    expect_own(folder, run.replaces, encoder.folder)
    hierarchy = TextHierarchy(task, names)
    shared = homonym_rate(names)
    if shared > 0.01:
        warnings.warn(
            f"{shared:.1%} of the entities share their text with another; they are learnt as one",
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
        made = HiT(text, None, texts or {}, adapter=adapter, base=base)
        made.rule = fit_rule(
            pairs, made.points([hierarchy.texts[text] for text in wanted.tolist()]), c
        )
        made.learnt = _learnt(task, names)
        made.save(folder)
        return made

    groups = [
        {"params": [weight for weight in model.parameters() if weight.requires_grad], "lr": rate}
    ]
    return run_to_best(run, best, batches, groups, write, save_every=every)


def _learnt(task: HierarchyTask, names: Sequence[str]) -> Learnt | None:
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
