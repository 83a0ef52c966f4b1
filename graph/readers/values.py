"""What the cells of a table hold: numbers, dates or words."""

from __future__ import annotations

import re

__all__ = ["LETTER", "NUMBER", "is_word", "unwrapped"]

LETTER = re.compile(r"[^\W\d_]")

NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d*)(?:[.,]\d+)?")

DATE = re.compile(
    r"(?:^|(?<=[\W\d]))(?:(?:jan|febr?|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|mon|tues?|wed|thu(?:rs)?|fri|sat|sun)"
    r"(?:[a-z]*(?:ary|ch|il|ust|ber|day))?|[tz]|[ap]m|utc|gmt|st|nd|rd|th)(?=[\W\d]|$)",
    re.IGNORECASE,
)
"""Words of dates and times."""

DIGIT = re.compile(r"\d")


def is_word(part: str) -> bool:
    """Tell whether a value is neither a number nor a date.

    >>> [is_word(part) for part in ("12.5", "Jun 12 1998", "2013-07-20T00:00:00Z", "May", "Studio 54")]
    [False, False, False, True, True]
    """
    return bool(LETTER.search(DATE.sub("", part) if DIGIT.search(part) else part))


def unwrapped(cell: str, marks: tuple[str, ...]) -> str:
    """Return what stands between two marks, if a cell begins and ends with them.

    >>> unwrapped(' "Home > Sofas" ', ('""', "[]")), unwrapped('TV > 15"', ('""', "[]"))
    ('Home > Sofas', 'TV > 15"')
    """
    text = cell.strip()
    return text[1:-1] if len(text) > 1 and text[0] + text[-1] in marks else text
