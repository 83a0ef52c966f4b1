"""``ontodex conditions``, ``ontodex train condition`` and ``ontodex eval csts``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import ontodex
from ontodex.cli.options import Device, Format, Language, OnError, Out, Quiet, Seed, Sources, say
from ontodex.cli.training import TextEncoderName, eval_app, train_app
from ontodex.encoders.locate import DEFAULT_ENCODER
from ontodex.errors import SettingsError

__all__ = ["conditions"]


def conditions(
    sources: Sources,
    output: Out,
    pairs: Annotated[int, typer.Option(help="Most pairs of rows to train on.", min=1)] = 40_000,
    held_out: Annotated[
        int, typer.Option(help="Most pairs of rows in each other file.", min=0)
    ] = 1_000,
    unseen_conditions: Annotated[
        float, typer.Option(help="Share of the relations that are held out.")
    ] = 0.15,
    unseen_entities: Annotated[
        float, typer.Option(help="Share of the entities that are held out.")
    ] = 0.1,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Make a data set of similarity under a condition from a graph: CSV files with the columns of C-STS."""
    found = ontodex.conditional_pairs(
        ontodex.read(*sources, format=format, on_error=on_error, language=language),
        output,
        settings=ontodex.ConditionalPairsSettings(
            pairs=pairs,
            held_out=held_out,
            unseen_conditions=unseen_conditions,
            unseen_entities=unseen_entities,
            seed=seed,
        ),
    )
    say(
        f"wrote {output}: {len(found.train):,} rows to train on under {len(found.seen)} conditions",
        quiet,
    )


@train_app.command("condition")
def train_condition(
    output: Out,
    data: Annotated[
        list[Path] | None,
        typer.Argument(help="A graph: files or folders as of ontodex build.", show_default=False),
    ] = None,
    csts: Annotated[
        Path | None,
        typer.Option(
            help="Train on this CSV file of C-STS in place of a graph.", show_default=False
        ),
    ] = None,
    valid: Annotated[
        Path | None,
        typer.Option(help="With --csts: the file to choose the best epoch by.", show_default=False),
    ] = None,
    architecture: Annotated[
        str,
        typer.Option(
            help="How text and condition are combined: hyper (a hypernetwork), hadamard, concat; or bi-encoder (read "
            "together, with --tune full)."
        ),
    ] = "hyper",
    tune: Annotated[
        str, typer.Option(help="frozen: projections alone, in minutes. full: the text encoder too.")
    ] = "frozen",
    rank: Annotated[
        int | None,
        typer.Option(
            help="Rank of the projections, or 0 for full rank; by default 64, or the dimension if less.",
            min=0,
        ),
    ] = None,
    loss: Annotated[str, typer.Option(help="both, mse or contrastive.")] = "both",
    epochs: Annotated[
        int, typer.Option(help="Passes over the rows; 0 chooses by --tune.", min=0)
    ] = 0,
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
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Train similarity under a condition, on a graph or on C-STS. The same command resumes an interrupted run."""
    if bool(data) == (csts is not None) or (csts is None) != (valid is None):
        raise SettingsError(
            "expected files of a graph, or --csts and --valid; found neither, both or one of the two"
        )
    settings = ontodex.ConditionTraining(
        architecture=architecture, tune=tune, rank=rank, loss=loss, epochs=epochs, seed=seed
    )
    on_faults = on_error or ("warn" if data else "raise")
    ontodex.train_condition(
        ontodex.read_csts(csts, on_error=on_faults)
        if csts
        else ontodex.read(*(data or ()), format=format, on_error=on_faults, language=language),
        output,
        valid=ontodex.read_csts(valid, paired=False, on_error=on_faults) if valid else None,
        encoder=encoder,
        training=settings,
        device=device,
        quiet=quiet,
    )
    say(f"wrote {output}", quiet)


@eval_app.command("csts")
def eval_csts(
    model: Annotated[Path, typer.Argument(help="A condition encoder.")],
    data: Annotated[Path, typer.Argument(help="A CSV file of C-STS.")],
    on_error: OnError = "raise",
    device: Device = "auto",
    seed: Seed = 0,
) -> None:
    """Compare cosines under conditions with labels: Spearman, Pearson, MSE; conditions seen in training and others apart."""
    typer.echo(
        json.dumps(ontodex.evaluate_csts(model, data, on_error=on_error, device=device, seed=seed))
    )
