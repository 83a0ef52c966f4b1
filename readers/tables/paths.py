"""Categories that are named by paths, the broadest first: ``Electronics > Video > Televisions``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import spellings
from ontodex.readers.tables.entity_columns import NOTHING
from ontodex.readers.tables.values import LETTER, unwrapped

__all__ = ["ARROW", "DEEPEST", "Category", "PathColumn", "add_category", "is_path_name", "path_of"]

Category = tuple[str, ...]
"""The names along a path; the last is that of the category itself."""

ARROWS = r"(?:[-=]?>+|[»›→])"
ARROW, SPACED = re.compile(ARROWS), re.compile(rf"\s{ARROWS}\s")
"""What parts the names of a path; names have none."""

BAR = re.compile(r"\|")
MARKS = (*map(re.compile, ("/", r"\\", "::")), BAR)
"""What parts them too, where the other cells, or the name of the column, tell that these are paths."""

PATH_NAME = re.compile(r"(?:.+ )?(?:path|breadcrumbs?|category tree)")
"""A name of a column of paths."""

SHARED = 2 / 3
"""Paths that are parted by arrows without spaces begin with at most this many roots for each of them, and those that are
parted by slashes end within as few others."""

FEWEST, NESTED = 3, 0.9
"""Bars part the names of paths, and not lists, if so many names that recur in different ones, and such a share of these,
always stand after the same names."""

DEEPEST = 100
"""Names along a path; what else follows is part of the last one."""

LOOKED_AT = 1000
"""Cells that tell whether any mark parts most of a column."""


def path_of(category: Category) -> str:
    """Return the path of a category, which is its id where it has no other.

    >>> path_of(("Electronics", "Video"))
    'Electronics > Video'
    """
    return " > ".join(category)


def add_category(category: Category, builder: GraphBuilder) -> str:
    """Add a category, and what it is in, unless its path is an entity's or stands for one; return its path."""
    path = path_of(category)
    if path not in builder and path not in builder.aliases:
        builder.entity(path, label=category[-1])
        if category[:-1]:
            builder.triple(path, "is_a", add_category(category[:-1], builder))
    return path


def is_path_name(column: str) -> bool:
    """Tell whether the name of a column says that it holds paths.

    >>> is_path_name("category_path"), is_path_name("category")
    (True, False)
    """
    return any(map(PATH_NAME.fullmatch, spellings(column)))


class PathColumn:
    """A column whose cells are paths.

    Args:
        mark: What parts the names of a path.
        cells: All its cells.
    """

    def __init__(self, mark: re.Pattern[str], cells: Iterable[str]) -> None:
        self._mark = mark
        self._roots = {category[0] for cell in cells if (category := _names(cell, mark))}
        self._known: dict[str, list[Category]] = {}

    @classmethod
    def of(cls, cells: Collection[str], name: str = "") -> PathColumn | None:
        """Return the column of these cells and this name, or ``None`` if most are no paths.

        Paths that are parted by a slash, a backslash or two colons are known by the name of their column, or as what they
        begin with is there too, or by three names or more in most that begin alike and end within the same ones; by a
        bar, which parts lists too, by the name, or as names within them always stand below the same ones.

        >>> PathColumn.of(["Home > Sofas", "Home > Beds"]) is None, PathColumn.of(["AC/DC", "Sofas"]) is None
        (False, True)
        >>> PathColumn.of(["Home/Sofas", "Home"]) is None, PathColumn.of(["Home/Sofas"], "category_path") is None
        (False, False)
        """
        filled = [cell for cell in cells if cell.strip().casefold() not in NOTHING | {""}]
        first, is_named = filled[:LOOKED_AT], is_path_name(name)
        words = sum("<" not in cell and bool(LETTER.search(cell)) for cell in first)
        if 2 * words <= len(first):
            return None
        counts = {mark: sum(bool(mark.search(cell)) for cell in first) for mark in (ARROW, *MARKS)}
        least = min(len(first) / 2, max(counts.values())) if is_named else len(first) / 2
        marks = (mark for mark, count in counts.items() if count >= max(1, least))
        found = next((mark for mark in marks if _are_parted(filled, mark, is_named=is_named)), None)
        return cls(found, filled) if found else None

    def categories(self, cell: str) -> list[Category]:
        """Return the categories that a cell names: several only where each begins as some cell does.

        >>> column = PathColumn(ARROW, ["Food, Drinks > Tea", "Home > Beds, Home > Sofas"])
        >>> column.categories("Food, Drinks > Tea"), column.categories("Home > Beds, Home > Sofas")
        ([('Food, Drinks', 'Tea')], [('Home', 'Beds'), ('Home', 'Sofas')])
        """
        known = self._known.get(cell)
        if known is None:
            known = self._known[cell] = (
                [] if cell.strip().casefold() in NOTHING else self._read(cell)
            )
        return known

    def _read(self, cell: str) -> list[Category]:
        for marks in (";\n" if self._mark is BAR else "|;\n", ","):
            parts = re.split(f"[{marks}]", unwrapped(cell, ("[]",)))
            found = [names for part in parts if (names := _names(part, self._mark))]
            roots = [names[0] for names in found]
            deep = {names[0] for names in found if marks != "," or len(names) > 1}
            if len(found) > 1 and self._roots.issuperset(roots) and deep.issuperset(roots):
                return found
        whole = _names(cell, self._mark)
        return [whole] if whole else []


def _names(cell: str, mark: re.Pattern[str]) -> Category:
    """Return the names along a path, which may stand alone in a list (``["Home > Sofas"]``)."""
    path = unwrapped(unwrapped(cell, ("[]",)), ('""', "''"))
    return tuple(name for part in mark.split(path, DEEPEST - 1) if (name := " ".join(part.split())))


def _are_parted(cells: Sequence[str], mark: re.Pattern[str], *, is_named: bool) -> bool:
    """Tell whether a mark parts most cells into the names along a path."""
    paths = [_names(cell, mark) for cell in cells]
    deep = [names for names in paths if len(names) > 1]
    share_roots = len({names[:1] for names in paths}) <= SHARED * len(paths)
    if not deep or (2 * len(deep) < len(paths) and not is_named):
        return False
    if mark is ARROW:
        return share_roots or 2 * sum(bool(SPACED.search(cell)) for cell in cells) >= len(deep)
    if any("://" in cell for cell in cells):
        return False
    if mark is BAR and not is_named:
        return share_roots and _are_nested({*paths})
    share_parents = len({names[:-1] for names in paths}) <= SHARED * len(paths)
    if is_named or (
        share_roots and share_parents and 2 * sum(len(names) > 2 for names in paths) > len(paths)
    ):
        return True
    parts = {*paths, *(_names(part, mark) for cell in cells for part in re.split(r"[|;,\n]", cell))}
    deep, roots = [names for names in parts if len(names) > 1], {names[:1] for names in paths}
    are_lists = 2 * sum(names[-1:] in roots for names in deep) > len(deep)
    return not are_lists and 2 * sum(names[:-1] in parts for names in deep) >= len(deep)


def _are_nested(paths: Collection[Category]) -> bool:
    """Tell whether names that recur in different paths, but for the first ones, stand below the same ones in each."""
    above: dict[str, list[Category]] = defaultdict(list)
    for names in paths:
        for depth, name in enumerate(names[1:], start=1):
            above[name].append(names[:depth])
    recurring = [found for found in above.values() if len(found) > 1]
    nested = sum(len({*found}) == 1 for found in recurring)
    return nested >= max(FEWEST, NESTED * len(recurring))
