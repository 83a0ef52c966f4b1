"""Tables with a column for each level of a hierarchy: ``Level 1``, ``Level 2``, ``Level 3``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ontodex.graph.names import normalise

__all__ = ["level_columns", "names_by_level"]

LEVEL = re.compile(r"(?:(.+) )?(level|tier|lvl|l) ?(\d)(?: (category|name|label|title|term))?")
"""A name of the column of a level, perhaps with what it is one of ("product level 1", "L1 category")."""

OF = "category"
"""What levels are of, where their names do not say it."""


def level_columns(names: Sequence[str]) -> tuple[tuple[int, ...], str]:
    """Return the columns of levels in a header, the broadest first, and what they are of; at least two, or none.

    >>> level_columns(["sku", "Product_Level_1", "Product_Level_2"]), level_columns(["Tier 2", "Tier 1"])
    (((1, 2), 'product'), ((1, 0), 'category'))
    >>> level_columns(["id", "level 1"]), level_columns(["L1", "binds", "L2"])
    (((), ''), ((), ''))
    """
    found: dict[tuple[str, ...], dict[int, int]] = {}
    for at, name in enumerate(names):
        if match := LEVEL.fullmatch(normalise(str(name))):
            of, word, number, kind = match.groups("")
            found.setdefault((of, word, kind), {}).setdefault(int(number), at)
    for (of, word, _), places in found.items():
        numbers = sorted(places)
        levels = tuple(places[number] for number in numbers)
        stand_together = levels == tuple(range(levels[0], levels[0] + len(levels)))
        is_row = numbers[0] < 2 and numbers[-1] - numbers[0] == len(numbers) - 1 > 0
        if is_row and (word != "l" or stand_together):
            return levels, of or OF
    return (), ""


def names_by_level(
    rows: Iterable[Sequence[str]], levels: Sequence[int]
) -> Iterator[tuple[str, ...]]:
    """Yield the names of each row's levels, the broadest first.

    What is empty before the first name of a row is as in the row above; a name that is repeated at the next level, to fill
    it, counts once.

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
