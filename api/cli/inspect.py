"""The command ``inspect``, which shows how files would be read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import ontodex
from ontodex.cli.options import Format, Language, Mapping, Sources
from ontodex.engine.results.printable import printable

__all__ = ["COMMANDS", "inspect"]


def inspect(
    sources: Sources,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Write the mappings as YAML, to be edited and given to --mapping.",
            show_default=False,
        ),
    ] = None,
    format: Format = None,
    mapping: Mapping = None,
    language: Language = "en",
) -> None:
    """Show what files would be read as: tables, what each column becomes, what is left out."""
    found = ontodex.inspect(*sources, format=format, language=language, mapping=mapping)
    typer.echo(printable(str(found)))
    for remark in found.remarks:
        typer.echo(printable(f"warning: {remark}"), err=True)
    if output is not None:
        found.write(output)


COMMANDS = (inspect,)
"""The commands of this module."""
