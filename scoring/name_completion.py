"""Completion of names by a prefix of any of their words, from a sorted array of words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import KnowledgeGraph
from ontodex.scoring.name_similarity import plain

__all__ = ["NameCompletion"]

PARTS = ("data", "offsets", "owners", "places", "ranks")
"""Names of the stored arrays."""

WORD = re.compile(r"[^\W_]+")

BLOCK = 1024
"""Number of words in a block; the best rank of each block is kept in memory."""

SYNONYM, INSIDE = 1 << 15, 1 << 14
"""Ranks of synonyms, and of words inside a name, are larger by this; the rest is the length."""

LONGEST = INSIDE - 1
"""Largest length of a name that ranks tell apart."""

AT_ONCE = 16
"""Smallest number of words that are looked up at once, as several may belong to one entity."""


@dataclass(frozen=True, eq=False)
class NameCompletion:
    """Finds names by a prefix of any of their words, in lower case and without accents.

    Names are ranked: labels before synonyms, names that begin with the prefix before those with a
    word inside that does, shorter ones before longer ones, then by the alphabet.

    Attributes:
        data: The names in lower case and without accents, in UTF-8, each after a zero byte,
            ``uint8``.
        offsets: Start of each name in ``data``, and the end of the last name + 1, ``int64`` of
            shape (names + 1,).
        owners: Entity of each name, ascending, ``int32`` of shape (names,); for each entity the
            label comes first.
        places: Start in ``data`` of each word of each name, in the order of what follows there,
            ``int64`` of shape (words,).
        ranks: Rank of each word, of shape (words,), ``uint16``: smaller is better.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("signs")
        >>> _ = builder.entity("ex:1", "Abnormal heart rate", ["heartbeat"])
        >>> _ = builder.entity("ex:2", "Heart murmur")
        >>> names = NameCompletion.of(builder.build())
        >>> names.find("hear", 10)
        [(1, 2), (0, 0)]
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    owners: NDArray[np.int32]
    places: NDArray[np.int64]
    ranks: NDArray[np.uint16]

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> NameCompletion:
        """Sort the words of the labels and synonyms of a graph."""
        names: list[str] = []
        owners: list[int] = []
        for row, (label, synonyms) in enumerate(zip(graph.labels, graph.synonyms, strict=True)):
            names += (_folded(name) for name in (label, *synonyms))
            owners += [row] * (1 + len(synonyms))
        encoded = [name.encode("utf-8", "replace") for name in names]
        data = b"\0" + b"\0".join([*encoded, b""])
        offsets = np.cumsum([1, *(len(name) + 1 for name in encoded)], dtype=np.int64)
        words: list[int] = []
        for start, name in zip(offsets.tolist(), names, strict=False):
            words += dict.fromkeys((start, *(start + place for place in _words(name))))
        places = np.array(
            sorted(words, key=lambda place: data[place : data.index(b"\0", place)]), dtype=np.int64
        )
        owner_rows = np.array(owners, dtype=np.int32)
        numbers = np.searchsorted(offsets, places, side="right") - 1
        ranks = np.minimum(np.diff(offsets)[numbers] - 1, LONGEST)
        ranks += INSIDE * (places != offsets[numbers])
        ranks += SYNONYM * (np.diff(owner_rows, prepend=-1)[numbers] == 0)
        return cls(
            np.frombuffer(data, dtype=np.uint8),
            offsets,
            owner_rows,
            places,
            ranks.astype(np.uint16),
        )

    def find(self, prefix: str, k: int) -> list[tuple[int, int]]:
        """Return the best names with a word that starts with a prefix, one for each entity.

        Args:
            prefix: Letters as they are typed, of one or several words; a space at the end ends the
                word.
            k: Largest number of names.

        Returns:
            Row of the entity and number of the name, best first.
        """
        typed = f"{_folded(prefix)}{' ' * prefix[-1:].isspace()}".encode("utf-8", "replace")
        first, last = self._bound(typed, False), self._bound(typed, True)
        most = max(AT_ONCE, 2 * k)
        while True:
            words = self._best(first, last, most)
            numbers = np.searchsorted(self.offsets, self.places[words], side="right") - 1
            found: dict[int, int] = {}
            for row, number in zip(self.owners[numbers].tolist(), numbers.tolist(), strict=True):
                found.setdefault(row, number)
            if len(found) >= k or len(words) == last - first:
                return list(itertools.islice(found.items(), k))
            most *= 4

    def _bound(self, typed: bytes, after: bool) -> int:
        """Return the number of words before a prefix, or before what comes after its words."""
        low, high = 0, len(self.places)
        while low < high:
            middle = (low + high) // 2
            place = int(self.places[middle])
            word = self.data[place : place + len(typed)].tobytes()
            end = word.find(b"\0")
            word = word if end < 0 else word[:end]
            if word < typed or (after and word == typed):
                low = middle + 1
            else:
                high = middle
        return low

    def _best(self, first: int, last: int, most: int) -> NDArray[np.int64]:
        """Return the words with the smallest ranks among consecutive ones, ties in their order.

        The ``most`` best words are in the ``most`` blocks with the best ranks, and in the blocks at
        either end, which are only in part among the words.
        """
        start, end = -(-first // BLOCK), last // BLOCK
        if end - start <= most:
            words = np.arange(first, last)
        else:
            blocks = start + np.argsort(self._best_of_blocks[start:end], kind="stable")[:most]
            inner = (np.sort(blocks)[:, None] * BLOCK + np.arange(BLOCK)).ravel()
            words = np.concatenate(
                [np.arange(first, start * BLOCK), inner, np.arange(end * BLOCK, last)]
            )
        return words[np.argsort(self.ranks[words], kind="stable")[:most]]

    @cached_property
    def _best_of_blocks(self) -> NDArray[np.uint16]:
        return np.minimum.reduceat(self.ranks, np.arange(0, len(self.ranks), BLOCK))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store, by name."""
        return {f"completion/{part}": getattr(self, part) for part in PARTS}

    @classmethod
    def read(cls, arrays: Callable[[str], NDArray[Any]]) -> NameCompletion:
        """Read stored arrays.

        Args:
            arrays: Returns a stored array by its name; see :meth:`arrays`.
        """
        return cls(*(arrays(f"completion/{part}") for part in PARTS))


def _folded(name: str) -> str:
    return plain(name).replace("\0", "")


def _words(name: str) -> Iterator[int]:
    """Yield the start of each word of a name, in bytes of UTF-8."""
    for found in WORD.finditer(name):
        start = found.start()
        yield start if name.isascii() else len(name[:start].encode("utf-8", "replace"))
