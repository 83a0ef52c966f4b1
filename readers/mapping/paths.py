"""Recognising paths of categories in cells and lines, and the separator of their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from ontodex.graph.names import spellings
from ontodex.readers.files import lines_of
from ontodex.readers.problems import Problems
from ontodex.readers.tables.paths import ARROW, ARROWS, names_along
from ontodex.readers.tables.values import LETTER, NOTHING
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["are_paths", "is_path_name", "path_separator", "paths_as_rows"]

SPACED = re.compile(rf"\s{ARROWS}\s")

MARKS = ("/", "\\", "::", "|")
"""Separators of paths, besides arrows, in columns with the name of a path column."""

PATH_NAME = re.compile(r"(?:.+ )?(?:path|breadcrumbs?|category tree)")
"""A name of a column of paths."""

SHARED = 2 / 3
"""Maximal share of distinct roots among paths with arrows."""

LOOKED_AT = 1000
"""Number of first cells that are examined for separators."""


HEADERS = ("category", "categories", "product type")
"""Headers of a file of paths, besides names such as "path" (:func:`is_path_name`)."""

NUMBERED = re.compile(r"(\S+?)(?:\s+[-:]\s+|\t\s*|[,;])(.+)")
"""A line with an id before the path: ``3 - Animals > Birds``."""


def is_path_name(column: str) -> bool:
    """Return whether a column has the name of a path column.

    >>> is_path_name("category_path"), is_path_name("category")
    (True, False)
    """
    return any(map(PATH_NAME.fullmatch, spellings(column)))


def are_paths(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first lines of a table without a header are paths.

    >>> are_paths([["Food"], ["Food > Drinks", " Tea"]])
    True
    >>> are_paths([["A > B", "is_a", "A"], ["A", "is_a", "root"]])
    False
    """
    widths = {len(cells) for cells in rows}
    may_be = len(widths) > 1 or max(widths, default=3) < 3
    lines = [",".join(row) for row in rows]
    return may_be and bool(path_separator(lines, lines[0] if lines else ""))


def path_separator(cells: Collection[str], name: str = "") -> str:
    """Return the separator of the paths in a column; empty if most cells are not paths.

    Arrows separate names if paths share their first names, or if most arrows have spaces around
    them. Slashes, backslashes, double colons and bars are accepted only if the column has the name
    of a path column.

    >>> path_separator(["Home > Sofas", "Home > Beds"]), path_separator(["Home/Sofas", "Home"])
    ('>', '')
    >>> path_separator(["Home/Sofas", "Home"], "category_path")
    '/'
    """
    filled = [cell for cell in cells if cell.strip().casefold() not in NOTHING | {""}]
    first, is_named = filled[:LOOKED_AT], is_path_name(name)
    words = sum("<" not in cell and bool(LETTER.search(cell)) for cell in first)
    if 2 * words <= len(first):
        return ""
    arrows = sum(bool(re.search(ARROWS, cell)) for cell in first)
    if arrows >= (1 if is_named else len(first) / 2) and _are_parted_by_arrows(filled):
        return ARROW
    if not is_named or any("://" in cell for cell in filled):
        return ""
    counts = {mark: sum(mark in cell for cell in first) for mark in MARKS}
    mark = max(MARKS, key=lambda mark: counts[mark])
    return mark if counts[mark] else ""


def _are_parted_by_arrows(cells: Sequence[str]) -> bool:
    """Tell whether arrows in cells separate the names of paths."""
    paths = [names_along(cell, ARROW) for cell in cells]
    deep = sum(len(names) > 1 for names in paths)
    share_roots = len({names[:1] for names in paths}) <= SHARED * len(paths)
    spaced = sum(bool(SPACED.search(cell)) for cell in cells)
    return deep > 0 and (share_roots or 2 * spaced >= deep)


def paths_as_rows(source: Path | Sheet, problems: Problems) -> Sheet:
    """Return the lines of a file as a table of paths, with ids if lines have them.

    Lines above the first path that begin with # are comments. A category without an id gets its
    path as id. A category with an id (``3 - Animals > Birds``) gets its path as alternative id.

    Args:
        source: A text file, or a sheet whose rows are its lines.
        problems: Receives lines that are not text.
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
    named = [(0, ["id", "path"]), *numbered] if has_ids else [(0, ["path"]), *rows]
    path = source.path if isinstance(source, Sheet) else source
    name = source.name if isinstance(source, Sheet) else ""
    return Sheet(path, name, named, has_header=True)
