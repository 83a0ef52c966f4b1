"""Words of the same meaning, and definitions of words, from WordNet 3.0 (Fellbaum 1998)."""

from __future__ import annotations

import itertools
import mmap
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ontodex.scoring.name_similarity import NameSimilarity, plain

__all__ = ["DEFINITIONS_FILE", "FILE", "Lexicon", "definition_lines", "lines_of", "plurals"]

FILE = Path(__file__).with_name("synonyms.txt")
"""The lines of :func:`lines_of`; made by ``tools/make_lexicon.py``."""

DEFINITIONS_FILE = Path(__file__).with_name("definitions.txt")
"""The lines of :func:`definition_lines`; made by the same tool."""

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

PLURALS = ENDINGS[:4]
"""The same for nouns in the plural."""

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
    return _sorted_lines(others.values())


def definition_lines(definitions: Mapping[str, Sequence[str]]) -> bytes:
    r"""Return a line for each lemma: the lemma and its definitions, between tabs, in their order.

    >>> definition_lines({"sofa": ["an upholstered seat for more than one person"]})
    b'sofa\tan upholstered seat for more than one person\n'
    """
    return _sorted_lines((lemma, *own) for lemma, own in definitions.items())


def _sorted_lines(rows: Iterable[Iterable[str]]) -> bytes:
    return b"".join(sorted(("\t".join(row) + "\n").encode() for row in rows))


class Lexicon:
    """Replaces words of a query by words of the same meaning, and defines words.

    Two words have the same meaning if they are lemmas of one synset of WordNet, in any sense.

    Args:
        lines: The lines of :func:`lines_of`, in memory or mapped.
        definitions: The lines of :func:`definition_lines`, likewise.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("house")
        >>> for name in ("elevator shaft", "stairs"):
        ...     _ = builder.entity(f"ex:{name}", name)
        >>> names = NameSimilarity.of(builder.build())
        >>> lexicon = Lexicon(lines_of([("lift", "elevator"), ("lift", "rise")]))
        >>> lexicon.variants("lifts", names, 5)
        ['elevator']
        >>> lexicon = Lexicon(b"", definition_lines({"lift": ["a box that goes up and down"]}))
        >>> lexicon.definitions("Lifts")
        ['a box that goes up and down']
    """

    def __init__(self, lines: bytes | mmap.mmap, definitions: bytes | mmap.mmap = b"") -> None:
        self._lines, self._definitions = lines, definitions

    @classmethod
    def load(cls) -> Lexicon:
        """Map the words that ontodex ships."""
        return cls(_mapped(FILE), _mapped(DEFINITIONS_FILE))

    @property
    def words(self) -> list[str]:
        """All lemmas, each once."""
        return [line.split(b"\t", 1)[0].decode() for line in self._lines[:].splitlines()]

    def definitions(self, name: str) -> list[str]:
        """Return the definitions of a name that is a noun, or the plural of one; else none.

        A name in capitals has none, because it is an abbreviation or a symbol.
        """
        if name.isupper():
            return []
        found = (_fields(self._definitions, lemma) for lemma in _lemmas(plain(name), PLURALS))
        return next(filter(None, found), [])

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
        """Yield words before, a new lemma or its plurals, and words after; long ones first."""
        for length in range(LONGEST, 0, -1):
            for start in range(len(words) - length + 1):
                end = start + length
                span = " ".join(words[start:end])
                if length == 1 and (len(span) < SHORTEST or STOP_WORDS.fullmatch(span)):
                    continue
                for lemma in self._same_meaning(span):
                    for form in (lemma, *plurals(lemma)):
                        yield words[:start], form, words[end:]

    def _same_meaning(self, words: str) -> Iterator[str]:
        """Yield the other lemmas of all synsets that have the words, as they are or as a lemma."""
        for form in _lemmas(words, ENDINGS):
            if others := _fields(self._lines, form):
                yield from (lemma for lemma in others if lemma != words)
                return


def plurals(name: str) -> Iterator[str]:
    """Yield a name with its last word in the singular, or in the plural.

    >>> list(plurals("berry")), list(plurals("boxes"))
    (['berrys', 'berries'], ['boxe', 'box'])
    """
    if name.endswith("s") and not name.endswith("ss"):
        yield name[:-1]
        yield from _lemmas(name, PLURALS[1:3])
    else:
        yield f"{name}s"
        yield f"{name[:-1]}ies" if name.endswith("y") else f"{name}es"


def _lemmas(word: str, endings: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a word with each of its endings replaced by that of the lemma."""
    for ending, lemma_ending in endings:
        if word.endswith(ending):
            yield word.removesuffix(ending) + lemma_ending


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _fields(lines: bytes | mmap.mmap, lemma: str) -> list[str]:
    """Return the fields after a lemma in its line; empty for a lemma without a line."""
    key = f"{lemma}\t".encode()
    low, high = 0, len(lines)
    while low < high:
        start = lines.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = lines.find(b"\n", start) + 1
        line = lines[start:end]
        if line.startswith(key):
            return line[len(key) : -1].decode().split("\t")
        low, high = (end, high) if line < key else (low, start)
    return []
