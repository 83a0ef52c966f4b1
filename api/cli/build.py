"""The commands that build, change, check and export an index."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import typer

import ontodex
from ontodex.cli.options import (
    Device,
    Format,
    IndexPath,
    Language,
    Mapping,
    OnError,
    Out,
    Quiet,
    Sources,
    say,
)
from ontodex.cli.settings import Fields, settings_options
from ontodex.engine.results.printable import json_text
from ontodex.errors import SettingsError
from ontodex.graph.text import TextSettings
from ontodex.trainers.links.settings import HyperCLTraining

__all__ = ["COMMANDS"]

FIRST_ADDED = 3
"""Number of new entities that ``add`` names."""


@settings_options
def build(
    sources: Sources,
    output: Out,
    texts: TextSettings,
    training: Annotated[HyperCLTraining, Fields("projection", "shift", "steps", "seed")],
    encoder: Annotated[
        list[str] | None,
        typer.Option(
            help="Folder or name of an encoder of texts, relations or conditions; may be repeated."
        ),
    ] = None,
    train: Annotated[
        bool,
        typer.Option(
            help="Train relation projections; without, they are computed from relation names."
        ),
    ] = True,
    structure: Annotated[
        bool, typer.Option(help="Use graph features for link prediction, beside texts.")
    ] = True,
    hierarchy: Annotated[
        bool,
        typer.Option(
            help="Embed the entities for parents, children and place, if the graph has a hierarchy."
        ),
    ] = True,
    hierarchy_encoder: Annotated[
        str | None,
        typer.Option(
            help="Folder or name of the HiT encoder for that; by default the one that ontodex "
            "ships."
        ),
    ] = None,
    hierarchy_relation: Annotated[
        list[str] | None,
        typer.Option(
            help="Relation from child to parent, by id or label; may be repeated; by default all "
            "that are recognised by name (is a, broader, …)."
        ),
    ] = None,
    entailment: Annotated[
        bool, typer.Option(help="Embed the sentences of labels and definitions, for entailment.")
    ] = True,
    entailment_encoder: Annotated[
        str | None,
        typer.Option(
            help="Folder of the GaussCSE encoder for that; by default the one that ontodex ships."
        ),
    ] = None,
    spans: Annotated[
        bool,
        typer.Option(
            "--spans",
            help="Embed every phrase too, for search --spans; needs a Self-StrAE encoder.",
        ),
    ] = False,
    first: Annotated[
        str,
        typer.Option(help="What is built after search and texts: links, hierarchy or entailment."),
    ] = "search",
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Build only search, texts and this: links, hierarchy or entailment; may be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    format: Format = None,
    mapping: Mapping = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Build an index of a graph.

    If the folder already holds an index, only new texts are encoded, and processes that read the
    index are not disturbed. A large index can be searched while it is built; a build that was
    stopped goes on with the same command.
    """
    for name, wanted, encoders in (
        ("hierarchy", hierarchy, hierarchy_encoder),
        ("entailment", entailment, entailment_encoder),
    ):
        if encoders and not wanted:
            raise SettingsError(f"expected --no-{name} or --{name}-encoder, found both")
    graph = ontodex.read(
        *sources, on_error=on_error, format=format, language=language, mapping=mapping
    )
    try:
        engine = ontodex.build(
            graph,
            output,
            encoders=encoder or (),
            train=train,
            structure=structure,
            hierarchy=hierarchy_encoder or hierarchy,
            hierarchy_relation=hierarchy_relation or (),
            entailment=entailment_encoder or entailment,
            spans=spans,
            training=training,
            texts=texts,
            first=first,
            only=only or (),
            device=device,
            quiet=quiet,
        )
    except KeyboardInterrupt:
        say("ontodex: stopped; the same command goes on from here", quiet)
        raise
    say(f"{engine!r} in {sum(engine.index.manifest.seconds.values()):.1f} s", quiet)


