"""Lookup of rows of a table of entities by the cells that name the rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice

from ontodex.graph.names import normalise
from ontodex.readers.tables.mapping import ROWS_BY, RelationColumn
from ontodex.readers.tables.values import LETTER, NUMBER, cell_parts

__all__ = ["FoundRows", "Link", "Row", "keys_of"]

NAMESAKES = 3
"""Maximal number of rows with the same label that a warning names."""

Link = tuple[str, str]
"""The id of a row, and a value in one of its cells."""

Row = Callable[[str], str | None]
"""Function that returns the id of the row that a value names, or ``None``."""


class FoundRows:
    """The entities of a table, found by id, by label, or by label regardless of case.

    Attributes:
        ids: Ids of the entities.
    """

    def __init__(self, ids: set[str]) -> None:
        self.ids = ids
        self._by_label: dict[str, tuple[str, ...]] = {}
        self._by_spelling: dict[str, tuple[str, ...]] = {}
        self._unclear: dict[str, None] = {}
        self._gone: set[str] = set()
        self._gone_ids: set[str] = set()
        self._lost = 0

    def add(self, identifier: str, label: str) -> None:
        """Add a row."""
        self.ids.add(identifier)
        for names, name in ((self._by_label, label.strip()), (self._by_spelling, normalise(label))):
            found = names.get(name, ())
            if len(found) < NAMESAKES and identifier not in found:
                names[name] = (*found, identifier)

    def leave_out(self, ids: Iterable[str], labels: Iterable[str]) -> None:
        """Add the names of an obsolete row; numeric ids apply to the parent column only."""
        names = [normalise(name) for name in ids if name.strip()]
        self._gone_ids.update(name for name in names if not NUMBER.fullmatch(name))
        self._gone.update(names, map(normalise, filter(str.strip, labels)))

    def stand_for(self, alternatives: Collection[str]) -> None:
        """Add alternative ids of rows; links to them are kept, even if obsolete rows have them."""
        self._gone.difference_update(map(normalise, alternatives))

    @staticmethod
    def told(links: Iterable[Link], row: Row, nothing: Collection[str]) -> list[Link]:
        """Return the links to rows, and the links to values other than words for "none"."""
        return [link for link in links if row(link[1]) or link[1].casefold() not in nothing]

    def still_there(self, links: Sequence[Link], *, ids_alone: bool = False) -> list[Link]:
        """Return links without links to obsolete rows.

        Args:
            links: The links.
            ids_alone: Whether values name obsolete rows by id only; by default, also by label.
        """
        gone = self._gone_ids if ids_alone else self._gone
        if not gone:
            return [*links]
        there = [link for link in links if normalise(link[1]) not in gone or self.row(link[1])]
        self._lost += len(links) - len(there)
        return there

    def word(self, part: str) -> str:
        """Return the id for a value that names no row: the value; note labels of several rows."""
        if len(self._by_spelling.get(normalise(part), ())) > 1:
            self._unclear[part] = None
        return part

    def row(self, part: str) -> str | None:
        """Return the id of the row that a value names, or ``None``; 1.0 also means the id 1."""
        if part in self.ids:
            return part
        found = self._by_label.get(part) or self._by_spelling.get(normalise(part), ())
        if found:
            return found[0] if len(found) == 1 else None
        whole = part.removesuffix(".0")
        return whole if whole in self.ids else None

    def row_by(self, of: RelationColumn, keys: Mapping[str, str]) -> Row:
        """Return the function that finds the row that a value of a relation names.

        Args:
            of: The relation.
            keys: If ``of.by`` is the name of a column, the ids of rows by their cells in this
                column.
        """
        if of.by not in ROWS_BY:
            return keys.get

        def row(part: str) -> str | None:
            is_meant = of.by == "any" or (of.by == "id" and part in self.ids)
            return self.row(part) if is_meant else None

        return row

    def parts(self, cell: str, separators: str = "") -> list[str]:
        """Return the values of a cell; a cell that names a row is one value.

        Commas separate values only if all these values name rows.
        """
        if self.row(cell.strip()):
            return [cell.strip()]
        parts = cell_parts(cell, separators) if separators else cell_parts(cell)
        finer = [part.strip() for part in cell.split(",")]
        return (
            finer
            if len(parts) == 1 and not self.row(parts[0]) and all(map(self.row, finer))
            else parts
        )

    def finish(self, remark: Callable[[str], None]) -> None:
        """Warn of names that are labels of several rows, and of links to obsolete rows."""
        for name in islice(self._unclear, 1):
            more = (
                f", and {len(self._unclear) - 1} more such names" if len(self._unclear) > 1 else ""
            )
            found = " and ".join(self._by_spelling[normalise(name)])
            remark(
                f"{name!r} is the label of {found}{more}; links of it are not theirs but of "
                "another entity, which has this name as its id; give the id of the one that is "
                "meant"
            )
        if self._lost:
            remark(f"left out {self._lost} link(s) to rows that are marked as obsolete")


def keys_of(cells: Iterable[Link]) -> dict[str, str]:
    """Return the id of the row of each cell, by the text of the cell.

    Args:
        cells: (id of the row, cell) for each cell of a column; cells without a letter are left out.

    Example:
        >>> keys_of([("1", "a@x.org"), ("2", " "), ("3", "b@x.org")])
        {'a@x.org': '1', 'b@x.org': '3'}
    """
    return {cell.strip(): identifier for identifier, cell in cells if LETTER.search(cell)}
