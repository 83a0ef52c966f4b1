"""The fine-tuned baseline: a binary classifier over the joint text of child and parent."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor, nn

from ontodex.encoders.cross_encoder import load_classifier
from ontodex.encoders.device import choose_device, has_bfloat16
from ontodex.errors import TrainingError, expect_number, expect_whole
from ontodex.graph import draw_negatives
from ontodex.trainers.data.subsumptions import HierarchyTask
from ontodex.trainers.hierarchies.evaluation import Floats, Rows, Score
from ontodex.trainers.run import Run, run_training

__all__ = ["PairClassifierTraining", "train_pair_classifier"]

NEGATIVES = 10
CHUNK = 16_384
"""Pairs that are tokenised together and sorted by length."""


@dataclass(frozen=True)
class PairClassifierTraining:
    """Settings of the classifier's training.

    Attributes:
        steps: Number of batches; 0 for three passes over all pairs, as in the paper, which takes
            hours without a GPU.
        batch: Pairs in a batch.
        rate: Learning rate.
        max_tokens: Pairs are truncated to this many tokens.
        seed: Seed of weights and batches.

    Raises:
        SettingsError: If a setting is out of range.
    """

    steps: int = 0
    batch: int = 64
    rate: float = 5e-5
    max_tokens: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        expect_whole(self, steps=0, batch=1, max_tokens=5, seed=0)
        expect_number(self, "rate", zero=True)


def train_pair_classifier(
    task: HierarchyTask,
    names: Sequence[str],
    *,
    encoder: Path,
    settings: PairClassifierTraining | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> Score:
    """Fine-tune a pretrained encoder on training links ("fine-tune" in He et al. 2024, table 2).

    Each link has ten negatives, five random and five hard. The paper classifies by the greater of
    the two logits; the score here is their difference, with a threshold chosen on validation.

    Args:
        task: Training links, and the full hierarchy that excludes true ancestors from the
            negatives.
        names: Name of each entity.
        encoder: Folder of the pretrained encoder.
        settings: Settings of the run.
        device: Device of the computation.
        quiet: Show no progress on stderr.

    Raises:
        TrainingError: If there are no links, or a score of the classifier is not finite.
        EncoderError: If the encoder's folder holds no transformer.
    """
    settings, device = settings or PairClassifierTraining(), choose_device(device)
    transformers.set_seed(settings.seed)
    model = _Classifier(encoder, names, settings.max_tokens)
    batches = _batches(task, settings)
    with tempfile.TemporaryDirectory() as folder:
        run = Run(Path(folder), device, settings.seed, quiet)
        run_training(
            run, model, batches, [{"params": list(model.parameters()), "lr": settings.rate}]
        )
    model.eval()

    @torch.inference_mode()
    def score(children: Rows, parents: Rows) -> Floats:
        found = np.empty(len(children))
        for start in range(0, len(children), CHUNK):
            pairs = np.stack(
                [children[start : start + CHUNK], parents[start : start + CHUNK]], axis=1
            )
            order = np.argsort(
                [len(ids) for ids in model.tokens(pairs)["input_ids"]], kind="stable"
            )
            for rows in np.array_split(order, -(-len(order) // (64 if device == "cpu" else 1024))):
                with torch.autocast(
                    device.split(":")[0], torch.bfloat16, enabled=has_bfloat16(device)
                ):
                    logits = model.logits(pairs[rows])
                found[start + rows] = (logits[:, 1] - logits[:, 0]).cpu().numpy()
        if not np.isfinite(found).all():
            raise TrainingError(
                "expected a classifier with finite scores, found others; lower its learning rate"
            )
        return found

    return score


class _Classifier(nn.Module):
    """A pretrained encoder with a new binary classification head."""

    def __init__(self, encoder: Path, names: Sequence[str], max_tokens: int) -> None:
        super().__init__()
        self._names = names
        self.model, self._tokenizer = load_classifier(encoder, labels=2)
        self._longest = min(max_tokens, self._tokenizer.model_max_length)

    def tokens(self, pairs: Rows, **form: Any) -> Any:
        children, parents = ([self._names[row] for row in side] for side in pairs.T.tolist())
        return self._tokenizer(children, parents, truncation=True, max_length=self._longest, **form)

    def logits(self, pairs: Rows) -> Tensor:
        inputs = self.tokens(pairs, padding=True, return_tensors="pt").to(self.model.device)
        found: Tensor = self.model(**inputs).logits.float()
        return found

    def forward(self, batch: Rows) -> dict[str, Tensor]:
        labels = torch.from_numpy(batch[:, 2]).to(self.model.device)
        return {"loss": nn.functional.cross_entropy(self.logits(batch[:, :2]), labels)}


def _batches(task: HierarchyTask, settings: PairClassifierTraining) -> list[Rows]:
    """Return batches of (child, parent, label) rows; if the steps need fewer links, sample them."""
    links = task.train
    if not len(links):
        raise TrainingError(
            "expected a task with training links, found none; leave out the classifier"
        )
    steps = settings.steps or -(-3 * len(links) * (1 + NEGATIVES) // settings.batch)
    wanted = -(-steps * settings.batch // (1 + NEGATIVES))
    rng = np.random.default_rng(settings.seed)
    if wanted < len(links):
        links = links[rng.permutation(len(links))[:wanted]]
    drawn = draw_negatives(task.known, links, negatives=NEGATIVES, seed=settings.seed)
    half = NEGATIVES // 2
    parents = np.concatenate([links[:, 1:], drawn.random[:, :half], drawn.hard[:, :half]], axis=1)
    labels = np.broadcast_to(np.arange(parents.shape[1]) == 0, parents.shape)
    rows = np.stack(
        [np.repeat(links[:, 0], parents.shape[1]), parents.ravel(), labels.ravel()], 1
    ).astype(np.int64)
    count = steps * settings.batch
    order = np.concatenate([rng.permutation(len(rows)) for _ in range(-(-count // len(rows)))])[
        :count
    ]
    return list(rows[order].reshape(steps, settings.batch, 3))
