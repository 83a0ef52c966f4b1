"""The rows of a table of entities, to be found by what cells name them by."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from itertools import islice

from ontodex.graph.names import normalise
from ontodex.readers.tables.entity_columns import cell_parts
from ontodex.readers.tables.keys import Table, is_key
from ontodex.readers.tables.row_columns import APART
from ontodex.readers.tables.values import LETTER, NUMBER, are_short, are_yes_and_no, share_there

__all__ = ["FoundRows", "Link", "Row"]

TOLD = 0.9
"""A column names rows by what another one tells them apart by (an e-mail address, a code) if so many of its values do."""

NAMED = 4
"""A value is a row by its label if at least one value of the column in so many is."""

DENSE = 1 / 2
"""Whole numbers are the ids of rows by chance where more than such a share of those around them are ids."""

NAMESAKES = 3
"""Rows of one label that are kept, to be named in a warning."""

Link = tuple[str, str]
"""The id of a row, and what a cell of it names."""

Row = Callable[[str], str | None]
"""Return the id of the row that a part of a cell names, if it does."""


class FoundRows:
    """The entities of a table, to be found by id, by label, or by label in any case."""

    def __init__(self, table: Table) -> None:
        self._ids = table.ids
        self._table = table
        self._by_label: dict[str, tuple[str, ...]] = {}
        self._by_spelling: dict[str, tuple[str, ...]] = {}
        self._keys: list[dict[str, str]] = []
        self._unclear: dict[str, None] = {}
        self._gone: set[str] = set()
        self._gone_ids: set[str] = set()
        self._lost = 0

    def add(self, identifier: str, label: str) -> None:
        """Take a row."""
        self._ids.add(identifier)
        for names, name in ((self._by_label, label.strip()), (self._by_spelling, normalise(label))):
            bearers = names.get(name, ())
            if len(bearers) < NAMESAKES and identifier not in bearers:
                names[name] = (*bearers, identifier)

    def take_key(self, cells: Sequence[tuple[str, str]]) -> None:
        """Take a column, as (id, cell) of every row, whose cells other columns may name rows by, if it tells rows apart."""
        filled = [(cell.strip(), identifier) for identifier, cell in cells if LETTER.search(cell)]
        key = dict(filled)
        if (
            not are_yes_and_no(key)
            and are_short(key)
            and len(key) == len(filled) >= APART * len(cells) > 0
        ):
            self._keys.append(key)

    def leave_out(self, ids: Iterable[str], labels: Iterable[str]) -> None:
        """Take the names of a row that is no entity; its number says nothing of other columns than that of the parent."""
        names = [normalise(name) for name in ids if name.strip()]
        self._gone_ids.update(name for name in names if not NUMBER.fullmatch(name))
        self._gone.update(names, map(normalise, filter(str.strip, labels)))

    def stand_for(self, alternatives: Collection[str]) -> None:
        """Take the alternative ids of rows, which are there even if a row that is left out has them too."""
        self._gone.difference_update(map(normalise, alternatives))

    @staticmethod
    def told(links: Iterable[Link], row: Row, nothing: Collection[str]) -> list[Link]:
        """Return the links that lead to a row, or to something that does not stand for nothing."""
        return [link for link in links if row(link[1]) or link[1].casefold() not in nothing]

    def still_there(self, links: Sequence[Link], *, ids_alone: bool = False) -> list[Link]:
        """Return the links that do not lead to a row that is left out, by its id or, unless ``ids_alone``, by its label."""
        gone = self._gone_ids if ids_alone else self._gone
        there = [link for link in links if normalise(link[1]) not in gone or self.row(link[1])]
        self._lost += len(links) - len(there)
        return there

    def word(self, part: str) -> str:
        """Return what a part of a cell stands for that names no row, and note if several rows have this name."""
        if len(self._by_spelling.get(normalise(part), ())) > 1:
            self._unclear[part] = None
        return part

    def row(self, part: str) -> str | None:
        """Return the id that a part of a cell names; numbers of columns with gaps are written 1.0 for 1."""
        if part in self._ids:
            return part
        bearers = self._by_label.get(part) or self._by_spelling.get(normalise(part), ())
        if bearers:
            return bearers[0] if len(bearers) == 1 else None
        whole = part.removesuffix(".0")
        return whole if whole in self._ids else None

    def parts(self, cell: str, parts_of: Callable[[str], list[str]] = cell_parts) -> list[str]:
        """Return the parts of a cell that names no row; commas part it too where every part is an entity of the table."""
        if self.row(cell.strip()):
            return [cell.strip()]
        parts = parts_of(cell)
        finer = [part.strip() for part in cell.split(",")]
        return (
            finer
            if len(parts) == 1 and not self.row(parts[0]) and all(map(self.row, finer))
            else parts
        )

    def rows_by(self, relation: str, links: Sequence[Link]) -> Row:
        """Return what finds the row that a value of a relation names, by what its values can be meant for."""
        values = {part for _, part in links}
        for key in self._keys:
            others = sum(key.get(part, head) != head for head, part in links)
            if links and others >= TOLD * len(links):
                return key.get
        by_number = is_key(relation) or not (self._are_counted or self._are_there(values))
        by_label = len(values) <= NAMED * sum(bool(self.row(value)) for value in values)

        def row(part: str) -> str | None:
            is_meant = (by_label or part in self._ids) and (by_number or not NUMBER.fullmatch(part))
            return self.row(part) if is_meant else None

        return row

    @cached_property
    def _are_counted(self) -> bool:
        return self._table.is_counted

    @cached_property
    def _numbers(self) -> list[int]:
        return sorted(int(name) for name in self._ids if name.isascii() and name.isdigit())

    def _are_there(self, values: Collection[str]) -> bool:
        """Tell whether nearly all whole numbers within those of a column are ids, so that it names rows by chance."""
        found = sorted(int(value) for value in values if value.isascii() and value.isdigit())
        if not found:
            return False
        low, high = found[len(found) // 10], found[-1 - len(found) // 10]
        there = bisect_right(self._numbers, high) - bisect_left(self._numbers, low)
        return share_there(there, low, high) > DENSE

    def finish(self, remark: Callable[[str], None]) -> None:
        """Say what links could not be read as they stand."""
        for name in islice(self._unclear, 1):
            more = (
                f", and {len(self._unclear) - 1} more such names" if len(self._unclear) > 1 else ""
            )
            bearers = " and ".join(self._by_spelling[normalise(name)])
            remark(
                f"{name!r} is the label of {bearers}{more}; links of it are not theirs but of "
                "another entity, which has this name as its id; give the id of the one that is meant"
            )
        if self._lost:
            remark(f"left out {self._lost} link(s) to rows that are marked as obsolete")
