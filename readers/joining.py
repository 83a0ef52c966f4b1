"""Joins of tables by foreign keys: in databases, sheets, files, and JSON and XML lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ontodex.errors import ReadError
from ontodex.graph.names import normalise
from ontodex.readers.mapping.guess import header_of
from ontodex.readers.mapping.headers import is_key
from ontodex.readers.mapping.joins import KeyedTable, guess_joins
from ontodex.readers.mapping.triples import ends_of, triples_mapping
from ontodex.readers.problems import Noted, Problems
from ontodex.readers.records import Record, are_alike, cell_of, is_link, unwrapped
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
        _of_lists(one, mappings) if isinstance(one, Document) else _of_table(one, table, mappings)
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


@dataclass(frozen=True)
class _Opened:
    """The tables of a source.

    Attributes:
        tables: The tables; empty if the source is not to be joined.
        mappings: For each table, the mapping that was given for it, or ``None``.
        replaced: Returns a table with foreign keys replaced by ids.
    """

    tables: Sequence[KeyedTable]
    mappings: Sequence[TableMapping | None]
    replaced: Callable[[KeyedTable, Resolved], Sheet | Document]

    def joined(self, keys: Sequence[Resolved]) -> list[Joined]:
        """Return the tables with foreign keys replaced by ids; an empty list without such."""
        are_given = any(self.mappings)
        for table, of in zip(self.tables, keys, strict=False):
            first = table.named_so(table.header.mapping.id[:1])
            ids = {*filter(None, (of.mapping.head, *of.mapping.id))}
            is_told = not are_given and (of.mapping.keys or ids.difference(first))
            if of.changes or is_told:
                pairs = zip(self.tables, keys, strict=True)
                return [(self.replaced(table, of), of.mapping) for table, of in pairs]
        return []


NOT_JOINED = _Opened([], [], lambda *_: Sheet(Path(), "", ()))


def _of_rows(source: Path | Sheet, table: Table, mappings: Sequence[TableMapping]) -> _Opened:
    """Return the table in a file or a sheet.

    It is not to be joined if it has no header, has duplicate columns, or consists of links whose
    heads and tails are not numbers.
    """
    noted, declared = Noted(), table.declared
    sheet = source if isinstance(source, Sheet) else Sheet(source, "", ())
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
        return NOT_JOINED
    taken, before = [*taken, *rows], [*above]
    fitting = [row for _, row in taken if 1 < len(row) <= len(names)]
    columns = {
        one: [row[at].strip() if at < len(row) else "" for row in fitting]
        for at, one in enumerate(names)
    }  # the last cells may be left out
    keyed = KeyedTable(
        table.name,
        columns,
        sheet.key or declared.key,
        sheet.foreign or declared.foreign,
        declared.name or (source.stem if isinstance(source, Path) else source.name),
        tuple(names[at] for at in ends),
    )

    def replaced(_: KeyedTable, of: Resolved) -> Sheet:
        ignored = {} if mapping else of.mapping.ignored
        columns = [name for name in names if name not in ignored]
        rows: list[tuple[int, list[str]]] = [*before, (len(before) + 1, columns)]
        for number, cells in taken:
            row = dict(zip(names, map(str.strip, cells), strict=False))
            if not 1 < len(cells) <= len(names):
                rows.append((number, cells))
            elif not of.is_about_nothing(row):
                rows.append((number, [of.cell(one, row[one]) for one in columns if one in row]))
        return sheet._replace(rows=rows, has_header=not before, faults=noted.reports)

    return _Opened([keyed], [mapping], replaced)


def _of_table(source: Path | Sheet, table: Table, mappings: Sequence[TableMapping]) -> _Opened:
    try:
        return _of_rows(source, table, mappings)
    except ReadError:  # it is reported where the source is read
        return NOT_JOINED


def _of_lists(source: Document, mappings: Sequence[TableMapping]) -> _Opened:
    """Return the lists of objects in a document, unless records of a list are too different."""
    lists = {key: [*map(unwrapped, records)] for key, records in source.lists.items()}
    are_tables = all(map(are_alike, lists.values()))
    tables = [_table(key, records) for key, records in lists.items() if records and are_tables]
    with_keys = [one for one in mappings if one.keys or one.id_prefix]
    problems = [source.problems]

    def replaced(table: KeyedTable, of: Resolved) -> Document:
        records = [
            {key: of.cell(key, cell_of(one[key])) if of.has(key) else one[key] for key in kept}
            for one in lists[table.title]
            if not of.is_about_nothing({name: cell_of(value) for name, value in one.items()})
            for kept in [[key for key in one if key not in of.mapping.ignored]]
        ]
        problems.append(source.problems.of(source.problems.source))
        own = problems.pop(0)  # faults of the document are reported once
        return Document(source.path, own, {table.title: records})

    given = [chosen_mapping(with_keys, table.name, [*table.cells]) for table in tables]
    return _Opened(tables, given, replaced)


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
