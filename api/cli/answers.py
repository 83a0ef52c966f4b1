"""Answers to a query, or to a file of queries, on stdout."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import typer

import ontodex
from ontodex.engine.results.printable import json_text
from ontodex.errors import LookupFailed, SettingsError

if TYPE_CHECKING:
    from typing import TypeAlias

    Answered: TypeAlias = ontodex.Hits | ontodex.Placements | ontodex.Direction

__all__ = ["answer", "expect_one_form", "keep_open", "open_engine", "show", "singles"]

Question = tuple[str, ...]
"""The parts of a query: one text, or a head and a relation."""

BATCH = 512
"""Maximal number of queries answered at once; from a pipe, only the queries that have arrived."""


_KEPT: dict[Path, ontodex.Engine] = {}
"""Engines that commands share, by the folder of the index."""


@contextlib.contextmanager
def keep_open(index: Path, engine: ontodex.Engine) -> Iterator[None]:
    """Let the commands that run meanwhile ask ``engine``, instead of opening its index."""
    _KEPT[index] = engine
    try:
        yield
    finally:
        del _KEPT[index]


def open_engine(
    index: Path,
    device: str,
    also_known: Sequence[Path] | None = None,
    rerank: Path | None = None,
    *,
    condition_memory: int | None = None,
    condition_disk: int | None = None,
) -> contextlib.AbstractContextManager[ontodex.Engine]:
    """Open an index, or return its engine that is open already, if no settings differ.

    Args:
        index: Folder of the index.
        device: Device of the encoders.
        also_known: Files of additional known triples.
        rerank: Folder of a cross-encoder that re-ranks.
        condition_memory: See :func:`ontodex.open`; ``None`` for its default.
        condition_disk: See :func:`ontodex.open`; ``None`` for its default.
    """
    sizes = {"condition_memory": condition_memory, "condition_disk": condition_disk}
    given: dict[str, Any] = {name: size for name, size in sizes.items() if size is not None}
    kept = _KEPT.get(index)
    if kept is not None and not also_known and rerank is None and not given:
        return contextlib.nullcontext(kept)
    return ontodex.open(index, device=device, known=list(also_known or ()), rerank=rerank, **given)


def singles(questions: Sequence[Question]) -> list[str]:
    """Return the texts of queries that have one part each."""
    return [text for (text,) in questions]


def answer(
    parts: tuple[str | None, ...],
    queries: Path | None,
    ask: Callable[[Any], Sequence[Answered]],
    as_json: bool,
    as_tsv: bool,
    as_rdf: bool = False,
    *,
    path: bool = False,
    definition: bool = False,
) -> None:
    """Answer one query, or the queries of a file, on stdout.

    Answers to a file are JSON lines, or N-Quads with ``as_rdf``.

    Args:
        parts: The parts of the query; ``None`` for each part that was not given.
        queries: File of queries, ``-`` for stdin; ``None`` to answer a single query.
        ask: Function from a list of queries to a list of answers.
        as_json: Print a single answer as JSON.
        as_tsv: Print a single answer as a table.
        as_rdf: Print N-Quads.
        path: Add a path to each entity; only with answers that are hits.
        definition: Add a definition to each entity; only with answers that are hits.

    Raises:
        SettingsError: If parts are missing, or options contradict each other.
        Exit: With status 1, if a query of the file is faulty or has no answer.
    """
    expect_one_form(json=as_json, tsv=as_tsv, rdf=as_rdf)
    if path or definition:
        ask = _describing(ask, path, definition)
    if queries is not None:
        if any(part is not None for part in parts) or as_tsv:
            what = "--tsv" if as_tsv else "a question"
            raise SettingsError(
                f"expected a file of questions alone (--queries), found {what} with it"
            )
        if str(queries) == "-":
            _answer_file(sys.stdin.buffer, "-", len(parts), ask, as_rdf)
        else:
            with queries.open("rb") as file:
                _answer_file(file, str(queries), len(parts), ask, as_rdf)
        return
    if any(part is None for part in parts):
        raise SettingsError(
            f"expected {len(parts)} text(s) to ask about after INDEX, or --queries FILE, "
            "found fewer"
        )
    (found,) = ask([parts])
    if found.error is not None:
        raise found.error
    show(found, json=as_json, tsv=as_tsv, rdf=as_rdf)


def _describing(
    ask: Callable[[Any], Sequence[Answered]], path: bool, definition: bool
) -> Callable[[Any], Sequence[Answered]]:
    """Return a function that adds paths and definitions to the hits of each answer."""

    def describing(asked: Any) -> Sequence[Answered]:
        answers = []
        for found in ask(asked):
            assert isinstance(found, ontodex.Hits)  # all commands with these options return hits
            answers.append(found.described(path=path, definition=definition))
        return answers

    return describing


def expect_one_form(**forms: bool) -> None:
    """Check that at most one output form was requested.

    Args:
        forms: Whether each form was requested, by the name of its option.

    Raises:
        SettingsError: If more than one form was requested.
    """
    if sum(forms.values()) > 1:
        *names, last = (f"--{name}" for name in forms)
        raise SettingsError(f"expected one of {', '.join(names)} and {last}, found more")


def show(found: Any, **forms: bool) -> None:
    """Print an answer in the requested form, or as text if no form was requested.

    Args:
        found: The answer, with a method for each form, such as ``to_json()``.
        forms: Whether each form was requested, by the name of its option.
    """
    form = next((name for name, wanted in forms.items() if wanted), "")
    typer.echo(getattr(found, f"to_{form}")() if form else str(found), nl=form in ("", "json"))


def _answer_file(
    file: BinaryIO,
    name: str,
    columns: int,
    ask: Callable[[Any], Sequence[Answered]],
    as_rdf: bool,
) -> None:
    """Print an answer for every line of a file, or an object with the key ``error``."""
    failed = False
    for lines in _batches(file):
        parsed = [_question(line, f"{name}:{number}", columns) for number, line in lines]
        queries = [one for one in parsed if isinstance(one, tuple)]
        found = iter(ask(queries) if queries else ())
        for one in parsed:
            if one is None:
                continue
            try:
                if isinstance(one, SettingsError):
                    raise one
                answered = next(found)
                if answered.error is not None:
                    raise answered.error
                typer.echo(_rdf(answered) if as_rdf else answered.to_json(), nl=not as_rdf)
            except (LookupFailed, SettingsError) as error:  # to_rdf rejects free text
                failed = True
                query = {"query": one} if isinstance(one, tuple) else {}
                typer.echo(json_text({**query, "error": str(error)}), err=as_rdf)
    if failed:
        raise typer.Exit(1)


def _rdf(found: Answered) -> str:
    assert isinstance(found, ontodex.Hits)  # all commands with --rdf return hits
    return found.to_rdf()


def _batches(file: BinaryIO) -> Iterator[list[tuple[int, bytes]]]:
    """Yield batches of lines as they arrive, with the number of each line.

    A batch is not held back until it is full: a program that asks through a pipe may wait for an
    answer before it writes the next query.
    """
    stream = cast(io.BufferedReader, file)
    done, rest = 0, b""
    while piece := stream.read1(io.DEFAULT_BUFFER_SIZE):
        *lines, rest = (rest + piece).split(b"\n")
        for start in range(0, len(lines), BATCH):
            yield list(enumerate(lines[start : start + BATCH], done + start + 1))
        done += len(lines)
    yield [(done + 1, rest)]


def _question(line: bytes, where: str, columns: int) -> Question | SettingsError | None:
    """Return the parts of a query, an error if its line is faulty, or ``None`` if it is empty."""
    try:
        text = line.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        return SettingsError(f"{where}: expected UTF-8, found {error}; convert the file")
    if not text:
        return None
    cells = tuple(cell.strip() for cell in text.split("\t"))
    if len(cells) != columns or not all(cells):
        return SettingsError(
            f"{where}: expected {columns} text(s) separated by tabs, found {text!r}"
        )
    return cells
