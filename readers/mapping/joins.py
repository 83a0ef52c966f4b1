"""Joins: how tables are read whose rows name rows of one another, as those of a database do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from ontodex.graph.names import normalise, spellings
from ontodex.readers.mapping.entities import are_labels
from ontodex.readers.mapping.foreign_keys import ForeignKeys, KeyedTable, are_numbers, parts_of
from ontodex.readers.mapping.headers import spelt
from ontodex.readers.mapping.triples import RELATION

__all__ = ["Join", "joins_of", "remarks_on"]


@dataclass
class Join:
    """How the rows of a table are read.

    Attributes:
        table: What the table is called.
        ids: The ids of what the cells of columns name, by the name of the column.
        header: The names that columns have instead.
        dropped: Columns that are left out.
        subject: The column that names what the rows are about, if they are nothing themselves.
        of: What the table of these is called.
        before: What stands before the ids of the rows, which were numbers.
        changes: Whether the table is not read as it stands.
    """

    table: str
    ids: dict[str, dict[str, str]]
    header: dict[str, str] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    subject: str = ""
    of: str = ""
    before: str = ""
    changes: bool = False

    def is_said_of_nothing(self, row: Mapping[str, str]) -> bool:
        """Tell whether a row is about what there is none of."""
        return bool(self.subject) and row.get(self.subject, "") not in self.ids[self.subject]

    def cell(self, column: str, cell: str) -> str:
        """Return a cell, with ids in place of keys."""
        ids = self.ids.get(column)
        return (
            "|".join(ids.get(part, part) for part in parts_of(cell.strip(), ids)) if ids else cell
        )


def joins_of(tables: Sequence[KeyedTable], *, are_one: bool = False) -> list[Join]:
    """Return how each of some tables is read, or nothing if they have no keys of one another.

    Rows that have neither a label nor a code of their own, as those of a table between two others (``film_id``,
    ``actor_id``), say something of what their first key names, and the other keys are relations of it. Where ids are
    numbers, or the same for different things in two tables, the name of their table stands before them (``films:1``).

    Args:
        tables: The tables.
        are_one: Whether they are of one document, so that different labels of an id are those of different things.
    """
    joins = _Joins(tables, ForeignKeys(tables))
    return joins.all() if joins.are_needed(are_one=are_one) else []


def remarks_on(joins: Sequence[Join]) -> list[str]:
    """Return what is to be said of how tables are read."""
    about = [
        f"{join.table or 'one'} of {join.of or 'another'} by {join.subject}"
        for join in joins
        if join.subject
    ]
    apart = dict.fromkeys(f"{join.before}…" for join in joins if join.before)
    told = "rows that have neither a label nor a code of their own say something of those of another table"
    return [
        *([f"{told}: {', '.join(about)}"] if about else []),
        *(
            [f"ids are told apart by their tables, and are read as {', '.join(apart)}"]
            if apart
            else []
        ),
    ]


class _Joins:
    def __init__(self, tables: Sequence[KeyedTable], keys: ForeignKeys) -> None:
        self._tables, self._keys = tables, keys
        self._subjects = [self._subject(number) for number in range(len(tables))]
        self._labels = [self._labels_by_id(number) for number in range(len(tables))]
        self._before: list[str] = []
        for number in range(len(tables)):
            self._before.append(self._told_apart(number))
        self._ids: dict[int, list[str]] = {}

    def are_needed(self, *, are_one: bool) -> bool:
        """Tell whether rows name others by keys, or else would be taken for others."""
        found = [
            found
            for table, found in zip(self._tables, self._keys.found, strict=True)
            if not table.ends
        ]
        pairs = combinations(range(len(self._tables)), 2)
        return any(found) or (are_one and any(self._share_labels(*pair) is False for pair in pairs))

    def _subject(self, number: int) -> str:
        """Return the column that names what the rows of a table are about, if they are nothing themselves."""
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
        """Tell whether others name the rows of a table, which have labels though no column is named so."""
        found = [keys for other, keys in enumerate(self._keys.found) if other != number]
        if not any(of == number for keys in found for of, _ in keys.values()):
            return False
        table, own = self._tables[number], self._keys.own[number]
        columns = [name for name in table.others if name not in self._keys.found[number]]
        return any(are_labels(table.cells[name], {*table.cells[own]}) for name in columns)

    def _told_apart(self, number: int) -> str:
        """Return what stands before the ids of a table that are numbers, or those of another table with other labels.

        It is the name of the table, or what stands before those of a table of the same things.
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
        """Tell whether most rows of two tables that have the same id have the same label; nothing where none has."""
        labels = self._labels[one], self._labels[other]
        shared = labels[0].keys() & labels[1].keys()
        if not shared:
            return None
        return 2 * sum(
            normalise(labels[0][key]) == normalise(labels[1][key]) for key in shared
        ) > len(shared)

    def _labels_by_id(self, number: int) -> dict[str, str]:
        """Return the labels of the rows of a table; nothing if they are none of entities."""
        table, own = self._tables[number], self._keys.own[number]
        return (
            {}
            if self._subjects[number] or not own
            else dict(zip(table.cells[own], table.labels, strict=False))
        )

    def _row_ids(self, number: int, above: tuple[int, ...]) -> list[str]:
        """Return the id of what each row of a table is, or is about."""
        if number not in self._ids:
            subject = "" if number in above else self._subjects[number]
            ids = self._named(number, subject, (*above, number)) if subject else {}
            cells = self._tables[number].cells[subject or self._keys.own[number]]
            self._ids[number] = [
                ids.get(cell, "") if subject else self._before[number] + cell for cell in cells
            ]
        return self._ids[number]

    def _named(self, number: int, column: str, above: tuple[int, ...] = ()) -> dict[str, str]:
        """Return the ids of what the cells of a column name."""
        other, key = self._keys.found[number][column]
        named = zip(self._tables[other].cells[key], self._row_ids(other, above), strict=True)
        return {cell: identifier for cell, identifier in named if cell and identifier}

    def all(self) -> list[Join]:
        """Return how each table is read."""
        return [self._join(number) for number in range(len(self._tables))]

    def _join(self, number: int) -> Join:
        table, subject, own = self._tables[number], self._subjects[number], self._keys.own[number]
        found = self._keys.found[number]
        join = Join(
            table.name,
            {column: self._named(number, column) for column in found},
            before=self._before[number],
        )
        if join.before:
            join.ids.setdefault(own, {cell: f"{join.before}{cell}" for cell in table.cells[own]})
            join.dropped = frozenset(
                name for name in table.cells if name != own and table.is_repeated(own, name)
            )
        join.changes = any(cell != one for ids in join.ids.values() for cell, one in ids.items())
        if subject or own:
            join.header[subject or own] = "id"
            join.changes |= [*table.cells].index(subject or own) not in table.columns.id[:1]
        if subject:
            join.subject, join.of = subject, self._tables[found[subject][0]].name
            join.dropped = frozenset({own}.difference(found))
            join.header |= self._triple(number)
        return join

    def _triple(self, number: int) -> dict[str, str]:
        """Return the names of the columns of a table that holds two keys, and a relation between what they name."""
        subject, names = self._subjects[number], [*self._tables[number].cells]
        others = [name for name in self._keys.found[number] if name != subject]
        relations = [
            name
            for name, forms in zip(names, spelt(names), strict=True)
            if not {*forms}.isdisjoint(RELATION)
        ]
        if len(others) != 1 or not relations:
            return {}
        return {subject: "head", relations[0]: "relation", others[0]: "tail"}


def _are_counted(cells: Sequence[str]) -> bool:
    """Tell whether cells are numbers as a database gives them out, and no codes: none begins with 0."""
    return are_numbers(cells) and not any(cell.startswith("0") and len(cell) > 1 for cell in cells)
