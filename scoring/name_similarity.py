"""Similarity of names by trigrams of letters, for misspelt, missing or reordered words."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import KnowledgeGraph
from ontodex.graph.names import normalise
from ontodex.graph.text import in_words
from ontodex.scoring.similarity import greatest

__all__ = ["NameSimilarity", "plain"]

Rows = NDArray[np.int64]
PARTS = ("keys", "starts", "names", "owners", "lengths")
"""Names of the stored arrays."""

MOST = 256
"""Maximal number of entities that a search returns."""

AT_ONCE = 1 << 16
"""Number of names whose trigrams are computed at once."""

WORD_STARTS = " -/(["
"""Characters before a word."""

SPACE, BITS = ord(" "), 21
"""Code point that separates names, and the number of bits of a code point."""


@dataclass(frozen=True, eq=False)
class NameSimilarity:
    """Finds entities by the trigrams of their labels and synonyms, each padded with spaces.

    The similarity of two names is the cosine of their vectors of trigrams. The weight of a trigram
    is its inverse document frequency, ln((1 + n) / (1 + m)) + 1 if m of n names have the trigram.
    Case, accents, and trigrams that no name of the graph has are ignored.

    Attributes:
        keys: Trigrams, ascending, ``int64`` of shape (trigrams,).
        starts: Start in ``names`` of the part for each trigram, and the end of the last part, of
            shape (trigrams + 1,).
        names: For each trigram in turn, the numbers of the names that have it, ``int32``.
        owners: Entity of each name, ascending, of shape (names,); every entity has a name.
        lengths: Length of each name's vector, ``float32`` of shape (names,); 1 for a name without
            trigrams.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("pets")
        >>> for name in ("dog", "guinea pig", "piglet"):
        ...     _ = builder.entity(f"ex:{name}", name)
        >>> rows, similarity = NameSimilarity.of(builder.build()).find("Guinea-pigs")
        >>> rows.tolist(), similarity.round(2).tolist()
        ([1, 2], [0.83, 0.11])
    """

    keys: Rows
    starts: Rows
    names: NDArray[np.int32]
    owners: NDArray[np.int32]
    lengths: NDArray[np.float32]

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> NameSimilarity:
        """Index the labels and synonyms of a graph."""
        from scipy.sparse import csr_matrix

        names: list[str] = []
        owners: list[int] = []
        for row, (label, synonyms) in enumerate(zip(graph.labels, graph.synonyms, strict=True)):
            names += (label, *synonyms)
            owners += [row] * (1 + len(synonyms))
        parts = [
            _trigrams(names[start : start + AT_ONCE]) for start in range(0, len(names), AT_ONCE)
        ]
        keys = np.unique(
            np.concatenate([np.zeros(0, dtype=np.int64), *(np.unique(found) for found, _ in parts)])
        )
        columns = [np.searchsorted(keys, found).astype(np.int32) for found, _ in parts]
        counts = np.concatenate([np.zeros(1, dtype=np.int64), *(counts for _, counts in parts)])
        columns_of_all = np.concatenate([np.zeros(0, dtype=np.int32), *columns])
        ones = np.ones(len(columns_of_all), dtype=np.int8)
        table = csr_matrix(
            (ones, columns_of_all, np.cumsum(counts)), shape=(len(names), len(keys))
        ).tocsc()
        starts = table.indptr.astype(np.int64)
        weights = _weights(starts, len(names))
        squares = [
            np.bincount(
                np.repeat(np.arange(len(counts)), counts), weights[places], minlength=len(counts)
            )
            for places, (_, counts) in zip(columns, parts, strict=True)
        ]
        lengths = np.sqrt(np.concatenate([np.zeros(0), *squares]))
        lengths[lengths == 0] = 1.0
        return cls(
            keys,
            starts,
            table.indices.astype(np.int32),
            np.array(owners, dtype=np.int32),
            lengths.astype(np.float32),
        )

    def contained(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the similarity of each text to the most similar name that has all its trigrams.

        Returns:
            Similarities of shape (texts,); 0 for a text that no name contains.
        """
        keys, counts = _trigrams(texts)
        places = np.searchsorted(self.keys, keys)
        known = places < len(self.keys)
        known[known] = self.keys[places[known]] == keys[known]
        found = np.zeros(len(texts))
        ends = np.cumsum(counts)
        for number, (end, count) in enumerate(zip(ends.tolist(), counts.tolist(), strict=True)):
            own = slice(end - count, end)
            if count and known[own].all():
                found[number] = self._contained(places[own])
        return found

    def _contained(self, places: Rows) -> float:
        """Return the similarity of a text with the given trigrams; see :meth:`contained`."""
        parts = [self.names[self.starts[at] : self.starts[at + 1]] for at in places.tolist()]
        parts.sort(key=len)
        names = parts[0]
        for part in parts[1:]:
            at = np.searchsorted(part, names)
            at[at == len(part)] = 0
            names = names[part[at] == names]
        if not len(names):
            return 0.0
        return float(np.sqrt(self._weights[places].sum()) / self.lengths[names].min())

    def with_initials(self, letters: str) -> Rows:
        """Return the names that have, for each of some letters, a word that starts with it.

        Args:
            letters: At least one ASCII letter or digit.

        Returns:
            Numbers of the names, ascending.
        """
        having = np.ones(len(self.owners), dtype=bool)
        for letter in set(plain(letters)):
            starting = np.zeros(len(self.owners), dtype=bool)
            for before in WORD_STARTS:
                key = (ord(before) << 2 * BITS) | (ord(letter) << BITS)
                first, last = np.searchsorted(self.keys, (key, key + (1 << BITS)))
                starting[self.names[self.starts[first] : self.starts[last]]] = True
            having &= starting
        return np.flatnonzero(having)

    def find(self, text: str) -> tuple[Rows, NDArray[np.float64]]:
        """Return up to 256 entities with the most similar names.

        Returns:
            Rows, ascending, and the similarity of each entity's most similar name, both of shape
            (found,).
        """
        keys, _ = _trigrams([text])
        places = np.flatnonzero(np.isin(self.keys, keys, assume_unique=True))
        if not len(places):
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        begins, ends = self.starts[places], self.starts[places + 1]
        names = np.concatenate(
            [self.names[begin:end] for begin, end in zip(begins, ends, strict=True)]
        )
        weights = self._weights[places]
        shared = np.bincount(names, np.repeat(weights, ends - begins), minlength=len(self.owners))
        similarity = shared / (self.lengths * np.sqrt(weights.sum()))
        of_entities = np.maximum.reduceat(similarity, self._first)
        rows = np.flatnonzero(of_entities > 0)
        if len(rows) > MOST:
            least = of_entities[greatest(of_entities, MOST)].min()
            rows = np.flatnonzero(of_entities >= least)
            rows = np.sort(rows[np.lexsort((rows, -of_entities[rows]))[:MOST]])
        return rows, of_entities[rows]

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        return _weights(self.starts, len(self.owners))

    @cached_property
    def _first(self) -> Rows:
        """The first name of each entity."""
        return np.flatnonzero(np.diff(self.owners, prepend=-1))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store, by name."""
        return {f"names/{part}": getattr(self, part) for part in PARTS}

    @classmethod
    def read(cls, arrays: Callable[[str], NDArray[Any]]) -> NameSimilarity:
        """Read a stored index.

        Args:
            arrays: Returns a stored array by its name; see :meth:`arrays`.
        """
        return cls(*(arrays(f"names/{part}") for part in PARTS))


def _weights(starts: Rows, names: int) -> NDArray[np.float64]:
    """Return the square of the inverse document frequency of each trigram."""
    return np.asarray((np.log((1 + names) / (1 + np.diff(starts))) + 1) ** 2)


def plain(name: str) -> str:
    """Return a name in lower case, without accents, and with single spaces.

    >>> plain("Köln  Drum")
    'koln drum'
    """
    apart = unicodedata.normalize("NFKD", normalise(in_words(name)))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _trigrams(names: Sequence[str]) -> tuple[Rows, Rows]:
    """Return the distinct trigrams of each name, name after name, and their number for each name.

    The trigrams of a name are ascending.
    """
    texts = [f" {plain(name)} " for name in names]
    letters = np.frombuffer("".join(texts).encode("utf-32-le", "replace"), dtype=np.uint32).astype(
        np.int64
    )
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    inside = letters[1:-1] != SPACE  # two spaces separate names
    keys = ((letters[:-2] << 2 * BITS) | (letters[1:-1] << BITS) | letters[2:])[inside]
    owners = owners[1:-1][inside]
    order = np.lexsort((keys, owners))
    keys, owners = keys[order], owners[order]
    new = np.ones(len(keys), dtype=bool)
    new[1:] = (np.diff(keys) != 0) | (np.diff(owners) != 0)
    return keys[new], np.bincount(owners[new], minlength=len(names))
