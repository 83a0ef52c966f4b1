"""UMLS and RxNorm in the Rich Release Format: ``MRCONSO.RRF``, ``RXNCONSO.RRF`` and others.

See the `UMLS reference manual <https://www.ncbi.nlm.nih.gov/books/NBK9685/>`_ and the `technical
documentation of RxNorm <https://www.nlm.nih.gov/research/umls/rxnorm/docs/techdoc.html>`_.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import lines_of
from ontodex.readers.formats import folder_format
from ontodex.readers.problems import Problems

__all__ = ["FORMAT", "is_umls", "read_umls"]

PLACES = ("", "META", "rrf")
"""Where the tables may lie: in the folder itself, or in these folders of a release."""

LANGUAGES = {
    "en": "ENG",
    "de": "GER",
    "fr": "FRE",
    "es": "SPA",
    "nl": "DUT",
    "it": "ITA",
    "pt": "POR",
    "sv": "SWE",
    "cs": "CZE",
    "da": "DAN",
    "fi": "FIN",
    "hu": "HUN",
    "ja": "JPN",
    "ko": "KOR",
    "no": "NOR",
    "pl": "POL",
    "ru": "RUS",
}
"""UMLS code of each language tag."""


class _Release(NamedTuple):
    """A terminology.

    Attributes:
        start: Beginning of its file names.
        prefix: Prefix of the CURIEs of its concepts.
        namespace: IRI namespace of the prefix.
        own: Source vocabulary whose names are preferred to names from other vocabularies.
    """

    start: str
    prefix: str
    namespace: str
    own: str = ""


RELEASES = (
    _Release("MR", "UMLS", "https://uts.nlm.nih.gov/uts/umls/concept/"),
    _Release("RXN", "RXNORM", "http://purl.bioontology.org/ontology/RXNORM/", own="RXNORM"),
)


def is_umls(folder: Path) -> bool:
    """Tell whether a folder contains a release of UMLS or RxNorm, or the tables of a release."""
    return any(_tables(folder, release, "CONSO") for release in RELEASES)


def read_umls(folder: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read concepts with names, definitions and semantic types, and relationships of concepts.

    Names in the language of the builder are used; if a concept has none, names in another language.
    The preferred name is the label. Suppressed rows are left out. The tables have each relationship
    in both directions. Of ``isa``, ``PAR`` (parent) and ``RB`` (broader), only the link to the more
    general concept is read. Of other relationships, both links are read if they have a name
    (``RELA``).

    Args:
        folder: The folder of the tables, or of a release.
        builder: Receives the concepts (``UMLS:C0011849``, ``RXNORM:161``) and the links.
        problems: Receives lines with a wrong number of columns.
    """
    for release in RELEASES:
        builder.prefixes[release.prefix] = release.namespace
        _add_names(folder, release, builder, problems)
        for concept, _, _, _, _, definition, suppressed, *_ in _rows(
            folder, release, "DEF", 8, problems
        ):
            if suppressed == "N" and _id(release, concept) in builder:
                builder.entity(_id(release, concept), definition=definition)
        for concept, kind, _, name, *_ in _rows(folder, release, "STY", 6, problems):
            if (head := _id(release, concept)) in builder:
                tail = f"{release.prefix}:{kind}"
                builder.entity(tail, name)
                builder.triple(head, "semantic type", tail)
        for row in _rows(folder, release, "REL", 16, problems):
            if link := _link(row, release):
                head, relation, tail = link
                if head != tail and head in builder and tail in builder:
                    builder.triple(head, relation, tail)


def _add_names(folder: Path, release: _Release, builder: GraphBuilder, problems: Problems) -> None:
    wanted = LANGUAGES.get(builder.language.partition("-")[0].lower(), "ENG")
    found: dict[str, list[tuple[bool, bool, int, str]]] = {}
    for row in _rows(folder, release, "CONSO", 18, problems):
        concept, language, name_status, _, text_status, _, is_preferred, *_ = row
        if row[16] == "N":
            misses = (name_status != "P") + (text_status != "PF") + (is_preferred != "Y")
            rank = (language != wanted, row[11] != release.own, misses, row[14])
            found.setdefault(concept, []).append(rank)
    for concept, ranks in found.items():
        ranks.sort(key=lambda rank: rank[:3])
        label, *synonyms = dict.fromkeys(
            name for is_other, *_, name in ranks if is_other == ranks[0][0]
        )
        builder.entity(_id(release, concept), label, synonyms)


def _link(row: list[str], release: _Release) -> tuple[str, str, str] | None:
    """Return head, relation and tail of a row, or ``None`` if its link is not read.

    A row says how its second concept is related to its first concept.
    """
    first, kind, second, name, suppressed = row[0], row[3], row[4], row[7], row[14]
    if not first or not second or suppressed != "N" or name == "inverse_isa":
        return None
    if kind in ("PAR", "RB") and not name:
        return _id(release, first), "is_a" if kind == "PAR" else "broader", _id(release, second)
    return (
        (_id(release, second), "is_a" if name == "isa" else name, _id(release, first))
        if name
        else None
    )


def _id(release: _Release, concept: str) -> str:
    return f"{release.prefix}:{concept}"


def _tables(folder: Path, release: _Release, name: str) -> list[Path]:
    paths = (
        folder / place / f"{release.start}{name}.RRF{suffix}"
        for place in PLACES
        for suffix in ("", ".gz")
    )
    return [path for path in paths if path.is_file()][:1]


def _rows(
    folder: Path, release: _Release, name: str, width: int, problems: Problems
) -> Iterator[list[str]]:
    """Yield the rows of a table, if the table exists.

    Lines with a wrong number of columns are reported to ``problems``.
    """
    for path in _tables(folder, release, name):
        for number, line in lines_of(path, problems):
            cells = line.removesuffix("|").split("|")
            if len(cells) == width:
                yield cells
            else:
                problems.unexpected(f"{width} columns", line, number, path)


FORMAT = folder_format(
    "umls",
    "Releases of UMLS and RxNorm: the folder of MRCONSO.RRF or RXNCONSO.RRF.",
    matches=is_umls,
    reader=read_umls,
)
