"""The commands of ``ontodex train``, and ``ontodex conditions``, which makes training data."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

import ontodex
from ontodex.cli.options import (
    Device,
    Format,
    GraphFiles,
    Language,
    OnError,
    Out,
    Parents,
    Quiet,
    Sources,
    TextEncoderName,
    say,
)
from ontodex.cli.settings import Fields, settings_options
from ontodex.encoders.locate import DEFAULT_ENCODER
from ontodex.errors import SettingsError
from ontodex.graph.text import TextSettings
from ontodex.trainers.conditions.settings import ConditionTraining
from ontodex.trainers.data.conditional_pairs import ConditionalPairsSettings
from ontodex.trainers.entailment.settings import GaussCSETraining
from ontodex.trainers.hierarchies.settings import HiTTraining
from ontodex.trainers.links.settings import CrossEncoderTraining, HyperCLTraining
from ontodex.trainers.trees.settings import SelfStrAETraining

__all__ = ["COMMANDS", "train"]

train = typer.Typer(
    name="train",
    help="Train an encoder: hyper-cl, cross-encoder, hit, condition, gauss-cse or self-strae.",
    no_args_is_help=True,
)


@train.command("hyper-cl")
@settings_options
def hyper_cl(
    data: Sources,
    output: Out,
    training: HyperCLTraining,
    texts: TextSettings,
    encoder: TextEncoderName = DEFAULT_ENCODER,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Train relation projections (Hyper-CL) on the known triples of a graph.

    The same command resumes an interrupted run.
    """
    ontodex.train_hyper_cl(
        ontodex.read(*data, format=format, on_error=on_error, language=language),
        output,
        encoder=encoder,
        training=training,
        texts=texts,
        device=device,
        quiet=quiet,
    )
    say(f"wrote {output}", quiet)


