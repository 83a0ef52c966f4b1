"""Foreign keys of tables that are read together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from ontodex.graph.names import spellings
from ontodex.readers.mapping.entities import do_differ
from ontodex.readers.mapping.headers import ID, LABEL, LABEL_ALONE, PARENT, EntityColumns, spelt
from ontodex.readers.mapping.keys import is_key, table_of
from ontodex.readers.tables.keys import MARKS, parts_of
from ontodex.readers.tables.values import (
    LETTER,
    NOTHING,
    are_short,
    are_yes_and_no,
    whole_name,
)

__all__ = ["ForeignKeys", "KeyedTable", "are_numbers"]

TOLD = 0.9
"""Minimal share of cells of a foreign key that are keys."""

FEWEST = 3
"""Rows of a table whose column may be its key though no name says so."""

SAMPLE = 10
"""Number of distinct cells that are checked first."""

LONGEST = 200
"""Maximal mean length of keys that are words, in letters."""

COMMON = frozenset((*ID, *LABEL, *LABEL_ALONE))
"""Names of columns with different meanings in different tables."""

ALIKE = re.compile(
    r"(?:manager|supervisor|superior|boss|reports to|mother|father|spouse|sibling)"
    r"(?: (?:id|key|ref|no|number))?"
)
"""Names of columns that name rows of their own table, usually people, such as a manager."""


class Named:
    """What the cells of a column name.

    Args:
        counts: The cells, and how many there are of each.
    """

    def __init__(self, counts: Counter[str]) -> None:
        self.counts = counts
        first = [*islice(counts, SAMPLE)]
        self._some = {
            part.strip().removesuffix(".0") for cell in first for part in (cell, *MARKS.split(cell))
        }

    def are_in(self, keys: frozenset[str]) -> bool:
        """Tell whether nearly all cells hold keys, and nothing else."""
        if keys.isdisjoint(self._some):
            return False
        held = sum(
            count
            for cell, count in self.counts.items()
            if all(part in keys for part in parts_of(cell, keys))
        )
        return held >= TOLD * sum(self.counts.values()) > 0


@dataclass(frozen=True)
class KeyedTable:
    """A table before it is read.

    Attributes:
        name: What it is called, in words; no two tables are called the same.
        cells: The cells of every row, without white space around them, by the name of the column.
        key: The columns that are declared to be its key, together.
        foreign: The declared foreign keys: title of the table, and its column, by column.
        title: What it is called where it is declared.
        ends: The columns of heads and tails, if its rows are links.
    """

    name: str
    cells: Mapping[str, Sequence[str]]
    key: Sequence[str] = ()
    foreign: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    title: str = ""
    ends: tuple[str, ...] = ()

    @cached_property
    def columns(self) -> EntityColumns:
        """What the names of the columns say."""
        return EntityColumns.of([*self.cells])

    @cached_property
    def are_labelled(self) -> bool:
        """Whether rows have labels: in a column of that name, or in one with distinct cells."""
        if not self.columns.guess:
            return self.columns.are_labelled
        labels = [cell for cell in self.cells[self.columns.guess] if cell]
        return bool(labels) and do_differ(labels)

    @cached_property
    def labels(self) -> Sequence[str]:
        """The labels of the rows; nothing without."""
        names = [*self.cells]
        columns = [self.cells[names[at]] for at in self.columns.label[:1] or self.columns.full_name]
        return [whole_name(cells) for cells in zip(*columns, strict=True)]

    @cached_property
    def others(self) -> list[str]:
        """The columns that do not say how rows are named, or what they mean."""
        columns = self.columns
        told = {*columns.label, *columns.full_name, *columns.synonyms, *columns.definition}
        return [name for at, name in enumerate(self.cells) if at not in told]

    def is_unique(self, column: str) -> bool:
        """Tell whether every row has a cell of its own in a column."""
        return len({*self.cells[column]} - {""}) == len(self.cells[column]) > 0

    def is_repeated(self, column: str, other: str) -> bool:
        """Tell whether nearly all cells of another column are those of this one."""
        pairs = [
            pair for pair in zip(self.cells[column], self.cells[other], strict=True) if pair[1]
        ]
        return sum(one == same for one, same in pairs) >= TOLD * len(pairs) > 0

    def counts(self, column: str) -> Counter[str]:
        """Return the cells of a column that name something, and how many there are of each."""
        return Counter(
            cell for cell in self.cells[column] if cell and cell.casefold() not in NOTHING
        )

    def named(self, column: str) -> Named:
        """Return what the cells of a column name."""
        return Named(self.counts(column))


def are_numbers(cells: Collection[str]) -> bool:
    """Tell whether most cells are whole numbers."""
    return 2 * sum(cell.removesuffix(".0").isdigit() for cell in cells) > len(cells)


class ForeignKeys:
    """Keys and foreign keys of tables.

    Declared keys are used. Otherwise the cells decide: a key is a column of ids with distinct
    cells, or a column with distinct cells whose name another table has. A column is a foreign key
    if nearly all of its cells are keys, and both have the same name (``movieId``), it is named
    after the table (``company_id``), or it has words. The ends of links are rows of the largest
    table that has nearly all of them.

    Attributes:
        own: Key of each table; empty without a key.
        found: Table and column of each foreign key, by table and column.
    """

    def __init__(self, tables: Sequence[KeyedTable]) -> None:
        self._tables = tables
        self._names: dict[tuple[int, str], frozenset[str]] = {}
        self._words: dict[int, list[str]] = {}
        self._by_name = {table.name: number for number, table in enumerate(tables) if table.name}
        self._bearers = Counter(
            form for table in tables for form in {spellings(name)[-1] for name in table.cells}
        )
        self.own = [self._own(table) for table in tables]
        self._by_own: dict[str, list[int]] = {}
        for number, own in enumerate(self.own):
            if self._is_shared(own):
                self._by_own.setdefault(spellings(own)[-1], []).append(number)
        self.found = [
            self._declared(table) or self._told(number) for number, table in enumerate(tables)
        ]
        for other, key in [key for found in self.found for key in found.values()]:
            self.own[other] = self.own[other] or key
        if any(self.found) and not any(table.foreign for table in tables):
            for number in range(len(tables)):
                self.found[number] |= self._more_of(number) or self._of_its_own(number)

    def _own(self, table: KeyedTable) -> str:
        if table.ends or len(table.key) > 1:
            return ""
        names = [*table.cells]
        ids = [names[at] for at in (*table.columns.id, *(at for at, _ in table.columns.keys))]
        shared = [
            name
            for name in table.others
            if self._is_shared(name) and _may_be_key(name, table.counts(name))
        ]
        return next(iter(table.key), "") or next(filter(table.is_unique, (*ids, *shared)), "")

    def _is_shared(self, name: str) -> bool:
        form = spellings(name)[-1]
        return self._bearers[form] > 1 and form not in COMMON

    def _declared(self, table: KeyedTable) -> dict[str, tuple[int, str]]:
        titles = {other.title: number for number, other in enumerate(self._tables)}
        named = {
            column: (titles[other], key)
            for column, (other, key) in table.foreign.items()
            if other in titles
        }
        keys = {
            column: key for column, key in named.items() if key[1] in self._tables[key[0]].cells
        }
        return {column: key for column, key in keys.items() if column in table.cells}

    def _told(self, number: int) -> dict[str, tuple[int, str]]:
        """Return the columns of a table that name rows of others."""
        table = self._tables[number]
        if table.ends:
            ends = {name: self._of_most(table.named(name)) for name in table.ends}
            return {
                name: (other, self.own[other]) for name, other in ends.items() if other is not None
            }
        columns = [
            name for name in table.others if name != self.own[number] or not table.are_labelled
        ]
        found = {name: self._named_by(number, name, table.named(name)) for name in columns}
        return {name: key for name, key in found.items() if key is not None}

    def _of_most(self, named: Named) -> int | None:
        """Return the table that has nearly all of some keys, the largest."""
        having = [
            other
            for other, own in enumerate(self.own)
            if own and named.are_in(self._keys_in(other, own))
        ]
        return max(
            having, key=lambda other: len(self._tables[other].cells[self.own[other]]), default=None
        )

    def _named_by(self, number: int, name: str, named: Named) -> tuple[int, str] | None:
        """Return the table whose rows a column names, and by which column, the most telling one."""
        counts = named.counts
        if not counts or not are_short(counts, LONGEST):
            return None
        may_be_key = _may_be_key(name, counts)
        same = [
            other
            for other in self._by_own.get(spellings(name)[-1], ())
            if self._is_first(other, number) and (may_be_key or self._tables[other].key)
        ]
        after = self._by_name.get(table_of(name, self._by_name), number)
        keys = [
            (other, self.own[other])
            for other in (*sorted(same, key=self._rank), after)
            if self.own[other]
        ]
        if len(counts) > 1 and max(map(len, counts)) > 1 and _are_words(counts):
            keys += [
                (other, key)
                for other in range(len(self._tables))
                for key in self._keys_of_words(other)
            ]
        others = (key for key in keys if key[0] != number)
        return next((key for key in others if named.are_in(self._keys_in(*key))), None)

    def _is_first(self, one: int, other: int) -> bool:
        """Return whether the first of two tables with the same key has the entities.

        The rows of the other table then describe these entities.
        """
        return self.own[one] != self.own[other] or self._rank(one) < self._rank(other)

    def _rank(self, number: int) -> tuple[bool, bool, int]:
        """Rank a table among those with the same key, by the name of the key and by labels."""
        table, own = self._tables[number], self.own[number]
        return not table_of(own, [table.name]), not table.are_labelled, number

    def _keys_of_words(self, number: int) -> list[str]:
        """Return the key of a table if it has words; without a key, the columns that may be it."""
        if number not in self._words:
            table, own = self._tables[number], self.own[number]
            may_be = (
                [own]
                if own
                else []
                if table.ends
                else [name for name in table.others if table.is_unique(name)]
            )
            self._words[number] = [
                name
                for name in may_be
                if _are_words(table.cells[name])
                and (
                    own
                    or (len(table.cells[name]) >= FEWEST and are_short(table.cells[name], LONGEST))
                )
            ]
        return self._words[number]

    def _keys_in(self, number: int, column: str) -> frozenset[str]:
        """Return what a column of a table holds."""
        if (number, column) not in self._names:
            self._names[number, column] = frozenset(self._tables[number].cells[column])
        return self._names[number, column]

    def _more_of(self, number: int) -> dict[str, tuple[int, str]]:
        """Return the key of a table without labels as a foreign key of one table with labels.

        Its numbers must be keys of that table.
        """
        own, table = self.own[number], self._tables[number]
        if not own or table.are_labelled or self.found[number] or not are_numbers(table.cells[own]):
            return {}
        labelled = [
            other
            for other, one in enumerate(self._tables)
            if one.are_labelled and self.own[other] == own
        ]
        named = table.named(own)
        of = [other for other in labelled if named.are_in(self._keys_in(other, own))]
        return {own: (of[0], own)} if len(of) == 1 else {}

    def _of_its_own(self, number: int) -> dict[str, tuple[int, str]]:
        """Return the foreign keys of a table to itself.

        Numbers must not be possible keys of another table.
        """
        own, table = self.own[number], self._tables[number]
        if not own:
            return {}
        by_number, found = are_numbers(table.cells[own]), {}
        for name, forms in zip(table.cells, spelt([*table.cells]), strict=True):
            is_alike = not {*forms}.isdisjoint(PARENT) or any(map(ALIKE.fullmatch, forms))
            if (
                name not in table.others
                or name in self.found[number]
                or (by_number and not (is_alike or is_key(name)))
            ):
                continue
            counts = table.counts(name)
            del counts["0"]
            named = Named(counts)
            others = (
                []
                if is_alike or not by_number
                else [key for key in enumerate(self.own) if key[1] and key[0] != number]
            )
            if (
                named.are_in(self._keys_in(number, own))
                and not table.is_repeated(own, name)
                and not any(named.are_in(self._keys_in(*key)) for key in others)
            ):
                found[name] = (number, own)
        return found


def _may_be_key(name: str, counts: Mapping[str, int]) -> bool:
    """Return whether a column with the name of another may be a key.

    Numbers are keys only in a column named as one; yes and no are no keys.
    """
    return is_key(name) or not (are_numbers(counts) or are_yes_and_no(counts))


def _are_words(cells: Collection[str]) -> bool:
    """Tell whether nearly all cells have letters."""
    return sum(bool(LETTER.search(cell)) for cell in cells) >= TOLD * len(cells)
