"""SQLite databases, opened read-only, and their tables with primary and foreign keys."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ontodex.errors import ReadError
from ontodex.readers.tables.values import plain
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["SQLITE", "columns_of", "is_database", "opened_database", "rows_in", "tables_of"]

SQLITE = b"SQLite format 3\0"
"""The magic bytes of an SQLite database."""


def is_database(path: Path) -> bool:
    """Tell whether a file is an SQLite database."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


@contextmanager
def opened_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database read-only.

    Raises:
        ReadError: If the database is damaged or locked.
    """
    try:
        with closing(
            sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)
        ) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            yield database
    except (
        sqlite3.Error,
        UnicodeDecodeError,
    ) as error:  # messages may quote bytes of the file
        raise ReadError(
            f"expected a database of SQLite, found a damaged or locked one ({error})", str(path)
        ) from None


def rows_in(database: sqlite3.Connection, query: str, path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query.

    Raises:
        ReadError: If there are more rows than the file has bytes, which indicates an attack.
    """
    most = path.stat().st_size
    for number, row in enumerate(database.execute(query)):
        if number > most:
            raise ReadError(
                f"expected no more rows than the file has bytes ({most:,}), found more; refused",
                str(path),
            )
        yield row


def columns_of(database: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the column names of each table; virtual and internal tables are left out."""
    stored = (
        "SELECT name FROM sqlite_master WHERE type = 'table' AND typeof(name) = 'text' "
        "AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY rowid"
    )
    columns = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
    return {
        table: [name for (name,) in database.execute(columns, (table,))]
        for (table,) in database.execute(stored).fetchall()
    }


def _keys_of(
    database: sqlite3.Connection, table: str
) -> tuple[list[str], dict[str, tuple[str, str]]]:
    """Return the primary key of a table, and its foreign keys: (other table, column) by column.

    Foreign keys of several columns are left out, as no single column identifies a row.
    """
    names = {name.casefold(): name for name in columns_of(database)}
    query = 'SELECT id, "from", "table", "to" FROM pragma_foreign_key_list(?)'
    parts = database.execute(query, (table,)).fetchall()
    count = Counter(number for number, *_ in parts)
    found = {}
    for number, column, other, key in parts:
        named = names.get(other.casefold())
        if (
            named
            and count[number] == 1
            and (key := key or next(iter(_key_of(database, named)), ""))
        ):
            found[column] = (named, key)
    return _key_of(database, table), found


def _key_of(database: sqlite3.Connection, table: str) -> list[str]:
    return [
        name
        for (name,) in database.execute(
            "SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk", (table,)
        )
    ]


def tables_of(path: Path) -> list[Sheet]:
    """Return the non-empty tables of a database; the first row of each is the column names.

    Raises:
        ReadError: If the database cannot be read, or has no non-empty table.
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
                found.append(Sheet(path, table, named, True, *_keys_of(database, table)))
    if not found:
        raise ReadError("expected a database with a table, found none with a row", str(path))
    return found
