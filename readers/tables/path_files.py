"""Files of nothing but paths: a category a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import spellings
from ontodex.readers.files import lines_of
from ontodex.readers.problems import Problems
from ontodex.readers.tables.entities import add_entities
from ontodex.readers.tables.entity_columns import EntityColumns
from ontodex.readers.tables.keys import Table
from ontodex.readers.tables.paths import PathColumn, is_path_name
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["are_paths", "read_paths"]

HEADERS = ("category", "categories", "product type")
"""What stands above paths, beside the names of a column of them."""

NUMBERED = re.compile(r"(\S+?)(?:\s+[-:]\s+|\t\s*|[,;])(.+)")
"""A line that has an id before the path: ``3 - Animals > Birds``."""


def are_paths(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first lines of a table without a header, taken apart, are no rows but paths.

    >>> are_paths([["Food"], ["Food > Drinks", " Tea"]]), are_paths([["A > B", "is_a", "A"], ["A", "is_a", "root"]])
    (True, False)
    """
    widths = {len(cells) for cells in rows}
    return (len(widths) > 1 or max(widths, default=3) < 3) and PathColumn.of(
        [",".join(row) for row in rows]
    ) is not None


def read_paths(
    source: Path | Sheet, builder: GraphBuilder, problems: Problems, table: Table
) -> None:
    """Read a category a line, by its path; ids may stand before the paths (``3 - Animals > Birds``).

    Lines above the paths that begin with # are comments. What has no id has its path for one, and what has one is known by
    its path, too.

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
    add_entities(
        EntityColumns.of(["id", "path"] if has_ids else ["path"]),
        numbered if has_ids else rows,
        builder,
        table,
        lambda what, at: problems.report(what, at, str(source)),
        problems.remark,
    )
