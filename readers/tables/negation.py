"""Columns of tables that say that something does not hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Negation", "left_out", "negation_in"]

QUALIFIERS = ("predicate modifier", "qualifier", "qualifiers")
"""Names of columns in which NOT says so: of SSSOM, and of annotations to ontologies (GAF, HPO)."""

FLAGS = ("negated", "is negated", "negation")
"""Names of columns of yes and no (KGX)."""

YES = frozenset(("true", "t", "yes", "y", "1", "not"))


class Negation(NamedTuple):
    """A column that says which rows deny what they state."""

    at: int
    is_flag: bool

    def denies(self, cells: Sequence[str]) -> bool:
        """Tell whether a row says that it does not hold.

        >>> Negation(0, is_flag=False).denies(["NOT|part_of"]), Negation(0, is_flag=True).denies(["False"])
        (True, False)
        """
        said = {part.strip() for part in re.split(r"[|;,]", cells[self.at].casefold())}
        return bool(said & YES) if self.is_flag else "not" in said


def negation_in(names: Sequence[tuple[str, ...]]) -> Negation | None:
    """Return the column, by the spellings of each name in a header.

    >>> negation_in([("subject",), ("negated",)]), negation_in([("subject",)])
    (Negation(at=1, is_flag=True), None)
    """
    for known, is_flag in ((QUALIFIERS, False), (FLAGS, True)):
        for at, forms in enumerate(names):
            if {*forms}.intersection(known):
                return Negation(at, is_flag)
    return None


def left_out(count: int) -> str:
    """Return what is said of lines that were left out."""
    return f"left out {count} line(s) that say what does not hold"
