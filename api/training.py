"""Training of encoders on graphs, labelled pairs and plain text."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontodex.encoders.locate import DEFAULT_ENCODER, findable
from ontodex.errors import GraphError, SettingsError, expect_choice
from ontodex.graph import DEFAULT_TEXTS, LABEL_ALONE, TextSettings, entity_texts
from ontodex.readers import read
from ontodex.trainers.conditions.settings import ConditionTraining
from ontodex.trainers.data.conditional_pairs import ConditionalPairs, ConditionalPairsSettings
from ontodex.trainers.data.conditional_pairs import conditional_pairs as make_pairs
from ontodex.trainers.data.corpus import read_corpus
from ontodex.trainers.data.csts import write_conditional_pairs
from ontodex.trainers.data.csts_rows import CstsRows
from ontodex.trainers.data.entailment_pairs import EntailmentPairs, entailment_pairs
from ontodex.trainers.data.subsumptions import TASKS
from ontodex.trainers.data.task_files import hierarchy_task
from ontodex.trainers.entailment.settings import GaussCSETraining
from ontodex.trainers.hierarchies.settings import HiTTraining

if TYPE_CHECKING:
    from ontodex.encoders.condition import ConditionEncoder
    from ontodex.encoders.cross_encoder import CrossEncoder
    from ontodex.encoders.gauss_cse import GaussCSE
    from ontodex.encoders.hit import HiT
    from ontodex.encoders.link_encoder import LinkEncoder
    from ontodex.encoders.self_strae import SelfStrAE
    from ontodex.trainers.links.settings import CrossEncoderTraining, HyperCLTraining
    from ontodex.trainers.trees.settings import SelfStrAETraining

__all__ = [
    "conditional_pairs",
    "train_condition",
    "train_cross_encoder",
    "train_gauss_cse",
    "train_hit",
    "train_hyper_cl",
    "train_self_strae",
]

LEAST_LINKS = 20
"""Fewest links of a hierarchy that a hierarchy encoder is trained on."""

HELD_OUT = 0.1
"""Share of the premises that is held out for validation, if no validation pairs are given."""

NO_NEED = "an index needs no training: it has the hierarchy encoder that ontodex ships"


def train_hyper_cl(
    source: Any,
    path: str | Path,
    *,
    encoder: str | Path = DEFAULT_ENCODER,
    training: HyperCLTraining | None = None,
    texts: TextSettings | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> LinkEncoder:
    """Train relation projections (Hyper-CL) on the known triples of a graph.

    Pass the folder to :func:`ontodex.build` as an encoder. An interrupted run with ``tune="full"``
    resumes from its last checkpoint if it is called again with the same arguments.

    Args:
        source: A graph, or anything that :func:`ontodex.read` reads.
        path: Folder of the new encoder.
        encoder: Folder or name of the text encoder to start from.
        training: Settings of the run.
        texts: How the text of an entity is built.
        device: Device of the run.
        quiet: Print no progress on stderr.

    Returns:
        The encoder of links, as saved in ``path``.

    Raises:
        EncoderError: If the text encoder cannot be loaded.
        TrainingError: If the graph has no triples, the folder holds other files, or the loss is not
            finite.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.links import hyper_cl

    graph = read(source)
    return hyper_cl.train_hyper_cl(
        graph,
        Path(path),
        encoder=TextEncoder.load(encoder, device),
        settings=training,
        texts=texts,
        quiet=quiet,
    )


