"""A group of commands, of which a module is imported when one of its commands is run.

Names and help come from the source of the modules, which is parsed and not run: importing all
modules takes longer than most questions.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_command_name, get_group

__all__ = ["MODULES", "LazyGroup"]

MODULES = (
    ("ask", "Ask"),
    ("shell", "Ask"),
    ("build", "Build"),
    ("formats", "Build"),
    ("inspect", "Build"),
    ("train", "Train"),
    ("evaluate", "Evaluate"),
)
"""Modules in the order of the help, and the panel of each.

The commands of a module are the functions in its tuple ``COMMANDS``, and its groups of commands,
``… = typer.Typer(name=…, help=…)``.
"""


@dataclass(frozen=True)
class _Entry:
    """A command or a group of commands.

    Attributes:
        module: Name of its module.
        member: Name of the function or of the group in the module.
        group: Whether it is a group.
        panel: Panel of the help.
        help: Its help.
    """

    module: str
    member: str
    group: bool
    panel: str
    help: str


class _Commands(Mapping[str, Any]):
    """The commands by name, each imported when it is looked up.

    Attributes:
        brief: Return commands that have a name and a help alone, without an import.
    """

    brief = False

    def __getitem__(self, name: str) -> Any:
        entry = _entries()[name]
        if self.brief:
            return TyperCommand(name, help=entry.help, rich_help_panel=entry.panel)
        member = getattr(importlib.import_module(f"ontodex.cli.{entry.module}"), entry.member)
        if entry.group:
            found: Any = get_group(member)
        else:
            alone = typer.Typer(add_completion=False)
            alone.command()(member)
            found = get_command(alone)
        found.rich_help_panel = entry.panel
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_entries())

    def __len__(self) -> int:
        return len(_entries())


class LazyGroup(TyperGroup):
    """The commands of :data:`MODULES`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of the group, without importing the modules."""
        self.commands.brief = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self.commands.brief = False


@cache
def _entries() -> dict[str, _Entry]:
    found = [entry for module, panel in MODULES for entry in _entries_of(module, panel)]
    found.sort(key=lambda entry: entry[1].group)  # commands come before groups
    return dict(found)


def _entries_of(module: str, panel: str) -> Iterator[tuple[str, _Entry]]:
    source = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    functions: dict[str, str] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = ast.get_docstring(node) or ""
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        value, target = node.value, node.targets[0].id
        if target == "COMMANDS" and isinstance(value, ast.Tuple):
            for name in (one.id for one in value.elts if isinstance(one, ast.Name)):
                entry = _Entry(module, name, False, panel, functions[name])
                yield get_command_name(name), entry
        elif isinstance(value, ast.Call) and ast.unparse(value.func) == "typer.Typer":
            texts = {
                one.arg: ast.literal_eval(one.value)
                for one in value.keywords
                if one.arg in ("name", "help")
            }
            yield texts["name"], _Entry(module, target, True, panel, texts["help"])
