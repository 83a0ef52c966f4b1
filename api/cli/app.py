"""The command line: ``ontodex``."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

import ontodex
from ontodex.cli.answers import answer, expect_one_form, open_engine, show, singles
from ontodex.cli.conditions import conditions
from ontodex.cli.entailment import entailed_by, entailing, entails
from ontodex.cli.formats import formats
from ontodex.cli.links import heads, missing, relations, tails, why
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
    Sources,
    Text,
    Tsv,
    say,
)
from ontodex.cli.training import eval_app, train_app
from ontodex.cli.trees import tree
from ontodex.engine.results.printable import json_text, printable
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
for command in (
    tails,
    heads,
    relations,
    missing,
    why,
    conditions,
    entailed_by,
    entailing,
    entails,
    tree,
    formats,
):
    app.command()(command)
app.add_typer(train_app)
app.add_typer(eval_app)


def main() -> None:
    """Run the command line: exit 0 when done, 1 on failure, 2 on wrong usage."""
    said: set[str] = set()

    def warn(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in said:
            print(printable(f"warning: {message}"), file=sys.stderr)  # noqa: T201
        said.add(str(message))

    warnings.showwarning = warn
    try:
        app()
    except SettingsError as error:
        _fail(error, 2)
    except (OntodexError, OSError) as error:
        _fail(error, 1)


def _fail(message: object, code: int) -> None:
    print(printable(f"ontodex: {message}"), file=sys.stderr)  # noqa: T201
    sys.exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ontodex {ontodex.__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Search and complete knowledge graphs and ontologies."""


# Indexes --------------------------------------------------------------------------------------------------------------


