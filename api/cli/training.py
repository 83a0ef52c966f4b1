"""``ontodex train`` and ``ontodex eval``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import ontodex
from ontodex.cli.options import Device, Format, Language, OnError, Out, Quiet, Seed, Sources, say
from ontodex.encoders.locate import DEFAULT_ENCODER

__all__ = ["eval_app", "train_app"]

train_app = typer.Typer(name="train", help="Train an encoder.", no_args_is_help=True)
eval_app = typer.Typer(
    name="eval", help="Evaluate an encoder or an index; prints JSON.", no_args_is_help=True
)

TextEncoderName = Annotated[
    str, typer.Option(help="Folder or name of the text encoder to start from.")
]
Parents = Annotated[
    str | None,
    typer.Option(
        help="The relation from child to parent; by default every one named like it (is_a, …)."
    ),
]


@train_app.command("hyper-cl")
def train_hyper_cl(
    data: Sources,
    output: Out,
    tune: Annotated[
        str, typer.Option(help="frozen: projections alone, in minutes. full: the text encoder too.")
    ] = "frozen",
    encoder: TextEncoderName = DEFAULT_ENCODER,
    steps: Annotated[
        int, typer.Option(help="Number of batches; 0 chooses by the size of the graph.", min=0)
    ] = 0,
    architecture: Annotated[
        str,
        typer.Option(
            help="How head and relation are combined: hyper (a hypernetwork), hadamard, concat; or bi-encoder (read "
            "together, with --tune full)."
        ),
    ] = "hyper",
    towers: Annotated[int, typer.Option(help="Text encoders of a bi-encoder: 2 or 1.")] = 2,
    rank: Annotated[
        int | None,
        typer.Option(
            help="Rank of the projections, or 0 for full rank; by default 32, or the dimension if less.",
            min=0,
        ),
    ] = None,
    projection: Annotated[
        str, typer.Option(help="residual, or public as in the authors' code.")
    ] = "residual",
    neighbours: Annotated[
        int, typer.Option(help="Names of linked entities in an entity's text.", min=0)
    ] = 0,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Train relation projections (Hyper-CL) on the known triples of a graph. The same command resumes an interrupted run."""
    settings = ontodex.HyperCLTraining(
        tune=tune,
        steps=steps,
        architecture=architecture,
        towers=towers,
        rank=rank,
        projection=projection,
        seed=seed,
    )
    ontodex.train_hyper_cl(
        ontodex.read(*data, format=format, on_error=on_error, language=language),
        output,
        encoder=encoder,
        training=settings,
        texts=ontodex.TextSettings(neighbours=neighbours),
        device=device,
        quiet=quiet,
    )
    say(f"wrote {output}", quiet)


