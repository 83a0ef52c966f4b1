"""SQLite databases: tables joined by their keys."""

from __future__ import annotations

from pathlib import Path

from ontodex.errors import ReadError
from ontodex.readers.sqlite import columns_of, keys_of, opened_database, rows_in
from ontodex.readers.tables.values import plain
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["tables_of"]


def tables_of(path: Path) -> list[Sheet]:
    """Return the non-empty tables of a database, with the names of the columns as first row.

    Raises:
        ReadError: If it cannot be read, or has no such table.
    """
    found = []
    with opened_database(path) as database:
        for table, columns in columns_of(database).items():
            quoted = '"{}"'.format(table.replace('"', '""'))
            values = rows_in(database, f"SELECT * FROM {quoted}", path)  # noqa: S608
            rows = [
                ["" if isinstance(value, bytes) else plain(value) for value in row]
                for row in values
            ]
            if rows:
                named = [*enumerate([columns, *rows], start=1)]
                found.append(Sheet(path, table, named, True, *keys_of(database, table)))
    if not found:
        raise ReadError("expected a database with a table, found none with a row", str(path))
    return found
