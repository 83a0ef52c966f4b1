"""Words of the same meaning, of wider meaning, and definitions: WordNet 3.1 (Fellbaum 1998)."""

from __future__ import annotations

import itertools
import mmap
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ontodex.scoring.name_similarity import NameSimilarity, plain

__all__ = [
    "DEFINITIONS_FILE",
    "FILE",
    "HYPERNYMS_FILE",
    "Lexicon",
    "definition_lines",
    "hypernym_lines",
    "lines_of",
    "plurals",
]

FILE = Path(__file__).with_name("synonyms.txt")
"""The lines of :func:`lines_of`; made by ``tools/make_lexicon.py``."""

DEFINITIONS_FILE = Path(__file__).with_name("definitions.txt")
"""The lines of :func:`definition_lines`; made by the same tool."""

HYPERNYMS_FILE = Path(__file__).with_name("hypernyms.txt")
"""The lines of :func:`hypernym_lines`; made by the same tool."""

SYNSET = "#"
"""What the key of a line about a synset begins with; no lemma does."""

FARTHER, LESS_USUAL, LAST_WORDS = 0.7, 0.5, 0.7
"""Factors of the closeness of a hypernym.

They are for each further step up, for each sense before that of the step, and for a text whose
last words alone are a noun of the lexicon.
"""

PREPOSITION = re.compile(r" (?:by|for|from|in|of|on|to|with) ")
"""What the noun that a phrase names stands before."""

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

UNGRADED = ENDINGS[:8]
"""The same without comparatives and superlatives."""

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


def hypernym_lines(
    senses: Mapping[str, Sequence[Sequence[int]]],
    synsets: Mapping[int, tuple[Sequence[int], Sequence[str]]],
) -> bytes:
    r"""Return a line for each noun and for each synset that is above another.

    The line of a noun has a field for each sense: the numbers of the synsets above it. That of a
    synset begins with ``#`` and its number; then come the synsets above it, and its lemmas.

    Args:
        senses: For each noun, the synsets above each of its senses, the most usual first.
        synsets: For each synset, the synsets above it, and its lemmas.

    >>> hypernym_lines({"sofa": [[4]]}, {4: ([7], ["seat"]), 7: ([], ["furniture"])})
    b'#4\t7\tseat\n#7\t\tfurniture\nsofa\t4\n'
    """

    def field(numbers: Sequence[int]) -> str:
        return " ".join(map(str, numbers))

    nouns = ((noun, *map(field, above)) for noun, above in senses.items())
    wider = ((f"{SYNSET}{at}", field(above), *own) for at, (above, own) in synsets.items())
    return _sorted_lines((*nouns, *wider))


def _sorted_lines(rows: Iterable[Iterable[str]]) -> bytes:
    return b"".join(sorted(("\t".join(row) + "\n").encode() for row in rows))


class Lexicon:
    """Replaces words of a query by words of the same meaning, and defines words.

    Two words have the same meaning if they are lemmas of one synset of WordNet, in any sense.

    Args:
        lines: The lines of :func:`lines_of`, in memory or mapped.
        definitions: The lines of :func:`definition_lines`, likewise.
        hypernyms: The lines of :func:`hypernym_lines`, likewise.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("house")
        >>> for name in ("elevator shaft", "stairs"):
        ...     _ = builder.entity(f"ex:{name}", name)
        >>> names = NameSimilarity.of(builder.build())
        >>> lexicon = Lexicon(lines_of([("lift", "elevator"), ("lift", "rise")]))
        >>> lexicon.variants("lifts", names, 5)
        ['elevator']
        >>> lexicon.knows("lifts"), lexicon.knows("lifft"), lexicon.knows("lifter")
        (True, False, False)
        >>> lexicon = Lexicon(b"", definition_lines({"lift": ["a box that goes up and down"]}))
        >>> lexicon.definitions("Lifts")
        ['a box that goes up and down']
        >>> above = hypernym_lines({"sofa": [[4]]}, {4: ([7], ["seat"]), 7: ([], ["furniture"])})
        >>> lexicon = Lexicon(b"", hypernyms=above)
        >>> lexicon.hypernyms("sofas")
        {'seat': 1.0, 'furniture': 0.7}
    """

    def __init__(
        self,
        lines: bytes | mmap.mmap,
        definitions: bytes | mmap.mmap = b"",
        hypernyms: bytes | mmap.mmap = b"",
    ) -> None:
        self._lines, self._definitions, self._hypernyms = lines, definitions, hypernyms

    @classmethod
    def load(cls) -> Lexicon:
        """Map the words that ontodex ships."""
        return cls(_mapped(FILE), _mapped(DEFINITIONS_FILE), _mapped(HYPERNYMS_FILE))

    @property
    def words(self) -> list[str]:
        """All lemmas, each once."""
        return [line.split(b"\t", 1)[0].decode() for line in self._lines[:].splitlines()]

    def knows(self, word: str) -> bool:
        """Return whether a word, as it is or as a lemma, has others of its meaning or is defined.

        A comparative counts only as it is: *hamer* is no form of *ham*, but a misspelt *hammer*.

        Args:
            word: A word in lower case.
        """
        lines = (self._lines, self._definitions)
        return any(_fields(own, lemma) for lemma in _lemmas(word, UNGRADED) for own in lines)

    def definitions(self, name: str) -> list[str]:
        """Return the definitions of a name that is a noun, or the plural of one; else none.

        A name in capitals has none, because it is an abbreviation or a symbol.
        """
        if name.isupper():
            return []
        found = (_fields(self._definitions, lemma) for lemma in _lemmas(plain(name), PLURALS))
        return next(filter(None, found), [])

    def hypernyms(self, text: str) -> dict[str, float]:
        """Return the words of wider meaning than a noun or a phrase, and how close each is.

        The closeness of a word is 1 for a synset directly above the most usual sense, and less for
        synsets farther up and for other senses. Of a phrase that is no noun, the first noun among
        its last words counts, itself included: *boning knife* is a *knife*.

        Args:
            text: The noun or phrase.

        Returns:
            Closeness of each word, between 0 and 1; empty if the lexicon knows no noun of the text.
        """
        words = PREPOSITION.split(plain(text), maxsplit=1)[0].split()
        for start in range(len(words)):
            noun = " ".join(words[start:])
            for lemma in _lemmas(noun, PLURALS):
                if senses := _fields(self._hypernyms, lemma):
                    found = {lemma: 1.0} if start else {}
                    return self._above(senses, found, LAST_WORDS if start else 1.0)
        return {}

    def _above(
        self, senses: Sequence[str], found: dict[str, float], most: float
    ) -> dict[str, float]:
        """Add the lemmas of all synsets above some senses, with their closeness."""
        for sense, above in enumerate(senses):
            closeness, level, seen = most * LESS_USUAL**sense, above.split(), set[str]()
            while level:
                seen.update(level)
                wider: dict[str, None] = {}
                for synset in level:
                    farther, *lemmas = _fields(self._hypernyms, f"{SYNSET}{synset}")
                    for lemma in lemmas:
                        found[lemma] = max(closeness, found.get(lemma, 0.0))
                    wider.update(dict.fromkeys(farther.split()))
                level = [synset for synset in wider if synset not in seen]
                closeness *= FARTHER
        return found

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