@train_app.command("cross-encoder")
def train_cross_encoder(
    data: Sources,
    output: Out,
    encoder: TextEncoderName = DEFAULT_ENCODER,
    steps: Annotated[
        int, typer.Option(help="Number of batches; 0 chooses by the size of the graph.", min=0)
    ] = 0,
    neighbours: Annotated[
        int, typer.Option(help="Names of linked entities in an entity's text.", min=0)
    ] = 0,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Train a cross-encoder on the known triples of a graph, to read the best tails and heads again (--rerank)."""
    ontodex.train_cross_encoder(
        ontodex.read(*data, format=format, on_error=on_error, language=language),
        output,
        encoder=encoder,
        training=ontodex.CrossEncoderTraining(steps=steps, seed=seed),
        texts=ontodex.TextSettings(neighbours=neighbours),
        device=device,
        quiet=quiet,
    )
    say(f"wrote {output}", quiet)


@train_app.command("hit")
def train_hit(
    data: Sources,
    output: Out,
    tune: Annotated[
        str, typer.Option(help="full: the text encoder. adapter: a few megabytes beside it.")
    ] = "full",
    batches: Annotated[
        str,
        typer.Option(
            help="families (every other text a negative); random-triplets or hard-triplets (the paper's)."
        ),
    ] = "families",
    epochs: Annotated[float, typer.Option(help="Passes over the links.")] = 8.0,
    cluster: Annotated[
        float,
        typer.Option(help="Margin by which a child is nearer to its parent than to others.", min=0),
    ] = 5.0,
    centripetal: Annotated[
        float,
        typer.Option(
            help="Margin by which it is farther out. The paper's is 0.1; 3 was better here.", min=0
        ),
    ] = 0.1,
    contraction: Annotated[
        float,
        typer.Option(
            help="Pull towards the origin. The paper has none; 0.2 was better here.", min=0
        ),
    ] = 0.0,
    rate: Annotated[float, typer.Option(help="Learning rate; 0 chooses by --tune.", min=0)] = 0.0,
    rank: Annotated[int, typer.Option(help="Rank of the adapter.", min=1)] = 32,
    strength: Annotated[
        float,
        typer.Option(
            help="Share of what was learnt that is kept; 0.6 is better for other hierarchies than its own."
        ),
    ] = 1.0,
    task: Annotated[
        str | None,
        typer.Option(
            help="What is held out: multi-hop (a tenth of what follows from the links), or mixed-hop (a tenth of the links "
            "too); by default multi-hop, and mixed-hop for a flat hierarchy."
        ),
    ] = None,
    relation: Parents = None,
    encoder: TextEncoderName = DEFAULT_ENCODER,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Train a hierarchy encoder (HiT) on the hierarchy of a graph. The same command resumes an interrupted run."""
    settings = ontodex.HiTTraining(
        tune=tune,
        batches=batches,
        epochs=epochs,
        cluster=cluster,
        centripetal=centripetal,
        contraction=contraction,
        rate=rate,
        rank=rank,
        strength=strength,
        seed=seed,
    )
    ontodex.train_hit(
        ontodex.read(*data, format=format, on_error=on_error, language=language),
        output,
        relation=relation,
        task=task,
        encoder=encoder,
        training=settings,
        device=device,
        quiet=quiet,
    )
    say(f"wrote {output}", quiet)


@eval_app.command("kgc")
def eval_kgc(
    model: Annotated[
        Path, typer.Argument(help="An index, or an encoder of links (train hyper-cl).")
    ],
    data: Sources,
    split: Annotated[str, typer.Option(help="test or valid")] = "test",
    score: Annotated[
        str,
        typer.Option(
            help="What ranks: all, or text, structure or precedents alone, of an index that has them."
        ),
    ] = "all",
    neighbours: Annotated[
        int | None,
        typer.Option(
            help="Names of linked entities in an entity's text; by default as trained.", min=0
        ),
    ] = None,
    rerank: Annotated[
        Path | None,
        typer.Option(
            help="A cross-encoder (train cross-encoder) that reads the best candidates again."
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option(help="So many of them; by default 50.", min=1, show_default=False)
    ] = None,
    hops: Annotated[
        int,
        typer.Option(
            help="Give entities within so many hops of the one asked about a bonus, as SimKGC does.",
            min=0,
        ),
    ] = 0,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
) -> None:
    """Rank the tails and heads of held-out triples among all entities (filtered; ties at their mean rank)."""
    texts = None if neighbours is None else ontodex.TextSettings(neighbours=neighbours)
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


@eval_app.command("hierarchy")
def eval_hierarchy(
    model: Annotated[
        str,
        typer.Argument(
            help="A HiT encoder (folder or name; hit-wordnet is the one that ontodex brings), or an index."
        ),
    ],
    data: Sources,
    task: Annotated[
        str | None,
        typer.Option(
            help="multi-hop, mixed-hop, or transfer (all subsumptions, for an encoder trained elsewhere); by default what "
            "train hit holds out."
        ),
    ] = None,
    relation: Parents = None,
    negatives: Annotated[
        int, typer.Option(help="Wrong parents of either kind for each true one.", min=1)
    ] = 10,
    pairs: Annotated[
        Path | None,
        typer.Option(help="A folder in which the pairs are kept; read if there are any."),
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure one too: probe, classifier or static; may be given more than once."
        ),
    ] = None,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Tell held-out subsumptions from random and hard negatives, and rank ancestors among all entities."""
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
