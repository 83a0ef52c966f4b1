"""Pages of the site that are made from the code and from records: command line and benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from benchmarks import tables
from ontodex.cli.app import app

__all__ = ["cli_page", "write_pages"]

DOCS = Path(__file__).parent
CLI_HEAD = """\
# Command line

`ontodex COMMAND --help` shows the same. Results go to stdout, progress and logs to stderr. The exit
status is 0 when done, 1 on failure, 2 on wrong usage.
"""


def write_pages(folder: Path = DOCS) -> None:
    """Write ``cli.md`` and ``benchmarks/*.md``.

    Args:
        folder: The source folder of the site.
    """
    _write(folder / "cli.md", cli_page())
    tables.write_pages(tables.read_records(), folder / "benchmarks")


def cli_page() -> str:
    """Return the page of the command line: a section for each command of the application."""
    root = get_command(app)
    context = typer.Context(root, info_name="ontodex")
    return "\n".join([CLI_HEAD, *_sections(root, context)])


def _sections(command: Any, context: Any) -> Iterator[str]:
    """Yield the section of a command, or of each command of a group."""
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from _sections(inner, typer.Context(inner, info_name=name, parent=context))
        return
    yield f"## {context.command_path}\n"
    yield f"```\n{command.get_usage(context).removeprefix('Usage: ')}\n```\n"
    if command.help:
        yield f"{command.help.strip()}\n"
    rows = [row for one in command.get_params(context) if (row := _row(one, context))]
    if rows:
        yield "\n".join(["| argument or option | meaning |", "| --- | --- |", *rows, ""])


def _row(parameter: Any, context: Any) -> str:
    """Return the row of a parameter in the table of its command."""
    if parameter.name in ("help", "install_completion", "show_completion"):
        return ""
    name, text = parameter.get_help_record(context) or (parameter.human_readable_name, "")
    return f"| `{_cell(name)}` | {_cell(text).replace('<', '&lt;')} |"


def _cell(text: str) -> str:
    """Return a text as a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def _write(path: Path, text: str) -> None:
    """Write a page where it differs, so that Sphinx builds anew what has changed."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
