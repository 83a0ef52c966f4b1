"""The command line: ``ontodex``."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

import ontodex
from ontodex.cli_answers import answer, open_engine, singles
from ontodex.cli_options import (
    Also,
    Batch,
    Device,
    Format,
    IndexPath,
    Json,
    K,
    KnownChoice,
    OnError,
    Quiet,
    Rdf,
    Seed,
    Tsv,
)
from ontodex.errors import OntodexError, SettingsError

__all__ = ["main"]

app = typer.Typer(
    name="ontodex",
    help="Search and complete knowledge graphs and ontologies.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
train_app = typer.Typer(name="train", help="Train an encoder.", no_args_is_help=True)
eval_app = typer.Typer(name="eval", help="Evaluate an encoder or an index; prints JSON.", no_args_is_help=True)
app.add_typer(train_app)
app.add_typer(eval_app)

Text = Annotated[
    str | None, typer.Argument(help="An entity (CURIE, IRI, label, synonym) or any text.", show_default=False)
]
Relation = Annotated[str | None, typer.Argument(help="A relation of the graph, or any text.", show_default=False)]
Sources = Annotated[list[Path], typer.Argument(help="Files or folders: OBO, OWL, RDF, TSV, CSV, obographs, splits.")]
Out = Annotated[Path, typer.Option("-o", "--output", help="Where to write.", show_default=False)]


def main() -> None:
    """Run the command line: exit 0 when done, 1 on failure, 2 on wrong usage."""
    warnings.showwarning = lambda message, *_, **__: print(f"warning: {message}", file=sys.stderr)  # noqa: T201
    try:
        app()
    except SettingsError as error:
        _fail(error, 2)
    except (OntodexError, OSError) as error:
        _fail(error, 1)


def _fail(message: object, code: int) -> None:
    print(f"ontodex: {message}", file=sys.stderr)  # noqa: T201
    sys.exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ontodex {ontodex.__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Search and complete knowledge graphs and ontologies."""


# Indexes --------------------------------------------------------------------------------------------------------------


