"""``ontodex train self-strae``, ``ontodex eval sts`` and ``ontodex tree``."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

import ontodex
from ontodex.cli.options import Device, Format, Json, Language, OnError, Out, Quiet, Seed, say
from ontodex.cli.training import eval_app, train_app
from ontodex.engine.results.printable import json_text, printable
from ontodex.errors import SettingsError

__all__ = ["tree"]


@train_app.command("self-strae")
def train_self_strae(
    data: Annotated[
        list[Path],
        typer.Argument(
            help="Text (.txt or .txt.gz, a sentence a line), or a graph, whose labels and definitions are learnt."
        ),
    ],
    output: Out,
    objective: Annotated[
        str, typer.Option(help="context; or one of the paper's: contrastive, ce, ceco, strcse.")
    ] = "context",
    dimension: Annotated[int, typer.Option(help="Numbers of a vector.", min=1)] = 256,
    channels: Annotated[
        int, typer.Option(help="Parts of a vector; must divide the dimension.", min=1)
    ] = 128,
    vocabulary: Annotated[
        int, typer.Option(help="Tokens; 0 for 25,000, or fewer if the text has not so many.", min=0)
    ] = 0,
    start: Annotated[
        str,
        typer.Option(
            help="counts: from what stands near each token. public: random, as in the authors' code."
        ),
    ] = "counts",
    epochs: Annotated[float, typer.Option(help="Passes over the text.")] = 15.0,
    batch: Annotated[int, typer.Option(help="Sentences of a batch.", min=2)] = 512,
    nodes: Annotated[
        int,
        typer.Option(help="Nodes of a batch that are compared; 0 for all, as in the paper.", min=0),
    ] = 2048,
    rate: Annotated[
        float, typer.Option(help="Learning rate; 0 chooses by the objective.", min=0)
    ] = 0.0,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Train a text encoder from plain text (Self-StrAE). The same command resumes an interrupted run."""
    settings = ontodex.SelfStrAETraining.of_dimension(
        dimension,
        channels,
        objective=objective,
        vocabulary=vocabulary,
        start=start,
        epochs=epochs,
        batch=batch,
        nodes=nodes,
        rate=rate,
        seed=seed,
    )
    texts = ontodex.read_corpus(*data, format=format, on_error=on_error, language=language)
    ontodex.train_self_strae(texts, output, training=settings, device=device, quiet=quiet)
    say(f"wrote {output}", quiet)


@eval_app.command("sts")
def eval_sts(
    model: Annotated[str, typer.Argument(help="Folder or name of a text encoder.")],
    data: Annotated[list[Path], typer.Argument(help="Files of two texts and a score: TSV or CSV.")],
    on_error: OnError = "raise",
    device: Device = "auto",
) -> None:
    """Compare cosines with scores: Spearman, Pearson, alignment and uniformity; and trees with plain ones."""
    typer.echo(
        json_module.dumps(ontodex.evaluate_sts(model, data, on_error=on_error, device=device))
    )


def tree(
    model: Annotated[Path, typer.Argument(help="Folder of a Self-StrAE encoder.")],
    text: Annotated[str, typer.Argument(help="Any text.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Draw the tree: .svg or .png.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Show the tree that an encoder finds in TEXT, each merge with the similarity of its two parts."""
    if not text.strip():
        raise SettingsError(f"text: expected words, found {text!r}")
    found = ontodex.load_self_strae(model).trees([text])[0]
    if output is not None:
        ontodex.draw_tree(found, output)
    if json:
        nodes = [
            {**vars(node), "text": found.span(number)} for number, node in enumerate(found.nodes)
        ]
        typer.echo(json_text({"text": found.text, "nodes": nodes}))
    elif output is None:
        typer.echo(printable(str(found)))
