"""Words of the same meaning, from WordNet 3.0 (Fellbaum 1998)."""

from __future__ import annotations

import itertools
import lzma
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ontodex.scoring.name_similarity import NameSimilarity

__all__ = ["Lexicon"]

FILE = Path(__file__).with_name("synonyms.txt.xz")
"""A line for each synset of several lemmas; made by ``tools/make_lexicon.py``."""

LONGEST = 3
"""Largest number of words that are replaced together."""

SHORTEST = 3
"""Smallest number of letters of a word that is replaced alone."""

ENDINGS = (
    ("", ""),
    ("ies", "y"),
    ("es", ""),
    ("s", ""),
    ("ing", ""),
    ("ing", "e"),
    ("ed", ""),
    ("ed", "e"),
    ("er", ""),
    ("est", ""),
)
"""Endings of inflected words, and what stands in their place in the lemma."""

STOP_WORDS = re.compile(
    "and|are|can|could|does|for|from|had|has|have|how|its|not|that|the|was|what|when|where|which|"
    "who|will|with|without|you|your"
)
"""Words that are not replaced."""


class Lexicon:
    """Replaces words of a query by words of the same meaning.

    Two words have the same meaning if they are lemmas of one synset of WordNet, in any sense.

    Args:
        synsets: The synsets: lemmas in lower case.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("house")
        >>> for name in ("elevator shaft", "stairs"):
        ...     _ = builder.entity(f"ex:{name}", name)
        >>> names = NameSimilarity.of(builder.build())
        >>> Lexicon([("lift", "elevator"), ("lift", "rise")]).variants("lifts", names, 5)
        ['elevator']
    """

    def __init__(self, synsets: Sequence[Sequence[str]]) -> None:
        self._synsets = synsets
        self._numbers: dict[str, list[int]] = {}
        for number, lemmas in enumerate(synsets):
            for lemma in lemmas:
                self._numbers.setdefault(lemma, []).append(number)

    @classmethod
    def load(cls) -> Lexicon:
        """Read the words that ontodex ships."""
        lines = lzma.decompress(FILE.read_bytes()).decode().splitlines()
        return cls([line.split("\t") for line in lines])

    @property
    def words(self) -> list[str]:
        """All lemmas, each once."""
        return list(self._numbers)

    def variants(self, query: str, names: NameSimilarity, most: int) -> list[str]:
        """Return a query with one to three of its words replaced, in each way that may match.

        Args:
            query: Words in lower case.
            names: Names of the entities that are searched.
            most: Number of variants: those whose new words are the most similar to a name that
                has them, letter by letter.
        """
        replaced = list(self._replaced(query.split()))
        similarity = names.contained([lemma for _, lemma, _ in replaced])
        order = np.argsort(-similarity, kind="stable")
        found = (
            " ".join([*before, lemma, *after])
            for before, lemma, after in (replaced[at] for at in order[similarity[order] > 0])
        )
        return list(itertools.islice(dict.fromkeys(found), most))

    def _replaced(self, words: Sequence[str]) -> Iterator[tuple[Sequence[str], str, Sequence[str]]]:
        """Yield words before, a new lemma or its plural, and words after; long ones first."""
        for length in range(LONGEST, 0, -1):
            for start in range(len(words) - length + 1):
                end = start + length
                span = " ".join(words[start:end])
                if length == 1 and (len(span) < SHORTEST or STOP_WORDS.fullmatch(span)):
                    continue
                for lemma in self._same_meaning(span):
                    for form in (lemma, f"{lemma}s"):
                        yield words[:start], form, words[end:]

    def _same_meaning(self, words: str) -> Iterator[str]:
        """Yield the other lemmas of all synsets that have the words, as they are or as a lemma."""
        forms = (
            words.removesuffix(ending) + lemma_ending
            for ending, lemma_ending in ENDINGS
            if words.endswith(ending)
        )
        own = next((form for form in forms if form in self._numbers), words)
        for number in self._numbers.get(own, ()):
            yield from (lemma for lemma in self._synsets[number] if lemma not in (own, words))
