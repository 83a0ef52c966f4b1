"""Training Self-StrAE on plain sentences, from nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from ontodex.encoders.device import choose_device
from ontodex.encoders.self_strae import SelfStrAE
from ontodex.errors import SettingsError, TrainingError, expect_choice, expect_number, expect_whole
from ontodex.trainers.best_checkpoint import BestCheckpoint, run_to_best
from ontodex.trainers.checkpoints import clear_model, data_hash, expect_own
from ontodex.trainers.run import Run
from ontodex.trainers.trees.batches import SentenceBatches, TokenisedSentences, train_tokenizer
from ontodex.trainers.trees.objectives import OBJECTIVES, TreeModel
from ontodex.trainers.trees.token_counts import counted_vectors

__all__ = ["SelfStrAETraining", "train_self_strae"]

STARTS = ("counts", "public")
"""How a run begins: from what stands near each token in the text, or from torch's and the paper's random numbers."""

HELD_OUT, MOST_HELD_OUT = 0.05, 2048
"""Share of the sentences by which the best checkpoint is chosen, and the most."""

ENOUGH = 100
"""Held-out sentences from which it can be told that nothing was learnt."""

CONTEXT_RATE, PUBLIC_RATE = 0.01, 0.001
"""Learning rates of contexts, and of the paper's objectives."""

LEARNT, JUDGED = 0.003, 0.2
"""A run whose loss is not by this share below that of chance after this share of its steps has failed: others learn at least
ten times as much."""