def train_cross_encoder(
    source: Any,
    path: str | Path,
    *,
    encoder: str | Path = DEFAULT_ENCODER,
    training: CrossEncoderTraining | None = None,
    texts: TextSettings | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> CrossEncoder:
    """Train a cross-encoder on the known triples of a graph.

    A cross-encoder encodes head, relation and tail as one text. That is slow, so it only re-ranks
    the best answers of another encoder: pass its folder to :func:`ontodex.open` as ``rerank``. An
    interrupted run resumes if it is called again with the same arguments.

    Args:
        source: A graph, or anything that :func:`ontodex.read` reads.
        path: Folder of the new cross-encoder.
        encoder: Folder or name of the text encoder to start from.
        training: Settings of the run.
        texts: How the text of an entity is built.
        device: Device of the run.
        quiet: Print no progress on stderr.

    Returns:
        The cross-encoder, as saved in ``path``.

    Raises:
        EncoderError: If the text encoder cannot be loaded.
        TrainingError: If the graph has no triples, the folder holds other files, or the loss is not
            finite.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.links import cross_encoder

    graph = read(source)
    return cross_encoder.train_cross_encoder(
        graph,
        Path(path),
        encoder=TextEncoder.load(encoder, device),
        settings=training,
        texts=texts,
        quiet=quiet,
    )


def train_hit(
    source: Any,
    path: str | Path,
    *,
    relation: str | None = None,
    task: str | None = None,
    encoder: str | Path = DEFAULT_ENCODER,
    training: HiTTraining | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> HiT:
    """Train a hierarchy encoder (HiT) on the hierarchy of a graph.

    Pass its folder to :func:`ontodex.build` as ``hierarchy``. Links that close a cycle are left
    out, with a warning. An interrupted run resumes if it is called again with the same arguments.

    Args:
        source: A graph, or anything that :func:`ontodex.read` reads.
        path: Folder of the new encoder.
        relation: The relation from child to parent; by default every relation that is recognised
            by its name (is_a, …).
        task: ``"multi-hop"`` holds out a tenth of the indirect subsumptions, so that training sees
            every link. ``"mixed-hop"`` also holds out a tenth of the links. One half of the
            held-out subsumptions is for validation, the other for
            :func:`ontodex.evaluate_hierarchy`. By default multi-hop, or mixed-hop for a flat
            hierarchy (fewer than 100 indirect subsumptions).
        encoder: Folder or name of the text encoder to start from.
        training: Settings of the run; its seed also draws what is held out.
        device: Device of the run.
        quiet: Print no progress on stderr.

    Returns:
        The hierarchy encoder, as saved in ``path``.

    Raises:
        GraphError: If the graph has no hierarchy, or one that is too small to train on.
        SettingsError: If the task is unknown.
        EncoderError: If the text encoder cannot be loaded.
        TrainingError: If the folder holds other files, or the loss is not finite.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.hierarchies import hit

    graph = read(source)
    settings = training or HiTTraining()
    if task is not None:
        expect_choice("task", task, TASKS[:2])
    hierarchy = graph.hierarchy(relation, on_cycle="ignore")
    if len(hierarchy.links) < LEAST_LINKS:
        circular = f" and {len(hierarchy.dropped)} that close a circle" if hierarchy.dropped else ""
        raise GraphError(
            f"{graph.source}: expected a hierarchy of at least {LEAST_LINKS} links to learn from, "
            f"found {len(hierarchy.links)}{circular}; {NO_NEED}"
        )
    try:
        drawn = hierarchy_task(graph, task, relation=relation, seed=settings.seed)
    except GraphError as error:
        problem = str(error).partition("; ")[0]  # without the advice, which is for evaluation
        raise GraphError(
            f"{graph.source}: {problem}; take a hierarchy that is larger or branches more, or "
            f"another task; {NO_NEED}"
        ) from error
    return hit.train_hit(
        drawn,
        entity_texts(graph, LABEL_ALONE),
        Path(path),
        encoder=TextEncoder.load(encoder, device),
        base=findable(encoder),
        settings=settings,
        texts=dataclasses.asdict(LABEL_ALONE),
        seen=graph.source_names,
        quiet=quiet,
    )


def conditional_pairs(
    source: Any,
    folder: str | Path | None = None,
    *,
    settings: ConditionalPairsSettings | None = None,
    texts: TextSettings | None = None,
) -> ConditionalPairs:
    """Generate a data set of conditional similarity from a graph, in the form of C-STS.

    Each relation is a condition. Two entities are similar under a condition if they share tails of
    the relation, and dissimilar if both have tails but share none. Each pair of entities is drawn
    with two conditions: one under which they are similar, and one under which they are dissimilar.

    Args:
        source: A graph, or anything that :func:`ontodex.read` reads.
        folder: Folder to write ``train.csv``, ``valid.csv``, ``test.csv``,
            ``test-unseen-conditions.csv``, ``test-unseen-entities.csv`` and ``settings.json`` to;
            ``None`` writes nothing.
        settings: Sizes of the parts, what is held out, and the seed.
        texts: How the text of an entity is built.

    Returns:
        The pairs of every part.

    Raises:
        GraphError: If the graph has a single relation, two relations with equal texts, or no
            entities to draw.
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
    """Train a condition encoder, which transforms the embedding of a text by a condition.

    Pass its folder to :func:`ontodex.build` as an encoder. An interrupted run with
    ``tune="full"`` resumes if it is called again with the same arguments.

    Args:
        source: Rows of C-STS (:func:`ontodex.read_csts`), the result of :func:`conditional_pairs`,
            or a graph or anything that :func:`ontodex.read` reads. From a graph,
            :func:`conditional_pairs` makes the rows, with only validation rows held out.
        path: Folder of the new encoder.
        valid: Validation rows, by which the best epoch is chosen. They are required with rows of
            C-STS, and rejected with any other source.
        encoder: Folder or name of the text encoder to start from.
        training: Settings of the run.
        texts: How the text of an entity is built; if ``source`` is rows or pairs, how it was built.
        device: Device of the run.
        quiet: Print no progress on stderr.

    Returns:
        The condition encoder, as saved in ``path``.

    Raises:
        EncoderError: If the text encoder cannot be loaded.
        GraphError: If no rows can be generated from the graph.
        SettingsError: If ``valid`` is missing or not allowed, there are too few pairs, or a
            condition is empty or longer than the encoder's maximum.
        TrainingError: If the folder holds other files, or the loss is not finite.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.conditions import condition_encoder

    training = training or ConditionTraining()
    of_texts = dataclasses.asdict(texts or DEFAULT_TEXTS)
    if isinstance(source, CstsRows):
        if valid is None:
            raise SettingsError("expected valid, the rows to choose the best epoch by, found none")
        train, of_texts = source, dataclasses.asdict(texts) if texts else {}
    else:
        if valid is not None:
            raise SettingsError(
                "expected valid with rows of C-STS only, found it with a graph, "
                "which provides its own validation rows"
            )
        pairs = source
        if not isinstance(source, ConditionalPairs):
            nothing_unseen = ConditionalPairsSettings(
                unseen_conditions=0.0, unseen_entities=0.0, seed=training.seed
            )
            pairs = conditional_pairs(source, settings=nothing_unseen, texts=texts)
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
    """Train an entailment encoder (GaussCSE) on labelled pairs or on a hierarchy.

    Pass its folder to :func:`ontodex.build` as ``entailment``. An interrupted run resumes if it is
    called again with the same arguments.

    Args:
        source: Pairs of premise and hypothesis (:func:`ontodex.read_nli`), or a graph with a
            hierarchy or anything that :func:`ontodex.read` reads. In a hierarchy, the sentences of
            a child entail the sentences of its ancestors (:func:`ontodex.entailment_pairs`).
        path: Folder of the new encoder.
        valid: Validation pairs, on which the best checkpoint, the threshold and the calibration of
            the probability are chosen. By default, a tenth of the premises is held out for this.
        encoder: Folder or name of the text encoder to start from.
        training: Settings of the run.
        device: Device of the run.
        quiet: Print no progress on stderr.

    Returns:
        The entailment encoder, as saved in ``path``.

    Raises:
        EncoderError: If the text encoder cannot be loaded.
        GraphError: If the graph has no hierarchy, or one that is too small to train on.
        SettingsError: If the pairs lack the labels that the loss needs.
        TrainingError: If the folder holds other files, or the loss is not finite.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.entailment import gauss_cse

    settings = training or GaussCSETraining()
    train = source
    if not isinstance(source, EntailmentPairs):
        train = entailment_pairs(source, seed=settings.seed)
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


def train_self_strae(
    source: Any,
    path: str | Path,
    *,
    training: SelfStrAETraining | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> SelfStrAE:
    """Train a text encoder (Self-StrAE) from scratch, for a language or domain without one.

    Pass its folder to :func:`ontodex.build` as an encoder. An interrupted run resumes if it is
    called again with the same arguments.

    Args:
        source: A list of sentences; a text file (``.txt`` or ``.txt.gz``, one sentence per line);
            or a graph or anything that :func:`ontodex.read` reads, whose labels and definitions
            are the sentences. See :func:`ontodex.read_corpus`.
        path: Folder of the new encoder.
        training: Settings of the run.
        device: Device of the run.
        quiet: Print no progress on stderr.

    Returns:
        The text encoder, as saved in ``path``.

    Raises:
        ReadError: If the source cannot be read, or has no sentences.
        SettingsError: If there is too little text.
        TrainingError: If the folder holds other files, the loss is not finite, or it does not fall.
    """
    from ontodex.trainers.trees import self_strae

    texts = source if isinstance(source, list | tuple) else read_corpus(source)
    return self_strae.train_self_strae(
        texts, Path(path), settings=training, device=device, quiet=quiet
    )
