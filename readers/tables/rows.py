"""Splitting the lines of a TSV or CSV table into cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from ontodex.readers.files import lines_of
from ontodex.readers.problems import Problems
from ontodex.readers.tables.mapping import TableMapping, chosen_mapping, column_names
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["Rows", "mapped_header", "rows_of"]

Rows = Iterator[tuple[int, list[str]]]
"""Number and cells of each line of a table."""

ABOVE = 1000
"""Maximal number of lines that are searched for a header."""

LOOKED_AT = 20
"""Number of lines, without comments, that determine the separator of cells."""

MOST_COMMENTS = 1000
"""Maximal number of lines, with comments, that are read to find these ``LOOKED_AT`` lines."""

LONGEST_CELL = 1000
"""Maximal number of further lines of a quoted cell."""

MARKS = ("\t", ",", ";")
"""Possible separators of cells."""

QUOTED = re.compile(r'(?:^|(?<=[\t,;]))"(?:[^"]|"")*"(?=[\t,;]|$)', re.MULTILINE)
"""A quoted cell, which may contain line breaks."""


def mapped_header(
    rows: Rows, mappings: Sequence[TableMapping], table: str
) -> tuple[TableMapping | None, list[str], Rows, Rows]:
    """Find the given mapping of a table, and the header of the table.

    Args:
        rows: The rows of the table.
        mappings: Mappings that may fit.
        table: Name of the table.

    Returns:
        The mapping, the names of the columns, the rows above the header, and the rows below. If no
        mapping fits, the mapping is ``None``, and all rows are in the rows below.
    """
    above = [*islice(rows, ABOVE if mappings else 0)]
    for at, (_, cells) in enumerate(above):
        names = column_names([cells[0].lstrip("#"), *cells[1:]])
        for columns in (column_names(cells), names):
            with_header = [one for one in mappings if one.header]
            if found := chosen_mapping(with_header, table, columns):
                return found, columns, iter(above[:at]), chain(above[at + 1 :], rows)
    width = next((len(cells) for _, cells in above if not cells[0].startswith("#")), 0)
    columns, without = column_names([""] * width), [one for one in mappings if not one.header]
    if found := chosen_mapping(without, table, columns):
        return found, columns, iter(()), chain(above, rows)
    return None, [], iter(()), chain(above, rows)


def rows_of(source: Path | Sheet, problems: Problems) -> Rows:
    """Yield (line number, cells) of every line that is not blank, or the rows of a sheet.

    The first lines determine the separator: tab, comma or semicolon. Quoted cells may contain line
    breaks, and separators other than tabs; the quotes are removed.
    """
    if isinstance(source, Sheet):
        for fault in source.faults:
            problems.report(*fault)
        yield from source.rows
        return
    filled = (
        (number, line) for number, line in lines_of(source, problems) if line and not line.isspace()
    )
    first, told = list[tuple[int, str]](), list[str]()
    for found in filled:
        first.append(found)
        told += [] if found[1].startswith("#") else [found[1]]
        if len(told) == LOOKED_AT or len(first) == MOST_COMMENTS:
            break
    mark = _mark(told or [line for _, line in first])
    lines, again = chain(first, filled), list[tuple[int, str]]()
    while (row := again.pop(0) if again else next(lines, None)) is not None:
        number, line = row
        if mark != "\t" and '"' in line:
            cells, again = _quoted(line, mark, again, lines)
            if isinstance(cells, csv.Error):
                problems.unexpected(f"cells parted by {mark!r}", line, number, source, why=cells)
            else:
                yield number, cells
        else:
            cells = line.split(mark)
            yield number, [_unquoted(cell) for cell in cells] if '"' in line else cells


def _mark(lines: list[str]) -> str:
    """Return the separator of lines: the mark that occurs in most lines, outside quoted cells.

    Among marks in equally many lines, the tab is preferred, then the mark that occurs in more lines
    without a space after it, then the mark with more occurrences.

    >>> _mark(["Doe, Ann;knows;Roe, Bob"]), _mark(["Ann;pays;1,50"]), _mark(["a, b, c"])
    (';', ';', ',')
    """
    plain = QUOTED.sub("", "\n".join(lines)).splitlines()
    lines_with = {mark: sum(mark in line for line in plain) for mark in MARKS}
    if lines_with["\t"] == max(lines_with.values()):
        return "\t"

    def told(mark: str) -> tuple[int, int, int]:
        before_no_space = sum(line.count(mark) > line.count(f"{mark} ") for line in plain)
        return lines_with[mark], before_no_space, sum(line.count(mark) for line in plain)

    return max(MARKS, key=told)


def _unquoted(cell: str) -> str:
    """Return a cell of a tab-separated table without quotes around it; other quotes remain."""
    inner = cell.strip()[1:-1]
    return (
        inner.replace('""', '"')
        if cell.strip() == f'"{inner}"' and '"' not in inner.replace('""', "")
        else cell
    )


def _quoted(
    line: str, mark: str, again: list[tuple[int, str]], lines: Iterator[tuple[int, str]]
) -> tuple[list[str] | csv.Error, list[tuple[int, str]]]:
    """Return the cells of a line with quotes, or the error, and the lines that were read ahead.

    A quoted cell may continue in the next lines. These are taken from ``again``, then from
    ``lines``. Lines that are returned have to be read again.
    """
    taken: list[tuple[int, str]] = []

    def text() -> Iterator[str]:
        yield f"{line}\n"
        for found in islice(chain(again, lines), LONGEST_CELL):
            taken.append(found)
            yield f"{found[1]}\n"

    try:
        return next(csv.reader(text(), delimiter=mark, skipinitialspace=True, strict=True)), again[
            len(taken) :
        ]
    except csv.Error as error:
        return error, taken + again[len(taken) :]
