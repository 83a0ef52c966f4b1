"""Finding the keys and foreign keys of tables that are read together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice

from ontodex.graph.names import spellings
from ontodex.readers.mapping.headers import ID, LABEL, LABEL_ALONE, PARENT, EntityHeader, spelt
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
"""Minimal share of cells in a foreign key column that are keys of the other table."""

FEWEST = 3
"""Minimal number of rows of a table in which a column without a name of a key may be the key."""

SAMPLE = 10
"""Number of distinct cells that are checked first."""

LONGEST = 200
"""Maximal mean length of keys that are words, in letters."""

COMMON = frozenset((*ID, *LABEL, *LABEL_ALONE))
"""Names of columns that have different meanings in different tables."""

ALIKE = re.compile(
    r"(?:manager|supervisor|superior|boss|reports to|mother|father|spouse|sibling)"
    r"(?: (?:id|key|ref|no|number))?"
)
"""A name of a column whose cells name rows of the same table, usually people."""


class Named:
    """The cells of a column, to be compared with the keys of tables.

    Args:
        counts: Number of occurrences of each cell.
    """

    def __init__(self, counts: Counter[str]) -> None:
        self.counts = counts
        first = [*islice(counts, SAMPLE)]
        self._some = {
            part.strip().removesuffix(".0") for cell in first for part in (cell, *MARKS.split(cell))
        }

    def are_in(self, keys: frozenset[str]) -> bool:
        """Tell whether nearly all cells consist of keys, and nothing else."""
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
        name: Unique name of the table, in words.
        cells: Cells of every row, without white space around them, by name of the column.
        key: Columns that together are declared as the primary key.
        foreign: Declared foreign keys: for each column, the title and the column of the other
            table.
        title: Name of the table in declarations.
        ends: Columns of heads and tails, if the rows are links.
    """

    name: str
    cells: Mapping[str, Sequence[str]]
    key: Sequence[str] = ()
    foreign: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    title: str = ""
    ends: tuple[str, ...] = ()

    @cached_property
    def header(self) -> EntityHeader:
        """What the names of the columns say."""
        return EntityHeader.of([*self.cells])

    @property
    def are_labelled(self) -> bool:
        """Whether rows have labels."""
        return self.header.are_labelled

    def named_so(self, columns: Iterable[str]) -> list[str]:
        """Return the names of some columns of the header."""
        names = dict(zip(self.header.mapping.columns, self.cells, strict=True))
        return [names[one] for one in columns]

    @cached_property
    def labels(self) -> Sequence[str]:
        """The labels of the rows; empty if there are none."""
        mapping = self.header.mapping
        names = self.named_so(mapping.label[:1] or mapping.label_parts)
        columns = [self.cells[name] for name in names]
        return [whole_name(cells) for cells in zip(*columns, strict=True)]

    @cached_property
    def others(self) -> list[str]:
        """The columns other than labels, names, synonyms and definitions."""
        mapping = self.header.mapping
        several = (mapping.label, mapping.label_parts, mapping.synonyms, mapping.definition)
        told = self.named_so(chain.from_iterable(several))
        return [name for name in self.cells if name not in told]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.cells.values()), ()))

    def is_unique(self, column: str) -> bool:
        """Tell whether the cells of a column are all filled and different."""
        return len({*self.cells[column]} - {""}) == len(self.cells[column]) > 0

    def counts(self, column: str) -> Counter[str]:
        """Return the number of occurrences of each cell of a column that names something."""
        return Counter(
            cell for cell in self.cells[column] if cell and cell.casefold() not in NOTHING
        )

    def named(self, column: str) -> Named:
        """Return the cells of a column, to be compared with keys."""
        return Named(self.counts(column))


def are_numbers(cells: Collection[str]) -> bool:
    """Tell whether most cells are whole numbers."""
    return 2 * sum(cell.removesuffix(".0").isdigit() for cell in cells) > len(cells)