@dataclass(frozen=True)
class SelfStrAETraining:
    """Settings of a training run.

    Attributes:
        objective: One of :data:`~ontodex.trainers.trees.objectives.OBJECTIVES`; all but ``"context"`` are the paper's.
        channels: Parts of a vector.
        size: Numbers of a part.
        vocabulary: Number of tokens; 0 for 25,000, or fewer if the text has not so many.
        start: ``"counts"``: from vectors of what stands near each token in the text, every node the sum of its tokens, rare
            ones longer; at the end what is common to all tokens is taken out of their vectors. ``"public"``: from random
            numbers, as in the authors' code.
        multiplier: What cosines are multiplied by; 0 for the objective's own: 10, or the paper's exp(0.2).
        nodes: Nodes of a batch that are compared; 0 for all, as in the paper, at more than ten times the cost.
        public_order: Decompose in the order of the authors' code, not left halves left.
        epochs: Passes over the sentences.
        batch: Sentences of a batch.
        rate: Learning rate; 0 for the objective's own: 0.01, or the paper's 0.001.
        max_tokens: Sentences are cut to this many tokens.
        evaluations: Times that the run is evaluated on validation, to keep the best checkpoint.
        seed: Seed of weights, batches and draws.

    Raises:
        SettingsError: If one makes no sense.
    """

    objective: str = "context"
    channels: int = 128
    size: int = 2
    vocabulary: int = 0
    start: str = "counts"
    multiplier: float = 0.0
    nodes: int = 2048
    public_order: bool = False
    epochs: float = 15.0
    batch: int = 512
    rate: float = 0.0
    max_tokens: int = 200
    evaluations: int = 15
    seed: int = 0

    def __post_init__(self) -> None:
        expect_choice("objective", self.objective, OBJECTIVES)
        expect_choice("start", self.start, STARTS)
        expect_whole(
            self,
            channels=1,
            size=1,
            vocabulary=0,
            nodes=0,
            batch=2,
            max_tokens=2,
            evaluations=1,
            seed=0,
        )
        expect_number(self, "epochs")
        expect_number(self, "multiplier", "rate", zero=True)

    @classmethod
    def of_dimension(cls, dimension: int, channels: int, **settings: object) -> SelfStrAETraining:
        """Return settings of vectors of a dimension, taken apart into channels.

        Raises:
            SettingsError: If the channels do not divide the dimension, or a setting makes no sense.
        """
        if channels < 1 or dimension % channels:
            raise SettingsError(
                f"channels: expected a number that divides the dimension of {dimension}, found {channels}"
            )
        return cls(channels=channels, size=dimension // channels, **settings)  # type: ignore[arg-type]


def train_self_strae(
    texts: Sequence[str],
    folder: Path,
    *,
    settings: SelfStrAETraining | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> SelfStrAE:
    """Train a tokenizer and an encoder on sentences, and write the best checkpoint to ``folder``.

    The best checkpoint is that of the least loss on a twentieth of the sentences, 2,048 at most, which is held out. An
    interrupted run goes on from its last checkpoint, if it is called again alike.

    Args:
        texts: The sentences.
        folder: Where the encoder is written: a new or empty folder, or one that holds an earlier one, which it replaces.
        settings: How to train.
        device: Where to compute.
        quiet: Show no progress on stderr.

    Raises:
        SettingsError: If the vocabulary is larger than the text supports, or there are too few sentences.
        TrainingError: If the folder holds other files, the loss is no number, or nothing is learnt.
    """
    settings, device = settings or SelfStrAETraining(), choose_device(device)
    unit = "sentence", settings.batch
    run = Run(folder, device, settings.seed, quiet, replaces=SelfStrAE.is_at(folder), unit=unit)
    expect_own(folder, run.replaces)
    tokenizer = train_tokenizer(texts, settings.vocabulary)
    sentences = TokenisedSentences.of(texts, tokenizer, settings.max_tokens)
    held_out = min(MOST_HELD_OUT, int(HELD_OUT * len(sentences)))
    if held_out < 2:
        raise SettingsError(
            f"expected at least {2 / HELD_OUT:.0f} sentences of two tokens or more to learn from, found {len(sentences):,}"
        )
    if not quiet:
        _report(sentences)
    order = np.random.default_rng((settings.seed, 22)).permutation(len(sentences))
    by_length = order[:held_out][np.argsort(sentences.lengths[order[:held_out]], kind="stable")]
    valid = [
        sentences.batch(rows) for rows in np.array_split(by_length, -(-held_out // settings.batch))
    ]
    train = sentences.part(np.sort(order[held_out:]))
    batches = SentenceBatches(
        train, epochs=settings.epochs, batch=settings.batch, seed=settings.seed
    )
    torch.manual_seed(settings.seed)
    encoder = SelfStrAE(tokenizer, settings.channels, settings.size, settings.max_tokens)
    vocabulary = tokenizer.get_vocab_size()
    model = TreeModel(
        encoder,
        torch.from_numpy(sentences.shares(vocabulary)).float(),
        objective=settings.objective,
        counted=counted_vectors(train, vocabulary, encoder.dim, settings.seed)
        if settings.start == "counts"
        else None,
        multiplier=settings.multiplier,
        nodes=settings.nodes,
        public_order=settings.public_order,
    ).to(device)
    every = -(-len(batches) // settings.evaluations)
    rate = settings.rate or (CONTEXT_RATE if settings.objective == "context" else PUBLIC_RATE)

    def measure() -> float:
        learnt, done = model.learnt(valid), (len(best.history) + 1) / settings.evaluations
        if learnt < LEARNT and done >= JUDGED and held_out >= ENOUGH:
            raise TrainingError(
                f"seed {settings.seed}: expected a loss below that of chance after {done:.0%} of the run, found one of "
                f"{1 - learnt:.1%} of it; take another seed, or start='counts'"
            )
        return learnt

    run = run.resumed({"training": asdict(settings), "data": data_hash(texts)})
    best = BestCheckpoint(model, run.checkpoints, every, measure, quiet)

    def write() -> SelfStrAE:
        made = model.fold().cpu().eval()
        folder.mkdir(parents=True, exist_ok=True)
        clear_model(folder)
        made.write(folder)
        return made

    groups = [{"params": list(model.parameters()), "lr": rate}]
    return run_to_best(run, best, batches, groups, write, save_every=every)


def _report(sentences: TokenisedSentences) -> None:
    """Say on stderr what is learnt from."""
    parts = [f"{len(sentences):,} sentences, {len(sentences.tokens):,} tokens"]
    if sentences.cut:
        parts.append(f"{sentences.cut:,} cut")
    if sentences.short:
        parts.append(f"{sentences.short:,} of less than two tokens left out")
    print("; ".join(parts), file=sys.stderr)  # noqa: T201
