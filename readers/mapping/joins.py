"""Guessing how tables are joined by foreign keys, such as the tables of a database."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ontodex.graph.names import normalise, spellings
from ontodex.readers.mapping.entities import are_labels
from ontodex.readers.mapping.foreign_keys import ForeignKeys, KeyedTable, are_numbers
from ontodex.readers.mapping.headers import spelt
from ontodex.readers.mapping.triples import RELATION
from ontodex.readers.problems import INSPECT
from ontodex.readers.tables.mapping import TableMapping

__all__ = ["guess_joins", "remarks_on"]


def guess_joins(tables: Sequence[KeyedTable], *, are_one: bool = False) -> list[TableMapping]:
    """Guess the joins of tables.

    If rows have neither a label nor a code, such as the rows of a link table (``film_id``,
    ``actor_id``), they describe the entity of their first foreign key, and the other foreign keys
    are relations. Ids get the name of their table as prefix (``films:1``) if they are numbers, or
    if they mean different entities in two tables.

    Args:
        tables: The tables.
        are_one: Whether the tables belong to one document. Then ids that have different labels in
            two tables are different entities.

    Returns:
        For each table, a mapping with its keys; empty if no joins are needed.
    """
    joins = _Joins(tables, ForeignKeys(tables))
    return joins.all() if joins.are_needed(are_one=are_one) else []


def remarks_on(joins: Sequence[TableMapping]) -> list[str]:
    """Return warnings that say how tables are joined."""
    about = [
        f"{join.table} of {join.rows_about} by {(*join.id, join.head)[0]}"
        for join in joins
        if join.rows_about
    ]
    apart = dict.fromkeys(f"{join.id_prefix}…" for join in joins if join.id_prefix)
    found = []
    if about:
        rows = "rows without a label or a code of their own describe those of another table"
        found.append(f"{rows}: {', '.join(about)}; {INSPECT}")
    if apart:
        found.append(f"ids are told apart by their tables, and are read as {', '.join(apart)}")
    return found


class _Joins:
    def __init__(self, tables: Sequence[KeyedTable], keys: ForeignKeys) -> None:
        self._tables, self._keys = tables, keys
        self._subjects = [self._subject(number) for number in range(len(tables))]
        self._labels = [self._labels_by_id(number) for number in range(len(tables))]
        self._before: list[str] = []
        for number in range(len(tables)):
            self._before.append(self._told_apart(number))

    def are_needed(self, *, are_one: bool) -> bool:
        """Return whether there are foreign keys, or ids clash without prefixes."""
        found = [
            found
            for table, found in zip(self._tables, self._keys.found, strict=True)
            if not table.ends
        ]
        pairs = combinations(range(len(self._tables)), 2)
        return any(found) or (are_one and any(self._share_labels(*pair) is False for pair in pairs))

    def _subject(self, number: int) -> str:
        """Return the first foreign key, if rows have no entities of their own but describe others.

        The result is empty if rows are entities.
        """
        table, own, found = self._tables[number], self._keys.own[number], self._keys.found[number]
        foreign = [name for name in table.cells if found.get(name, (number,))[0] != number]
        is_code = own and own not in foreign and not _are_counted(table.cells[own])
        if (
            table.ends
            or table.are_labelled
            or is_code
            or not foreign
            or (own and self._are_named_by_others(number))
        ):
            return ""
        return foreign[0]

    def _are_named_by_others(self, number: int) -> bool:
        """Return whether other tables name the rows, and an unnamed column has their labels."""
        found = [keys for other, keys in enumerate(self._keys.found) if other != number]
        if not any(of == number for keys in found for of, _ in keys.values()):
            return False
        table, own = self._tables[number], self._keys.own[number]
        columns = [name for name in table.others if name not in self._keys.found[number]]
        return any(are_labels(table.cells[name], {*table.cells[own]}) for name in columns)

    def _told_apart(self, number: int) -> str:
        """Return the prefix of the ids of a table; ``""`` for ids that need none.

        Ids get a prefix if they are numbers or clash with another table. The prefix is the name of
        the table, or the prefix of an earlier table with the same entities.
        """
        table, own = self._tables[number], self._keys.own[number]
        if not own or self._subjects[number]:
            return ""
        same = [
            self._share_labels(other, number)
            for other in range(len(self._tables))
            if other != number
        ]
        if not are_numbers(table.cells[own]) and False not in same:
            return ""
        if True in same[:number]:
            return self._before[same.index(True)]
        name = table.name or spellings(own)[-1].rpartition(" ")[0]
        return f"{name.replace(' ', '_')}:" if name else ""

    def _share_labels(self, one: int, other: int) -> bool | None:
        """Return whether most shared ids of two tables have equal labels; ``None`` without any."""
        labels = self._labels[one], self._labels[other]
        shared = labels[0].keys() & labels[1].keys()
        if not shared:
            return None
        return 2 * sum(
            normalise(labels[0][key]) == normalise(labels[1][key]) for key in shared
        ) > len(shared)

    def _labels_by_id(self, number: int) -> dict[str, str]:
        """Return the labels of the rows of a table; empty if its rows are not entities."""
        table, own = self._tables[number], self._keys.own[number]
        return (
            {}
            if self._subjects[number] or not own
            else dict(zip(table.cells[own], table.labels, strict=False))
        )

    def all(self) -> list[TableMapping]:
        """Return a mapping with the keys of each table."""
        return [self._join(number) for number in range(len(self._tables))]

    def _called(self, number: int) -> str:
        return self._tables[number].name or f"table {number + 1}"

    def _join(self, number: int) -> TableMapping:
        subject, own, found = (
            self._subjects[number],
            self._keys.own[number],
            self._keys.found[number],
        )
        ignored = {}
        if subject and own and own not in found:
            ignored = {own: "a number of rows that are no entities"}
        head, relation, tail = self._triple(number) if subject else ("", "", "")
        return TableMapping(
            table=self._called(number),
            head=head,
            relation=relation,
            tail=tail,
            id=() if head else tuple(filter(None, [subject or own])),
            id_prefix=self._before[number],
            rows_about=self._called(found[subject][0]) if subject else "",
            keys={column: (self._called(other), key) for column, (other, key) in found.items()},
            ignored=ignored,
        )

    def _triple(self, number: int) -> tuple[str, str, str]:
        """Return the columns of head, relation and tail of a table with two keys and a relation.

        The names are empty for other tables.
        """
        subject, names = self._subjects[number], [*self._tables[number].cells]
        others = [name for name in self._keys.found[number] if name != subject]
        relations = [
            name
            for name, forms in zip(names, spelt(names), strict=True)
            if not {*forms}.isdisjoint(RELATION)
        ]
        if len(others) != 1 or not relations:
            return "", "", ""
        return subject, relations[0], others[0]


def _are_counted(cells: Sequence[str]) -> bool:
    """Return whether cells are numbers without leading zeros, such as a database assigns."""
    return are_numbers(cells) and not any(cell.startswith("0") and len(cell) > 1 for cell in cells)
