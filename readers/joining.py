"""Joins of tables by foreign keys: in databases, sheets, files, and JSON and XML lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

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
from ontodex.readers.tables.keys import Resolved, resolved
from ontodex.readers.tables.mapping import TableMapping, chosen_mapping
from ontodex.readers.tables.rows import mapped_header, rows_of
from ontodex.readers.tables.table import Table, table_name
from ontodex.readers.tables.values import LETTER
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["Document", "joined"]


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


Joined = tuple[Sheet | Document, TableMapping]
"""A table with its foreign keys replaced by ids, and its guessed or given mapping."""


def joined(
    sources: Sequence[Path | Sheet | Document],
    tables: Sequence[Table],
    mappings: Sequence[TableMapping] = (),
) -> list[list[Joined]]:
    """Return, for each source, its joined tables, with foreign keys replaced by ids.

    A source has an empty list if none of its tables changes. See
    :func:`ontodex.readers.mapping.joins.guess_joins`.

    Args:
        sources: Tables, and documents of JSON, YAML or XML.
        tables: Name of each source, and what a data package declares about it.
        mappings: Mappings that the user gave. If one fits any table, no joins are guessed.
    """
    found = [
        _Lists(one, mappings) if isinstance(one, Document) else _Rows(one, table, mappings)
        for one, table in zip(sources, tables, strict=True)
    ]
    keyed = [table for one in found for table in one.tables]
    if len(keyed) > MOST_TABLES:
        return [[] for _ in found]
    given = [mapping for one in found for mapping in one.mappings]
    if any(given):
        of_tables = [
            (mapping or TableMapping(table=table.name), table.cells)
            for mapping, table in zip(given, keyed, strict=True)
        ]
        keys = iter(resolved(of_tables, mappings))
    else:
        count = Counter(table.name for table in keyed)
        apart = [
            table if count[table.name] == 1 else replace(table, name=normalise(table.title))
            for table in keyed
        ]
        joins = guess_joins(apart, are_one=_are_one(sources))
        guessed = [(join, table.cells) for join, table in zip(joins, keyed, strict=False)]
        keys = iter(resolved(guessed))
    return [one.joined([*islice(keys, len(one.tables))]) for one in found]


def _are_one(sources: Sequence[Path | Sheet | Document]) -> bool:
    """Tell whether sources are one document, or the tables of one database."""
    are_tables = all(isinstance(one, Sheet) and one.has_header for one in sources)
    return len(sources) == 1 or (
        are_tables and len({one.path for one in sources if isinstance(one, Sheet)}) == 1
    )


class _Tables:
    """The tables of a source.

    Attributes:
        tables: The tables; empty if the source is not to be joined.
        mappings: For each table, the mapping that was given for it, or ``None``.
    """

    def __init__(self) -> None:
        self.tables: list[KeyedTable] = []
        self.mappings: list[TableMapping | None] = []

    def joined(self, keys: Sequence[Resolved]) -> list[Joined]:
        """Return the tables with foreign keys replaced by ids; an empty list without such."""
        are_given = any(self.mappings)
        for table, of in zip(self.tables, keys, strict=False):
            first = table.named_so(table.header.mapping.id[:1])
            ids = {*filter(None, (of.mapping.head, *of.mapping.id))}
            is_told = not are_given and (of.mapping.keys or ids.difference(first))
            if of.changes or is_told:
                pairs = zip(self.tables, keys, strict=True)
                return [(self._replaced(table, of), of.mapping) for table, of in pairs]
        return []

    def _replaced(self, table: KeyedTable, of: Resolved) -> Sheet | Document:
        raise NotImplementedError


class _Rows(_Tables):
    """A table in a file or a sheet.

    It is not to be joined if it has no header, has duplicate columns, or consists of links whose
    heads and tails are not numbers.
    """

    def __init__(
        self, source: Path | Sheet, table: Table, mappings: Sequence[TableMapping]
    ) -> None:
        super().__init__()
        self._sheet = source if isinstance(source, Sheet) else Sheet(source, "", ())
        self._names: list[str] = []
        self._rows: list[tuple[int, list[str]]] = []
        self._above: list[tuple[int, list[str]]] = []
        noted = Noted()
        with suppress(ReadError):  # a fault is reported where the source is read
            self._take(source, table, noted, mappings)
        self._sheet = self._sheet._replace(faults=noted.reports)

    def _take(
        self, source: Path | Sheet, table: Table, noted: Noted, mappings: Sequence[TableMapping]
    ) -> None:
        sheet, declared = self._sheet, table.declared
        mapping, header, above, rows = mapped_header(rows_of(source, noted), mappings, table.name)
        if mapping is None:
            header, _, rows = header_of(rows, is_first=sheet.has_header or bool(declared.types))
        first = [] if header else next(rows, (0, []))[1]
        may_be_header = len(first) != len(UNNAMED) or any(map(is_key, first))
        names = [one.strip() for one in header or (first if may_be_header else [])]
        ends = ends_of(names) if mapping is None else ()
        taken = [*islice(rows, 1)]
        cells = [row[at].strip() for _, row in taken for at in ends if at < len(row)]
        are_links = mapping is None and (ends or triples_mapping(names))
        if not _are_columns(names) or (are_links and not (cells and all(map(str.isdigit, cells)))):
            return
        self._names, self._above, self._rows = names, [*above], [*taken, *rows]
        fitting = [row for _, row in self._rows if 1 < len(row) <= len(names)]
        columns = {
            one: [row[at].strip() if at < len(row) else "" for row in fitting]
            for at, one in enumerate(names)
        }  # the last cells may be left out
        stem = source.stem if isinstance(source, Path) else source.name
        self.mappings = [mapping]
        self.tables = [
            KeyedTable(
                table.name,
                columns,
                sheet.key or declared.key,
                sheet.foreign or declared.foreign,
                declared.name or stem,
                tuple(names[at] for at in ends),
            )
        ]

    def _replaced(self, table: KeyedTable, of: Resolved) -> Sheet:
        ignored = {} if any(self.mappings) else of.mapping.ignored
        columns = [name for name in self._names if name not in ignored]
        rows: list[tuple[int, list[str]]] = [*self._above, (len(self._above) + 1, columns)]
        for number, cells in self._rows:
            row = dict(zip(self._names, map(str.strip, cells), strict=False))
            if not 1 < len(cells) <= len(self._names):
                rows.append((number, cells))
            elif not of.is_about_nothing(row):
                rows.append((number, [of.cell(one, row[one]) for one in columns if one in row]))
        return self._sheet._replace(rows=rows, has_header=not self._above)


class _Lists(_Tables):
    """The lists of objects in a document, unless the records of a list are too different."""

    def __init__(self, source: Document, mappings: Sequence[TableMapping]) -> None:
        super().__init__()
        self._source, self._problems = source, source.problems
        self._lists = {key: [*map(unwrapped, records)] for key, records in source.lists.items()}
        if all(map(are_alike, self._lists.values())):
            self.tables = [_table(key, records) for key, records in self._lists.items() if records]
        with_keys = [one for one in mappings if one.keys or one.id_prefix]
        self.mappings = [
            chosen_mapping(with_keys, table.name, [*table.cells]) for table in self.tables
        ]

    def _replaced(self, table: KeyedTable, of: Resolved) -> Document:
        records = [
            {key: of.cell(key, cell_of(one[key])) if of.has(key) else one[key] for key in kept}
            for one in self._lists[table.title]
            if not of.is_about_nothing({name: cell_of(value) for name, value in one.items()})
            for kept in [[key for key in one if key not in of.mapping.ignored]]
        ]
        problems = self._problems
        self._problems = problems.of(problems.source)  # faults of the document are reported once
        return Document(self._source.path, problems, {table.title: records})


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