def add(
    index: IndexPath,
    sources: Sources,
    format: Format = None,
    mapping: Mapping = None,
    language: Language = "en",
    on_error: OnError = "warn",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Add the entities and triples of files to an index; only new texts are encoded.

    Tables are read by the mappings with which the index was built.
    """
    from ontodex.indexing import read_for
    from ontodex.storage.index import Index

    more = read_for(
        index, *sources, on_error=on_error, format=format, language=language, mapping=mapping
    )
    opened = Index.open(index)
    before, known = opened.manifest.graph, opened.graph
    new = (label for name, label in zip(more.ids, more.labels, strict=True) if not known.find(name))
    first = list(itertools.islice(new, FIRST_ADDED))
    opened.close()
    engine = ontodex.add(more, index, device=device, quiet=quiet)
    after = engine.index.manifest.graph
    added = ", ".join(
        f"{after[what] - before[what]:,} {what}" for what in ("entities", "relations", "triples")
    )
    named = f" (such as {'; '.join(first)})" if first else ""
    say(f"{engine!r}\nadded {added}{named}", quiet)


def remove(
    index: IndexPath,
    entities: Annotated[
        list[str] | None,
        typer.Argument(help="CURIEs, IRIs, labels or synonyms.", show_default=False),
    ] = None,
    links: Annotated[
        Path | None,
        typer.Option(
            help="A file of triples to remove; of an SSSOM file, its negated mappings.",
            show_default=False,
        ),
    ] = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Remove entities and their triples, or the triples of a file (--links), from an index."""
    if links is not None and entities is None:
        engine = ontodex.remove_links(links, index, device=device, quiet=quiet)
    elif entities is not None and links is None:
        engine = ontodex.remove(entities, index, device=device, quiet=quiet)
    else:
        raise SettingsError(
            f"expected entities or --links, found {'both' if entities else 'neither'}"
        )
    say(f"{engine!r}", quiet)


def info(index: IndexPath) -> None:
    """Print what an index holds, with examples, and how it was built, as JSON."""
    from ontodex.graph.overview import overview
    from ontodex.storage.index import Index

    opened = Index.open(index)
    built = opened.info()
    held = {"path": built["path"], "graph": built["graph"], **overview(opened.graph)}
    typer.echo(json_text({**held, **built}, indent=1))


def verify(index: IndexPath) -> None:
    """Compare every file of an index with its checksum; exit 1 if a file is damaged."""
    from ontodex.storage.index import Index

    problems = Index.open(index).verify()
    for problem in problems:
        typer.echo(problem)
    if problems:
        raise typer.Exit(1)
    typer.echo(f"{index}: all files are whole")


def export(
    index: IndexPath,
    output: Out,
    space: Annotated[
        str | None,
        typer.Option(
            help="Space of the vectors: text (the default), link, hybrid, hierarchy, "
            "entailment or span; see "
            "info."
        ),
    ] = None,
) -> None:
    """Write the graph of an index, or the vectors of a space.

    The graph is written as a folder of TSV files, one file of triples (.tsv), or N-Quads (.nq).
    Vectors are written as a NumPy file (.npy), with the id and the text of each vector in a
    .npy.tsv file beside it.
    """
    from ontodex.graph import write_nquads, write_tsv

    writers = {"": write_tsv, ".tsv": write_tsv, ".nq": write_nquads}
    suffix = "" if output.is_dir() else output.suffix
    if suffix not in (*writers, ".npy"):
        raise SettingsError(
            f"{output}: expected a folder, or a file that ends in .tsv, .nq or .npy, "
            f"found {suffix!r}"
        )
    if space is not None and suffix != ".npy":
        raise SettingsError(f"--space {space}: expected a file of vectors (.npy), found {output}")
    with ontodex.open(index) as engine:
        if suffix == ".npy":
            engine.embeddings(space or "text").write(output)
        else:
            writers[suffix](engine.graph, output)


def demo(
    graph: Annotated[
        str,
        typer.Option(
            help="schema-org, or hpo: the Human Phenotype Ontology with diseases and genes."
        ),
    ] = "schema-org",
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the files and the index.")
    ] = Path("ontodex-demo"),
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Build an index of a public graph, and print the answers to a dozen queries."""
    from ontodex.demo import run_demo

    run_demo(graph, output, device=device, quiet=quiet)


COMMANDS = (build, add, remove, info, verify, export, demo)
"""The commands of this module, in the order of the help."""
