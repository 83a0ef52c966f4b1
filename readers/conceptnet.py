"""Assertions of ConceptNet in its release format (Speer et al. 2017)."""

from __future__ import annotations

import re
from pathlib import Path

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import lines_of
from ontodex.readers.formats import FileFormat
from ontodex.readers.problems import Problems

__all__ = ["FORMAT", "read_conceptnet"]

ASSERTION = re.compile(rb"/a/\[/r/[^\t\n]*\t/r/[^\t\n]*\t/")
"""The beginning of a file of assertions."""


def read_conceptnet(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read the assertions whose two concepts are in the language of the builder.

    A line has the URI of the assertion, the relation, the start, the end, and metadata in JSON. The
    metadata is not read.

    Args:
        path: The file.
        builder: Receives the concepts and their links.
        problems: Receives lines that are not assertions.

    Raises:
        ReadError: If no assertion is in the language.
    """
    language = builder.language.lower().partition("-")[0]
    concept = f"/c/{language}/"
    found = others = 0
    for number, line in lines_of(path, problems):
        cells = line.split("\t")
        if len(cells) != 5 or not cells[1].startswith("/r/"):
            problems.unexpected("an assertion of five columns", line, number)
        elif cells[2].startswith(concept) and cells[3].startswith(concept):
            builder.triple(cells[2], cells[1], cells[3])
            found += 1
        else:
            others += 1
    if others and not found:
        raise ReadError(
            f"expected assertions between concepts in {language!r}, found {others:,} of others; "
            "give language= in Python or --language on the command line",
            str(path),
        )
    if others:
        problems.remark(
            f"left out {others:,} assertions whose two ends are not both concepts in {language!r}"
        )


FORMAT = FileFormat(
    "conceptnet",
    (".csv",),
    "Assertions of ConceptNet between concepts in one language.",
    matches=lambda path, head: ASSERTION.match(head.lstrip()) is not None,
    reader=read_conceptnet,
)
