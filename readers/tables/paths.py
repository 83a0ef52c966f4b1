"""Paths of categories, broadest category first: ``Electronics > Video > Televisions``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.tables.values import NOTHING, unwrapped

__all__ = [
    "ARROW",
    "ARROWS",
    "DEEPEST",
    "Category",
    "add_category",
    "categories_in",
    "names_along",
    "names_by_level",
    "path_of",
]

Category = tuple[str, ...]
"""The names along a path; the last name is the name of the category itself."""

ARROW = ">"
"""The separator that stands for all arrows (``>``, ``->``, ``»``, ``→``)."""

ARROWS = r"(?:[-=]?>+|[»›→])"

DEEPEST = 100
"""Maximal number of names along a path; the rest of a longer path is part of the last name."""


def path_of(category: Category) -> str:
    """Return the path of a category as text; it is the id of a category without another id.

    >>> path_of(("Electronics", "Video"))
    'Electronics > Video'
    """
    return " > ".join(category)


def add_category(category: Category, builder: GraphBuilder) -> str:
    """Add a category and its ancestors, unless its path is an id already; return its path."""
    path = path_of(category)
    if path not in builder and path not in builder.aliases:
        builder.entity(path, label=category[-1])
        if category[:-1]:
            builder.triple(path, "is_a", add_category(category[:-1], builder))
    return path


def names_along(cell: str, separator: str) -> Category:
    """Return the names along a path, which may be the only item of a list (``["Home > Sofas"]``).

    >>> names_along("['Home >> Sofas']", ">"), names_along("Home/Sofas", "/")
    (('Home', 'Sofas'), ('Home', 'Sofas'))
    """
    path = unwrapped(unwrapped(cell, ("[]",)), ('""', "''"))
    pattern = ARROWS if separator == ARROW else re.escape(separator)
    names = re.split(pattern, path, maxsplit=DEEPEST - 1)
    return tuple(name for part in names if (name := " ".join(part.split())))


@lru_cache(maxsize=1 << 14)
def categories_in(cell: str, separator: str) -> tuple[Category, ...]:
    """Return the categories in a cell; bars and new lines separate several paths.

    >>> categories_in("Home > Beds|Home > Sofas", ARROW), categories_in("n/a", ARROW)
    ((('Home', 'Beds'), ('Home', 'Sofas')), ())
    """
    parts = [cell] if separator == "|" else re.split(r"[|\n]", cell)
    filled = (part for part in parts if part.strip().casefold() not in NOTHING)
    return tuple(names for part in filled if (names := names_along(part, separator)))


def names_by_level(
    rows: Iterable[Sequence[str]], levels: Sequence[int]
) -> Iterator[tuple[str, ...]]:
    """Yield, for each row, the names in its columns of levels, broadest level first.

    Empty cells before the first name of a row have the value of the row above. A name that is
    repeated at the next level is yielded once.

    >>> list(names_by_level([["Video", ""], ["", "TV"], ["Audio", "Audio"]], [0, 1]))
    [('Video',), ('Video', 'TV'), ('Audio',)]
    """
    above: tuple[str, ...] = ()
    for cells in rows:
        names = [" ".join(cells[at].split()) for at in levels]
        first = next((at for at, name in enumerate(names) if name), len(names))
        if first < len(names):
            above = (*above[:first], *(name for name in names if name))
            above = tuple(name for at, name in enumerate(above) if not at or name != above[at - 1])
        yield above if first < len(names) else ()
