"""Training of Self-StrAE on plain sentences, without a pretrained model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

from ontodex.encoders.device import choose_device
from ontodex.encoders.locate import is_self_strae
from ontodex.encoders.self_strae import SelfStrAE
from ontodex.errors import SettingsError, TrainingError
from ontodex.trainers.best_checkpoint import BestCheckpoint, run_to_best
from ontodex.trainers.checkpoints import clear_model, data_hash, expect_own
from ontodex.trainers.run import Run
from ontodex.trainers.trees.batches import SentenceBatches, TokenisedSentences, train_tokenizer
from ontodex.trainers.trees.objectives import TreeModel
from ontodex.trainers.trees.settings import SelfStrAETraining
from ontodex.trainers.trees.token_counts import counted_vectors

__all__ = ["train_self_strae"]

HELD_OUT, MOST_HELD_OUT = 0.05, 2048
"""Share and largest number of the sentences that select the best checkpoint."""

ENOUGH = 100
"""Smallest number of held-out sentences for detecting a failed run."""

CONTEXT_RATE, PUBLIC_RATE = 0.01, 0.001
"""Default learning rates of the ``context`` objective and of the paper's objectives."""

LEAST_REDUCTION, DETECTED_AFTER = 0.003, 0.2
"""Detection of a failed run: smallest reduction of the loss, and share of the steps.

A run has failed if, after this share of its steps, its loss is not reduced by this share of the
chance level. Successful runs reduce the loss at least ten times as much.
"""


def train_self_strae(
    texts: Sequence[str],
    folder: Path,
    *,
    settings: SelfStrAETraining | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> SelfStrAE:
    """Train a tokenizer and an encoder on sentences, and write the best checkpoint to ``folder``.

    The best checkpoint has the lowest loss on a held-out twentieth of the sentences, at most 2,048.
    An interrupted run resumes from its last checkpoint if it is started again with the same
    arguments.

    Args:
        texts: The sentences.
        folder: Output folder: new, empty, or holding a previous Self-StrAE encoder, which is
            replaced.
        settings: Settings of the run.
        device: Device of the computation.
        quiet: Show no progress on stderr.

    Raises:
        SettingsError: If the vocabulary is larger than the text supports, or there are too few
            sentences.
        TrainingError: If the folder holds other files, the loss is not finite, or the loss does not
            fall below the chance level.
    """
    settings, device = settings or SelfStrAETraining(), choose_device(device)
    unit = "sentence", settings.batch
    run = Run(folder, device, settings.seed, quiet, replaces=is_self_strae(folder), unit=unit)
    expect_own(folder, run.replaces)
    tokenizer = train_tokenizer(texts, settings.vocabulary)
    sentences = TokenisedSentences.of(texts, tokenizer, settings.max_tokens)
    held_out = min(MOST_HELD_OUT, int(HELD_OUT * len(sentences)))
    if held_out < 2:
        raise SettingsError(
            f"expected at least {2 / HELD_OUT:.0f} sentences of two tokens or more to train on, "
            f"found {len(sentences):,}"
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
        reduction = model.loss_reduction(valid)
        done = (len(best.history) + 1) / settings.evaluations
        if reduction < LEAST_REDUCTION and done >= DETECTED_AFTER and held_out >= ENOUGH:
            raise TrainingError(
                f"seed {settings.seed}: expected a loss below that of chance after {done:.0%} of "
                f"the run, found {1 - reduction:.1%} of it; take another seed, or start='counts'"
            )
        return reduction

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
    """Print the number of sentences and tokens on stderr."""
    parts = [f"{len(sentences):,} sentences, {len(sentences.tokens):,} tokens"]
    if sentences.cut:
        parts.append(f"{sentences.cut:,} cut")
    if sentences.short:
        parts.append(f"{sentences.short:,} of less than two tokens left out")
    print("; ".join(parts), file=sys.stderr)  # noqa: T201
