"""Options that several commands share, so that they are called and explained alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Also",
    "Batch",
    "Device",
    "Format",
    "IndexPath",
    "Json",
    "K",
    "KnownChoice",
    "Language",
    "Mapping",
    "OnError",
    "Out",
    "Quiet",
    "Rdf",
    "Rerank",
    "Seed",
    "Sources",
    "Text",
    "Tsv",
    "say",
]

Sources = Annotated[
    list[Path],
    typer.Argument(help="Files or folders: OBO, OWL, RDF, TSV, CSV, Excel, JSON, GraphML, splits."),
]
Out = Annotated[Path, typer.Option("-o", "--output", help="Where to write.", show_default=False)]
IndexPath = Annotated[Path, typer.Argument(help="Folder of the index.")]
K = Annotated[int, typer.Option("-k", help="How many answers.", min=1)]
KnownChoice = Annotated[str, typer.Option(help="Known answers: exclude, include (marked) or only.")]
Also = Annotated[
    list[Path] | None,
    typer.Option(help="A file whose triples count as known too; may be given more than once."),
]
Batch = Annotated[
    Path | None,
    typer.Option(
        help="A file of questions, one a line, parts separated by tabs; - for stdin. Answers are JSON lines."
    ),
]
Text = Annotated[
    str | None,
    typer.Argument(help="An entity (CURIE, IRI, label, synonym) or any text.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Tsv = Annotated[bool, typer.Option("--tsv", help="Print a table with tabs.")]
Rdf = Annotated[
    bool, typer.Option("--rdf", help="Print N-Quads: predictions in a named graph, with scores.")
]
Rerank = Annotated[
    Path | None,
    typer.Option(
        help="A cross-encoder (train cross-encoder) that reads the best fifty answers again."
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="Format of the files, where their content and suffix do not tell it; sentences: a statement a line."
    ),
]
Mapping = Annotated[
    Path | None,
    typer.Option(
        help="A YAML file that says what the columns of tables hold, as ontodex inspect -o writes it.",
        show_default=False,
    ),
]
Language = Annotated[
    str,
    typer.Option(
        help="Language of names and definitions, where RDF has several: a tag such as de or pt-BR."
    ),
]
OnError = Annotated[
    str, typer.Option(help="Faulty parts of a file: raise, warn (leave out, count) or skip.")
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, …")]
Seed = Annotated[int, typer.Option(help="Seed of all random draws.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]


def say(message: str, quiet: bool) -> None:
    """Say what was done, on stderr."""
    if not quiet:
        typer.echo(message, err=True)
