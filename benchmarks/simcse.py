"""Point-vector baseline: the same text encoder with SimCSE's supervised loss, scored by cosine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from ontodex.encoders.sentence_transformer import load_sentence_transformer
from ontodex.encoders.text import TextEncoder
from ontodex.trainers.data.entailment_pairs import EntailmentPairs
from ontodex.trainers.entailment.batches import EntailmentBatch, EntailmentBatches
from ontodex.trainers.entailment.evaluation import Judged
from ontodex.trainers.entailment.loss import contrastive
from ontodex.trainers.entailment.settings import GaussCSETraining
from ontodex.trainers.run import Run, run_training
from ontodex.trainers.text_tower import TextTower, tokenise

__all__ = ["judge_points", "train_points"]


class _PointModel(nn.Module):
    """SimCSE's supervised loss: entailed hypotheses against in-batch ones and contradictions.

    Scores are cosines (Gao et al., EMNLP 2021).
    """

    def __init__(
        self, encoder: TextEncoder, texts: Sequence[str], settings: GaussCSETraining
    ) -> None:
        super().__init__()
        trained = load_sentence_transformer(encoder.folder, encoder.device, unit=False)
        self.tower = TextTower(trained)
        self.tokens = tokenise(trained, texts, settings.max_tokens)
        self.temperature = settings.temperature

    def forward(self, batch: EntailmentBatch) -> dict[str, Tensor]:
        vectors = self.tower([self.tokens[text] for text in batch.texts.tolist()])
        cosines = vectors.float() @ vectors.float().T
        return {"loss": contrastive(cosines, batch, self.temperature, con=True, rev=False)}


def train_points(
    pairs: EntailmentPairs,
    folder: Path,
    encoder: TextEncoder,
    settings: GaussCSETraining,
    steps: int,
) -> TextEncoder:
    """Train on the same number of batches of the same pairs; return an encoder of unit vectors."""
    torch.manual_seed(settings.seed)
    model = _PointModel(encoder, pairs.texts, settings)
    batches = EntailmentBatches(pairs, steps=steps, batch=settings.batch, seed=settings.seed)
    groups = [{"params": list(model.tower.parameters()), "lr": settings.rate or 1e-4}]
    run_training(Run(folder, encoder.device, settings.seed, quiet=False), model, batches, groups)
    model.tower.encoder.save(str(folder / "points"), create_model_card=False)
    return TextEncoder(folder / "points", encoder.device)


def judge_points(encoder: TextEncoder, pairs: EntailmentPairs) -> Judged:
    """Score pairs by cosine, which is symmetric."""
    vectors = encoder.encode(pairs.texts).astype(np.float64)
    cosines = np.einsum("pd,pd->p", vectors[pairs.premises], vectors[pairs.hypotheses])
    return Judged(cosines, cosines)
