"""The differences between two JSON documents of answers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Difference", "differences"]

WORDING = frozenset({"method", "hint", "message", "by", "stderr"})
"""Keys of prose, which may be reworded without a change of the answers."""

DECIMAL = re.compile(r"-?\d+\.\d{4,}(?:[eE][-+]?\d+)?")


class Difference(NamedTuple):
    """One difference.

    Attributes:
        where: Path of keys and list positions.
        before: Value before; ``None`` if there was none.
        after: Value after; ``None`` if there is none.
    """

    where: tuple[str, ...]
    before: Any
    after: Any

    @property
    def is_wording(self) -> bool:
        """Whether it is a difference of prose only."""
        return (
            self.where[-1] in WORDING
            and isinstance(self.before, str)
            and isinstance(self.after, str)
        )


def differences(
    before: Any, after: Any, tolerance: float, where: tuple[str, ...] = ()
) -> Iterator[Difference]:
    """Yield all differences; floating-point numbers may differ by ``tolerance``."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from differences(before.get(key), after.get(key), tolerance, (*where, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from of_lists(before, after, tolerance, where)
    elif not is_same(before, after, tolerance):
        yield Difference(where, before, after)


def of_lists(
    before: list[Any], after: list[Any], tolerance: float, where: tuple[str, ...]
) -> Iterator[Difference]:
    """Yield the differences of lists: for ranked answers the ids, for texts those in one only."""
    ids = [[key_of(one) for one in part] for part in (before, after)]
    if ids[0] != ids[1] and None not in (*ids[0], *ids[1]):
        yield Difference((*where, "ids and order"), *ids)
    elif all(isinstance(one, str) for one in (*before, *after)) and len(before) != len(after):
        only = [
            [one for one in part if one not in other]
            for part, other in ((before, after), (after, before))
        ]
        yield Difference(where, *only)
    else:
        for number in range(max(len(before), len(after))):
            one, other = (part[number] if number < len(part) else None for part in (before, after))
            yield from differences(one, other, tolerance, (*where, str(number)))


def key_of(part: Any) -> Any:
    """Return the identifiers of a ranked answer; ``None`` for other values."""
    if not isinstance(part, dict):
        return None
    if "parent" in part:
        return key_of(part["parent"])
    names = [("id",), ("subject_id", "object_id"), ("head", "relation", "tail")]
    found = next(
        (keys for keys in names if all(isinstance(part.get(key), str) for key in keys)), None
    )
    return " ".join(part[key] for key in found) if found else None


def is_same(before: Any, after: Any, tolerance: float) -> bool:
    """Return whether values are equal; numbers within texts may differ in the sixth place."""
    if isinstance(before, float) and isinstance(after, float):
        return (
            before == after
            or abs(before - after) <= tolerance
            or (math.isnan(before) and math.isnan(after))
        )
    if isinstance(before, str) and isinstance(after, str) and before != after:
        if DECIMAL.sub("", before) != DECIMAL.sub("", after):
            return False
        pairs = zip(DECIMAL.findall(before), DECIMAL.findall(after), strict=True)
        return all(
            abs(float(one) - float(other)) <= 1.01 * max(tolerance, 1e-6) for one, other in pairs
        )
    return type(before) is type(after) and before == after
