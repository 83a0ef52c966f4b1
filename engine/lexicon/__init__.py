"""Words of the same meaning, from WordNet 3.0 (Fellbaum 1998)."""

from __future__ import annotations

import itertools
import mmap
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ontodex.scoring.name_similarity import NameSimilarity

__all__ = ["FILE", "Lexicon", "lines_of"]

FILE = Path(__file__).with_name("synonyms.txt")
"""The lines of :func:`lines_of`; made by ``tools/make_lexicon.py``."""

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


def lines_of(synsets: Iterable[Sequence[str]]) -> bytes:
    r"""Return a line for each lemma: the lemma, and the other lemmas of its synsets, between tabs.

    Lines are in the order of their bytes, so that a lemma is found by bisection.

    >>> lines_of([("lift", "elevator"), ("rise", "lift")])
    b'elevator\tlift\nlift\televator\trise\nrise\tlift\n'
    """
    others: dict[str, dict[str, None]] = {}
    for synset in synsets:
        for lemma in synset:
            own = others.setdefault(lemma, {lemma: None})  # the lemma comes first
            own.update(dict.fromkeys(synset))
    return b"".join(sorted(("\t".join(own) + "\n").encode() for own in others.values()))


class Lexicon:
    """Replaces words of a query by words of the same meaning.

    Two words have the same meaning if they are lemmas of one synset of WordNet, in any sense.

    Args:
        lines: The lines of :func:`lines_of`, in memory or mapped.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("house")
        >>> for name in ("elevator shaft", "stairs"):
        ...     _ = builder.entity(f"ex:{name}", name)
        >>> names = NameSimilarity.of(builder.build())
        >>> lexicon = Lexicon(lines_of([("lift", "elevator"), ("lift", "rise")]))
        >>> lexicon.variants("lifts", names, 5)
        ['elevator']
    """

    def __init__(self, lines: bytes | mmap.mmap) -> None:
        self._lines = lines

    @classmethod
    def load(cls) -> Lexicon:
        """Map the words that ontodex ships."""
        with FILE.open("rb") as file:
            return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    @property
    def words(self) -> list[str]:
        """All lemmas, each once."""
        return [line.split(b"\t", 1)[0].decode() for line in self._lines[:].splitlines()]

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
        for form in forms:
            if others := self._others(form):
                yield from (lemma for lemma in others if lemma != words)
                return

    def _others(self, lemma: str) -> list[str]:
        """Return the other lemmas of the synsets of a lemma; empty for other words."""
        key = f"{lemma}\t".encode()
        low, high = 0, len(self._lines)
        while low < high:
            start = self._lines.rfind(b"\n", low, (low + high) // 2) + 1 or low
            end = self._lines.find(b"\n", start) + 1
            line = self._lines[start:end]
            if line.startswith(key):
                return line[len(key) : -1].decode().split("\t")
            low, high = (end, high) if line < key else (low, start)
        return []
