"""Text files with one category per line, named by its path (``Animals > Birds``)."""

from __future__ import annotations

import re
from pathlib import Path

from ontodex.graph.names import spellings
from ontodex.readers.files import lines_of
from ontodex.readers.mapping.paths import is_path_name
from ontodex.readers.problems import Problems
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["paths_as_rows"]

HEADERS = ("category", "categories", "product type")
"""Headers of a file of paths, besides names such as "path" (:func:`is_path_name`)."""

NUMBERED = re.compile(r"(\S+?)(?:\s+[-:]\s+|\t\s*|[,;])(.+)")
"""A line with an id before the path: ``3 - Animals > Birds``."""


def paths_as_rows(source: Path | Sheet, problems: Problems) -> Sheet:
    """Return the lines of a file as a table of paths, with ids if lines have them.

    Lines above the first path that begin with # are comments. A category without an id gets its
    path as id. A category with an id (``3 - Animals > Birds``) gets its path as alternative id.

    Args:
        source: A text file, or a sheet whose rows are its lines.
        problems: Receives lines that are not text.
    """
    found = source.lines if isinstance(source, Sheet) else lines_of(source, problems)
    lines = [(number, line.strip()) for number, line in found if line.strip()]
    start = next((at for at, (_, line) in enumerate(lines) if not line.startswith("#")), len(lines))
    if any(
        is_path_name(line) or {*spellings(line)} & {*HEADERS}
        for _, line in lines[start : start + 1]
    ):
        start += 1
    rows = [(number, [line]) for number, line in lines[start:]]
    numbered = [
        (number, [*parts.groups()])
        for number, [line] in rows
        if (parts := NUMBERED.fullmatch(line))
    ]
    has_ids = len({cells[0] for _, cells in numbered}) == len(rows)
    named = [(0, ["id", "path"]), *numbered] if has_ids else [(0, ["path"]), *rows]
    path = source.path if isinstance(source, Sheet) else source
    name = source.name if isinstance(source, Sheet) else ""
    return Sheet(path, name, named, has_header=True)
