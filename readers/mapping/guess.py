"""Guessing the mapping of a table: finding the header, and what the columns hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, islice

from ontodex.readers.mapping.entities import guess_entities
from ontodex.readers.mapping.headers import EntityHeader, entity_header
from ontodex.readers.mapping.paths import is_path_name
from ontodex.readers.mapping.triples import names_ends, of_triples, own_columns, triples_mapping
from ontodex.readers.tables.mapping import TableMapping, column_names
from ontodex.readers.tables.rows import Rows
from ontodex.readers.tables.table import Table
from ontodex.readers.tables.values import LETTER, NUMBER

__all__ = ["FEW", "LOOKED_AT", "guess_mapping", "header_of", "of_table"]

LOOKED_AT = 20
"""Number of rows in which no cell of the header may recur, if only one of its names is known."""

LONGEST_NAME = 50
"""Maximal number of letters of an unknown column name."""

NAME = re.compile(r"[#%_]?\s*\w[^{}<>|]*")
"""A possible name of a column; paths and JSON objects do not match."""

ABOVE = 1000
"""Maximal number of lines above a header."""

FEW = 3
"""Minimal number of rows that show what a table holds."""


def guess_mapping(
    names: Sequence[str],
    rows: Rows,
    table: Table,
    remark: Callable[[str], None],
    *,
    are_links: bool | None = None,
) -> tuple[TableMapping | None, Rows]:
    """Guess what the columns of a table hold, by its header and its rows.

    Args:
        names: The header; empty for a table of triples without a header.
        rows: (number, cells) of every row below; read only if the header does not name triples.
        table: The table; receives the columns that are left out.
        remark: Receives remarks on the guess.
        are_links: Whether rows are links or entities, if that is known.

    Returns:
        The mapping, and the rows. The mapping is ``None`` if the header names heads and tails but
        no relation.
    """
    if not names:
        columns = column_names([""] * 3)
        unnamed = of_triples(columns, (0, 1, 2), header=False)
        return of_table(unnamed, table), rows
    columns = column_names(names)
    if table.join and table.join.head:
        ends = (table.join.head, table.join.relation, table.join.tail)
        return of_table(of_triples(names, [columns.index(end) for end in ends]), table), rows
    found = None if are_links is False else triples_mapping(names)
    entities = own_columns(names, of_others=table.is_of_others)
    if found is None and are_links is not False and not entities and names_ends(names):
        return None, rows
    if found is None:
        values = {name: why for name, why in table.declared.values.items() if name in columns}
        header = _with_declared(entities or EntityHeader.of(names), table)
        taken = [*rows]
        rows = iter(taken)
        found = guess_entities(header, taken, table, remark)
        left_out = {name: why for name, why in values.items() if name not in found.used}
        found = replace(found, ignored={**found.ignored, **left_out})
    return of_table(found, table), rows


def _with_declared(header: EntityHeader, table: Table) -> EntityHeader:
    """Return a header with the id that a join or a data package names.

    Columns that a data package declares as numbers, dates or the like are left out.
    """
    joined, declared = table.join.id if table.join else (), table.declared.key
    key = joined or (declared if len(declared) == 1 else ())
    if key and key[0] in header.names and (joined or key[0] not in header.mapping.label):
        header = header.identified(key[0])
    values = table.declared.values
    return replace(header, others=tuple(one for one in header.others if one not in values))


def of_table(mapping: TableMapping, table: Table) -> TableMapping:
    """Return a mapping completed for a table: with its name, and the keys by which it is joined."""
    mapping = replace(mapping, table=table.name)
    if table.join is None:
        return mapping
    return replace(
        mapping,
        columns=(*mapping.columns, *table.join.ignored),
        id_prefix=table.join.id_prefix,
        rows_about=table.join.rows_about,
        keys=table.join.keys,
        ignored={**mapping.ignored, **table.join.ignored},
    )


def header_of(rows: Rows, *, is_first: bool = False) -> tuple[list[str], Rows, Rows]:
    """Return the header of a table, the rows above it and the rows below it.

    If there is no header, the names and the rows above are empty.

    Args:
        rows: The rows of the table.
        is_first: Whether the first row is known to be the header.
    """
    if is_first:
        return next(rows)[1], iter(()), rows
    above: list[tuple[int, list[str]]] = []
    for number, cells in rows:
        if triples_mapping(cells):
            return cells, iter(above), rows
        header = entity_header(cells)
        if header or names_ends(cells):
            below = [*islice(rows, LOOKED_AT if header and header.told < 2 else 1)]
            rows = chain(below, rows)
            pairs = [pair for _, others in below for pair in zip(cells, others, strict=False)]
            if not any(cell == other and cell.strip() for cell, other in pairs):
                return cells, iter(above), rows
        above.append((number, cells))
        is_triple = (
            len(cells) == 3 and not cells[0].startswith("#") and any(map(str.strip, cells[1:]))
        )
        if len(above) > ABOVE or is_triple:
            break
    first = next(
        (at for at, (_, cells) in enumerate(above) if not cells[0].startswith("#")), len(above)
    )
    above += islice(rows, LOOKED_AT)
    lines = [cells for _, cells in above[first : first + LOOKED_AT]]
    if _is_header(lines):
        return lines[0], iter(above[:first]), chain(above[first + 1 :], rows)
    for at in reversed(range(first)):
        names = [name.strip("# ") for name in above[at][1]]
        if len(names) > 3 and _is_header([names, *lines]):
            return names, iter(above[:at]), chain(above[first:], rows)
    return [], iter(()), chain(above, rows)


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first of some rows is a header whose names need not be known.

    Among two or three columns, at least one name must be known. No name may recur in the column
    below, unless all filled cells of the column equal the name (such as ``EU``).

    >>> rows = [["Titel", "Autor", "Verlag", "Jahr"], ["Momo", "Ende", "Thienemann", "1973"]]
    >>> _is_header(rows), _is_header(rows[1:])
    (True, False)
    >>> _is_header([["ticker", "name", "sector"], ["A", "Alpha", "tools"], ["B", "Beta", "tools"]])
    True
    """
    names = [name.strip() for name in rows[0]] if rows else []
    named = names if any(names[:1]) else names[1:]  # the index of a pandas frame may have no name
    below = [cells for cells in rows[1:] if len(cells) == len(names)]
    are_names = (
        all(LETTER.search(name) and NAME.fullmatch(name) for name in named)
        and max(map(len, names), default=0) <= LONGEST_NAME
    )
    columns = [{cell.strip() for cell in column} for column in zip(*below, strict=True)]
    recur = any(
        name in column and column != {name, ""}
        for name, column in zip(names, columns, strict=False)
    )
    is_told = len(names) > 3 or (len(names) > 1 and _tells_entities(names, below))
    return (
        are_names
        and is_told
        and len({*names}) == len(names)
        and not recur
        and 2 * len(below) > len(rows[1:])
    )


def _tells_entities(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a table with few columns has entities rather than triples.

    It has entities if a column has a name of ids, labels or paths, or if a later column has
    numbers.
    """
    mapping = EntityHeader.of(names).mapping
    is_alone = not any({*names} & {*cells} for cells in below)
    is_told = bool(mapping.id or mapping.label) or not names[0] or is_path_name(names[0])
    are_values = len(below) >= FEW and any(
        all(NUMBER.fullmatch(cells[at].strip()) for cells in below) for at in range(1, len(names))
    )
    return bool(below) and is_alone and (is_told or are_values)
