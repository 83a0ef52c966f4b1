"""Excel workbooks: each visible sheet is a table."""

from __future__ import annotations

import datetime
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ontodex.errors import ReadError
from ontodex.readers.files import FREE, MOST_TIMES, names_in_zip
from ontodex.readers.tables.values import plain

__all__ = ["CONTENT", "Sheet", "is_workbook", "sheets_of"]

CONTENT = "xl/workbook.xml"
"""Name of the member by which a zip file is recognised as a workbook."""

MOST_ROWS = 1 << 20
"""Maximal number of rows of a sheet that are read; a file may declare more."""

MOST_EMPTY = 100
"""A sheet may have ``FREE`` cells, plus ``MOST_EMPTY`` for each filled cell."""

LOOKED_AT = 1 << 12
"""Number of first bytes of each part that are searched for a DOCTYPE."""


class Sheet(NamedTuple):
    """A table that was opened: of a workbook, a database, records or a data frame.

    Attributes:
        path: The file.
        name: Name of the sheet or table.
        rows: (number from 1, cells) of each non-empty row, as text, all equally wide.
        has_header: Whether the first row is known to name the columns.
        key: Columns of the declared primary key.
        foreign: Declared foreign keys: for each column, the name and the column of the other table.
        faults: Faults of rows that were left out: message, line and source.
        are_links: Whether rows are links or entities, if that is known.
        unit: Word for a row in messages, such as ``"record"``, if rows are not lines.
    """

    path: Path
    name: str
    rows: Sequence[tuple[int, list[str]]]
    has_header: bool = False
    key: Sequence[str] = ()
    foreign: Mapping[str, tuple[str, str]] = MappingProxyType({})
    faults: Sequence[tuple[str, int | None, str | None]] = ()
    are_links: bool | None = None
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.path} [{self.name}]" if self.name else str(self.path)

    @property
    def lines(self) -> list[tuple[int, str]]:
        """The rows as lines of text: non-empty cells joined by " - ", such as an id and a path."""
        return [(number, " - ".join(filter(str.strip, cells))) for number, cells in self.rows]


def is_workbook(path: Path) -> bool:
    """Tell whether a file is an Excel workbook (.xlsx, .xlsm)."""
    return CONTENT in names_in_zip(path)


def sheets_of(path: Path) -> list[Sheet]:
    """Return the sheets of a workbook that are visible and not empty.

    Raises:
        ReadError: If the workbook cannot be read, looks like an attack, or has no such sheet.
    """
    _expect_harmless(path)
    import openpyxl

    sheets = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of content other than cells
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            for sheet in book.worksheets:
                if sheet.sheet_state == "visible":
                    sheet.reset_dimensions()
                    filled = [*_filled(islice(sheet.iter_rows(values_only=True), MOST_ROWS))]
                    sheets += [Sheet(path, sheet.title, _padded(filled, path))] if filled else []
            book.close()
    except ReadError:
        raise
    except Exception as error:  # openpyxl raises many kinds for damaged workbooks
        raise ReadError(
            f"expected a workbook, found a fault ({error}); save it anew", str(path)
        ) from None
    if not sheets:
        raise ReadError(
            "expected a workbook with a table, found none on a sheet that is shown", str(path)
        )
    return sheets


def _expect_harmless(path: Path) -> None:
    """Check that a workbook does not unzip to a hundred times its size, and has no DOCTYPE.

    Raises:
        ReadError: If the workbook unzips to more, has a DOCTYPE, or is damaged or encrypted.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            if sum(part.file_size for part in parts) > max(FREE, MOST_TIMES * path.stat().st_size):
                message = f"expected a workbook of at most {MOST_TIMES} times its size"
                message += ", found one that grows beyond"
                raise ReadError(message, str(path))
            for part in parts:
                with archive.open(part) as stream:
                    if b"<!DOCTYPE" in stream.read(LOOKED_AT):
                        raise ReadError(
                            "expected a workbook without a DOCTYPE, found one; refused", str(path)
                        )
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        raise ReadError(
            f"expected a workbook, found a damaged or locked one ({error})", str(path)
        ) from None


def _filled(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[int, list[str]]]:
    for number, row in enumerate(rows, start=1):
        cells = [_text(value) for value in row]
        while cells and not cells[-1].strip():
            cells.pop()
        if cells:
            yield number, cells


def _padded(rows: list[tuple[int, list[str]]], path: Path) -> list[tuple[int, list[str]]]:
    """Return rows filled up with empty cells to the same width.

    Raises:
        ReadError: If nearly all cells would be empty.
    """
    width = max(len(cells) for _, cells in rows)
    if width * len(rows) > FREE + MOST_EMPTY * sum(len(cells) for _, cells in rows):
        raise ReadError(
            f"expected a table, found {len(rows):,} rows that are up to {width:,} cells wide",
            str(path),
        )
    return [(number, cells + [""] * (width - len(cells))) for number, cells in rows]


def _text(value: Any) -> str:
    """Return a cell as text; dates at midnight are dates without a time.

    >>> _text(2.0), _text(datetime.datetime(2026, 1, 2))
    ('2', '2026-01-02')
    """
    if isinstance(value, datetime.datetime):
        return value.isoformat() if value.time() != datetime.time() else value.date().isoformat()
    return plain(value)
