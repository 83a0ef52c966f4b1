"""Similarity under a condition: making a data set of a graph, training, evaluating."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontodex.encoders.locate import DEFAULT_ENCODER
from ontodex.errors import ReadError, SettingsError
from ontodex.graph import DEFAULT_TEXTS, TextSettings
from ontodex.readers import read
from ontodex.trainers.data.conditional_pairs import ConditionalPairs, ConditionalPairsSettings
from ontodex.trainers.data.conditional_pairs import conditional_pairs as make_pairs
from ontodex.trainers.data.csts import read_csts, write_conditional_pairs
from ontodex.trainers.data.csts_rows import CstsRows

if TYPE_CHECKING:
    from ontodex.encoders.condition import ConditionEncoder
    from ontodex.trainers.conditions.condition_encoder import ConditionTraining

__all__ = ["conditional_pairs", "evaluate_csts", "train_condition"]


def conditional_pairs(
    source: Any,
    folder: str | Path | None = None,
    *,
    settings: ConditionalPairsSettings | None = None,
    texts: TextSettings | None = None,
) -> ConditionalPairs:
    """Make a data set of similarity under a condition from a graph, in the form of C-STS.

    A relation is a condition: two entities are alike under it if they share tails, and unlike if both have tails and share
    none; each two are drawn with one condition of either kind.

    Args:
        source: A graph, or anything that :func:`ontodex.read` reads.
        folder: Where to write it: ``train.csv``, ``valid.csv``, ``test.csv``, ``test-unseen-conditions.csv``,
            ``test-unseen-entities.csv``, and ``settings.json`` with how it was made; not written if there is none.
        settings: How many pairs, what to hold out, and the seed.
        texts: How an entity's text is built.

    Raises:
        GraphError: If the graph has one relation, two that read alike, or no entities to be drawn.
    """
    graph = read(source)
    found = make_pairs(graph, settings, texts or DEFAULT_TEXTS)
    if folder is not None:
        write_conditional_pairs(found, Path(folder))
    return found


def train_condition(
    source: Any,
    path: str | Path,
    *,
    valid: CstsRows | None = None,
    encoder: str | Path = DEFAULT_ENCODER,
    training: ConditionTraining | None = None,
    texts: TextSettings | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> ConditionEncoder:
    """Train a condition encoder: one embedding of a text serves under every condition.

    An interrupted run with ``tune="full"`` goes on if it is called again alike.

    Args:
        source: A graph, or anything that :func:`ontodex.read` reads: :func:`conditional_pairs` makes the rows, nothing held
            out but what the best epoch is chosen by. Or rows of C-STS, see :func:`ontodex.read_csts`; or what
            :func:`conditional_pairs` returned.
        path: Folder of the new encoder.
        valid: With rows: those to choose the best epoch by.
        encoder: Folder or name of the text encoder to start from.
        training: How to train.
        texts: How an entity's text is built, if a graph is given, or was.
        device: Where to compute.
        quiet: Show no progress on stderr.

    Raises:
        EncoderError: If the text encoder cannot be loaded.
        GraphError: If no rows can be made of the graph.
        SettingsError: If rows come without ``valid``, or a condition is empty or longer than the encoder reads.
        TrainingError: If the folder holds other files, or the loss is no number.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.conditions import condition_encoder

    training = training or condition_encoder.ConditionTraining()
    of_texts = dataclasses.asdict(texts or DEFAULT_TEXTS)
    if isinstance(source, CstsRows):
        if valid is None:
            raise SettingsError("expected valid, the rows to choose the best epoch by, found none")
        train, of_texts = source, dataclasses.asdict(texts) if texts else {}
    else:
        if valid is not None:
            raise SettingsError(
                "expected valid with rows of C-STS only, found it with a graph, of which it is made"
            )
        pairs = source
        if not isinstance(source, ConditionalPairs):
            whole = ConditionalPairsSettings(
                unseen_conditions=0.0, unseen_entities=0.0, seed=training.seed
            )
            pairs = conditional_pairs(source, settings=whole, texts=texts)
        train, valid = pairs.train, pairs.valid
        if not len(valid):
            raise SettingsError(
                f"expected enough pairs to choose the best epoch by, found {len(train) // 2} in all"
            )
    return condition_encoder.train_condition(
        train,
        valid,
        Path(path),
        encoder=TextEncoder.load(encoder, device),
        settings=training,
        texts=of_texts,
        quiet=quiet,
    )


def evaluate_csts(
    model: str | Path,
    data: CstsRows | str | Path,
    *,
    on_error: str = "raise",
    device: str = "auto",
    seed: int = 0,
) -> dict[str, float]:
    """Compare the cosines of a condition encoder with the labels of C-STS rows.

    Args:
        model: Folder of a condition encoder.
        data: Rows, or a CSV file of them, which need not be paired.
        on_error: What to do about faulty rows of a file: ``"raise"``, ``"warn"`` or ``"skip"``.
        device: Where to compute.
        seed: Seed of the texts that are clustered.

    Returns:
        ``spearman``, ``pearson``, ``mse`` and further figures, those of conditions seen and not seen in training apart; see
        :func:`ontodex.trainers.conditions.evaluation.evaluate_conditions`.

    Raises:
        EncoderError: If the folder holds no condition encoder.
        ReadError: If the file cannot be read, or has no rows.
    """
    from ontodex.encoders.condition import ConditionEncoder
    from ontodex.trainers.conditions.evaluation import evaluate_conditions

    rows = (
        data
        if isinstance(data, CstsRows)
        else read_csts(Path(data), paired=False, on_error=on_error)
    )
    if not len(rows):
        raise ReadError("expected rows to measure on, found none")
    return evaluate_conditions(ConditionEncoder.load(Path(model), device=device), rows, seed)
