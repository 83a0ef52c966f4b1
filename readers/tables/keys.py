"""Foreign keys of tables: keys in cells are replaced by the ids of the rows that the keys name."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence

from ontodex.readers.tables.mapping import TableMapping

__all__ = ["MARKS", "Resolved", "parts_of", "resolved"]

MARKS = re.compile(r"[|;,\n]")
"""Separators of the keys in a cell."""

Columns = Mapping[str, Sequence[str]]
"""The cells of every row, by the name of the column."""


def parts_of(cell: str, keys: Container[str]) -> list[str]:
    """Return the keys in a cell: one key, or several separated keys; otherwise the whole cell.

    >>> parts_of("tt1,tt3", {"tt1", "tt3"}), parts_of("1.0", {"1"}), parts_of("Roe, Ann", {"Roe"})
    (['tt1', 'tt3'], ['1'], ['Roe, Ann'])
    """
    if cell in keys:
        return [cell]
    if (whole := cell.removesuffix(".0")) in keys:
        return [whole]
    if not MARKS.search(cell):
        return [cell]
    parts = [part for one in MARKS.split(cell) if (part := one.strip())]
    return parts if all(part in keys for part in parts) else [cell]


class Resolved:
    """A table in which ids replace the keys that name rows of other tables.

    Args:
        mapping: What the columns hold.
        ids: For each column, the id that replaces each key.

    Attributes:
        changes: Whether any id differs from the key that it replaces.
    """

    def __init__(self, mapping: TableMapping, ids: Mapping[str, Mapping[str, str]]) -> None:
        self.mapping = mapping
        self._ids = ids
        self._subject = (*mapping.id, mapping.head)[0] if mapping.rows_about else ""
        self.changes = any(cell != one for of in ids.values() for cell, one in of.items())

    def is_about_nothing(self, row: Mapping[str, str]) -> bool:
        """Return whether a row describes an entity whose row does not exist in the other table."""
        return bool(self._subject) and row.get(self._subject, "") not in self._ids[self._subject]

    def has(self, column: str) -> bool:
        """Return whether keys of a column are replaced by ids."""
        return column in self._ids

    def cell(self, column: str, cell: str, separator: str = "") -> str:
        """Return a cell with keys replaced by ids.

        If ``separator`` is given, it separates the keys. Otherwise the cell is split by
        :func:`parts_of`, and ids are joined by ``|``.
        """
        ids = self._ids.get(column)
        if not ids:
            return cell
        if separator:
            return separator.join(ids.get(part, part) for part in cell.split(separator))
        return "|".join(ids.get(part, part) for part in parts_of(cell.strip(), ids))


def resolved(
    tables: Sequence[tuple[TableMapping, Columns]], others: Sequence[TableMapping] = ()
) -> list[Resolved]:
    """Return tables with foreign keys replaced by ids.

    Args:
        tables: The mapping of each table, and its cells.
        others: Mappings of tables that are not read. A key that names a row of such a table becomes
            an id by adding the ``id_prefix`` of the mapping.
    """
    keys = _Keys(tables, others)
    return [Resolved(mapping, keys.ids(number)) for number, (mapping, _) in enumerate(tables)]


class _Keys:
    def __init__(
        self, tables: Sequence[tuple[TableMapping, Columns]], others: Sequence[TableMapping]
    ) -> None:
        self._tables = tables
        self._by_name = {mapping.table: number for number, (mapping, _) in enumerate(tables)}
        self._others = {mapping.table: mapping for mapping in others}
        self._row_ids: dict[int, list[str]] = {}

    def ids(self, number: int) -> dict[str, dict[str, str]]:
        """Return, by column, the id for each cell: the id of the row that the cell names."""
        mapping, cells = self._tables[number]
        found = {column: self._named(number, column) for column in mapping.keys if column in cells}
        own = next(iter(mapping.id), "")
        if mapping.id_prefix and own:
            found.setdefault(own, {cell: f"{mapping.id_prefix}{cell}" for cell in cells[own]})
        return found

    def _named(self, number: int, column: str, above: tuple[int, ...] = ()) -> dict[str, str]:
        """Return, for each cell of a column, the id of the row that the cell names."""
        mapping, cells = self._tables[number]
        name, key = mapping.keys[column]
        other = self._by_name.get(name)
        if other is None or key not in self._tables[other][1]:
            prefix = self._others[name].id_prefix if name in self._others else ""
            parts = {
                part
                for cell in cells[column]
                for one in (MARKS.split(cell) if MARKS.search(cell) else [cell.removesuffix(".0")])
                if (part := one.strip())
            }
            return {part: f"{prefix}{part}" for part in parts}
        named = zip(self._tables[other][1][key], self._ids_of_rows(other, key, above), strict=True)
        return {cell: identifier for cell, identifier in named if cell and identifier}

    def _ids_of_rows(self, number: int, key: str, above: tuple[int, ...]) -> list[str]:
        """Return the id of the entity that each row of a table is, or describes.

        If tables describe rows of one another in a circle, the table where the circle closes
        (``number`` is in ``above``) has entities as rows, and the values of ``key`` are their ids.
        """
        if number not in self._row_ids:
            mapping, cells = self._tables[number]
            subject = (*mapping.id, mapping.head)[0] if mapping.rows_about else ""
            if subject and number not in above:
                ids = self._named(number, subject, (*above, number))
                self._row_ids[number] = [ids.get(cell, "") for cell in cells[subject]]
            else:
                own = key if subject or not mapping.id else mapping.id[0]
                self._row_ids[number] = [mapping.id_prefix + cell for cell in cells[own]]
        return self._row_ids[number]
