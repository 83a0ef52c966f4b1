"""Codes that tell what they are below by what they begin with: ``11``, ``111``, ``1111``, or ``A00`` and ``A00.1``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import pairwise

from ontodex.readers.tables.values import share_there

__all__ = ["parents_by_code"]

TOLD, TOP = 0.9, 2
"""Codes tell it if so many of those that have several parts, or are longer than those at the top, which may be of so many
lengths, begin with another one."""

FEWEST = 5
"""Links that tell."""

LONGEST = 20
"""Letters of a code, unless it has parts as short as those of a code."""

OF_PARTS = re.compile(r"\w{1,5}(?:[.\-/]\w{1,5})+")

DENSE = 4
"""Numbers are codes if at most one of so many is there: of those in a row most begin with another one by chance."""

MARKS = re.compile(r"[.\-/_ ]")
"""What parts a code."""


def parents_by_code(codes: Collection[str]) -> dict[str, str]:
    """Return what each code is directly below, by its parts or else by its letters; nothing where few tell it.

    Numbers in a row tell nothing, though 12 begins with 1.

    >>> parents_by_code(["A", "01", "01.1", "01.11", "01.12", "01.2", "01.21", "02", "02.1"])["01.11"]
    '01.1'
    >>> parents_by_code(["1", *(f"1.{number}" for number in range(1, 11)), "1.10.1"])["1.10"]
    '1'
    >>> parents_by_code([f"E{number}" for number in range(1, 200)])
    {}
    """
    known = {code for code in codes if len(code) <= LONGEST or OF_PARTS.fullmatch(code)}
    if 2 * len(known) <= len(codes) or _are_counted(known):
        return {}
    parted = {code: parts for code in sorted(known) if all(parts := _last_part(code))}
    by_part = {code: above for code, (above, _) in parted.items() if above in known}
    if len(by_part) >= max(FEWEST, TOLD * len(parted), TOLD / 2 * len(known)) and _are_numbered(
        parted.values()
    ):
        return by_part
    by_letter = {
        code: above for code in sorted(known) if (above := _longest_beginning(code, known))
    }
    top = sorted({len(code) for code in known})[:TOP]
    told = any(len(by_letter) >= TOLD * sum(len(code) > length for code in known) for length in top)
    told = told and _are_levels({code for code in known if code.isdigit()})
    return by_letter if told and len(by_letter) >= max(FEWEST, len(known) / 2) else {}


def _last_part(code: str) -> tuple[str, str]:
    """Return what is before the last part of a code, and that part.

    >>> _last_part("A01.0"), _last_part("A01")
    (('A01', '0'), ('', 'A01'))
    """
    start = max((mark.end() for mark in MARKS.finditer(code)), default=0)
    return code[: max(start - 1, 0)], code[start:]


def _are_numbered(parted: Iterable[tuple[str, str]]) -> bool:
    """Tell whether last parts are words, or count what is below one code, so that 10 is not below 1."""
    below: dict[str, set[str]] = {}
    for above, part in parted:
        below.setdefault(above, set()).add(part)
    deep = [parts for parts in below.values() if any(len(part) > 1 for part in parts)]
    numbered = [
        parts
        for parts in deep
        if parts <= {*map(str, range(len(parts) + 1))} or "".join(parts).isalpha()
    ]
    return 2 * len(numbered) >= len(deep)


def _are_levels(numbers: Collection[str]) -> bool:
    """Tell whether numbers begin with those of the next shorter length, and not by chance, as where most of these are there.

    >>> _are_levels({"1", "11", "12", "111", "121"}), _are_levels({*map(str, range(2, 40)), *map(str, range(100, 400, 7))})
    (True, False)
    """
    lengths = sorted({*map(len, numbers)})
    begins, probabilities = 0, 0.0
    for shorter, length in pairwise(lengths):
        beginnings = [code[:shorter] for code in numbers if len(code) == length]
        first, last = min(beginnings), max(beginnings)
        there = sum(len(code) == shorter and first <= code <= last for code in numbers)
        begins += sum(code in numbers for code in beginnings)
        probabilities += len(beginnings) * share_there(there, int(first), int(last))
    longer = sum(len(code) > lengths[0] for code in numbers)
    is_padded = any(code.startswith("0") for code in numbers)
    return begins >= TOLD * longer and (is_padded or 2 * probabilities <= longer)


def _longest_beginning(code: str, known: Collection[str]) -> str:
    return next((code[:end] for end in range(len(code) - 1, 0, -1) if code[:end] in known), "")


def _are_counted(codes: Collection[str]) -> bool:
    """Tell whether codes are numbers in a row, perhaps behind letters that all begin with."""
    first, last = min(codes, default=""), max(codes, default="")
    same = next(
        (at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other),
        len(first),
    )
    letters = len(first[:same].rstrip("0123456789"))
    numbers = [
        int(code[letters:])
        for code in codes
        if code[letters:].isascii() and code[letters:].isdigit()
    ]
    return DENSE * len(numbers) > max(numbers, default=0) - min(numbers, default=0) and 2 * len(
        numbers
    ) > len(codes)
