"""The command ``shell``, which asks one open index line after line."""

from __future__ import annotations

import bisect
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from prompt_toolkit.completion import Completer, Completion

import ontodex
from ontodex.cli.answers import keep_open
from ontodex.cli.options import Device, IndexPath
from ontodex.engine.results.printable import printable
from ontodex.errors import OntodexError

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

__all__ = ["COMMANDS", "NameCompleter", "shell"]

MOST = 50
"""Maximal number of names that complete a text."""

LEAVE = ("exit", "quit")


def shell(index: IndexPath, device: Device = "auto") -> None:
    """Ask an index line by line: the commands above without INDEX, such as: search "high fever".

    Tab completes commands, names and relations; exit, quit or Ctrl-D ends. Without a terminal,
    lines are read from stdin.
    """
    from typer.main import get_command

    from ontodex.cli.app import app

    group: Any = get_command(app)
    context = group.make_context("ontodex", ["info"], resilient_parsing=True)
    commands = [name for name in group.list_commands(context) if _takes_index(group, context, name)]
    failed = False
    with ontodex.open(index, device=device) as engine, keep_open(index, engine):
        for line in _lines(engine, commands):
            try:
                name, *rest = shlex.split(line)
                if name in LEAVE:
                    break
                if name not in commands:
                    raise ValueError(f"expected one of {', '.join(commands)}, found {name!r}")
                before = [name] if {"-h", "--help"} & {*rest} else [name, str(index)]
                group.main([*before, *rest], "ontodex", standalone_mode=False)
            except typer.Exit as ended:
                failed |= ended.exit_code != 0
            except (OntodexError, OSError, ValueError, typer.Abort) as error:
                failed = True
                typer.echo(printable(f"ontodex: {error}"), err=True)
            except Exception as error:
                if not hasattr(error, "format_message"):  # not one of wrong usage
                    raise
                failed = True
                typer.echo(printable(f"ontodex: {error.format_message()}"), err=True)
    if failed and not sys.stdin.isatty():
        raise typer.Exit(1)


def _takes_index(group: Any, context: Any, name: str) -> bool:
    """Return whether a command is a question about one index."""
    command = group.get_command(context, name)
    if name == "shell" or command.rich_help_panel != "Ask":
        return False
    return bool(command.params) and command.params[0].name == "index"


def _lines(engine: ontodex.Engine, commands: Sequence[str]) -> Iterator[str]:
    """Yield the lines that are not empty: typed at a prompt, or read from stdin."""
    if not sys.stdin.isatty():
        yield from (line for line in sys.stdin if line.strip())
        return
    session = _session(engine, commands)
    while True:
        try:
            line = session.prompt("ontodex> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if line.strip():
            yield line


def _session(engine: ontodex.Engine, commands: Sequence[str]) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory, History, InMemoryHistory

    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "ontodex"
    history: History = InMemoryHistory()
    try:
        state.mkdir(parents=True, exist_ok=True)
        history = FileHistory(str(state / "history"))
    except OSError:  # a home that cannot be written
        pass
    completer = NameCompleter(engine.graph, commands)
    return PromptSession(history=history, completer=completer, complete_in_thread=True)


class NameCompleter(Completer):
    """Completes the commands of a line, and then names of entities and of relations.

    Args:
        graph: The graph.
        commands: Names of the commands.
    """

    def __init__(self, graph: ontodex.KnowledgeGraph, commands: Sequence[str]) -> None:
        self._graph, self._commands = graph, sorted([*commands, *LEAVE])

    @cached_property
    def _names(self) -> list[tuple[str, str]]:
        """Labels and ids, each after its form in lower case, in the order of these."""
        graph = self._graph
        every = {*graph.relation_labels, *graph.labels, *graph.relation_ids, *graph.ids}
        return sorted((name.casefold(), name) for name in every)

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        """Yield completions of the word or of the quoted text before the cursor."""
        line = document.text_before_cursor
        start = _start_of_word(line)
        typed = line[start:].lstrip("'\"")
        if not line[:start].strip():
            for name in self._commands:
                if name.startswith(typed):
                    yield Completion(f"{name} ", start_position=start - len(line))
            return
        if not typed:
            return
        wanted = typed.casefold()
        at = bisect.bisect_left(self._names, (wanted,))
        for form, name in self._names[at : at + MOST]:
            if not form.startswith(wanted):
                break
            quoted = shlex.quote(name)
            yield Completion(f"{quoted} ", start_position=start - len(line), display=name)


def _start_of_word(line: str) -> int:
    """Return where the last word of a line starts, or its last text in quotes that is open.

    >>> _start_of_word("tails 'Marfan syn"), _start_of_word("search fev"), _start_of_word("sea")
    (6, 7, 0)
    """
    start, quote = 0, ""
    for place, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"" and start == place:
            quote = letter
        elif letter.isspace():
            start = place + 1
    return start


COMMANDS = (shell,)
"""The commands of this module."""
