"""Files of SQLite, opened to be read and nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from ontodex.errors import ReadError

__all__ = ["SQLITE", "columns_of", "is_database", "opened_database"]

SQLITE = b"SQLite format 3\0"
"""What a file of SQLite begins with."""


def is_database(path: Path) -> bool:
    """Tell whether a file is a database of SQLite."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


@contextmanager
def opened_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database to be read, and nothing else.

    Raises:
        ReadError: If it is damaged, or locked.
    """
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            yield database
    except sqlite3.Error as error:
        raise ReadError(f"expected a database of SQLite, found a damaged or locked one ({error})", str(path)) from None


def columns_of(database: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the tables of a database, and the names of their columns."""
    tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid").fetchall()
    columns = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
    return {
        table: [name for (name,) in database.execute(columns, (table,))]
        for (table,) in tables
        if not table.startswith("sqlite_")
    }
