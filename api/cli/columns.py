"""Tables of the command line: a column is read, and further columns are written beside it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ontodex.errors import ReadError, SettingsError, nearest

__all__ = ["column_of", "expect_table_file", "read_rows", "table_text", "write_rows"]

TSV, CSV, EXCEL = ".tsv", ".csv", ".xlsx"
SEPARATORS = "\t;,"
LARGEST_CELL = 1 << 24
"""Largest number of characters in a cell."""

Row = Sequence[Any]


def read_rows(path: Path) -> list[list[str]]:
    """Return the rows of a table (TSV, CSV or the first sheet of a workbook), all equally wide.

    The first row names the columns. Empty rows in between are kept, so that the rows of an output
    are those of the input.

    Raises:
        ReadError: If there is no such file, it is neither text in UTF-8 nor a workbook, or it has
            no rows.
    """
    from ontodex.readers.tables.workbooks import is_workbook

    if not path.is_file():
        raise ReadError("expected a table, found no file of this name; check the path", str(path))
    rows = _workbook_rows(path) if is_workbook(path) else _text_rows(path)
    if not rows:
        raise ReadError("expected a table whose first row names the columns, found none", str(path))
    width = max(map(len, rows))
    return [[*row, *[""] * (width - len(row))] for row in rows]


def _workbook_rows(path: Path) -> list[list[str]]:
    from ontodex.readers.tables.workbooks import sheets_of

    rows: list[list[str]] = []
    for number, cells in sheets_of(path)[0].rows:
        rows += [[]] * (number - 1 - len(rows) if rows else 0)
        rows.append(cells)
    return rows


def _text_rows(path: Path) -> list[list[str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(f"expected UTF-8, found {error}; convert the file", str(path)) from None
    first = text.partition("\n")[0]
    separator = max(SEPARATORS, key=first.count)
    before = csv.field_size_limit(LARGEST_CELL)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=False))
    except csv.Error as error:
        raise ReadError(f"expected cells of a table, found {error}", str(path)) from None
    finally:
        csv.field_size_limit(before)


def column_of(header: Sequence[str], name: str | None, path: Path) -> int:
    """Return the position of a column.

    Args:
        header: Names of the columns.
        name: Name of the column; ``None`` for the only column.
        path: The file, for the message.

    Raises:
        SettingsError: If no column has the name, or there are several and none is named.
    """
    if name is None and len(header) == 1:
        return 0
    if name in header:
        return header.index(str(name))
    hint = "" if name is None else nearest(name, header)
    found = "none" if name is None else repr(name)
    raise SettingsError(
        f"{path}: expected --column with one of {', '.join(map(repr, header))}, found {found}{hint}"
    )


def expect_table_file(path: Path) -> None:
    """Check the suffix of a table to write.

    Raises:
        SettingsError: If the file is neither .tsv, .csv nor .xlsx.
    """
    if path.suffix.lower() not in (TSV, CSV, EXCEL):
        raise SettingsError(
            f"{path}: expected a file that ends in .tsv, .csv or .xlsx, found {path.suffix!r}"
        )


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write a table: TSV, CSV or a workbook, by the suffix of the file."""
    suffix = path.suffix.lower()
    if suffix == EXCEL:
        _write_workbook(rows, path)
    else:
        path.write_text(table_text(rows, "," if suffix == CSV else "\t"), encoding="utf-8")


def table_text(rows: Sequence[Row], separator: str = "\t") -> str:
    r"""Return a table as text; ``None`` is empty, floats have six digits after the point.

    >>> table_text([["name", "p"], ["a, b", 0.5], ["", None]], ",")
    'name,p\n"a, b",0.500000\n,\n'
    """
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(
        [f"{value:.6f}" if isinstance(value, float) else value for value in row] for row in rows
    )
    return text.getvalue()


def _write_workbook(rows: Sequence[Row], path: Path) -> None:
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in rows:
        cells = [WriteOnlyCell(sheet, value) for value in row]
        for cell, value in zip(cells, row, strict=True):
            if isinstance(value, str):
                cell.data_type = "s"  # text that starts with = is no formula
        sheet.append(cells)
    book.save(path)
