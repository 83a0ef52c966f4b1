"""Recognising paths of categories in cells, and the separator of their names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

from ontodex.graph.names import spellings
from ontodex.readers.tables.paths import ARROW, ARROWS, Category, names_along
from ontodex.readers.tables.values import LETTER, NOTHING

__all__ = ["are_paths", "is_path_name", "path_separator"]

SPACED = re.compile(rf"\s{ARROWS}\s")
SEPARATORS = {
    ARROW: re.compile(ARROWS),
    **{mark: re.compile(re.escape(mark)) for mark in ("/", "\\", "::", "|")},
}
"""Separators of paths: arrows, and marks that are accepted only under further conditions."""

PATH_NAME = re.compile(r"(?:.+ )?(?:path|breadcrumbs?|category tree)")
"""A name of a column of paths."""

SHARED = 2 / 3
"""Maximal share of distinct roots, or of distinct parents, among paths."""

FEWEST, NESTED = 3, 0.9
"""For paths with bars: minimal number, and share, of recurring names with the same parents."""

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
    return may_be and bool(path_separator([",".join(row) for row in rows]))


def path_separator(cells: Collection[str], name: str = "") -> str:
    """Return the separator of the paths in a column; empty if most cells are not paths.

    Slashes, backslashes and double colons are accepted in three cases: the column has the name of a
    path column; the beginnings of paths are cells too; or most paths have three or more names, and
    paths share their roots and parents. Bars may also separate the values of a list. They are
    accepted if the column has the name of a path column, or if names always have the same parents.

    >>> path_separator(["Home > Sofas", "Home > Beds"]), path_separator(["AC/DC", "Sofas"])
    ('>', '')
    >>> path_separator(["Home/Sofas", "Home"]), path_separator(["Home/Sofas"], "category_path")
    ('/', '/')
    """
    filled = [cell for cell in cells if cell.strip().casefold() not in NOTHING | {""}]
    first, is_named = filled[:LOOKED_AT], is_path_name(name)
    words = sum("<" not in cell and bool(LETTER.search(cell)) for cell in first)
    if 2 * words <= len(first):
        return ""
    counts = {
        mark: sum(bool(pattern.search(cell)) for cell in first)
        for mark, pattern in SEPARATORS.items()
    }
    least = min(len(first) / 2, max(counts.values())) if is_named else len(first) / 2
    marks = (mark for mark, count in counts.items() if count >= max(1, least))
    return next((mark for mark in marks if _are_parted(filled, mark, is_named=is_named)), "")


def _are_parted(cells: Sequence[str], mark: str, *, is_named: bool) -> bool:
    """Tell whether most cells are paths whose names are separated by a mark."""
    paths = [names_along(cell, mark) for cell in cells]
    deep = [names for names in paths if len(names) > 1]
    share_roots = len({names[:1] for names in paths}) <= SHARED * len(paths)
    if not deep or (2 * len(deep) < len(paths) and not is_named):
        return False
    if mark == ARROW:
        return share_roots or 2 * sum(bool(SPACED.search(cell)) for cell in cells) >= len(deep)
    if any("://" in cell for cell in cells):
        return False
    if mark == "|" and not is_named:
        return share_roots and _are_nested({*paths})
    share_parents = len({names[:-1] for names in paths}) <= SHARED * len(paths)
    if is_named or (
        share_roots and share_parents and 2 * sum(len(names) > 2 for names in paths) > len(paths)
    ):
        return True
    parts = {
        *paths,
        *(names_along(part, mark) for cell in cells for part in re.split(r"[|;,\n]", cell)),
    }
    deep, roots = [names for names in parts if len(names) > 1], {names[:1] for names in paths}
    are_lists = 2 * sum(names[-1:] in roots for names in deep) > len(deep)
    return not are_lists and 2 * sum(names[:-1] in parts for names in deep) >= len(deep)


def _are_nested(paths: Collection[Category]) -> bool:
    """Return whether names that recur in different paths have the same parents in all of them."""
    above: dict[str, list[Category]] = defaultdict(list)
    for names in paths:
        for depth, name in enumerate(names[1:], start=1):
            above[name].append(names[:depth])
    recurring = [found for found in above.values() if len(found) > 1]
    nested = sum(len({*found}) == 1 for found in recurring)
    return nested >= max(FEWEST, NESTED * len(recurring))