class ForeignKeys:
    """Keys and foreign keys of tables.

    Declared keys are used. If none are declared, the cells decide. A key is a column with distinct
    cells that is named as an id or has the same name as a column of another table. A column is a
    foreign key if nearly all of its cells are keys of another table, and one of these holds: it has
    the same name as the key (``movieId``), it is named after the other table (``company_id``), or
    its cells are words. The ends of links name rows of the largest table that has nearly all of
    them as keys.

    Attributes:
        own: Name of the key column of each table; empty without a key.
        found: For each table, the foreign keys: (number of the other table, its column) by column.
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
                self.found[number] |= self._of_its_own(number)

    def _own(self, table: KeyedTable) -> str:
        if table.ends or len(table.key) > 1:
            return ""
        ids = table.named_so((*table.header.mapping.id, *table.header.keys))
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
        found = {}
        for column, (other, key) in table.foreign.items():
            number = titles.get(other, -1)
            if number >= 0 and column in table.cells and key in self._tables[number].cells:
                found[column] = (number, key)
        return found

    def _told(self, number: int) -> dict[str, tuple[int, str]]:
        """Return the columns of a table whose cells name rows of other tables."""
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
        """Return the largest table that has nearly all of some cells as keys."""
        having = [
            other
            for other, own in enumerate(self.own)
            if own and named.are_in(self._keys_in(other, own))
        ]
        return max(
            having, key=lambda other: len(self._tables[other].cells[self.own[other]]), default=None
        )

    def _named_by(self, number: int, name: str, named: Named) -> tuple[int, str] | None:
        """Return the table whose rows a column names, and the column of this table with the keys.

        Among several, a table whose key has the same name as the column is preferred, then the
        table that the column is named after.
        """
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
        """Return whether, of two tables with the same key, ``one`` has the entities.

        The rows of ``other`` then describe these entities.
        """
        return self.own[one] != self.own[other] or self._rank(one) < self._rank(other)

    def _rank(self, number: int) -> tuple[bool, bool, int]:
        """Return a sort key for tables with the same key; tables that have the entities are first.

        A table that the key is named after is before others, then a table with labels.
        """
        table, own = self._tables[number], self.own[number]
        return not table_of(own, [table.name]), not table.are_labelled, number

    def _keys_of_words(self, number: int) -> list[str]:
        """Return the key of a table if its cells are words; without a key, the possible keys."""
        if number not in self._words:
            table, own = self._tables[number], self.own[number]
            may_be = [own] if own else []
            if not (own or table.ends) and table.n_rows >= FEWEST:
                unique = filter(table.is_unique, table.others)
                may_be = [name for name in unique if are_short(table.cells[name], LONGEST)]
            self._words[number] = [name for name in may_be if _are_words(table.cells[name])]
        return self._words[number]

    def _keys_in(self, number: int, column: str) -> frozenset[str]:
        """Return the distinct cells of a column."""
        if (number, column) not in self._names:
            self._names[number, column] = frozenset(self._tables[number].cells[column])
        return self._names[number, column]

    def _of_its_own(self, number: int) -> dict[str, tuple[int, str]]:
        """Return the foreign keys of a table to itself.

        If cells are numbers, they must not be keys of another table too, unless the name of the
        column says that it names rows of the same table.
        """
        own, table = self.own[number], self._tables[number]
        if not own:
            return {}
        by_number, found = are_numbers(table.cells[own]), {}
        for name, forms in zip(table.cells, spelt([*table.cells]), strict=True):
            is_alike = not {*forms}.isdisjoint(PARENT) or any(map(ALIKE.fullmatch, forms))
            if (
                name not in table.others
                or name == own
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
            if named.are_in(self._keys_in(number, own)) and not any(
                named.are_in(self._keys_in(*key)) for key in others
            ):
                found[name] = (number, own)
        return found


def _may_be_key(name: str, counts: Mapping[str, int]) -> bool:
    """Return whether a column may be a key, if another table has a column of the same name.

    Numbers are keys only if the name of the column is that of a key. Cells that mean yes or no are
    not keys.
    """
    return is_key(name) or not (are_numbers(counts) or are_yes_and_no(counts))


def _are_words(cells: Collection[str]) -> bool:
    """Tell whether nearly all cells have letters."""
    return sum(bool(LETTER.search(cell)) for cell in cells) >= TOLD * len(cells)
