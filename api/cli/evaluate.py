"""``ontodex eval``: the commands that evaluate encoders and indexes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import ontodex
from ontodex.cli.options import (
    Device,
    Format,
    Language,
    OnError,
    Parents,
    Quiet,
    Seed,
    Sources,
)
from ontodex.cli.settings import settings_options
from ontodex.graph.text import TextSettings

__all__ = ["evaluate"]

evaluate = typer.Typer(
    name="eval",
    help="Evaluate an encoder or an index: kgc, hierarchy, csts, nli or sts; prints JSON.",
    no_args_is_help=True,
)


@evaluate.command("kgc")
@settings_options
def kgc(
    model: Annotated[
        Path, typer.Argument(help="An index, or an encoder of links (train hyper-cl).")
    ],
    data: Sources,
    texts: TextSettings | None,
    split: Annotated[str, typer.Option(help="test or valid")] = "test",
    score: Annotated[
        str,
        typer.Option(
            help="What ranks: all; or of an index with graph features text, kge (ComplEx) or "
            "case-based (similar entities and rules) alone."
        ),
    ] = "all",
    rerank: Annotated[
        Path | None,
        typer.Option(help="A cross-encoder (train cross-encoder) that re-ranks the candidates."),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            help="Number of candidates to re-rank; by default 50.", min=1, show_default=False
        ),
    ] = None,
    hops: Annotated[
        int,
        typer.Option(
            help="Entities within this many links of the query's get a score offset (SimKGC).",
            min=0,
        ),
    ] = 0,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
) -> None:
    """Rank the tails and heads of held-out triples among all entities: MRR and Hits@k.

    Ranks are filtered; equal scores share their mean rank. By default the texts of entities are
    built as in the training of the encoder.
    """
    found = ontodex.evaluate_kgc(
        model,
        ontodex.read(*data, format=format, on_error=on_error, language=language),
        split=split,
        score=score,
        texts=texts,
        rerank=rerank,
        top=top,
        hops=hops,
        device=device,
    )
    typer.echo(json.dumps(found))


@evaluate.command("hierarchy")
def hierarchy(
    model: Annotated[
        str,
        typer.Argument(
            help="A HiT encoder (folder or name; hit-wordnet is the one that ontodex ships), or an "
            "index."
        ),
    ],
    data: Sources,
    task: Annotated[
        str | None,
        typer.Option(
            help="multi-hop, mixed-hop, or transfer (all subsumptions, for an encoder trained "
            "elsewhere); by default what train hit holds out."
        ),
    ] = None,
    relation: Parents = None,
    negatives: Annotated[
        int, typer.Option(help="Negatives of each kind for each positive.", min=1)
    ] = 10,
    pairs: Annotated[
        Path | None,
        typer.Option(help="Folder of the task's files; read if it has any, otherwise written."),
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            help="A baseline to evaluate too: probe, classifier or static; may be repeated."
        ),
    ] = None,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Classify held-out subsumptions against random and hard negatives, and rank ancestors."""
    found = ontodex.evaluate_hierarchy(
        model,
        ontodex.read(*data, format=format, on_error=on_error, language=language),
        task=task,
        relation=relation,
        seed=seed,
        negatives=negatives,
        pairs=pairs,
        baselines=baseline or (),
        device=device,
        quiet=quiet,
    )
    typer.echo(json.dumps(found))


@evaluate.command("csts")
def csts(
    model: Annotated[Path, typer.Argument(help="A condition encoder.")],
    data: Annotated[Path, typer.Argument(help="A CSV file of C-STS.")],
    on_error: OnError = "raise",
    device: Device = "auto",
    seed: Seed = 0,
) -> None:
    """Compare cosines under conditions with labels: Spearman, Pearson and MSE.

    There are also separate figures for conditions that were seen in training and for others.
    """
    found = ontodex.evaluate_csts(model, data, on_error=on_error, device=device, seed=seed)
    typer.echo(json.dumps(found))


@evaluate.command("nli")
def nli(
    model: Annotated[
        str,
        typer.Argument(
            help="A GaussCSE encoder (folder or name; gauss-cse-nli is the one that ontodex ships)."
        ),
    ],
    data: Annotated[
        Path,
        typer.Argument(help="A file of premises, hypotheses and labels: TSV, CSV or JSON lines."),
    ],
    valid: Annotated[
        Path | None,
        typer.Option(
            help="A file of pairs that choose the threshold; by default the encoder's own."
        ),
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="A second encoder to compare with (McNemar's test).")
    ] = None,
    on_error: OnError = "raise",
    device: Device = "auto",
    seed: Seed = 0,
) -> None:
    """Compare judgements of entailment with labels: accuracy, AUPRC and direction."""
    found = ontodex.evaluate_nli(
        model, data, valid=valid, against=against, on_error=on_error, device=device, seed=seed
    )
    typer.echo(json.dumps(found))


@evaluate.command("sts")
def sts(
    model: Annotated[str, typer.Argument(help="Folder or name of a text encoder.")],
    data: Annotated[list[Path], typer.Argument(help="Files of two texts and a score: TSV or CSV.")],
    on_error: OnError = "raise",
    device: Device = "auto",
) -> None:
    """Compare cosines with scores (Spearman, Pearson, alignment, uniformity), and trees."""
    found = ontodex.evaluate_sts(model, data, on_error=on_error, device=device)
    typer.echo(json.dumps(found))
