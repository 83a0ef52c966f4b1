"""Guessing how tables are joined by foreign keys, such as the tables of a database."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, combinations, islice

from ontodex.graph.names import normalise, spellings
from ontodex.readers.mapping.guess import are_labels
from ontodex.readers.mapping.headers import (
    ID,
    LABEL,
    LABEL_ALONE,
    PARENT,
    EntityHeader,
    is_key,
    spelt,
    table_of,
)
from ontodex.readers.mapping.triples import RELATION
from ontodex.readers.problems import INSPECT
from ontodex.readers.tables.keys import MARKS, parts_of
from ontodex.readers.tables.mapping import TableMapping
from ontodex.readers.tables.values import LETTER, NOTHING, are_short, are_yes_and_no, whole_name

__all__ = ["KeyedTable", "guess_joins", "remarks_on"]

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

Key = tuple[int, str]
"""The number of a table, and the column of this table that has the keys."""


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

    def named_so(self, columns: Iterable[str]) -> list[str]:
        """Return the names of some columns of the header."""
        names = dict(zip(self.header.mapping.columns, self.cells, strict=True))
        return [names[one] for one in columns]

    @cached_property
    def labels(self) -> Sequence[str]:
        """The labels of the rows; empty if there are none."""
        mapping = self.header.mapping
        names = self.named_so(mapping.label[:1] or mapping.label_parts)
        return [*map(whole_name, zip(*(self.cells[name] for name in names), strict=True))]

    @cached_property
    def others(self) -> list[str]:
        """The columns other than labels, names, synonyms and definitions."""
        mapping = self.header.mapping
        several = (mapping.label, mapping.label_parts, mapping.synonyms, mapping.definition)
        told = self.named_so(chain.from_iterable(several))
        return [name for name in self.cells if name not in told]

    @cached_property
    def words(self) -> list[str]:
        """Columns whose cells are short, have letters, and are all filled and different."""
        unique = filter(self.is_unique, self.others)
        return [
            name
            for name in unique
            if are_short(self.cells[name], LONGEST) and _are_words(self.cells[name])
        ]

    def is_unique(self, column: str) -> bool:
        """Tell whether the cells of a column are all filled and different."""
        return len({*self.cells[column]} - {""}) == len(self.cells[column]) > 0

    def counts(self, column: str) -> Counter[str]:
        """Return the number of occurrences of each cell of a column that names something."""
        return Counter(
            cell for cell in self.cells[column] if cell and cell.casefold() not in NOTHING
        )


@dataclass(frozen=True)
class _Column:
    """A column that may name rows of a table.

    Attributes:
        counts: Number of occurrences of each cell.
    """

    counts: Counter[str]

    @cached_property
    def sample(self) -> frozenset[str]:
        """The first distinct cells and their parts, also without a final ``.0``."""
        cells = islice(self.counts, SAMPLE)
        some = {part.strip() for cell in cells for part in (cell, *MARKS.split(cell))}
        return frozenset(some | {one.removesuffix(".0") for one in some})


def guess_joins(tables: Sequence[KeyedTable], *, are_one: bool = False) -> list[TableMapping]:
    """Guess the joins of tables.

    Declared keys are used. If none are declared, the cells decide. A key is a column with distinct
    cells that is named as an id or has the same name as a column of another table. A column is a
    foreign key if nearly all of its cells are keys of another table, and one of these holds: it has
    the same name as the key (``movieId``), it is named after the other table (``company_id``), or
    its cells are words. The ends of links name rows of the largest table that has nearly all of
    them as keys.

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
    joins = _Joins(tables)
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
    """Keys and foreign keys of tables, by number of the table, and the mappings that join them."""

    def __init__(self, tables: Sequence[KeyedTable]) -> None:
        self._tables = tables
        self._distinct: dict[Key, frozenset[str]] = {}
        self._bearers = Counter(
            form for table in tables for form in {_form(name) for name in table.cells}
        )
        self._own = [self._own_key(table) for table in tables]
        self._words = [key for number in range(len(tables)) for key in self._words_of(number)]
        self._same = defaultdict[str, list[int]](list)
        for number, own in enumerate(self._own):
            if self._is_shared(own):
                self._same[_form(own)].append(number)
        self._found = [
            self._declared(table) or dict(self._guessed(number))
            for number, table in enumerate(tables)
        ]
        for other, key in [key for found in self._found for key in found.values()]:
            self._own[other] = self._own[other] or key
        if any(self._found) and not any(table.foreign for table in tables):
            for number in range(len(tables)):
                self._found[number].update(self._of_its_own(number))
        self._subjects = [*map(self._subject, range(len(tables)))]
        self._prefixes: list[str] = []
        for number in range(len(tables)):
            self._prefixes.append(self._prefix(number))

    def are_needed(self, *, are_one: bool) -> bool:
        """Return whether there are foreign keys, or ids clash without prefixes."""
        pairs = combinations(range(len(self._tables)), 2)
        return any(
            found and not table.ends for table, found in zip(self._tables, self._found, strict=True)
        ) or (are_one and any(self._share_labels(*pair) is False for pair in pairs))

    # Keys ----------------------------------------------------------------------------------------

    def _own_key(self, table: KeyedTable) -> str:
        """Return the column of the key of a table; empty without a key."""
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
        form = _form(name)
        return self._bearers[form] > 1 and form not in COMMON

    def _holds(self, key: Key, column: _Column) -> bool:
        """Tell whether nearly all cells of a column consist of keys, and nothing else."""
        if key not in self._distinct:
            self._distinct[key] = frozenset(self._tables[key[0]].cells[key[1]])
        keys = self._distinct[key]
        if keys.isdisjoint(column.sample):
            return False
        held = sum(
            count
            for cell, count in column.counts.items()
            if all(part in keys for part in parts_of(cell, keys))
        )
        return held >= TOLD * column.counts.total() > 0

    def _declared(self, table: KeyedTable) -> dict[str, Key]:
        titles = {other.title: number for number, other in enumerate(self._tables)}
        keys = {column: (titles.get(one, -1), key) for column, (one, key) in table.foreign.items()}
        return {
            column: (number, key)
            for column, (number, key) in keys.items()
            if number >= 0 and column in table.cells and key in self._tables[number].cells
        }

    def _guessed(self, number: int) -> Iterator[tuple[str, Key]]:
        """Yield the columns of a table whose cells name rows of other tables, and the keys.

        The largest table is preferred for the ends of links.
        """
        table = self._tables[number]
        by_size = sorted(
            ((other, own) for other, own in enumerate(self._own) if own),
            key=lambda key: -len(self._tables[key[0]].cells[key[1]]),
        )
        for name in table.ends or table.others:
            counts = table.counts(name)
            is_own = name == self._own[number] and bool(table.labels)
            if is_own or not counts or not (table.ends or are_short(counts, LONGEST)):
                continue
            keys = by_size if table.ends else self._candidates(number, name, counts)
            others, column = (key for key in keys if key[0] != number), _Column(counts)
            if found := next((key for key in others if self._holds(key, column)), None):
                yield name, found

    def _candidates(self, number: int, name: str, counts: Counter[str]) -> Iterator[Key]:
        """Yield the keys that the cells of a column may be.

        First come keys with the same name as the column, then the key of the table that the column
        is named after. Words may be any keys that are words.
        """
        may_be_key = _may_be_key(name, counts)
        same = [
            other
            for other in self._same.get(_form(name), [])
            if (self._own[other] != self._own[number] or self._rank(other) < self._rank(number))
            and (may_be_key or self._tables[other].key)
        ]
        by_name = {table.name: at for at, table in enumerate(self._tables) if table.name}
        after = by_name.get(table_of(name, by_name), number)
        yield from (
            (other, self._own[other])
            for other in (*sorted(same, key=self._rank), after)
            if self._own[other]
        )
        if len(counts) > 1 and max(map(len, counts)) > 1 and _are_words(counts):
            yield from self._words

    def _words_of(self, number: int) -> list[Key]:
        """Return the keys of a table that are words: its key, or any column if it has no key."""
        own, table = self._own[number], self._tables[number]
        n_rows = len(next(iter(table.cells.values()), ()))
        may_be = table.words if own or (not table.ends and n_rows >= FEWEST) else []
        return [(number, key) for key in may_be if not own or key == own]

    def _rank(self, number: int) -> tuple[bool, bool, int]:
        """Return a sort key for tables with the same key; tables that have the entities are first.

        A table that the key is named after is before others, then a table with labels. The rows of
        the other tables describe these entities.
        """
        table, own = self._tables[number], self._own[number]
        return not table_of(own, [table.name]), not table.labels, number

    def _of_its_own(self, number: int) -> Iterator[tuple[str, Key]]:
        """Yield the foreign keys of a table to itself.

        If cells are numbers, they must not be keys of another table too, unless the name of the
        column says that it names rows of the same table.
        """
        own, table = self._own[number], self._tables[number]
        by_number = bool(own) and _are_numbers(table.cells[own])
        for name, forms in zip(table.cells, spelt([*table.cells]), strict=True):
            is_alike = not {*forms}.isdisjoint(PARENT) or any(map(ALIKE.fullmatch, forms))
            is_taken = name == own or name not in table.others or name in self._found[number]
            if not own or is_taken or (by_number and not (is_alike or is_key(name))):
                continue
            counts = table.counts(name)
            del counts["0"]
            others = [key for key in enumerate(self._own) if key[1] and key[0] != number]
            if is_alike or not by_number:
                others = []
            column = _Column(counts)
            if self._holds((number, own), column) and not any(
                self._holds(key, column) for key in others
            ):
                yield name, (number, own)

    # Mappings ------------------------------------------------------------------------------------

    def _subject(self, number: int) -> str:
        """Return the first foreign key, if rows have no entities of their own but describe others.

        The result is empty if rows are entities.
        """
        table, own, found = self._tables[number], self._own[number], self._found[number]
        foreign = [name for name in table.cells if found.get(name, (number,))[0] != number]
        is_code = own and own not in foreign and not _are_counted(table.cells[own])
        are_entities = table.ends or table.labels or is_code or not foreign
        return "" if are_entities or (own and self._are_named_by_others(number)) else foreign[0]

    def _are_named_by_others(self, number: int) -> bool:
        """Return whether other tables name the rows, and an unnamed column has their labels."""
        others = chain(self._found[:number], self._found[number + 1 :])
        table, own = self._tables[number], self._own[number]
        columns = [name for name in table.others if name not in self._found[number]]
        return any(of == number for keys in others for of, _ in keys.values()) and any(
            are_labels(table.cells[name], {*table.cells[own]}) for name in columns
        )

    def _prefix(self, number: int) -> str:
        """Return the prefix of the ids of a table; ``""`` for ids that need none.

        Ids get a prefix if they are numbers or clash with another table. The prefix is the name of
        the table, or the prefix of an earlier table with the same entities.
        """
        table, own = self._tables[number], self._own[number]
        if not own or self._subjects[number]:
            return ""
        same = {
            other: self._share_labels(other, number)
            for other in range(len(self._tables))
            if other != number
        }
        if not _are_numbers(table.cells[own]) and False not in same.values():
            return ""
        earlier = (self._prefixes[other] for other in range(number) if same[other])
        name = table.name or _form(own).rpartition(" ")[0]
        return next(earlier, f"{name.replace(' ', '_')}:" if name else "")

    def _share_labels(self, one: int, other: int) -> bool | None:
        """Return whether most shared ids of two tables have equal labels; ``None`` without any."""
        labels = self._labels_by_id[one], self._labels_by_id[other]
        shared = labels[0].keys() & labels[1].keys()
        same = sum(normalise(labels[0][key]) == normalise(labels[1][key]) for key in shared)
        return 2 * same > len(shared) if shared else None

    @cached_property
    def _labels_by_id(self) -> list[dict[str, str]]:
        """The labels of the rows of each table; empty if its rows are not entities."""
        return [
            dict(zip(table.cells[own], table.labels, strict=False)) if own and not subject else {}
            for table, own, subject in zip(self._tables, self._own, self._subjects, strict=True)
        ]

    def all(self) -> list[TableMapping]:
        """Return a mapping with the keys of each table."""
        return [*map(self._join, range(len(self._tables)))]

    def _join(self, number: int) -> TableMapping:
        subject, own, found = self._subjects[number], self._own[number], self._found[number]
        is_number = subject and own and own not in found
        called = [table.name or f"table {at}" for at, table in enumerate(self._tables, start=1)]
        head, relation, tail = self._triple(number) if subject else ("", "", "")
        return TableMapping(
            table=called[number],
            head=head,
            relation=relation,
            tail=tail,
            id=() if head else tuple(filter(None, [subject or own])),
            id_prefix=self._prefixes[number],
            rows_about=called[found[subject][0]] if subject else "",
            keys={column: (called[other], key) for column, (other, key) in found.items()},
            ignored={own: "a number of rows that are no entities"} if is_number else {},
        )

    def _triple(self, number: int) -> tuple[str, str, str]:
        """Return the columns of head, relation and tail of a table with two keys and a relation.

        The names are empty for other tables.
        """
        subject, names = self._subjects[number], [*self._tables[number].cells]
        others = [name for name in self._found[number] if name != subject]
        relations = [
            name
            for name, forms in zip(names, spelt(names), strict=True)
            if not {*forms}.isdisjoint(RELATION)
        ]
        return (
            (subject, relations[0], others[0]) if len(others) == 1 and relations else ("", "", "")
        )


@lru_cache(maxsize=1 << 12)
def _form(name: str) -> str:
    """Return the name of a column, normalised and with camel case split."""
    return spellings(name)[-1]


def _may_be_key(name: str, counts: Mapping[str, int]) -> bool:
    """Return whether a column may be a key, if another table has a column of the same name.

    Numbers are keys only if the name of the column is that of a key. Cells that mean yes or no are
    not keys.
    """
    return is_key(name) or not (_are_numbers(counts) or are_yes_and_no(counts))


def _are_words(cells: Collection[str]) -> bool:
    """Tell whether nearly all cells have letters."""
    return sum(bool(LETTER.search(cell)) for cell in cells) >= TOLD * len(cells)


def _are_numbers(cells: Collection[str]) -> bool:
    """Tell whether most cells are whole numbers."""
    return 2 * sum(cell.removesuffix(".0").isdigit() for cell in cells) > len(cells)


def _are_counted(cells: Sequence[str]) -> bool:
    """Return whether cells are numbers without leading zeros, such as a database assigns."""
    return _are_numbers(cells) and not any(cell.startswith("0") and len(cell) > 1 for cell in cells)
