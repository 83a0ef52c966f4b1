"""Differences of names by words, and how usual each is between two names of one entity."""

from __future__ import annotations

import difflib
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import KnowledgeGraph
from ontodex.scoring.name_similarity import plain

__all__ = ["WordDifferences", "words_of"]

WORD = re.compile(r"[^\W_]+")
STOP_WORDS = frozenset(("a", "an", "and", "by", "for", "in", "of", "or", "the", "to", "with"))

ENTITIES = 100_000
"""Maximal number of entities, evenly spaced, whose names are counted."""

NAMES = 8
"""Maximal number of names of an entity that are compared with each other."""

REPLACED = 2
"""Maximal number of words on either side of a difference that is counted."""

SHORTEST = 4
"""Smallest number of letters of a word that may be misspelt."""

USUAL = 3.0
"""Weight of a usual difference in the choice of the name that a text is compared with."""

Difference = tuple[tuple[str, ...], tuple[str, ...]]
Words = frozenset[str]


class WordDifferences:
    """Compares texts with names by the words that only one of the two has.

    Word order, stop words and the plural do not count. The weight of a word is its inverse document
    frequency, ln((1 + n) / (1 + m)) + 1 if m of n names have it. A difference is usual if names of
    one entity often differ by it, such as "tumor" in place of "neoplasm".

    Args:
        names: The names of each entity.

    Example:
        >>> differences = WordDifferences(
        ...     [("lung tumor", "lung neoplasm"), ("bone tumor", "bone neoplasm"), ("acute pain",)]
        ... )
        >>> differences.between("neoplasms of the skin", ["skin tumor"]).round(2).tolist()
        [1.69, 1.69, 1.1, 0.0, 1.0, 0.0]
    """

    def __init__(self, names: Iterable[Sequence[str]]) -> None:
        self._counts: Counter[str] = Counter()
        self._usual: Counter[Difference] = Counter()
        self._names = 0
        for own in names:
            words = [words_of(name) for name in own]
            self._names += len(words)
            for name in words:
                self._counts.update(name)
            self._usual.update(
                {
                    _difference(one, other)
                    for one, other in itertools.combinations(words[:NAMES], 2)
                    if one != other and max(len(one - other), len(other - one)) <= REPLACED
                }
            )

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> WordDifferences:
        """Count the differences of the labels and synonyms of a graph."""
        step = -(-graph.n_entities // ENTITIES) or 1
        return cls(
            (graph.labels[row], *graph.synonyms[row]) for row in range(0, graph.n_entities, step)
        )

    def between(self, text: str, names: Iterable[str]) -> NDArray[np.float64]:
        """Return how a text differs from the name that is closest to it by words.

        A word that no name has is not a difference if the name has the same word but for one
        letter.

        Returns:
            Six numbers: the weight of the words that only the text has; of those that only the name
            has; log(1 + number of entities with that difference between two names); whether there
            is no difference; whether both have a word that the other has not; whether the text has
            no word that the name has not.
        """
        asked = words_of(text)
        found = min(
            (self._compared(asked, words_of(name)) for name in names), key=lambda one: one[0]
        )
        return np.array(found[1])

    def _compared(self, asked: Words, name: Words) -> tuple[float, tuple[float, ...]]:
        alone, missing = self._unless_misspelt(asked - name, name - asked)
        usual = math.log1p(self._usual[_difference(alone, missing)]) if alone or missing else 0.0
        weights = self._weight(alone), self._weight(missing)
        flags = not alone and not missing, bool(alone) and bool(missing), not alone
        return sum(weights) - USUAL * usual, (*weights, usual, *map(float, flags))

    def _weight(self, words: Words) -> float:
        """Return the sum of the weights of words, in an order that does not depend on hashes."""
        return math.fsum(
            math.log((1 + self._names) / (1 + self._counts[word])) + 1 for word in words
        )

    def _unless_misspelt(self, alone: Words, missing: Words) -> tuple[Words, Words]:
        """Remove words that differ by one letter, if no name has the first."""
        left = set(missing)
        kept = set(alone)
        for word in sorted(alone):
            if len(word) < SHORTEST or self._counts[word] or any(map(str.isdigit, word)):
                continue
            other = next((one for one in sorted(left) if _one_letter_apart(word, one)), None)
            if other is not None:
                kept.discard(word)
                left.discard(other)
        return frozenset(kept), frozenset(left)


def words_of(name: str) -> Words:
    """Return the words of a name, in lower case, without accents, stop words and plural.

    >>> sorted(words_of("Neoplasms of the Hypothalamus"))
    ['hypothalamus', 'neoplasm']
    """
    return frozenset(
        word[:-1] if len(word) > SHORTEST - 1 and _is_plural(word) else word
        for word in WORD.findall(plain(name))
        if word not in STOP_WORDS
    )


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _difference(one: Words, other: Words) -> Difference:
    """Return the words that only one of two names has, whatever the order of the names."""
    first, second = sorted((tuple(sorted(one - other)), tuple(sorted(other - one))))
    return first, second


def _one_letter_apart(one: str, other: str) -> bool:
    """Return whether two words differ by one letter, left out, added, changed or swapped."""
    if abs(len(one) - len(other)) > 1:
        return False
    ratio = difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()
    return ratio >= 1 - 1 / max(len(one), len(other)) - 1e-9
