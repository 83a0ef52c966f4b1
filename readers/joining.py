"""Joins of tables by foreign keys: in databases, sheets, files, and JSON and XML lists."""

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
from ontodex.readers.mapping.foreign_keys import KeyedTable
from ontodex.readers.mapping.guess import header_of
from ontodex.readers.mapping.joins import guess_joins
from ontodex.readers.mapping.keys import is_key
from ontodex.readers.mapping.triples import ends_of, triples_mapping
from ontodex.readers.problems import Noted, Problems
from ontodex.readers.record_rows import Record
from ontodex.readers.records import are_alike, cell_of, is_link, unwrapped
from ontodex.readers.tables.declared import Declared, declared_by
from ontodex.readers.tables.keys import Resolved, resolved
from ontodex.readers.tables.mapping import TableMapping, chosen_mapping
from ontodex.readers.tables.rows import mapped_header, rows_of
from ontodex.readers.tables.table import table_name
from ontodex.readers.tables.values import LETTER
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["Document", "gathered", "joined"]


UNNAMED = ("head", "relation", "tail")
"""Names of the three columns of a table of triples without a header."""


MOST_TABLES = 200
"""Maximal number of tables that are joined, as every pair of tables is compared."""


class Document(NamedTuple):
    """The records of a JSON, YAML or XML file.

    Attributes:
        path: The file.
        problems: Receives the faults of the file.
        lists: Records of each list of the file by its name, or of each kind of XML element.
        is_record: Whether the file is a single object.
    """

    path: Path
    problems: Problems
    lists: Mapping[str, Sequence[Record]]
    is_record: bool = False

    def __str__(self) -> str:
        return str(self.path)


