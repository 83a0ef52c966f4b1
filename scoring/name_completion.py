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

SMALL_WORDS = (
    "a",
    "an",
    "and",
    "at",
    "by",
    "de",
    "for",
    "in",
    "of",
    "on",
    "or",
    "the",
    "to",
    "with",
)
"""Words whose initials an abbreviation may leave out."""

LONGEST_SMALL = max(map(len, SMALL_WORDS))

WORD_BYTES = np.array(
    [byte >= 128 or (chr(byte).isalnum() and byte != ord("_")) for byte in range(256)]
)
"""Whether a byte of UTF-8 is a part of a word."""


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

    def of_initials(self, letters: str, among: NDArray[np.int64], k: int) -> list[tuple[int, int]]:
        """Return the best of some names whose words start with some letters.

        Each word starts with the next of the letters; of "of", "the" and similar words, either all
        count or none.

        Args:
            letters: ASCII letters or digits.
            among: Numbers of names.
            k: Largest number of names, one for each entity.

        Returns:
            Row of the entity and number of the name; labels before synonyms, short ones first.

        Example:
            >>> from ontodex.graph import GraphBuilder
            >>> builder = GraphBuilder("units")
            >>> _ = builder.entity("ex:1", "Coronary care unit")
            >>> _ = builder.entity("ex:2", "Court", ["Court of the custody of the unfree"])
            >>> NameCompletion.of(builder.build()).of_initials("CCU", np.arange(3), 5)
            [(0, 0), (1, 2)]
        """
        initials = np.frombuffer(letters.casefold().encode(), dtype=np.uint8)
        numbers = among[_with_initials(self.data, self.offsets, among, initials)]
        rows = self.owners[numbers]
        is_synonym = self.owners[np.maximum(numbers - 1, 0)] == rows
        is_synonym[numbers == 0] = False
        best = np.lexsort((self.offsets[numbers + 1] - self.offsets[numbers], is_synonym))
        of_entities: dict[int, int] = {}
        for row, number in zip(rows[best].tolist(), numbers[best].tolist(), strict=True):
            of_entities.setdefault(row, number)
        return list(itertools.islice(of_entities.items(), k))

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


def _with_initials(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    numbers: NDArray[np.int64],
    initials: NDArray[np.uint8],
) -> NDArray[np.bool_]:
    """Return whether each name has some initials, with or without those of small words.

    Args:
        data: See :class:`NameCompletion`.
        offsets: See :class:`NameCompletion`.
        numbers: Numbers of the names.
        initials: The initials, of shape (words,).
    """
    begins, sizes = offsets[numbers], offsets[numbers + 1] - offsets[numbers]  # with the zero
    ends = np.cumsum(sizes)
    letters = data[np.arange(sizes.sum()) + np.repeat(begins - ends + sizes, sizes)]
    inside = WORD_BYTES[letters]
    starts = np.flatnonzero(inside[1:] > inside[:-1]) + 1
    starts = np.concatenate([np.flatnonzero(inside[:1]), starts])
    owners = np.searchsorted(ends, starts, side="right")
    counts = np.bincount(owners, minlength=len(numbers))
    found = _same(letters[starts], counts, initials)
    more = (counts > len(initials))[owners]
    starts, owners = starts[more], owners[more]
    large = ~_are_small(letters, starts)
    counts = np.bincount(owners[large], minlength=len(numbers))
    return found | _same(letters[starts[large]], counts, initials)


def _same(
    letters: NDArray[np.uint8], counts: NDArray[np.int64], initials: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Return whether the letters of each name are the initials.

    Args:
        letters: The letters, name after name.
        counts: Number of letters of each name.
        initials: The initials.
    """
    fits = counts == len(initials)
    own = letters[np.repeat(fits, counts)].reshape(-1, len(initials))
    found: NDArray[np.bool_] = fits.copy()
    found[fits] = (own == initials).all(axis=1)
    return found


def _are_small(letters: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether the words that start at some places are small words."""
    padded = np.concatenate([letters, np.zeros(LONGEST_SMALL + 1, dtype=np.uint8)])
    small = np.zeros(len(starts), dtype=bool)
    first = padded[starts]
    for word in map(str.encode, SMALL_WORDS):
        at = np.flatnonzero(first == word[0])
        for place, letter in enumerate(word[1:], start=1):
            at = at[padded[starts[at] + place] == letter]
        small[at[~WORD_BYTES[padded[starts[at] + len(word)]]]] = True
    return small
