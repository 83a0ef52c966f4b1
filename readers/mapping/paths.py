"""Recognising paths of categories in cells, and the separator of their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ontodex.graph.names import spellings
from ontodex.readers.tables.paths import ARROW, ARROWS, names_along
from ontodex.readers.tables.values import LETTER, NOTHING

__all__ = ["are_paths", "is_path_name", "path_separator"]

SPACED = re.compile(rf"\s{ARROWS}\s")

MARKS = ("/", "\\", "::", "|")
"""Separators of paths, besides arrows, in columns with the name of a path column."""

PATH_NAME = re.compile(r"(?:.+ )?(?:path|breadcrumbs?|category tree)")
"""A name of a column of paths."""

SHARED = 2 / 3
"""Maximal share of distinct roots among paths with arrows."""

LOOKED_AT = 1000
"""Number of first cells that are examined for separators."""


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
