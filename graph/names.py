"""Index from names to entities: a sorted array of hashes that can be memory-mapped."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "NameIndex",
    "NameKind",
    "ids_by_name",
    "language_rank",
    "normalise",
    "spellings",
    "unique_ids_by_name",
]


class NameKind(IntEnum):
    """Kind of a name of an entity; a lower kind takes precedence."""

    ID = 0
    LABEL = 1
    SYNONYM = 2
    ALTERNATIVE_ID = 3

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


def normalise(name: str) -> str:
    """Return a name with case, width, underscores and white space folded.

    >>> normalise("Has_Phenotype  ") == normalise("has phenotype")
    True
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(folded.replace("_", " ").split() or folded.split())


@lru_cache(maxsize=1 << 12)
def language_rank(language: str, wanted: str) -> int:
    """Return the rank of a language tag: 0 wanted, 1 no tag, 2 English, 3 any other language.

    A narrower tag matches a language: en-GB matches en, but en does not match en-GB (RFC 4647,
    section 3.3.1).

    >>> [language_rank(language, "de") for language in ("de", "de-AT", "", "en-GB", "fr")]
    [0, 0, 1, 2, 3]
    """
    tag = f"{language.lower()}-"
    return (
        0
        if tag.startswith(f"{wanted.lower()}-")
        else 1
        if not language
        else 2
        if tag.startswith("en-")
        else 3
    )


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def spellings(name: str) -> tuple[str, ...]:
    """Return the forms of a name in the index: normalised, and with camel case split.

    >>> spellings("LocalBusiness")
    ('localbusiness', 'local business')
    """
    return tuple(dict.fromkeys((normalise(name), normalise(_CAMEL.sub(" ", name)))))


def ids_by_name(names: Iterable[tuple[str, str]]) -> dict[str, str | None]:
    """Return the id of each name, or ``None`` for a name of several ids.

    Args:
        names: Pairs of name and id.

    >>> ids_by_name([("cat", "ex:1"), ("cat", "ex:1"), ("bank", "ex:2"), ("bank", "ex:3")])
    {'cat': 'ex:1', 'bank': None}
    """
    found: dict[str, str | None] = {}
    for name, identifier in names:
        found[name] = identifier if found.get(name, identifier) == identifier else None
    return found


def unique_ids_by_name(names: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the id of each name that belongs to one id only.

    Args:
        names: Pairs of name and id.

    >>> unique_ids_by_name([("cat", "ex:1"), ("cat", "ex:1"), ("bank", "ex:2"), ("bank", "ex:3")])
    {'cat': 'ex:1'}
    """
    found = ids_by_name(names)
    return {name: identifier for name, identifier in found.items() if identifier is not None}


def _hash(normalised: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(normalised.encode("utf-8", "replace"), digest_size=8).digest(), "little"
    )


@dataclass(frozen=True, eq=False)
class NameIndex:
    """Entity rows by the hashes of their normalised names.

    Attributes:
        hashes: Sorted hashes, ``uint64`` of shape (names,).
        rows: Entity row of each name, ``int32`` of shape (names,).
        kinds: :class:`NameKind` of each name, ``uint8`` of shape (names,).
    """

    hashes: NDArray[np.uint64]
    rows: NDArray[np.int32]
    kinds: NDArray[np.uint8]

    @classmethod
    def of(cls, names: Iterable[tuple[str, int, NameKind]]) -> NameIndex:
        """Build the index from (name, row, kind) tuples; empty names are skipped."""
        hashes: list[int] = []
        rows: list[int] = []
        kinds: list[int] = []
        for name, row, kind in names:
            for key in spellings(name):
                if key:
                    hashes.append(_hash(key))
                    rows.append(row)
                    kinds.append(int(kind))
        hash_array = np.array(hashes, dtype=np.uint64)
        row_array = np.array(rows, dtype=np.int32)
        kind_array = np.array(kinds, dtype=np.uint8)
        order = np.lexsort((row_array, kind_array, hash_array))
        return cls(hash_array[order], row_array[order], kind_array[order])

    def lookup(self, name: str) -> Iterator[tuple[int, NameKind]]:
        """Yield (row, kind) of each entity with the hash of a name, in order of kind.

        Hashes may collide, so callers must compare the names of each entity.
        """
        key = normalise(name)
        if not key:
            return
        wanted = np.uint64(_hash(key))
        start = int(np.searchsorted(self.hashes, wanted, side="left"))
        while start < len(self.hashes) and self.hashes[start] == wanted:
            yield int(self.rows[start]), NameKind(int(self.kinds[start]))
            start += 1

    def strongest(
        self, spelt: Sequence[str], names_of: Callable[[int, NameKind], Sequence[str]]
    ) -> tuple[list[int], NameKind] | None:
        """Return the rows that match a name best, ascending, and the kind of the matched name.

        Matches are compared by the kind of the matched name, then by spelling. An exact match of
        the first form is best, then exact matches of the next forms in order; matches that are
        equal only when normalised come last.

        Args:
            spelt: Forms of the name, such as a CURIE and its IRI.
            names_of: Returns the names of one kind that an entity row has.

        Returns:
            Rows and kind; ``None`` if no entity matches.
        """
        fits: dict[tuple[NameKind, int], set[int]] = {}
        for name in spelt:
            wanted = normalise(name)
            for row, kind in self.lookup(name):
                known = names_of(row, kind)
                if any(wanted in spellings(other) for other in known):
                    place = next((at for at, form in enumerate(spelt) if form in known), len(spelt))
                    fits.setdefault((kind, place), set()).add(row)
        if not fits:
            return None
        best = min(fits)
        return sorted(fits[best]), best[0]
