"""Training encoders on a graph, in one call."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontodex.encoders.locate import DEFAULT_ENCODER, findable
from ontodex.errors import GraphError, expect_choice
from ontodex.graph import LABEL_ALONE, TextSettings, entity_texts
from ontodex.readers import read
from ontodex.trainers.data.subsumptions import TASKS
from ontodex.trainers.data.task_files import hierarchy_task

if TYPE_CHECKING:
    from ontodex.encoders.cross_encoder import CrossEncoder
    from ontodex.encoders.hit import HiT
    from ontodex.encoders.link_encoder import LinkEncoder
    from ontodex.trainers.hierarchies.hit import HiTTraining
    from ontodex.trainers.links.cross_encoder import CrossEncoderTraining
    from ontodex.trainers.links.hyper_cl import HyperCLTraining

__all__ = ["train_cross_encoder", "train_hit", "train_hyper_cl"]

LEAST_LINKS = 20
"""Links below which nothing can be held out to choose by."""

NO_NEED = "an index needs no training: it has the hierarchy encoder that ontodex brings"


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
    """Train relation projections (Hyper-CL) on the known triples of a graph; give them to :func:`ontodex.build`.

    An interrupted run goes on if it is called again alike.

    Args:
        source: A graph, or anything that :func:`ontodex.read` reads.
        path: Folder of the new encoder.
        encoder: Folder or name of the text encoder to start from.
        training: How to train.
        texts: How an entity's text is built.
        device: Where to compute.
        quiet: Show no progress on stderr.

    Raises:
        EncoderError: If the text encoder cannot be loaded.
        TrainingError: If the graph has no triples, the folder holds other files, or the loss is no number.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.links import hyper_cl

    graph = read(source)
    text = TextEncoder.load(encoder, device)
    return hyper_cl.train_hyper_cl(
        graph, Path(path), encoder=text, settings=training, texts=texts, quiet=quiet
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
    """Train a cross-encoder on the known triples of a graph; give its folder to :func:`ontodex.open` as ``rerank``.

    It reads head, relation and tail together, which is slow: so it orders the best few answers of another encoder anew.
    An interrupted run goes on if it is called again alike.

    Args:
        source: A graph, or anything that :func:`ontodex.read` reads.
        path: Folder of the new cross-encoder.
        encoder: Folder or name of the text encoder to start from.
        training: How to train.
        texts: How an entity's text is built.
        device: Where to compute.
        quiet: Show no progress on stderr.

    Raises:
        EncoderError: If the text encoder cannot be loaded.
        TrainingError: If the graph has no triples, the folder holds other files, or the loss is no number.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.links import cross_encoder

    graph = read(source)
    text = TextEncoder.load(encoder, device)
    return cross_encoder.train_cross_encoder(
        graph, Path(path), encoder=text, settings=training, texts=texts, quiet=quiet
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
    """Train a hierarchy encoder (HiT) on that of a graph; give its folder to :func:`ontodex.build` as ``hierarchy``.

    Links that close a circle are left out, with a warning. An interrupted run goes on if it is called again alike.

    Args:
        source: A graph, or anything that :func:`ontodex.read` reads.
        path: Folder of the new encoder.
        relation: The relation from child to parent; by default every relation named like one.
        task: What is held out, half of it to choose the best checkpoint and the rule by, half for
            :func:`ontodex.evaluate_hierarchy`: ``"multi-hop"``, a tenth of what follows from the links, so that every
            link is learnt; or ``"mixed-hop"``, a tenth of the links as well. By default multi-hop, and mixed-hop for a
            flat hierarchy, from whose links fewer than a hundred subsumptions follow.
        encoder: Folder or name of the text encoder to start from.
        training: How to train; its seed is that of what is held out, too.
        device: Where to compute.
        quiet: Show no progress on stderr.

    Raises:
        GraphError: If the graph has no hierarchy, or too small a one to learn from.
        SettingsError: If there is no such task.
        EncoderError: If the text encoder cannot be loaded.
        TrainingError: If the folder holds other files, or the loss is no number.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.hierarchies import hit

    graph = read(source)
    settings = training or hit.HiTTraining()
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
        what = str(error).partition("; ")[0]  # what it advises is not for training
        raise GraphError(
            f"{graph.source}: {what}; take a hierarchy that is larger or branches more, or another task; {NO_NEED}"
        ) from error
    return hit.train_hit(
        drawn,
        entity_texts(graph, LABEL_ALONE),
        Path(path),
        encoder=TextEncoder.load(encoder, device),
        base=findable(encoder),
        settings=settings,
        texts=dataclasses.asdict(LABEL_ALONE),
        quiet=quiet,
    )
