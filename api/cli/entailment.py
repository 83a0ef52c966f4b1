"""``ontodex entailed-by``, ``entailing``, ``entails``, ``train gauss-cse`` and ``eval nli``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import ontodex
from ontodex.cli.answers import answer, open_engine, singles
from ontodex.cli.options import (
    Batch,
    Device,
    Format,
    IndexPath,
    Json,
    K,
    KnownChoice,
    Language,
    OnError,
    Out,
    Quiet,
    Seed,
    Text,
    Tsv,
    say,
)
from ontodex.cli.training import TextEncoderName, eval_app, train_app
from ontodex.encoders.locate import DEFAULT_ENCODER
from ontodex.errors import SettingsError

__all__ = ["entailed_by", "entailing", "entails"]


def entailed_by(
    index: IndexPath, text: Text = None, k: K = 10, known: KnownChoice = "include", queries: Batch = None,
    json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank what an entity or a text entails, with the sentence that matched; asserted ancestors are marked."""
    with open_engine(index, device) as engine:
        answer(
            (text,),
            queries,
            lambda asked: engine.entailed_by_batch(singles(asked), k, known),
            json,
            tsv,
        )


def entailing(
    index: IndexPath, text: Text = None, k: K = 10, known: KnownChoice = "include", queries: Batch = None,
    json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank what entails an entity or a text, with the sentence that matched; asserted descendants are marked."""
    with open_engine(index, device) as engine:
        answer(
            (text,),
            queries,
            lambda asked: engine.entailing_batch(singles(asked), k, known),
            json,
            tsv,
        )


def entails(
    index: IndexPath, premise: Text = None, hypothesis: Text = None, queries: Batch = None, json: Json = False,
    device: Device = "auto",
) -> None:  # fmt: skip
    """Judge whether PREMISE entails HYPOTHESIS, and the other way round, each with a probability."""
    with open_engine(index, device) as engine:
        answer((premise, hypothesis), queries, engine.direction_batch, json, False)


@train_app.command("gauss-cse")
def train_gauss_cse(
    output: Out,
    data: Annotated[
        list[Path] | None,
        typer.Argument(help="A graph: files or folders as of ontodex build.", show_default=False),
    ] = None,
    nli: Annotated[
        list[Path] | None,
        typer.Option(
            help="Train on this file of premises, hypotheses and labels in place of a graph; may be repeated."
        ),
    ] = None,
    valid: Annotated[
        Path | None,
        typer.Option(
            help="With --nli: the file to choose the best checkpoint by; else a tenth is held out."
        ),
    ] = None,
    losses: Annotated[
        str | None,
        typer.Option(
            help="ent, ent+con, ent+rev or ent+con+rev: what an entailed hypothesis stands against (others, contradictions, "
            "turned pairs); by default all that the pairs have."
        ),
    ] = None,
    similarity: Annotated[
        str,
        typer.Option(
            help="scaled: 1 / (1 + KL/d); paper: 1 / (1 + KL); per-dimension: the authors' code."
        ),
    ] = "scaled",
    pairs: Annotated[
        float,
        typer.Option(
            help="Weight of the logistic loss on all labelled pairs; 0 in the paper.", min=0
        ),
    ] = 2.0,
    tune: Annotated[
        str, typer.Option(help="full: the text encoder. adapter: a few megabytes beside it.")
    ] = "full",
    epochs: Annotated[float, typer.Option(help="Passes over the pairs.")] = 1.5,
    batch: Annotated[int, typer.Option(help="About how many pairs a batch has.", min=2)] = 64,
    encoder: TextEncoderName = DEFAULT_ENCODER,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Train entailment (GaussCSE), on judgements or on the hierarchy of a graph. The same command resumes a run."""
    if bool(data) == bool(nli) or (valid is not None and not nli):
        raise SettingsError(
            "expected files of a graph, or --nli (with or without --valid); found neither, both or --valid alone"
        )
    source = (
        ontodex.EntailmentPairs.joined(*(ontodex.read_nli(file, on_error=on_error) for file in nli))
        if nli
        else ontodex.read(*(data or ()), format=format, on_error=on_error, language=language)
    )
    settings = ontodex.GaussCSETraining(
        losses=losses,
        similarity=similarity,
        pairs=pairs,
        tune=tune,
        epochs=epochs,
        batch=batch,
        seed=seed,
    )
    ontodex.train_gauss_cse(
        source,
        output,
        valid=ontodex.read_nli(valid, on_error=on_error) if valid else None,
        encoder=encoder,
        training=settings,
        device=device,
        quiet=quiet,
    )
    say(f"wrote {output}", quiet)


@eval_app.command("nli")
def eval_nli(
    model: Annotated[
        str,
        typer.Argument(
            help="A GaussCSE encoder (folder or name; gauss-cse-nli is the one that ontodex brings)."
        ),
    ],
    data: Annotated[
        Path,
        typer.Argument(help="A file of premises, hypotheses and labels: TSV, CSV or JSON lines."),
    ],
    valid: Annotated[
        Path | None,
        typer.Option(
            help="A file to choose the threshold by; by default the encoder's own threshold."
        ),
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="A second encoder, to be tested against (McNemar).")
    ] = None,
    on_error: OnError = "raise",
    device: Device = "auto",
    seed: Seed = 0,
) -> None:
    """Compare judgements of entailment with labels: accuracy, AUPRC, direction, by label and by length."""
    found = ontodex.evaluate_nli(
        model, data, valid=valid, against=against, on_error=on_error, device=device, seed=seed
    )
    typer.echo(json.dumps(found))