@app.command()
def build(
    sources: Sources,
    output: Out,
    encoder: Annotated[
        list[str] | None, typer.Option(help="Folder or name of an encoder; may be given twice (texts, relations).")
    ] = None,
    train: Annotated[bool, typer.Option(help="Train projections for the graph's relations.")] = True,
    neighbours: Annotated[int, typer.Option(help="Names of linked entities in an entity's text.", min=0)] = 0,
    format: Format = None,
    on_error: OnError = "warn",
    device: Device = "auto",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Build an index of a graph. Where there is one, only what is new is encoded, and readers are not disturbed."""
    engine = ontodex.build(
        ontodex.read(*sources, on_error=on_error, format=format),
        output,
        encoders=encoder or (),
        train=train,
        training=ontodex.HyperCLTraining(seed=seed),
        texts=ontodex.TextSettings(neighbours=neighbours),
        device=device,
        quiet=quiet,
    )
    _say(f"{engine!r} in {sum(engine.index.manifest.seconds.values()):.1f} s", quiet)


@app.command()
def add(
    index: IndexPath,
    sources: Sources,
    format: Format = None,
    on_error: OnError = "warn",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Add the entities and triples of files to an index; only new texts are encoded."""
    more = ontodex.read(*sources, on_error=on_error, format=format)
    _say(f"{ontodex.add(more, index, device=device, quiet=quiet)!r}", quiet)


@app.command()
def remove(
    index: IndexPath,
    entities: Annotated[list[str], typer.Argument(help="CURIEs, IRIs, labels or synonyms.")],
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Remove entities, and the triples they are in, from an index."""
    _say(f"{ontodex.remove(entities, index, device=device, quiet=quiet)!r}", quiet)


@app.command()
def info(index: IndexPath) -> None:
    """Print what there is to know of an index, as JSON."""
    import json

    from ontodex.indexers.index import Index

    typer.echo(json.dumps(Index.open(index).info(), indent=1, ensure_ascii=False))


@app.command()
def verify(index: IndexPath) -> None:
    """Compare every file of an index with its checksum; exit 1 if one is damaged."""
    from ontodex.indexers.index import Index

    problems = Index.open(index).verify()
    for problem in problems:
        typer.echo(problem)
    if problems:
        raise typer.Exit(1)
    typer.echo(f"{index}: all files are whole")


@app.command()
def export(index: IndexPath, output: Out) -> None:
    """Write the graph of an index: a folder of TSV files, one file of triples (.tsv), or N-Quads (.nq)."""
    from ontodex.graph import write_nquads, write_tsv

    writers = {"": write_tsv, ".tsv": write_tsv, ".nq": write_nquads}
    if output.suffix not in writers:
        raise SettingsError(f"{output}: expected a folder, or a file that ends in .tsv or .nq, found {output.suffix!r}")
    with ontodex.open(index) as engine:
        writers[output.suffix](engine.graph, output)


# Questions ------------------------------------------------------------------------------------------------------------


@app.command()
def tails(
    index: IndexPath, head: Text = None, relation: Relation = None, k: K = 10, known: KnownChoice = "exclude",
    also_known: Also = None, queries: Batch = None, json: Json = False, tsv: Tsv = False, rdf: Rdf = False,
    device: Device = "auto",
) -> None:  # fmt: skip
    """Rank what HEAD may be linked to by RELATION."""
    with open_engine(index, device, also_known) as engine:
        answer((head, relation), queries, lambda asked: engine.tails_batch(asked, k, known), json, tsv, rdf)


@app.command()
def heads(
    index: IndexPath, relation: Relation = None, tail: Text = None, k: K = 10, known: KnownChoice = "exclude",
    also_known: Also = None, queries: Batch = None, json: Json = False, tsv: Tsv = False, rdf: Rdf = False,
    device: Device = "auto",
) -> None:  # fmt: skip
    """Rank what may be linked to TAIL by RELATION."""
    with open_engine(index, device, also_known) as engine:
        answer((relation, tail), queries, lambda asked: engine.heads_batch(asked, k, known), json, tsv, rdf)


@app.command()
def relations(
    index: IndexPath, head: Text = None, tail: Text = None, k: K = 10, known: KnownChoice = "include",
    also_known: Also = None, queries: Batch = None, json: Json = False, tsv: Tsv = False, rdf: Rdf = False,
    device: Device = "auto",
) -> None:  # fmt: skip
    """Rank the relations that may lead from HEAD to TAIL."""
    with open_engine(index, device, also_known) as engine:
        answer((head, tail), queries, lambda asked: engine.relations_batch(asked, k, known), json, tsv, rdf)


@app.command()
def search(
    index: IndexPath, text: Text = None, k: K = 10, queries: Batch = None, json: Json = False, tsv: Tsv = False,
    device: Device = "auto",
) -> None:  # fmt: skip
    """Rank all entities by how alike they are to TEXT."""
    with open_engine(index, device) as engine:
        answer((text,), queries, lambda asked: engine.search_batch(singles(asked), k), json, tsv)


@app.command()
def similar(
    index: IndexPath, text: Text = None, k: K = 10, queries: Batch = None, json: Json = False, tsv: Tsv = False,
    device: Device = "auto",
) -> None:  # fmt: skip
    """Rank the other entities by how alike they are to an entity or a text."""
    with open_engine(index, device) as engine:
        answer((text,), queries, lambda asked: engine.similar_batch(singles(asked), k), json, tsv)


@app.command()
def parents(
    index: IndexPath, text: Text = None, k: K = 10, known: KnownChoice = "include", queries: Batch = None,
    json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank what is directly above an entity or a text."""
    with open_engine(index, device) as engine:
        answer((text,), queries, lambda asked: engine.parents_batch(singles(asked), k, known), json, tsv)


@app.command()
def children(
    index: IndexPath, text: Text = None, k: K = 10, known: KnownChoice = "include", queries: Batch = None,
    json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank what is directly below an entity or a text."""
    with open_engine(index, device) as engine:
        answer((text,), queries, lambda asked: engine.children_batch(singles(asked), k, known), json, tsv)


# Training and evaluation ----------------------------------------------------------------------------------------------


@train_app.command("hyper-cl")
def train_hyper_cl(
    data: Sources,
    output: Out,
    tune: Annotated[
        str, typer.Option(help="frozen: projections alone, in minutes. full: the text encoder too.")
    ] = "frozen",
    encoder: Annotated[str | None, typer.Option(help="Folder or name of the text encoder to start from.")] = None,
    steps: Annotated[int, typer.Option(help="Number of batches; 0 chooses by the size of the graph.", min=0)] = 0,
    rank: Annotated[int, typer.Option(help="Rank of the projections; 0 for full rank.", min=0)] = 32,
    projection: Annotated[str, typer.Option(help="residual, or public as in the authors' code.")] = "residual",
    neighbours: Annotated[int, typer.Option(help="Names of linked entities in an entity's text.", min=0)] = 0,
    format: Format = None,
    on_error: OnError = "warn",
    device: Device = "auto",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Train relation projections (Hyper-CL) on the known triples of a graph. The same command resumes an interrupted run."""
    from ontodex.encoders.locate import DEFAULT_ENCODER
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.hyper_cl import train_hyper_cl as train

    settings = ontodex.HyperCLTraining(tune=tune, steps=steps, rank=rank, projection=projection, seed=seed)
    train(
        ontodex.read(*data, format=format, on_error=on_error),
        output,
        encoder=TextEncoder.load(encoder or DEFAULT_ENCODER, device),
        settings=settings,
        texts=ontodex.TextSettings(neighbours=neighbours),
        quiet=quiet,
    )
    _say(f"wrote {output}", quiet)


@eval_app.command("kgc")
def eval_kgc(
    model: Annotated[Path, typer.Argument(help="An index, or a Hyper-CL encoder.")],
    data: Sources,
    split: Annotated[str, typer.Option(help="test or valid")] = "test",
    neighbours: Annotated[
        int | None, typer.Option(help="Names of linked entities in an entity's text; by default as trained.", min=0)
    ] = None,
    device: Device = "auto",
) -> None:
    """Rank the tails and heads of held-out triples among all entities (filtered; ties at their mean rank)."""
    import json

    from ontodex.evaluation import evaluate_kgc

    texts = None if neighbours is None else ontodex.TextSettings(neighbours=neighbours)
    typer.echo(json.dumps(evaluate_kgc(model, ontodex.read(*data), split=split, texts=texts, device=device)))


@app.command()
def demo(
    graph: Annotated[str, typer.Option(help="schema-org, or hpo: the Human Phenotype Ontology with diseases and genes.")]
    = "schema-org",
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the files and the index.")]
    = Path("ontodex-demo"),
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Write a real graph to a file, build its index, and ask it a handful of questions."""
    from ontodex.demo import run_demo

    run_demo(graph, output, device=device, quiet=quiet)


def _say(message: str, quiet: bool) -> None:
    if not quiet:
        typer.echo(message, err=True)
