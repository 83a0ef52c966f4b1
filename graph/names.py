"""From a name to the entities that bear it: a sorted table of hashes, small enough to map from a file."""

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
    "bearers",
    "borne_by_one",
    "language_rank",
    "normalise",
    "spellings",
]


class NameKind(IntEnum):
    """What a name is to the entity that bears it; the lower binds the stronger."""

    ID = 0
    LABEL = 1
    SYNONYM = 2
    ALTERNATIVE_ID = 3

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


def normalise(name: str) -> str:
    """Fold case, width, underscores and runs of white space, so that spellings of one name meet.

    >>> normalise("Has_Phenotype  ") == normalise("has phenotype")
    True
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(folded.replace("_", " ").split() or folded.split())


@lru_cache(maxsize=1 << 12)
def language_rank(language: str, wanted: str) -> int:
    """Rank the language of a text: the wanted one, none, English, any other; a narrower tag is of a language too.

    So en-GB is of en, but en is not of en-GB (RFC 4647, 3.3.1).

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
    """Return the forms under which a name is looked up: as it is, and with its camel case taken apart.

    >>> spellings("LocalBusiness")
    ('localbusiness', 'local business')
    """
    return tuple(dict.fromkeys((normalise(name), normalise(_CAMEL.sub(" ", name)))))


def bearers(names: Iterable[tuple[str, str]]) -> dict[str, str | None]:
    """Return who bears each name, or nothing where several do.

    >>> bearers([("cat", "ex:1"), ("cat", "ex:1"), ("bank", "ex:2"), ("bank", "ex:3")])
    {'cat': 'ex:1', 'bank': None}
    """
    found: dict[str, str | None] = {}
    for name, bearer in names:
        found[name] = bearer if found.get(name, bearer) == bearer else None
    return found


def borne_by_one(names: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return who bears each name, but for names that several bear.

    >>> borne_by_one([("cat", "ex:1"), ("cat", "ex:1"), ("bank", "ex:2"), ("bank", "ex:3")])
    {'cat': 'ex:1'}
    """
    return {name: bearer for name, bearer in bearers(names).items() if bearer is not None}


def _hash(normalised: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(normalised.encode("utf-8", "replace"), digest_size=8).digest(), "little"
    )


@dataclass(frozen=True, eq=False)
class NameIndex:
    """Rows by the hash of their normalised names.

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
        """Index (name, row, kind) triples; empty names are left out."""
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
        """Yield (row, kind) of every entity whose name hashes alike, strongest kind first."""
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
        """Return the rows that bear a name in the strongest way there is, ascending, and that way.

        Args:
            spelt: The name, as a CURIE and an IRI of one thing; an exact spelling goes before a folded one, and an
                earlier one before a later.
            names_of: From a row and a kind to its names of that kind.
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
