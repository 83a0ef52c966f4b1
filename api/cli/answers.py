"""Questions from the shell, one or a file of them, and their answers on stdout."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

import typer

import ontodex
from ontodex.engine.results.printable import json_text
from ontodex.errors import LookupFailed, SettingsError

__all__ = ["answer", "expect_one_form", "open_engine", "show", "singles"]

Question = tuple[str, ...]
Answered = ontodex.Hits | ontodex.Placements | ontodex.Direction
QueryFunction = Callable[[Any], Sequence[Answered]]

BATCH = 512
"""Questions of a file that are answered at once, at most; of a pipe those that have come."""


def open_engine(
    index: Path, device: str, also_known: Sequence[Path] | None = None, rerank: Path | None = None
) -> ontodex.Engine:
    """Open an index, with files whose triples count as known, and a cross-encoder to read answers again."""
    known = [ontodex.read(source) for source in also_known or ()]
    return ontodex.open(index, device=device, known=known, rerank=rerank)


def singles(questions: Sequence[Question]) -> list[str]:
    """Return the texts of questions of one part."""
    return [text for (text,) in questions]


def answer(
    parts: tuple[str | None, ...],
    queries: Path | None,
    ask: QueryFunction,
    as_json: bool,
    as_tsv: bool,
    as_rdf: bool = False,
) -> None:
    """Ask one question, or those of a file, and print the answers: a file's as JSON lines.

    Raises:
        SettingsError: If the parts are not as many as the question needs, or forms contradict each other.
    """
    expect_one_form(json=as_json, tsv=as_tsv, rdf=as_rdf)
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
            f"expected {len(parts)} text(s) to ask about after INDEX, or --queries FILE, found fewer"
        )
    (found,) = ask([parts])
    if found.error is not None:
        raise found.error
    show(found, json=as_json, tsv=as_tsv, rdf=as_rdf)


def expect_one_form(**forms: bool) -> None:
    """Refuse two forms of one answer, by the names of their options.

    Raises:
        SettingsError: If more than one is asked for.
    """
    if sum(forms.values()) > 1:
        *names, last = (f"--{name}" for name in forms)
        raise SettingsError(f"expected one of {', '.join(names)} and {last}, found more")


def show(found: Any, **forms: bool) -> None:
    """Print an answer in the form that is asked for, by the name of its option: as ``to_json()`` for ``json=True``."""
    form = next((name for name, wanted in forms.items() if wanted), "")
    typer.echo(getattr(found, f"to_{form}")() if form else str(found), nl=form in ("", "json"))


def _answer_file(file: BinaryIO, name: str, columns: int, ask: QueryFunction, as_rdf: bool) -> None:
    """Print an answer to every line that is a question and has one, an error to any other; exit 1 at the end if any."""
    failed = False
    for lines in _batches(file):
        read = [_question(line, f"{name}:{number}", columns) for number, line in lines]
        questions = [one for one in read if isinstance(one, tuple)]
        found = iter(ask(questions) if questions else ())
        for one in read:
            if one is None:
                continue
            try:
                if isinstance(one, SettingsError):
                    raise one
                answered = next(found)
                if answered.error is not None:
                    raise answered.error
                typer.echo(_rdf(answered) if as_rdf else answered.to_json(), nl=not as_rdf)
            except (LookupFailed, SettingsError) as error:  # free text makes no triples
                failed = True
                query = {"query": one} if isinstance(one, tuple) else {}
                typer.echo(json_text({**query, "error": str(error)}), err=as_rdf)
    if failed:
        raise typer.Exit(1)


def _rdf(found: Answered) -> str:
    assert isinstance(found, ontodex.Hits)  # no command that places offers --rdf
    return found.to_rdf()


def _batches(file: BinaryIO) -> Iterator[list[tuple[int, bytes]]]:
    """Yield the lines that have come, with their numbers: whoever asks through a pipe may wait for the answers."""
    stream = cast(io.BufferedReader, file)
    done, rest = 0, b""
    while piece := stream.read1(io.DEFAULT_BUFFER_SIZE):
        *lines, rest = (rest + piece).split(b"\n")
        for start in range(0, len(lines), BATCH):
            yield list(enumerate(lines[start : start + BATCH], done + start + 1))
        done += len(lines)
    yield [(done + 1, rest)]


def _question(line: bytes, where: str, columns: int) -> Question | SettingsError | None:
    """Return the parts of a question, what is wrong with it, or ``None`` for an empty line."""
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
