"""Workbooks of Excel: each sheet that is shown is a table."""

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
"""Member of zip files that are workbooks."""

MOST_ROWS = 1 << 20
"""Maximal number of rows of a sheet; a file may declare more."""

MOST_EMPTY = 100
"""Maximal number of cells for each filled cell, beyond the first million."""

LOOKED_AT = 1 << 12
"""First bytes of each part, in which a DOCTYPE would stand."""


class Sheet(NamedTuple):
    """A table in a workbook or a database.

    Attributes:
        path: The file.
        name: Name of the sheet or table.
        rows: (number from 1, cells) of each non-empty row, as text, all equally wide.
        has_header: Whether its first row is known to name the columns.
        key: Columns of the declared primary key.
        foreign: The declared foreign keys: table and columns, by columns.
        faults: Faults of rows that were left out: message, line and source.
        columns: Names of the columns in the mapping, if the first row has others.
    """

    path: Path
    name: str
    rows: Sequence[tuple[int, list[str]]]
    has_header: bool = False
    key: Sequence[str] = ()
    foreign: Mapping[str, tuple[str, str]] = MappingProxyType({})
    faults: Sequence[tuple[str, int | None, str | None]] = ()
    columns: Sequence[str] = ()

    def __str__(self) -> str:
        return f"{self.path} [{self.name}]" if self.name else str(self.path)

    @property
    def lines(self) -> list[tuple[int, str]]:
        """The rows as lines: an id, if there is one, before a path."""
        return [(number, " - ".join(filter(str.strip, cells))) for number, cells in self.rows]


def is_workbook(path: Path) -> bool:
    """Tell whether a file is a workbook of Excel (.xlsx, .xlsm)."""
    return CONTENT in names_in_zip(path)


def sheets_of(path: Path) -> list[Sheet]:
    """Return the sheets of a workbook that are shown and not empty.

    Raises:
        ReadError: If it cannot be read, is out of proportion, or has no such sheet.
    """
    _expect_harmless(path)
    import openpyxl

    sheets = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what the file has beside its cells
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            for sheet in book.worksheets:
                if sheet.sheet_state == "visible":
                    sheet.reset_dimensions()
                    filled = [*_filled(islice(sheet.iter_rows(values_only=True), MOST_ROWS))]
                    sheets += [Sheet(path, sheet.title, _padded(filled, path))] if filled else []
            book.close()
    except ReadError:
        raise
    except Exception as error:  # of any kind: a damaged workbook trips openpyxl in many places
        raise ReadError(
            f"expected a workbook, found a fault ({error}); save it anew", str(path)
        ) from None
    if not sheets:
        raise ReadError(
            "expected a workbook with a table, found none on a sheet that is shown", str(path)
        )
    return sheets


def _expect_harmless(path: Path) -> None:
    """Refuse a workbook that unzips to a hundred times its size, or declares entities.

    Raises:
        ReadError: If it does.
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
    """Return rows that are equally wide.

    Raises:
        ReadError: If nearly all cells of such rows are empty.
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
