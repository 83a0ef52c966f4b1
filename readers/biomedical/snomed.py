"""SNOMED CT and its extensions: snapshot tables in Release Format 2.

See the `release file specification
<https://docs.snomed.org/snomed-ct-specifications/snomed-ct-release-file-specification>`_.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import language_rank
from ontodex.readers.files import lines_of
from ontodex.readers.formats import folder_format
from ontodex.readers.problems import Problems

__all__ = ["FORMAT", "is_snomed", "read_snomed"]

PREFIX, NAMESPACE = "sct", "http://snomed.info/id/"
IS_A = "116680003"
FULL_NAME = "900000000000003001"
"""The type of fully specified names, which end in a semantic tag: "Pain (finding)"."""
PREFERRED = "900000000000548007"
"""Acceptability of a preferred term in a language reference set."""

TAG = re.compile(r"\s*\([^()]*\)$")
CONCEPTS = "sct2_Concept_*"
"""File name of the concept table before ``Snapshot``; full and delta tables are not read."""

PLACES = ("", "Terminology", "Snapshot/Terminology", "*/Snapshot/Terminology")
"""Where the tables may lie: in the folder itself, or in these folders of a release."""

Row = dict[str, str]


def is_snomed(folder: Path) -> bool:
    """Tell whether a folder contains a snapshot of SNOMED CT."""
    return _terminology(folder) is not None


def read_snomed(folder: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read active concepts with names and definitions, and the relationships between them.

    Names in the language of the builder are used; if a concept has none, names in another language.
    The label of a concept is the term that most language reference sets prefer
    (``Refset/Language``), or else the fully specified name without its semantic tag.

    Args:
        folder: The folder of the tables, or of a release.
        builder: Receives the concepts (``sct:22298006``) and the links.
        problems: Receives lines with a wrong number of columns.
    """
    builder.prefixes[PREFIX] = NAMESPACE
    terminology = _terminology(folder) or folder
    active = dict.fromkeys(row["id"] for row in _rows(terminology, CONCEPTS, problems))
    names = _names(terminology, active, builder.language, problems)
    definitions = {
        row["conceptId"]: row["term"]
        for row in _rows(terminology, "sct2_TextDefinition_*", problems)
    }
    for concept in active:
        label, *synonyms = names.get(concept, [""])
        builder.entity(f"{PREFIX}:{concept}", label, synonyms, definitions.get(concept, ""))
    for row in _rows(terminology, "sct2_Relationship_*", problems):
        head, relation, tail = row["sourceId"], row["typeId"], row["destinationId"]
        if head in active and tail in active:
            builder.triple(
                f"{PREFIX}:{head}",
                "is_a" if relation == IS_A else f"{PREFIX}:{relation}",
                f"{PREFIX}:{tail}",
            )
    for relation in builder.relation_ids():
        builder.relation(
            relation, next(iter(names.get(relation.removeprefix(f"{PREFIX}:"), [])), "")
        )


def _names(
    terminology: Path, active: Collection[str], language: str, problems: Problems
) -> dict[str, list[str]]:
    """Return the names of each concept; the first name is the label."""
    sets = chain.from_iterable(
        _rows(place, "der2_cRefset_Language*", problems)
        for place in (terminology, terminology.parent / "Refset" / "Language")
    )
    preferred = Counter(
        row["referencedComponentId"] for row in sets if row["acceptabilityId"] == PREFERRED
    )
    found: dict[str, list[tuple[int, int, bool, str]]] = {}
    base = language.partition("-")[0]  # language codes in the tables have no region
    for row in _rows(terminology, "sct2_Description_*", problems):
        if row["conceptId"] in active:
            is_full = row["typeId"] == FULL_NAME
            term = TAG.sub("", row["term"]) if is_full else row["term"]
            of_language = language_rank(row["languageCode"], base)
            rank = (of_language, 0 if is_full else -preferred[row["id"]], not is_full, term)
            found.setdefault(row["conceptId"], []).append(rank)
    names = {concept: sorted(ranked) for concept, ranked in found.items()}
    return {
        concept: [
            *dict.fromkeys(term for of_language, *_, term in ranked if of_language == ranked[0][0])
        ]
        for concept, ranked in names.items()
    }


def _terminology(folder: Path) -> Path | None:
    """Return the folder of the snapshot tables, or ``None``."""
    found = (
        path
        for place in PLACES
        for path in sorted(folder.glob(f"{place}/{CONCEPTS}Snapshot*.txt*".lstrip("/")))
    )
    return next((path.parent for path in found if path.is_file()), None)


def _rows(folder: Path, start: str, problems: Problems) -> Iterator[Row]:
    """Yield the active rows of a table.

    Lines that are not as wide as the header are reported to ``problems``.
    """
    for path in sorted(folder.glob(f"{start}Snapshot*.txt*")):
        header: list[str] = []
        for number, line in lines_of(path, problems):
            cells = line.split("\t")
            if not header:
                header = cells
            elif len(cells) != len(header):
                problems.unexpected(f"{len(header)} columns", line, number, path)
            elif (row := dict(zip(header, cells, strict=True)))["active"] == "1":
                yield row


FORMAT = folder_format(
    "snomed",
    "Releases of SNOMED CT in release format 2: the snapshot in a folder.",
    matches=is_snomed,
    reader=read_snomed,
)
