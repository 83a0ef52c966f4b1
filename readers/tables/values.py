"""Values in the cells of a table: numbers, dates or words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

__all__ = [
    "LETTER",
    "LONGEST",
    "NOTHING",
    "NUMBER",
    "are_short",
    "are_yes_and_no",
    "cell_parts",
    "is_word",
    "one_line",
    "plain",
    "unwrapped",
    "whole_name",
]

SEPARATORS = "|;\n"
"""Characters that separate the values in a cell."""

NOTHING = frozenset(("na", "n/a", "none", "null", "nan", "nil", "\\n", "-", "--", "–", "—", "?"))
"""Cells in columns of names or links that mean "none"."""

LETTER = re.compile(r"[^\W\d_]")

NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d*)(?:[.,]\d+)?")

DATE = re.compile(
    r"(?:^|(?<=[\W\d]))(?:(?:jan|febr?|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|"
    r"mon|tues?|wed|thu(?:rs)?|fri|sat|sun)"
    r"(?:[a-z]*(?:ary|ch|il|ust|ber|day))?|[tz]|[ap]m|utc|gmt|st|nd|rd|th)(?=[\W\d]|$)",
    re.IGNORECASE,
)
"""Words of dates and times."""

POWER = re.compile(r"[-+]?\d+(?:\.\d+[eE][-+]?|[eE][-+])\d+")
"""A number with a power of ten, but not ``1E50``, which may be a code."""

DIGIT = re.compile(r"\d")

YES_AND_NO = frozenset(("true", "false", "yes", "no", "y", "n"))
"""Cells that mean yes or no."""

LONGEST = 60
"""Maximal mean length of names, in letters; longer texts are sentences."""


def are_yes_and_no(cells: Iterable[str]) -> bool:
    """Return whether all cells mean yes or no.

    >>> are_yes_and_no(["True", "no"]), are_yes_and_no(["yes", "maybe"])
    (True, False)
    """
    return YES_AND_NO.issuperset(map(str.casefold, cells))


def is_word(part: str) -> bool:
    """Return whether a value is neither a number nor a date.

    >>> [is_word(part) for part in ("12.5", "1.4e-11", "Jun 12 1998", "2013-07-20T00:00:00Z")]
    [False, False, False, False]
    >>> [is_word(part) for part in ("May", "Studio 54", "1E50")]
    [True, True, True]
    """
    if POWER.fullmatch(part):
        return False
    return bool(LETTER.search(DATE.sub("", part) if DIGIT.search(part) else part))


def unwrapped(cell: str, marks: tuple[str, ...]) -> str:
    """Return a cell without the pair of marks around it; other cells are stripped only.

    >>> unwrapped(' "Home > Sofas" ', ('""', "[]")), unwrapped('TV > 15"', ('""', "[]"))
    ('Home > Sofas', 'TV > 15"')
    """
    text = cell.strip()
    return text[1:-1] if len(text) > 1 and text[0] + text[-1] in marks else text


def plain(value: Any) -> str:
    """Return a text or a number as text; an empty text for lists and objects.

    >>> plain(None), plain(True), plain(2.0), plain(" dog"), plain([2])
    ('', 'true', '2', ' dog', '')
    """
    if value is None or isinstance(value, dict | list):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def are_short(texts: Collection[str], longest: int = LONGEST) -> bool:
    """Return whether the mean length of texts is at most ``longest`` letters.

    >>> are_short(["dog", "cat"]), are_short(["dog", "cat"], longest=2)
    (True, False)
    """
    return sum(map(len, texts)) <= longest * len(texts)


def cell_parts(cell: str, separators: str = SEPARATORS) -> list[str]:
    """Return the values in a cell, without empty values.

    If the separator is a comma, brackets around the list and quotes around its values are removed.

    >>> cell_parts("dog; cat|"), cell_parts("['Drama', 'Comedy']", ",")
    (['dog', 'cat'], ['Drama', 'Comedy'])
    """
    if separators == ",":
        inside = unwrapped(cell, ("[]", "{}"))
        around, cell = "\"' " if inside != cell.strip() else " ", inside
        return [part for one in cell.split(",") if (part := one.strip().strip(around))]
    return [part for one in re.split(f"[{re.escape(separators)}]", cell) if (part := one.strip())]


def whole_name(parts: Iterable[str]) -> str:
    """Join first and last name to a label; either may be empty.

    >>> whole_name(["Ann ", "Lee"]), whole_name(["", "Lee"])
    ('Ann Lee', 'Lee')
    """
    return " ".join(" ".join(parts).split())


def one_line(cell: str) -> str:
    """Return a cell on one line, without white space around it."""
    return cell.strip().replace("\n", " ")
