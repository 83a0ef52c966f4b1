"""Sources whose tables name rows of one another by keys: of a database, sheets, files, and lists in JSON and XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ontodex.errors import ReadError
from ontodex.graph.names import normalise
from ontodex.readers.problems import Noted, Problems
from ontodex.readers.record_rows import Record
from ontodex.readers.records import are_alike, cell_of, is_link, unwrapped
from ontodex.readers.tables.foreign_keys import KeyedTable
from ontodex.readers.tables.joins import Join, joins_of
from ontodex.readers.tables.keys import is_key, table_name
from ontodex.readers.tables.reader import header_of
from ontodex.readers.tables.rows import rows_of
from ontodex.readers.tables.triple_columns import ends_of, triple_columns
from ontodex.readers.tables.values import LETTER
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["Document", "gathered", "joined"]


UNNAMED = ("head", "relation", "tail")
"""What columns hold whose first row does not name them."""


MOST_TABLES = 200
"""Tables that may be joined: each may name rows of any other."""


class Document(NamedTuple):
    """What a file of JSON or XML holds.

    Attributes:
        path: The file.
        problems: Takes its faults.
        lists: The objects in each of its lists, or of each kind of element.
        is_record: Whether it is but one object.
    """

    path: Path
    problems: Problems
    lists: Mapping[str, Sequence[Record]]
    is_record: bool = False

    def __str__(self) -> str:
        return str(self.path)


def gathered(sources: Sequence[Any]) -> list[Any]:
    """Return sources with the records of a folder whose files hold one each as a document in place of the first of them.

    In place of the others is nothing. Records that say different things stay apart.
    """
    found, by_folder = [*sources], dict[Path, list[int]]()
    for number, one in enumerate(sources):
        if isinstance(one, Document) and one.is_record:
            by_folder.setdefault(one.path.parent, []).append(number)
    for folder, numbers in by_folder.items():
        records = [
            record for number in numbers for of in sources[number].lists.values() for record in of
        ]
        if len(numbers) > 1 and _say_the_same(records):
            problems = sources[numbers[0]].problems.of(str(folder))
            found[numbers[0]] = Document(folder, problems, {folder.name: records})
            for number in numbers[1:]:
                found[number] = None
    return found


def _say_the_same(records: Sequence[Record]) -> bool:
    """Tell whether most keys of each record are those of most records."""
    counts = Counter(key for record in records for key in record)
    usual = {key for key, count in counts.items() if 2 * count > len(records)}
    return all(2 * len(usual.intersection(record)) > len(record) for record in records)


Joined = tuple[Sheet | Document, Join]
"""A table with ids in place of keys, and how it is read."""


def joined(sources: Sequence[Path | Sheet | Document], names: Sequence[str]) -> list[list[Joined]]:
    """Return the tables of each source, with ids in place of keys, and how they are read; nothing where nothing is joined.

    See :func:`ontodex.readers.tables.joins.joins_of`.

    Args:
        sources: Tables, and what JSON and XML hold.
        names: What each is called, in words.
    """
    named = zip(sources, names, strict=True)
    found = [_Lists(one) if isinstance(one, Document) else _Rows(one, name) for one, name in named]
    tables = [table for one in found for table in one.tables]
    if len(tables) > MOST_TABLES:
        return [[] for _ in found]
    called = Counter(table.name for table in tables)
    apart = [
        table if called[table.name] == 1 else replace(table, name=normalise(table.title))
        for table in tables
    ]
    joins = iter(joins_of(apart, are_one=_are_one(sources)))
    return [one.read_by([*islice(joins, len(one.tables))]) for one in found]


def _are_one(sources: Sequence[Path | Sheet | Document]) -> bool:
    """Tell whether sources are one document, or the tables of one database."""
    are_tables = all(isinstance(one, Sheet) and one.has_header for one in sources)
    return len(sources) == 1 or (
        are_tables and len({one.path for one in sources if isinstance(one, Sheet)}) == 1
    )


class _Rows:
    """A table in a file or a sheet.

    Attributes:
        tables: Itself, or nothing if it has no header or two columns of one name, or links what are no numbers.
    """

    def __init__(self, source: Path | Sheet, name: str) -> None:
        self._sheet = source if isinstance(source, Sheet) else Sheet(source, "", ())
        self._names: list[str] = []
        self._rows: list[tuple[int, list[str]]] = []
        self.tables: list[KeyedTable] = []
        noted = Noted()
        with suppress(ReadError):  # what is wrong is said where the source is read
            self._take(source, name, noted)
        self._sheet = self._sheet._replace(faults=noted.reports)

    def _take(self, source: Path | Sheet, name: str, noted: Noted) -> None:
        sheet = self._sheet
        header, _, rows = header_of(rows_of(source, noted), is_first=sheet.has_header)
        first = [] if header else next(rows, (0, []))[1]
        may_be_header = len(first) != len(UNNAMED) or any(map(is_key, first))
        self._names = [one.strip() for one in header or (first if may_be_header else [])]
        ends = ends_of(self._names)
        self._rows = [*islice(rows, 1)]
        cells = [row[at].strip() for _, row in self._rows for at in ends if at < len(row)]
        is_known = ends or triple_columns(self._names)
        if not _are_columns(self._names) or (
            is_known and not (cells and all(map(str.isdigit, cells)))
        ):
            return
        self._rows += rows
        fitting = [
            row for _, row in self._rows if 1 < len(row) <= len(self._names)
        ]  # the last cells may be left out
        columns = {
            one: [row[at].strip() if at < len(row) else "" for row in fitting]
            for at, one in enumerate(self._names)
        }
        title = source.stem if isinstance(source, Path) else source.name
        self.tables = [
            KeyedTable(
                name,
                columns,
                sheet.key,
                sheet.foreign,
                title,
                tuple(self._names[at] for at in ends),
            )
        ]

    def read_by(self, joins: Sequence[Join]) -> list[Joined]:
        """Return the table with ids in place of keys, if there are any."""
        return [(self._read_by(join), join) for join in joins if join.changes]

    def _read_by(self, join: Join) -> Sheet:
        columns = [name for name in self._names if name not in join.dropped]
        rows: list[tuple[int, list[str]]] = [(1, [join.header.get(one, one) for one in columns])]
        for number, cells in self._rows:
            if not 1 < len(cells) <= len(self._names):
                rows.append((number, cells))
            elif not join.is_said_of_nothing(
                row := dict(zip(self._names, map(str.strip, cells), strict=False))
            ):
                rows.append((number, [join.cell(one, row[one]) for one in columns if one in row]))
        return self._sheet._replace(rows=rows, has_header=True)


class _Lists:
    """The lists of objects that a document holds.

    Attributes:
        tables: A table for each list, or nothing if one would be too large for what it holds.
    """

    def __init__(self, source: Document) -> None:
        self._source = source
        self._lists = {key: [*map(unwrapped, records)] for key, records in source.lists.items()}
        are_tables = all(map(are_alike, self._lists.values()))
        self.tables = [
            _table(key, records) for key, records in self._lists.items() if are_tables and records
        ]

    def read_by(self, joins: Sequence[Join]) -> list[Joined]:
        """Return the lists with ids in place of keys, if there are any."""
        if not any(join.changes for join in joins):
            return []
        problems = self._source.problems
        found: list[Joined] = []
        for table, join in zip(self.tables, joins, strict=True):
            found.append(
                (
                    Document(
                        self._source.path, problems, {table.title: self._read_by(table.title, join)}
                    ),
                    join,
                )
            )
            problems = problems.of(problems.source)  # those of the document are told once
        return found

    def _read_by(self, key: str, join: Join) -> list[Record]:
        return [
            _joined(record, join)
            for record in self._lists[key]
            if not join.is_said_of_nothing(_row(record))
        ]


def _are_columns(names: Sequence[str]) -> bool:
    """Tell whether names are those of columns, each another."""
    return len({*names}) == len(names) > 1 and all(map(LETTER.search, filter(None, names)))


def _table(key: str, records: Sequence[Record]) -> KeyedTable:
    """Return a list of records as a table."""
    names = [*dict.fromkeys(name for record in records for name in record)]
    ends = ends_of(names) if any(is_link(tuple(record)) for record in records) else ()
    cells = {name: [cell_of(record.get(name)) for record in records] for name in names}
    return KeyedTable(
        table_name(f"{key}.json"), cells, title=key, ends=tuple(names[at] for at in ends)
    )


def _row(record: Record) -> dict[str, str]:
    return {key: cell_of(value) for key, value in record.items()}


def _joined(record: Record, join: Join) -> Record:
    """Return a record with ids in place of keys."""
    return {
        join.header.get(key, key): join.cell(key, cell_of(record[key]))
        if key in join.ids
        else record[key]
        for key in record
        if key not in join.dropped
    }