@app.command()
def build(
    sources: Sources,
    output: Out,
    encoder: Annotated[
        list[str] | None,
        typer.Option(
            help="Folder or name of an encoder; may be given again (texts, relations, conditions)."
        ),
    ] = None,
    train: Annotated[
        bool,
        typer.Option(help="Train on the links of the graph; without, relations are read by name."),
    ] = True,
    structure: Annotated[
        bool,
        typer.Option(
            help="Let link prediction look at the links of the graph too, not at texts alone."
        ),
    ] = True,
    hierarchy: Annotated[
        bool,
        typer.Option(
            help="Embed the entities for parents, children and places, if the graph has a hierarchy."
        ),
    ] = True,
    hierarchy_encoder: Annotated[
        str | None,
        typer.Option(
            help="Folder or name of a HiT encoder for that; by default the one that ontodex brings."
        ),
    ] = None,
    hierarchy_relation: Annotated[
        list[str] | None,
        typer.Option(
            help="Relation from child to parent, by id or label; by default known by its name (is a, broader, …)."
        ),
    ] = None,
    entailment: Annotated[
        bool,
        typer.Option(help="Embed the sentences of labels and definitions, for what entails what."),
    ] = True,
    entailment_encoder: Annotated[
        str | None,
        typer.Option(
            help="Folder of a GaussCSE encoder for that; by default the one that ontodex brings."
        ),
    ] = None,
    spans: Annotated[
        bool,
        typer.Option(
            "--spans",
            help="Embed every phrase too, for search --spans; needs a Self-StrAE encoder.",
        ),
    ] = False,
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
    """Build an index of a graph. Where there is one, only what is new is encoded, and readers are not disturbed."""
    for name, wanted, encoders in (
        ("hierarchy", hierarchy, hierarchy_encoder),
        ("entailment", entailment, entailment_encoder),
    ):
        if encoders and not wanted:
            raise SettingsError(f"expected --no-{name} or --{name}-encoder, found both")
    engine = ontodex.build(
        ontodex.read(*sources, on_error=on_error, format=format, language=language),
        output,
        encoders=encoder or (),
        train=train,
        structure=structure,
        hierarchy=hierarchy_encoder or hierarchy,
        hierarchy_relation=hierarchy_relation or (),
        entailment=entailment_encoder or entailment,
        spans=spans,
        training=ontodex.HyperCLTraining(seed=seed),
        texts=ontodex.TextSettings(neighbours=neighbours),
        device=device,
        quiet=quiet,
    )
    say(f"{engine!r} in {sum(engine.index.manifest.seconds.values()):.1f} s", quiet)


@app.command()
def add(
    index: IndexPath,
    sources: Sources,
    format: Format = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Add the entities and triples of files to an index; only new texts are encoded."""
    more = ontodex.read(*sources, on_error=on_error, format=format, language=language)
    say(f"{ontodex.add(more, index, device=device, quiet=quiet)!r}", quiet)


@app.command()
def remove(
    index: IndexPath,
    entities: Annotated[
        list[str] | None,
        typer.Argument(help="CURIEs, IRIs, labels or synonyms.", show_default=False),
    ] = None,
    links: Annotated[
        Path | None,
        typer.Option(
            help="A file of triples to remove; of SSSOM, those that it says do not hold.",
            show_default=False,
        ),
    ] = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Remove entities, and the triples they are in, or the triples of a file (--links), from an index."""
    if links is not None and entities is None:
        engine = ontodex.remove_links(links, index, device=device, quiet=quiet)
    elif entities is not None and links is None:
        engine = ontodex.remove(entities, index, device=device, quiet=quiet)
    else:
        raise SettingsError(
            f"expected entities or --links, found {'both' if entities else 'neither'}"
        )
    say(f"{engine!r}", quiet)


@app.command()
def info(index: IndexPath) -> None:
    """Print what there is to know of an index, as JSON."""
    from ontodex.storage.index import Index

    typer.echo(json_text(Index.open(index).info(), indent=1))


@app.command()
def verify(index: IndexPath) -> None:
    """Compare every file of an index with its checksum; exit 1 if one is damaged."""
    from ontodex.storage.index import Index

    problems = Index.open(index).verify()
    for problem in problems:
        typer.echo(problem)
    if problems:
        raise typer.Exit(1)
    typer.echo(f"{index}: all files are whole")


@app.command()
def export(
    index: IndexPath,
    output: Out,
    space: Annotated[
        str | None,
        typer.Option(
            help="Which vectors: text (the default), link, hybrid, hierarchy, entailment or span; see info."
        ),
    ] = None,
) -> None:
    """Write the graph of an index, or the vectors of a space.

    The graph: a folder of TSV files, one file of triples (.tsv), or N-Quads (.nq). Vectors: a file of numpy (.npy), and
    beside it a .npy.tsv with the id and the text of each.
    """
    from ontodex.graph import write_nquads, write_tsv

    writers = {"": write_tsv, ".tsv": write_tsv, ".nq": write_nquads}
    suffix = "" if output.is_dir() else output.suffix
    if suffix not in (*writers, ".npy"):
        raise SettingsError(
            f"{output}: expected a folder, or a file that ends in .tsv, .nq or .npy, found {suffix!r}"
        )
    if space is not None and suffix != ".npy":
        raise SettingsError(f"--space {space}: expected a file of vectors (.npy), found {output}")
    with ontodex.open(index) as engine:
        if suffix == ".npy":
            engine.embeddings(space or "text").write(output)
        else:
            writers[suffix](engine.graph, output)


# Questions ------------------------------------------------------------------------------------------------------------


@app.command()
def search(
    index: IndexPath, text: Text = None, k: K = 10,
    spans: Annotated[bool, typer.Option("--spans", help="Say which phrase matched (build --spans).")] = False,
    queries: Batch = None, json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank all entities by how alike they are to TEXT."""
    with open_engine(index, device) as engine:
        answer(
            (text,),
            queries,
            lambda asked: engine.search_batch(singles(asked), k, spans=spans),
            json,
            tsv,
        )


@app.command()
def similar(
    index: IndexPath, text: Text = None, k: K = 10,
    condition: Annotated[str | None, typer.Option(help="In what they are to be alike: a relation, or any text.")] = None,
    condition_memory: Annotated[
        int, typer.Option(help="Bytes of memory for entities under conditions, used for later questions.")
    ] = 1 << 30,
    condition_disk: Annotated[
        int, typer.Option(help="Bytes of the index's folder for projections of conditions; 0 for none.")
    ] = 256 << 20,
    queries: Batch = None, json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank the other entities by how alike they are to an entity or a text, in all or under a condition."""
    with ontodex.open(
        index, device=device, condition_memory=condition_memory, condition_disk=condition_disk
    ) as engine:
        answer(
            (text,),
            queries,
            lambda asked: engine.similar_batch(singles(asked), k, condition=condition),
            json,
            tsv,
        )


@app.command()
def parents(
    index: IndexPath, text: Text = None, k: K = 10, known: KnownChoice = "include", queries: Batch = None,
    json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank what is more general than an entity or a text, with probabilities; asserted ancestors are marked."""
    with open_engine(index, device) as engine:
        answer(
            (text,),
            queries,
            lambda asked: engine.parents_batch(singles(asked), k, known),
            json,
            tsv,
        )


@app.command()
def children(
    index: IndexPath, text: Text = None, k: K = 10, known: KnownChoice = "include", queries: Batch = None,
    json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank what is more specific than an entity or a text, with probabilities; asserted descendants are marked."""
    with open_engine(index, device) as engine:
        answer(
            (text,),
            queries,
            lambda asked: engine.children_batch(singles(asked), k, known),
            json,
            tsv,
        )


@app.command()
def place(
    index: IndexPath, text: Text = None, k: K = 5, queries: Batch = None, json: Json = False, tsv: Tsv = False,
    device: Device = "auto",
) -> None:  # fmt: skip
    """Find where a new concept belongs: under which parent, and over which of its children."""
    with open_engine(index, device) as engine:
        answer((text,), queries, lambda asked: engine.place_batch(singles(asked), k), json, tsv)


@app.command()
def audit(
    index: IndexPath, k: K = 20, json: Json = False, tsv: Tsv = False,
    sssom: Annotated[bool, typer.Option("--sssom", help="Print SSSOM/TSV, for the tools of curators.")] = False,
    device: Device = "auto",
) -> None:  # fmt: skip
    """List the asserted links that are doubtful, and the best missing ones: at most k of either kind."""
    expect_one_form(json=json, tsv=tsv, sssom=sssom)
    with open_engine(index, device) as engine:
        found = engine.audit(k)
    show(found, json=json, tsv=tsv, sssom=sssom)


@app.command()
def plot(
    index: IndexPath,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The picture: .svg or .png.", show_default=False)
    ],
    root: Annotated[str | None, typer.Option(help="Draw the hierarchy around this entity.")] = None,
    norms: Annotated[bool, typer.Option("--norms", help="Draw hyperbolic norms by depth.")] = False,
    answers: Annotated[
        int, typer.Option(help="So many predicted parents, and children, are drawn too.", min=0)
    ] = 0,
    limit: Annotated[int, typer.Option(help="Most entities in the picture.", min=1)] = 3000,
    device: Device = "auto",
) -> None:
    """Draw the hierarchy around an entity in the Poincaré disk (--root), or hyperbolic norms by depth (--norms)."""
    if norms == (root is not None):
        raise SettingsError(
            f"expected one of --root ENTITY and --norms, found {'both' if norms else 'neither'}"
        )
    with open_engine(index, device) as engine:
        if root is None:
            engine.plot_norms(output)
        else:
            engine.plot(root, output, answers=answers, limit=limit)


# Trying it ------------------------------------------------------------------------------------------------------------


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
