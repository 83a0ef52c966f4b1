"""Files of nothing but paths: a category a line."""

from __future__ import annotations

import re
from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import spellings
from ontodex.readers.files import lines_of
from ontodex.readers.mapping.entities import guess_entities
from ontodex.readers.mapping.headers import EntityColumns
from ontodex.readers.mapping.paths import is_path_name
from ontodex.readers.problems import Problems
from ontodex.readers.tables.entities import add_entities
from ontodex.readers.tables.table import Table
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["read_paths"]

HEADERS = ("category", "categories", "product type")
"""What stands above paths, beside the names of a column of them."""

NUMBERED = re.compile(r"(\S+?)(?:\s+[-:]\s+|\t\s*|[,;])(.+)")
"""A line that has an id before the path: ``3 - Animals > Birds``."""


def read_paths(
    source: Path | Sheet, builder: GraphBuilder, problems: Problems, table: Table
) -> None:
    """Read a category a line, by its path, perhaps after an id (``3 - Animals > Birds``).

    Lines above the paths that begin with # are comments. A category without an id has its path as
    id, and otherwise as alternative id.

    Args:
        source: A text file, or a sheet whose rows are its lines.
        builder: Takes the categories.
        problems: Takes lines that are no text.
        table: Takes the ids of the categories.
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
    names = ["id", "path"] if has_ids else ["path"]
    found_rows = numbered if has_ids else rows

    def report(what: str, at: int) -> None:
        problems.report(what, at, str(source))

    mapping = guess_entities(EntityColumns.of(names), names, found_rows, table, problems.remark)
    add_entities(mapping, names, found_rows, builder, table, report, problems.remark)
