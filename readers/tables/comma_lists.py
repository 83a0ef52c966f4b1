"""Columns whose cells list several values, parted by commas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from ontodex.readers.tables.values import are_short, unwrapped

__all__ = ["are_comma_lists", "are_listed_codes", "comma_parts"]

RECURRING = 1 / 2
"""Of what cells list, more than so much is found in other cells too: what an address or a name begins with is not."""

MOVING = 1 / 3
"""Of the values that recur, so many stand at several places: parts of addresses do not, countries being the last."""

LONGEST = 40
"""Letters of a value in the mean; clauses of sentences are longer."""

FEWEST = 3
"""Cells with commas that tell."""

TOLD = 0.9
"""So many of the values stand for themselves: their brackets are closed, or there is no space in them."""


def comma_parts(cell: str) -> list[str]:
    """Return what stands between the commas of a cell, which may be a list in brackets.

    >>> comma_parts("Drama, Comedy,"), comma_parts("['Drama', 'Comedy']")
    (['Drama', 'Comedy'], ['Drama', 'Comedy'])
    """
    inside = unwrapped(cell, ("[]", "{}"))
    around = "\"' " if inside != cell.strip() else " "
    return [part for one in inside.split(",") if (part := one.strip().strip(around))]


def are_comma_lists(cells: Collection[str]) -> bool:
    """Tell whether the different cells of a column list values parted by commas: in many ways the same ones.

    >>> are_comma_lists({"Drama, Comedy", "Comedy, Action", "Action, Drama, Crime", "Crime", "Comedy, Crime"})
    True
    >>> are_comma_lists({"Bonn, Germany", "Kiel, Germany", "Rome, Italy", "Pisa, Italy", "Italy"})
    False
    """
    if 2 * sum('":' in cell for cell in cells) > sum("," in cell for cell in cells):
        return False  # objects of JSON, written out
    lists = [parts for cell in {*cells} if (parts := comma_parts(cell))]
    several = [parts for parts in lists if len(parts) > 1]
    if len(several) < FEWEST:
        return False
    places = defaultdict[str, set[int]](set)
    cells_with = defaultdict[str, int](int)
    for parts in lists:
        for place, part in enumerate(parts):
            places[part].add(place)
        for part in {*parts}:
            cells_with[part] += 1
    listed = [part for parts in several for part in parts]
    recurring = {part for part in listed if cells_with[part] > 1}
    moving = sum(len(places[part]) > 1 for part in recurring)
    often = sum(part in recurring for part in listed) > RECURRING * len(listed)
    whole = sum(
        all(part.count(one) == part.count(other) for one, other in ("()", "[]", "{}"))
        for part in listed
    )
    if whole < TOLD * len(listed):
        return False  # "2-(4-methyl-1,3-thiazol)"
    return are_short(listed, LONGEST) and often and moving >= MOVING * len(recurring) > 0


def are_listed_codes(cells: Collection[str]) -> bool:
    """Tell whether the cells of a column list short names without spaces, parted by commas, of which half are codes.

    >>> are_listed_codes(["ACF, ASP, ACF64", "FWP007, S863-7", "p170, FLJ25179", "A2MP"])
    True
    >>> are_listed_codes(["Smith, John", "Lee, Ann", "Roe, Jane"]), are_listed_codes(["1,2-dichloroethane"] * 3)
    (False, False)
    """
    lists = [cell.split(", ") for cell in cells if ", " in cell]
    listed = [part.strip() for parts in lists for part in parts]
    tokens = sum(" " not in part and "," not in part for part in listed)
    codes = sum(any(one.isdigit() or one.isupper() for one in part[1:]) for part in listed)
    return len(lists) >= FEWEST and tokens >= TOLD * len(listed) and 2 * codes >= len(listed)
