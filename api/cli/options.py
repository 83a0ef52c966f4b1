"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Also",
    "Batch",
    "Definition",
    "Device",
    "Format",
    "GraphFiles",
    "IndexPath",
    "Json",
    "K",
    "KnownChoice",
    "Language",
    "Mapping",
    "OnError",
    "Out",
    "Parents",
    "PathShown",
    "Picture",
    "Quiet",
    "Rdf",
    "Relation",
    "Rerank",
    "Seed",
    "Sources",
    "Text",
    "TextEncoderName",
    "Tsv",
    "Type",
    "say",
]

Sources = Annotated[
    list[Path],
    typer.Argument(help="Files or folders: OBO, OWL, RDF, TSV, CSV, Excel, JSON, GraphML, splits."),
]
GraphFiles = Annotated[
    list[Path] | None,
    typer.Argument(help="A graph: files or folders, as for ontodex build.", show_default=False),
]
Out = Annotated[Path, typer.Option("-o", "--output", help="Where to write.", show_default=False)]
Picture = Annotated[
    Path, typer.Option("-o", "--output", help="The picture: .svg or .png.", show_default=False)
]
IndexPath = Annotated[Path, typer.Argument(help="Folder of the index.")]
Text = Annotated[
    str | None,
    typer.Argument(help="An entity (CURIE, IRI, label, synonym) or any text.", show_default=False),
]
Relation = Annotated[
    str | None, typer.Argument(help="A relation of the graph, or any text.", show_default=False)
]
K = Annotated[int, typer.Option("-k", help="Number of answers.", min=1)]
KnownChoice = Annotated[str, typer.Option(help="Known answers: exclude, include (marked) or only.")]
Also = Annotated[
    list[Path] | None,
    typer.Option(help="A file whose triples count as known too; may be repeated."),
]
Batch = Annotated[
    Path | None,
    typer.Option(
        help="A file of queries, one a line, its parts separated by tabs; - for stdin. Answers are "
        "JSON lines. A query that fails gives a line with the key error, and exit status 1."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Tsv = Annotated[bool, typer.Option("--tsv", help="Print a table with tabs.")]
PathShown = Annotated[
    bool, typer.Option("--path", help="Add the path from a root of the hierarchy to each entity.")
]
Definition = Annotated[
    bool, typer.Option("--definition", help="Add the definition of each entity.")
]
Type = Annotated[
    str | None,
    typer.Option(
        help="Only this entity, those below it and their instances; or a prefix of ids, such as "
        "OMIM:.",
        show_default=False,
    ),
]
Rdf = Annotated[
    bool, typer.Option("--rdf", help="Print N-Quads: predictions in a named graph, with scores.")
]
Rerank = Annotated[
    Path | None,
    typer.Option(help="A cross-encoder (train cross-encoder) that re-ranks the best 50 answers."),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="Format of the files, if content and suffix do not determine it; sentences: text, one "
        "statement a line."
    ),
]
Mapping = Annotated[
    Path | None,
    typer.Option(
        help="YAML file that maps the columns of tables; ontodex inspect -o writes one.",
        show_default=False,
    ),
]
Language = Annotated[
    str,
    typer.Option(
        help="Language of labels and definitions, if RDF has several: a tag such as de or pt-BR."
    ),
]
OnError = Annotated[
    str, typer.Option(help="Faulty parts of a file: raise, warn (leave out, count) or skip.")
]
Parents = Annotated[
    str | None,
    typer.Option(
        help="The relation from child to parent; by default all that are recognised by name (is_a, "
        "…)."
    ),
]
TextEncoderName = Annotated[
    str, typer.Option(help="Folder or name of the text encoder to start from.")
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, …")]
Seed = Annotated[int, typer.Option(help="Seed of all random draws.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]


def say(message: str, quiet: bool) -> None:
    """Print a message on stderr, unless ``quiet``."""
    if not quiet:
        typer.echo(message, err=True)