@train.command("cross-encoder")
@settings_options
def cross_encoder(
    data: Sources,
    output: Out,
    training: CrossEncoderTraining,
    texts: TextSettings,
    encoder: TextEncoderName = DEFAULT_ENCODER,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Train a cross-encoder on the known triples of a graph, for the option --rerank.

    The same command resumes an interrupted run.
    """
    ontodex.train_cross_encoder(
        ontodex.read(*data, format=format, on_error=on_error, language=language),
        output,
        encoder=encoder,
        training=training,
        texts=texts,
        device=device,
        quiet=quiet,
    )
    say(f"wrote {output}", quiet)


@train.command("hit")
@settings_options
def hit(
    data: Sources,
    output: Out,
    training: HiTTraining,
    task: Annotated[
        str | None,
        typer.Option(
            help="What is held out: multi-hop (a tenth of the indirect subsumptions) or mixed-hop "
            "(a tenth of the links too); by default multi-hop, or mixed-hop for a flat hierarchy."
        ),
    ] = None,
    relation: Parents = None,
    encoder: TextEncoderName = DEFAULT_ENCODER,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Train a hierarchy encoder (HiT) on the hierarchy of a graph.

    The same command resumes an interrupted run.
    """
    ontodex.train_hit(
        ontodex.read(*data, format=format, on_error=on_error, language=language),
        output,
        relation=relation,
        task=task,
        encoder=encoder,
        training=training,
        device=device,
        quiet=quiet,
    )
    say(f"wrote {output}", quiet)


@train.command("condition")
@settings_options
def condition(
    output: Out,
    training: ConditionTraining,
    data: GraphFiles = None,
    csts: Annotated[
        Path | None,
        typer.Option(
            help="Train on this CSV file of C-STS in place of a graph.", show_default=False
        ),
    ] = None,
    valid: Annotated[
        Path | None,
        typer.Option(
            help="With --csts: the file of validation rows, which choose the best epoch.",
            show_default=False,
        ),
    ] = None,
    encoder: TextEncoderName = DEFAULT_ENCODER,
    format: Format = None,
    language: Language = "en",
    on_error: Annotated[
        str | None,
        typer.Option(
            help="Faulty parts of a file: raise (the default for --csts), warn (for a graph), skip."
        ),
    ] = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Train a condition encoder (Hyper-CL), on a graph or on C-STS.

    The same command resumes an interrupted run.
    """
    if bool(data) == (csts is not None) or (csts is None) != (valid is None):
        raise SettingsError(
            "expected files of a graph, or --csts and --valid; "
            "found neither, both or one of the two"
        )
    on_faults = on_error or ("warn" if data else "raise")
    ontodex.train_condition(
        ontodex.read_csts(csts, on_error=on_faults)
        if csts
        else ontodex.read(*(data or ()), format=format, on_error=on_faults, language=language),
        output,
        valid=ontodex.read_csts(valid, paired=False, on_error=on_faults) if valid else None,
        encoder=encoder,
        training=training,
        device=device,
        quiet=quiet,
    )
    say(f"wrote {output}", quiet)


@train.command("gauss-cse")
@settings_options
def gauss_cse(
    output: Out,
    training: Annotated[GaussCSETraining, Fields(valid="valid_pairs")],
    data: GraphFiles = None,
    nli: Annotated[
        list[Path] | None,
        typer.Option(
            help="Train on this file of premises, hypotheses and labels in place of a graph; may "
            "be repeated."
        ),
    ] = None,
    valid: Annotated[
        Path | None,
        typer.Option(
            help="With --nli: the file of validation pairs, which choose the best checkpoint; by "
            "default a tenth of the premises is held out."
        ),
    ] = None,
    encoder: TextEncoderName = DEFAULT_ENCODER,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Train an entailment encoder (GaussCSE), on labelled pairs or on the hierarchy of a graph.

    The same command resumes an interrupted run.
    """
    if bool(data) == bool(nli) or (valid is not None and not nli):
        raise SettingsError(
            "expected files of a graph, or --nli (with or without --valid); "
            "found neither, both or --valid alone"
        )
    ontodex.train_gauss_cse(
        ontodex.EntailmentPairs.joined(*(ontodex.read_nli(file, on_error=on_error) for file in nli))
        if nli
        else ontodex.read(*(data or ()), format=format, on_error=on_error, language=language),
        output,
        valid=ontodex.read_nli(valid, on_error=on_error) if valid else None,
        encoder=encoder,
        training=training,
        device=device,
        quiet=quiet,
    )
    say(f"wrote {output}", quiet)


@train.command("self-strae")
@settings_options
def self_strae(
    data: Annotated[
        list[Path],
        typer.Argument(
            help="Text (.txt or .txt.gz, one sentence a line), or a graph, whose labels and "
            "definitions are the sentences."
        ),
    ],
    output: Out,
    training: Annotated[SelfStrAETraining, Fields(size=None)],
    dimension: Annotated[
        int, typer.Option(help="Dimension of a vector, a multiple of --channels.", min=1)
    ] = SelfStrAETraining.channels * SelfStrAETraining.size,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Train a text encoder (Self-StrAE) from scratch, on plain text.

    The same command resumes an interrupted run.
    """
    settings = dataclasses.asdict(training)
    del settings["size"]
    ontodex.train_self_strae(
        ontodex.read_corpus(*data, format=format, on_error=on_error, language=language),
        output,
        training=SelfStrAETraining.of_dimension(dimension, **settings),
        device=device,
        quiet=quiet,
    )
    say(f"wrote {output}", quiet)


@settings_options
def conditions(
    sources: Sources,
    output: Out,
    settings: ConditionalPairsSettings,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    quiet: Quiet = False,
) -> None:
    """Generate a data set of conditional similarity from a graph, as CSV files like C-STS."""
    found = ontodex.conditional_pairs(
        ontodex.read(*sources, format=format, on_error=on_error, language=language),
        output,
        settings=settings,
    )
    say(
        f"wrote {output}: {len(found.train):,} rows to train on under {len(found.seen)} conditions",
        quiet,
    )


COMMANDS = (conditions,)
"""The commands of this module that are not part of ``train``."""
