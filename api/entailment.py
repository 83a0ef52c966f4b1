"""Entailment: training on judgements or on a hierarchy, and evaluating."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontodex.encoders.locate import DEFAULT_ENCODER, findable
from ontodex.errors import ReadError
from ontodex.indexing import load_entailment_encoder
from ontodex.trainers.data.entailment_pairs import EntailmentPairs, entailment_pairs
from ontodex.trainers.data.nli import read_nli

if TYPE_CHECKING:
    from ontodex.encoders.gauss_cse import GaussCSE
    from ontodex.trainers.entailment.gauss_cse import GaussCSETraining

__all__ = ["evaluate_nli", "train_gauss_cse"]

HELD_OUT = 0.1
"""Share of the premises by which the best checkpoint is chosen, where nothing else is given for that."""


def train_gauss_cse(
    source: Any,
    path: str | Path,
    *,
    valid: EntailmentPairs | None = None,
    encoder: str | Path = DEFAULT_ENCODER,
    training: GaussCSETraining | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> GaussCSE:
    """Train an entailment encoder (GaussCSE); give its folder to :func:`ontodex.build` as ``entailment``.

    An interrupted run goes on if it is called again alike.

    Args:
        source: Pairs of premise and hypothesis, see :func:`ontodex.read_nli`; or a graph with a hierarchy, or anything that
            :func:`ontodex.read` reads: then what a child says entails what its ancestors say
            (:func:`ontodex.entailment_pairs`).
        path: Folder of the new encoder.
        valid: Pairs to choose the best checkpoint, the threshold and the probability by; by default a tenth of the
            premises is held out for that.
        encoder: Folder or name of the text encoder to start from.
        training: How to train.
        device: Where to compute.
        quiet: Show no progress on stderr.

    Raises:
        EncoderError: If the text encoder cannot be loaded.
        GraphError: If the graph has no hierarchy, or too small a one.
        SettingsError: If a setting makes no sense, or the pairs have not the labels that the loss needs.
        TrainingError: If the folder holds other files, or the loss is no number.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.entailment import gauss_cse

    settings = training or gauss_cse.GaussCSETraining()
    train = (
        source
        if isinstance(source, EntailmentPairs)
        else entailment_pairs(source, seed=settings.seed)
    )
    if valid is None:
        train, valid = train.split(HELD_OUT, settings.seed)
    return gauss_cse.train_gauss_cse(
        train,
        valid,
        Path(path),
        encoder=TextEncoder.load(encoder, device),
        base=findable(encoder),
        settings=settings,
        quiet=quiet,
    )


def evaluate_nli(
    model: str | Path,
    data: EntailmentPairs | str | Path,
    *,
    valid: EntailmentPairs | str | Path | None = None,
    against: str | Path | None = None,
    on_error: str = "raise",
    device: str = "auto",
    seed: int = 0,
) -> dict[str, float]:
    """Compare the judgements of an entailment encoder with labels.

    Args:
        model: Folder or name of a GaussCSE encoder; ``"gauss-cse-nli"`` is the one that ontodex brings.
        data: Pairs, or a file of them (:func:`ontodex.read_nli`).
        valid: Pairs to choose the threshold by; by default the encoder's own, of its validation pairs.
        against: A second encoder, to be tested against (McNemar).
        on_error: What to do about faulty lines of a file: ``"raise"``, ``"warn"`` or ``"skip"``.
        device: Where to compute.
        seed: Seed of the bootstrap.

    Returns:
        ``accuracy``, ``auprc``, ``direction.accuracy`` and further figures, see
        :func:`ontodex.trainers.entailment.evaluation.evaluate_judged`; with ``against`` the accuracy of the other
        (``against.accuracy``), and ``mcnemar.better``, ``mcnemar.worse`` and ``mcnemar.p``.

    Raises:
        EncoderError: If there is no such encoder.
        ReadError: If a file cannot be read, or has no pairs.
        SettingsError: If all pairs of ``valid`` are entailed, or none.
    """
    from ontodex.trainers.entailment.evaluation import (
        evaluate_judged,
        judge,
        mcnemar,
        valid_threshold,
    )

    pairs = _pairs(data, on_error)
    if not len(pairs):
        raise ReadError("expected pairs to measure on, found none")
    chosen = None if valid is None else _pairs(valid, on_error)
    found: dict[str, float] = {}
    right = []
    for name in [model] if against is None else [model, against]:
        encoder = load_entailment_encoder(str(name), device)
        threshold = (
            encoder.rule.threshold
            if chosen is None
            else valid_threshold(judge(encoder, chosen), chosen)
        )
        judged = judge(encoder, pairs)
        figures = evaluate_judged(judged, pairs, threshold, seed)
        right.append((judged.forward > threshold) == pairs.entailed)
        found = found or figures
    if against is not None:
        found["against.accuracy"] = figures["accuracy"]
        found.update({f"mcnemar.{key}": value for key, value in mcnemar(*right).items()})
    return found


def _pairs(data: EntailmentPairs | str | Path, on_error: str) -> EntailmentPairs:
    return data if isinstance(data, EntailmentPairs) else read_nli(Path(data), on_error=on_error)
