"""The command ``formats``, which lists the formats that ontodex reads."""

from __future__ import annotations

import typer

import ontodex
from ontodex.cli.options import Json
from ontodex.engine.results.printable import json_text, printable

__all__ = ["COMMANDS", "formats"]


def formats(json: Json = False) -> None:
    """List the formats that ontodex reads: name, suffixes (/ for folders), description."""
    found = sorted(ontodex.formats(), key=lambda one: one.name)
    if json:
        rows = [
            {"name": one.name, "suffixes": [*one.suffixes], "description": one.description}
            for one in found
        ]
        typer.echo(json_text({"formats": rows}))
        return
    cells = [(one.name, " ".join(one.suffixes) or "-", one.description) for one in found]
    widths = [max(len(row[at]) for row in cells) for at in (0, 1)]
    for name, suffixes, description in cells:
        typer.echo(printable(f"{name:{widths[0]}}  {suffixes:{widths[1]}}  {description}"))


COMMANDS = (formats,)
"""The commands of this module."""
