"""Spelling of queries: words that nobody knows are replaced by the nearest word of the graph."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from ontodex.graph import KnowledgeGraph
from ontodex.scoring.lexicon import Lexicon
from ontodex.scoring.name_similarity import NameSimilarity, plain

__all__ = ["Spelling", "similar_names"]

WORD = re.compile(r"[^\W\d_]{4,}")
"""Words that are corrected: at least four letters."""

JOINED, PART = re.compile(r"[^\W_]{3,}"), re.compile(r"[^\W_]+")
"""Words of queries that may join words of names, and these words; both may have digits."""

ENTITIES = 64
"""Entities of the most similar names, whose words are compared with an unknown word."""

WORDS = 64
"""Number of unknown words whose similar names are kept: each is looked up twice for a query."""

MIN_RATIO = 0.75
"""Smallest ratio (difflib) of an unknown word and the word that replaces it."""


def similar_names(
    graph: KnowledgeGraph, similarity: NameSimilarity, text: str, entities: int
) -> Iterator[str]:
    """Yield all names of the entities that have the names most similar to a text.

    Args:
        graph: The graph.
        similarity: Similarity of the names of its entities.
        text: The text.
        entities: Number of entities.
    """
    rows, values = similarity.find(text)
    for row in rows[np.argsort(-values, kind="stable")[:entities]].tolist():
        yield from (graph.labels[row], *graph.synonyms[row])


class Spelling:
    """Corrects the words of a query that neither the graph nor the text encoder knows.

    A word that the text encoder knows is not misspelt, even if no name of the graph has it. Nor is
    a word of the lexicon: the encoder divides many that are less usual, such as *waistcoat*.

    Args:
        graph: The graph.
        names: Similarity of the names of its entities.
        knows: From words to whether the text encoder knows each.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        names: NameSimilarity,
        knows: Callable[[Sequence[str]], list[bool]],
    ) -> None:
        self._knows = knows

        @lru_cache(WORDS)
        def similar(word: str) -> list[str]:
            return [plain(name) for name in similar_names(graph, names, word, ENTITIES)]

        self._similar = similar

    def parted(self, text: str, lexicon: Lexicon | None = None) -> str:
        """Return a query with each unknown word divided that joins words of a similar name.

        For example, *rubyonrails* becomes *ruby on rails* if an entity has that name, or a longer
        one; *ac200* becomes *ac 200* if one is called *Autoclave AC-200*. A word that some similar
        name has is not divided.

        Args:
            text: The query.
            lexicon: Words that are known as well.
        """
        apart = {}
        for word in self._unknown(JOINED, text, lexicon):
            found = [_joined(name, word) for name in self._similar(word)]
            parts = min(filter(None, found), key=len, default=[])
            if len(parts) > 1:
                apart[word] = " ".join(parts)
        if not apart:
            return text
        return JOINED.sub(lambda match: apart.get(match[0], match[0]), plain(text))

    def corrected(self, text: str, lexicon: Lexicon | None = None) -> tuple[str | None, float]:
        """Return a query with its unknown words replaced, and the share of unknown words.

        Args:
            text: The query.
            lexicon: Words that are known as well.

        Returns:
            The query in lower case and without accents, ``None`` if no word is replaced; and of its
            words of at least four letters the share that is unknown, replaced or not.
        """
        query = plain(text)
        found = {
            word: nearest
            for word in self._unknown(WORD, query, lexicon)
            if (nearest := self._nearest(word)) != word
        }
        made = WORD.sub(lambda match: found.get(match[0]) or match[0], query)
        words = set(WORD.findall(query))
        return None if made == query else made, len(found) / max(1, len(words))

    def _unknown(self, word: re.Pattern[str], text: str, lexicon: Lexicon | None) -> list[str]:
        """Return the words of a pattern that neither the encoder nor the lexicon knows."""
        words = list(dict.fromkeys(word.findall(plain(text))))
        return [
            one
            for one, known in zip(words, self._knows(words), strict=True)
            if not (known or (lexicon is not None and lexicon.knows(one)))
        ]

    def _nearest(self, word: str) -> str | None:
        """Return the most similar word of the graph that starts with the same letter.

        That is the word itself if the graph has it, and ``None`` if the graph has no similar one.
        """
        known: dict[str, None] = {}
        for name in self._similar(word):
            known.update(dict.fromkeys(WORD.findall(name)))
        if word in known:
            return word
        alike = [name for name in known if name[0] == word[0]]
        return next(iter(difflib.get_close_matches(word, alike, n=1, cutoff=MIN_RATIO)), None)


def _joined(name: str, word: str) -> list[str]:
    """Return the consecutive words of a name that make a word if they are joined.

    >>> _joined("ruby on rails 7", "rubyonrails")
    ['ruby', 'on', 'rails']
    """
    parts = PART.findall(name)
    for first in range(len(parts)):
        for last in range(first + 1, len(parts) + 1):
            joined = "".join(parts[first:last])
            if joined == word:
                return parts[first:last]
            if not word.startswith(joined):
                break
    return []
