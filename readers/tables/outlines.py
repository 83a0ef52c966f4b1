"""Outlines: a category a line, indented below its parent, perhaps with bullets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import lines_of
from ontodex.readers.problems import Problems
from ontodex.readers.tables.paths import DEEPEST, Category, add_category

__all__ = ["read_outline"]

BULLET = re.compile(r"^(?:[-*+•◦▪·–]|\d{1,3}[.)])\s+")
"""What may stand before a name."""


def read_outline(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read a category a line, below the last one above it that is indented less.

    Args:
        path: A text file.
        builder: Takes the categories; the path of each is its id (``Animals > Dogs``).
        problems: Takes lines that are no text.
    """
    example = ""
    for category in _categories(line for _, line in lines_of(path, problems)):
        below = add_category(category, builder)
        if len(category) > 1 and not example:
            example = below
    problems.remark(
        f"read as an outline: what is indented is below what stands above it ({example})"
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
    """Yield how far each line is indented, and what it names."""
    for line in lines:
        if text := line.strip():
            yield (
                len(line[: len(line) - len(line.lstrip())].expandtabs(8)),
                BULLET.sub("", text, count=1),
            )
