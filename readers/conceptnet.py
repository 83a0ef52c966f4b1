"""Assertions of ConceptNet, as its releases have them (Speer et al. 2017)."""

from __future__ import annotations

import re
from pathlib import Path

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import lines_of
from ontodex.readers.problems import Problems

__all__ = ["ASSERTION", "read_conceptnet"]

ASSERTION = re.compile(rb"/a/\[/r/[^\t\n]*\t/r/[^\t\n]*\t/")
"""What a file of assertions begins with."""


def read_conceptnet(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read an assertion a line: its URI, relation, start and end, and what is known of it in JSON, which is left out.

    Those between two concepts in the language of the builder are read.

    Args:
        path: The file.
        builder: Takes the concepts and their links.
        problems: Takes lines that are no assertions.

    Raises:
        ReadError: If no concepts are in that language, or as :func:`.files.lines_of`.
    """
    language = builder.language.lower().partition("-")[0]
    concept = f"/c/{language}/"
    found = others = 0
    for number, line in lines_of(path, problems):
        cells = line.split("\t")
        if len(cells) != 5 or not cells[1].startswith("/r/"):
            problems.report(
                f"expected an assertion of five columns, found {line[:60]!r}", number, str(path)
            )
        elif cells[2].startswith(concept) and cells[3].startswith(concept):
            builder.triple(cells[2], cells[1], cells[3])
            found += 1
        else:
            others += 1
    if others and not found:
        raise ReadError(
            f"expected assertions between concepts in {language!r}, found {others:,} of others; give language= in Python or "
            "--language on the command line",
            str(path),
        )
    if others:
        problems.remark(
            f"left out {others:,} assertions whose two ends are not both concepts in {language!r}"
        )
