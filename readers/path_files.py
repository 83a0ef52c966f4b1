"""Text files with one category per line: paths (``Animals > Birds``) and indented outlines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import spellings
from ontodex.readers.files import lines_of
from ontodex.readers.mapping.entities import guess_entities
from ontodex.readers.mapping.headers import EntityColumns
from ontodex.readers.mapping.paths import is_path_name
from ontodex.readers.problems import Problems
from ontodex.readers.tables.entities import add_entities
from ontodex.readers.tables.paths import DEEPEST, Category, add_category
from ontodex.readers.tables.table import Table
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["read_outline", "read_paths"]

HEADERS = ("category", "categories", "product type")
"""Headers of a file of paths, besides names such as "path" (:func:`is_path_name`)."""

NUMBERED = re.compile(r"(\S+?)(?:\s+[-:]\s+|\t\s*|[,;])(.+)")
"""A line with an id before the path: ``3 - Animals > Birds``."""

BULLET = re.compile(r"^(?:[-*+•◦▪·–]|\d{1,3}[.)])\s+")
"""A bullet or number before a name in an outline."""


def read_paths(
    source: Path | Sheet, builder: GraphBuilder, problems: Problems, table: Table
) -> None:
    """Read one category per line from its path, optionally after an id (``3 - Animals > Birds``).

    Lines above the first path that begin with # are comments. A category without an id gets its
    path as id. A category with an id gets its path as alternative id.

    Args:
        source: A text file, or a sheet whose rows are its lines.
        builder: Receives the categories.
        problems: Receives lines that are not text.
        table: Receives the ids of the categories.
    """
    found = source.lines if isinstance(source, Sheet) else lines_of(source, problems)
    lines = [(number, line.strip()) for number, line in found if line.strip()]
    start = next((at for at, (_, line) in enumerate(lines) if not line.startswith("#")), len(lines))
    if any(
        is_path_name(line) or {*spellings(line)} & {*HEADERS}
        for _, line in lines[start : start + 1]
    ):
        start += 1
    rows = [(number, [line]) for number, line in lines[start:]]
    numbered = [
        (number, [*parts.groups()])
        for number, [line] in rows
        if (parts := NUMBERED.fullmatch(line))
    ]
    has_ids = len({cells[0] for _, cells in numbered}) == len(rows)
    names = ["id", "path"] if has_ids else ["path"]
    found_rows = numbered if has_ids else rows

    def report(what: str, at: int) -> None:
        problems.report(what, at, str(source))

    mapping = guess_entities(EntityColumns.of(names), names, found_rows, table, problems.remark)
    add_entities(mapping, names, found_rows, builder, table, report, problems.remark)


def read_outline(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read one category per line; its parent is the last line above with less indentation.

    Args:
        path: A text file.
        builder: Receives the categories; the path of each is its id (``Animals > Dogs``).
        problems: Receives lines that are not text.
    """
    example = ""
    for category in _categories(line for _, line in lines_of(path, problems)):
        below = add_category(category, builder)
        if len(category) > 1 and not example:
            example = below
    problems.remark(
        f"read as an outline: a line is a child of the line above with less indentation ({example})"
    )


def _categories(lines: Iterable[str]) -> Iterator[Category]:
    """Yield the path of each line.

    >>> list(_categories(["- Video", "    - TV", "  - Film", "- Audio"]))
    [('Video',), ('Video', 'TV'), ('Video', 'Film'), ('Audio',)]
    """
    above: list[tuple[int, str]] = []
    for indent, name in _indented(lines):
        while above and (above[-1][0] >= indent or len(above) == DEEPEST):
            above.pop()
        above.append((indent, " ".join(name.split())))
        yield tuple(name for _, name in above)


def _indented(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the indentation and the name of each line."""
    for line in lines:
        if text := line.strip():
            yield (
                len(line[: len(line) - len(line.lstrip())].expandtabs(8)),
                BULLET.sub("", text, count=1),
            )
