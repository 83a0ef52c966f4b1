"""The command line ``ontodex``: its commands, grouped in panels, and its exit status."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated

import typer

import ontodex
from ontodex.cli.lazy import LazyGroup
from ontodex.engine.results.printable import printable
from ontodex.errors import OntodexError, SettingsError

__all__ = ["app", "main"]

app = typer.Typer(
    name="ontodex",
    cls=LazyGroup,
    help="Search and complete knowledge graphs and ontologies.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line, with exit status 0 on success, 1 on failure and 2 on wrong usage."""
    printed: set[str] = set()

    def warn(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in printed:
            print(printable(f"warning: {message}"), file=sys.stderr)  # noqa: T201
        printed.add(str(message))

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