def gathered(sources: Sequence[Any]) -> list[Any]:
    """Return sources with the record files of a folder combined into one document.

    The document takes the position of the first of these files, and ``None`` the positions of the
    others. Files are not combined if their records have different keys.
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
    """Return whether most keys of each record are keys of most records."""
    counts = Counter(key for record in records for key in record)
    usual = {key for key, count in counts.items() if 2 * count > len(records)}
    return all(2 * len(usual.intersection(record)) > len(record) for record in records)


Joined = tuple[Sheet | Document, TableMapping]
"""A table with its foreign keys replaced by ids, and its guessed or given mapping."""


def joined(
    sources: Sequence[Path | Sheet | Document],
    names: Sequence[str],
    mappings: Sequence[TableMapping] = (),
) -> list[list[Joined]]:
    """Return, for each source, its joined tables, with foreign keys replaced by ids.

    A source has an empty list if none of its tables changes. See
    :func:`ontodex.readers.mapping.joins.guess_joins`.

    Args:
        sources: Tables, and documents of JSON, YAML or XML.
        names: Name of each source, in words.
        mappings: Mappings that the user gave. If one fits any table, no joins are guessed.
    """
    named = zip(sources, names, strict=True)
    found = [
        _Lists(one, mappings) if isinstance(one, Document) else _Rows(one, name, mappings)
        for one, name in named
    ]
    tables = [table for one in found for table in one.tables]
    if len(tables) > MOST_TABLES:
        return [[] for _ in found]
    given = [mapping for one in found for mapping in one.mappings]
    if any(given):
        of_tables = [
            (mapping or TableMapping(table=table.name), table.cells)
            for mapping, table in zip(given, tables, strict=True)
        ]
        keys = iter(resolved(of_tables, mappings))
    else:
        called = Counter(table.name for table in tables)
        apart = [
            table if called[table.name] == 1 else replace(table, name=normalise(table.title))
            for table in tables
        ]
        joins = guess_joins(apart, are_one=_are_one(sources))
        guessed = [(join, table.cells) for join, table in zip(joins, tables, strict=False)]
        keys = iter(resolved(guessed))
    return [one.read_by([*islice(keys, len(one.tables))]) for one in found]


def _are_one(sources: Sequence[Path | Sheet | Document]) -> bool:
    """Tell whether sources are one document, or the tables of one database."""
    are_tables = all(isinstance(one, Sheet) and one.has_header for one in sources)
    return len(sources) == 1 or (
        are_tables and len({one.path for one in sources if isinstance(one, Sheet)}) == 1
    )


class _Rows:
    """A table in a file or a sheet.

    Attributes:
        tables: A list with the table; empty if the table has no header, has duplicate columns, or
            consists of links whose heads and tails are not numbers.
        mappings: A list with the mapping that was given for the table, or with ``None``.
    """

    def __init__(
        self, source: Path | Sheet, name: str, mappings: Sequence[TableMapping] = ()
    ) -> None:
        self._sheet = source if isinstance(source, Sheet) else Sheet(source, "", ())
        self._names: list[str] = []
        self._rows: list[tuple[int, list[str]]] = []
        self._above: list[tuple[int, list[str]]] = []
        self.tables: list[KeyedTable] = []
        self.mappings: list[TableMapping | None] = []
        noted = Noted()
        with suppress(ReadError):  # a fault is reported where the source is read
            self._take(source, name, noted, mappings)
        self._sheet = self._sheet._replace(faults=noted.reports)

    def _take(
        self, source: Path | Sheet, name: str, noted: Noted, mappings: Sequence[TableMapping]
    ) -> None:
        declared = declared_by(source) if isinstance(source, Path) else Declared()
        if declared.key or declared.foreign:
            self._sheet = self._sheet._replace(key=declared.key, foreign=declared.foreign)
        sheet = self._sheet
        mapping, header, above, rows = mapped_header(rows_of(source, noted), mappings, name)
        if mapping is None:
            header, _, rows = header_of(rows, is_first=sheet.has_header or bool(declared.types))
        first = [] if header else next(rows, (0, []))[1]
        may_be_header = len(first) != len(UNNAMED) or any(map(is_key, first))
        self._names = [one.strip() for one in header or (first if may_be_header else [])]
        ends = ends_of(self._names) if mapping is None else ()
        self._rows = [*islice(rows, 1)]
        cells = [row[at].strip() for _, row in self._rows for at in ends if at < len(row)]
        is_known = mapping is None and (ends or triples_mapping(self._names))
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
        stem = source.stem if isinstance(source, Path) else source.name
        title = declared.name or stem
        self._above, self.mappings = [*above], [mapping]
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

    def read_by(self, keys: Sequence[Resolved]) -> list[Joined]:
        """Return the table with foreign keys replaced by ids; an empty list if nothing changes."""
        return [(self._read_by(of), of.mapping) for of in keys if self._is_read_by(of)]

    def _is_read_by(self, of: Resolved) -> bool:
        """Return whether ids replace keys of the table, or its columns are renamed."""
        if any(self.mappings):
            return of.changes
        return of.changes or _renames(of.mapping, self.tables[0])

    def _read_by(self, of: Resolved) -> Sheet:
        given, mapping = any(self.mappings), of.mapping
        columns = [name for name in self._names if given or name not in mapping.ignored]
        rows: list[tuple[int, list[str]]] = [*self._above, (len(self._above) + 1, columns)]
        for number, cells in self._rows:
            if not 1 < len(cells) <= len(self._names):
                rows.append((number, cells))
            elif not of.is_about_nothing(
                row := dict(zip(self._names, map(str.strip, cells), strict=False))
            ):
                rows.append((number, [of.cell(one, row[one]) for one in columns if one in row]))
        return self._sheet._replace(rows=rows, has_header=not self._above)


class _Lists:
    """The lists of objects in a document.

    Attributes:
        tables: A table for each list; empty if the records of a list are too different for a table.
        mappings: For each table, the mapping that was given for it, or ``None``.
    """

    def __init__(self, source: Document, mappings: Sequence[TableMapping] = ()) -> None:
        self._source = source
        self._lists = {key: [*map(unwrapped, records)] for key, records in source.lists.items()}
        are_tables = all(map(are_alike, self._lists.values()))
        self.tables = [
            _table(key, records) for key, records in self._lists.items() if are_tables and records
        ]
        self.mappings = [
            chosen_mapping(
                [one for one in mappings if one.keys or one.id_prefix], table.name, [*table.cells]
            )
            for table in self.tables
        ]

    def read_by(self, keys: Sequence[Resolved]) -> list[Joined]:
        """Return the lists with foreign keys replaced by ids; an empty list if none changes."""
        if not any(
            of.changes or _renames(of.mapping, table)
            for of, table in zip(keys, self.tables, strict=False)
        ):
            return []
        problems = self._source.problems
        found: list[Joined] = []
        for table, of in zip(self.tables, keys, strict=True):
            lists = {table.title: self._read_by(table.title, of)}
            document = Document(self._source.path, problems, lists)
            found.append((document, of.mapping))
            problems = problems.of(problems.source)  # faults of the document are reported once
        return found

    def _read_by(self, key: str, of: Resolved) -> list[Record]:
        return [
            _joined(record, of)
            for record in self._lists[key]
            if not of.is_about_nothing({name: cell_of(value) for name, value in record.items()})
        ]


def _renames(mapping: TableMapping, table: KeyedTable) -> bool:
    """Return whether the mapping has an id or head other than the first column named as an id."""
    names = [*table.cells]
    first = [names[at] for at in table.columns.id[:1]]
    return bool({*filter(None, (mapping.head, *mapping.id))} - {*first})


def _are_columns(names: Sequence[str]) -> bool:
    """Return whether names are distinct, more than one, and have letters, as names of columns."""
    return len({*names}) == len(names) > 1 and all(map(LETTER.search, filter(None, names)))


def _table(key: str, records: Sequence[Record]) -> KeyedTable:
    """Return a list of records as a table."""
    names = [*dict.fromkeys(name for record in records for name in record)]
    ends = ends_of(names) if any(is_link(tuple(record)) for record in records) else ()
    cells = {name: [cell_of(record.get(name)) for record in records] for name in names}
    return KeyedTable(
        table_name(f"{key}.json"), cells, title=key, ends=tuple(names[at] for at in ends)
    )


def _joined(record: Record, of: Resolved) -> Record:
    """Return a record with foreign keys replaced by ids."""
    return {
        key: of.cell(key, cell_of(record[key])) if of.has(key) else record[key]
        for key in record
        if key not in of.mapping.ignored
    }
