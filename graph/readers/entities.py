"""Entities in tables: one to a row, what is said of it in columns that a header names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import normalise
from ontodex.graph.prefixes import WELL_KNOWN
from ontodex.graph.readers.codes import parents_by_code
from ontodex.graph.readers.comma_lists import are_comma_lists, comma_parts
from ontodex.graph.readers.entity_columns import NOTHING, EntityColumns, cell_parts, one_line, spelt
from ontodex.graph.readers.keys import Table, is_key, table_of
from ontodex.graph.readers.negation import left_out, negation_in
from ontodex.graph.readers.paths import LETTER, add_category, path_of
from ontodex.graph.readers.row_columns import APART, LONGEST, chosen_columns

__all__ = ["add_entities", "add_entity"]

NO_VALUES = frozenset(("true", "false", "yes", "no", "y", "n"))
"""Cells that say whether something holds, and of what nothing is told by it."""

NO_PARENT = frozenset(("0", "0.0", "owl:thing", f"{WELL_KNOWN['owl']}Thing".casefold()))
"""Cells of parents that say so too."""

TRUE = frozenset(("true", "yes", "y", "1"))

SHARED = 2 / 3
"""A column is a relation if it has at most this many values for each filled cell: rows share them."""

NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d*)(?:[.,]\d+)?")

TOLD = 0.9
"""A column names rows by what another one tells them apart by (an e-mail address, a code) if so many of its values do."""

DATE = re.compile(
    r"(?:^|(?<=[\W\d]))(?:(?:jan|febr?|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|mon|tues?|wed|thu(?:rs)?|fri|sat|sun)"
    r"(?:[a-z]*(?:ary|ch|il|ust|ber|day))?|[tz]|[ap]m|utc|gmt|st|nd|rd|th)(?=[\W\d]|$)",
    re.IGNORECASE,
)
"""Words of dates and times."""

DIGIT = re.compile(r"\d")

NAMED = 4
"""A value is a row by its label if at least one value of the column in so many is."""

NAMESAKES = 3
"""Rows of one label that are kept, to be named in a warning."""

Link = tuple[str, str]
"""The id of a row, and what a cell of it names."""

Row = Callable[[str], str | None]
"""Return the id of the row that a part of a cell names, if it does."""

Report = Callable[[str, int], None]
"""Takes what is wrong with a row, and its number."""


def add_entity(columns: EntityColumns, cells: Sequence[str], builder: GraphBuilder, *, exact: bool = False) -> str:
    """Add what a row says of its entity, links apart; return its id, or nothing where the row has neither id nor label.

    Args:
        columns: What the header says.
        cells: The row, as wide as the header.
        builder: Takes the entity.
        exact: How synonyms are read, see :meth:`EntityColumns.names`.
    """
    named = (one_line(cells[at]) for at in (*columns.id, *columns.label))
    identifier = next(filter(None, named), "")
    if identifier:
        labels = columns.labels(cells)
        builder.entity(
            identifier,
            label=next(iter(labels), ""),
            synonyms=columns.names(columns.synonyms, cells, exact=exact) + labels,
            definition=next((cells[at] for at in columns.definition if cells[at].strip()), ""),
        )
    return identifier


def add_entities(
    columns: EntityColumns,
    rows: Iterable[tuple[int, Sequence[str]]],
    builder: GraphBuilder,
    table: Table,
    report: Report,
    remark: Callable[[str], None],
    *,
    negated: bool = False,
) -> None:
    """Add the entities of a table, and their links.

    A parent is an entity by its id, by its label, or by its label in any case; what names no row is an entity of this name,
    but for 0 and ``owl:Thing``, and so is a label that several rows have. Any other column is a relation if most of its
    cells name rows, or if rows share its values (``habitat``, say); numbers, dates and remarks are left out, and so are rows
    that are marked as obsolete and links to them, and what a row says that denies it (``negated``, or NOT as
    ``qualifier``). A value is a row by its label only if a quarter of the column's values are. Where ids are numbers in
    a row, a number names a row only in a column whose name says so (``manager_id``). Where no column is named as one of
    labels, the first of short texts that differ is taken for it. Paths of categories, or a column for each level of a
    hierarchy, place a row below what its path begins with, if it is a category itself, and else link it to the last on it.
    Where there is none of these, codes may tell what they are below by what they begin with. A cell may list values by
    commas, and name rows by what another column tells them apart by.

    Args:
        columns: What the header says.
        rows: (number, cells) of every row.
        builder: Takes them.
        table: Takes the ids of the rows, and the columns that are left out here.
        report: Takes rows that hold no entity.
        remark: Takes what is to be said of the table.
        negated: Read the links of rows that say of themselves that they do not hold, in place of those that hold.
    """
    table.own_labels = bool(columns.label) and not columns.guess
    fitting = [row for row in rows if _fits(row, columns.width, report)]
    chosen = chosen_columns(fitting, columns, remark)
    width, columns = columns.width, chosen.columns
    table.named.update(filter(None, (table_of(name, table.others) for _, name in columns.others)))
    named: list[tuple[str, Sequence[str]]] = []
    found = _Found(table)
    for number, cells in chosen.rows:
        if any(cells[at].strip().casefold() in TRUE for at in columns.obsolete):
            ids = [*(cells[at] for at in columns.id), *chosen.own_paths(cells)]
            found.leave_out(ids, (cells[at] for at in columns.label))
            continue
        identifier = add_entity(columns, cells, builder)
        if not identifier:
            report(_no_entity(cells[:width], width), number)
            continue
        found.add(identifier, next(iter(columns.labels(cells)), identifier))
        named.append((identifier, cells))
    named, columns = _stated(named, columns, remark, negated)
    former = {name: identifier for identifier, cells in named for name in columns.names(columns.former, cells)}
    former.update((path, identifier) for identifier, cells in named for path in chosen.own_paths(cells))
    builder.replace(former)
    found.stand_for(former)
    for at in [at for at in columns.parents if at not in chosen.paths]:
        links = [(identifier, part) for identifier, cells in named for part in found.parts(cells[at])]
        for identifier, part in found.still_there(found.told(links, found.row, NOTHING | NO_PARENT)):
            builder.triple(identifier, "is_a", found.row(part) or found.word(part))
    if columns.id and not columns.parents and not chosen.paths:
        _add_by_code([identifier for identifier, _ in named], builder, remark)
    others = [(at, name) for at, name in columns.others if name and at not in chosen.paths]
    for at, _ in others:
        found.take_key([(identifier, cells[at]) for identifier, cells in named])
    for at, name in others:
        parts_of = comma_parts if are_comma_lists([cells[at] for _, cells in named]) else cell_parts
        links = [(identifier, part) for identifier, cells in named for part in found.parts(cells[at], parts_of)]
        _add_relation(name, links, builder, table, found)
    for identifier, cells in named:
        for relation, category in chosen.links(cells):
            if relation and found.still_there([(identifier, path_of(category))]):
                builder.triple(identifier, relation, add_category(category, builder))
    found.finish(remark)


def _fits(row: tuple[int, Sequence[str]], width: int, report: Report) -> bool:
    """Tell whether a row is as wide as the header, or report it."""
    if len(row[1]) != width:
        report(_no_entity(row[1], width), row[0])
    return len(row[1]) == width


def _no_entity(cells: Sequence[str], width: int) -> str:
    return f"expected {width} columns and an id or label, found {len(cells)}: {' | '.join(cells)[:60]!r}"


def _add_relation(name: str, links: list[Link], builder: GraphBuilder, table: Table, found: _Found) -> None:
    """Add the links of a column, if it is a relation, or the names that it holds, if most are those of their own rows."""
    row = found.rows_by(name, links)
    links = found.told(links, row, NOTHING)
    if not links:
        return
    if 2 * sum(row(part) == identifier for identifier, part in links) > len(links):
        for identifier, part in links:
            builder.entity(identifier, synonyms=[part] if LETTER.search(part) else [])
        return
    are_numbers = 2 * sum(bool(NUMBER.fullmatch(part)) for _, part in links) > len(links)
    is_foreign = are_numbers and table_of(name, table.others)
    if _is_relation([part for _, part in links], row) and not is_foreign:
        for identifier, part in found.still_there(links, ids_alone=True):
            builder.triple(identifier, name, row(part) or found.word(part))
        if are_numbers and not table_of(name, [table.name]):
            table.by_number[name] = {part for _, part in links}
    else:
        may_name_rows = not table.is_alone and sum(len(part) for _, part in links) <= LONGEST * len(links)
        table.left_out.setdefault(name, []).extend(links if may_name_rows else ())


def _add_by_code(ids: Sequence[str], builder: GraphBuilder, remark: Callable[[str], None]) -> None:
    """Add what ids are below by what they begin with, if they tell it."""
    parents = parents_by_code(ids)
    for identifier, above in parents.items():
        builder.triple(identifier, "is_a", above)
    for identifier, above in islice(parents.items(), 1):
        remark(
            f"took what ids begin with for what they are below, as no column is named parent ({identifier} is a {above})"
        )


def _stated(
    named: list[tuple[str, Sequence[str]]], columns: EntityColumns, remark: Callable[[str], None], negated: bool
) -> tuple[list[tuple[str, Sequence[str]]], EntityColumns]:
    """Return the rows that do not say of themselves that they do not hold, or do, and the columns without that for it."""
    others = dict(columns.others)
    negation = negation_in(spelt([others.get(at, "") for at in range(columns.width)]))
    if negation is None:
        return named, columns
    stated = [row for row in named if negation.denies(row[1]) == negated]
    if len(stated) < len(named) and not negated:
        remark(left_out(len(named) - len(stated)))
    rest = tuple(one for one in columns.others if not negation.is_flag or one[0] != negation.at)
    return stated, replace(columns, others=rest)


class _Found:
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
        self._ids.add(identifier)
        for names, name in ((self._by_label, label.strip()), (self._by_spelling, normalise(label))):
            bearers = names.get(name, ())
            if len(bearers) < NAMESAKES and identifier not in bearers:
                names[name] = (*bearers, identifier)

    def take_key(self, cells: Sequence[tuple[str, str]]) -> None:
        """Take a column, as (id, cell) of every row, whose cells other columns may name rows by, if it tells rows apart."""
        filled = [(cell.strip(), identifier) for identifier, cell in cells if LETTER.search(cell)]
        key = dict(filled)
        are_short = sum(map(len, key)) <= LONGEST * len(key)
        if are_short and len(key) == len(filled) >= APART * len(cells) > 0:
            self._keys.append(key)

    def leave_out(self, ids: Iterable[str], labels: Iterable[str]) -> None:
        """Take the names of a row that is no entity; its number says nothing of other columns than that of the parent."""
        names = [normalise(name) for name in ids if name.strip()]
        self._gone_ids.update(name for name in names if not NUMBER.fullmatch(name))
        self._gone.update(names, map(normalise, filter(str.strip, labels)))

    def stand_for(self, former: Collection[str]) -> None:
        """Take the former ids of rows, which are there even if a row that is left out has them too."""
        self._gone.difference_update(map(normalise, former))

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
        return finer if len(parts) == 1 and not self.row(parts[0]) and all(map(self.row, finer)) else parts

    def rows_by(self, relation: str, links: Sequence[Link]) -> Row:
        """Return what finds the row that a value of a relation names, by what its values can be meant for."""
        values = {part for _, part in links}
        for key in self._keys:
            others = sum(key.get(part, head) != head for head, part in links)
            if links and others >= TOLD * len(links):
                return key.get
        by_number = not self._are_counted or is_key(relation)
        by_label = len(values) <= NAMED * sum(bool(self.row(value)) for value in values)

        def row(part: str) -> str | None:
            is_meant = (by_label or part in self._ids) and (by_number or not NUMBER.fullmatch(part))
            return self.row(part) if is_meant else None

        return row

    @cached_property
    def _are_counted(self) -> bool:
        return self._table.is_counted

    def finish(self, remark: Callable[[str], None]) -> None:
        """Say what links could not be read as they stand."""
        for name in islice(self._unclear, 1):
            more = f", and {len(self._unclear) - 1} more such names" if len(self._unclear) > 1 else ""
            bearers = " and ".join(self._by_spelling[normalise(name)])
            remark(
                f"{name!r} is the label of {bearers}{more}; links of it are not theirs but of "
                "another entity, which has this name as its id; give the id of the one that is meant"
            )
        if self._lost:
            remark(f"left out {self._lost} link(s) to rows that are marked as obsolete")


def _is_relation(cells: Sequence[str], row: Row) -> bool:
    """Tell whether most cells of a column name rows of the table, or whether rows share its values."""
    values = Counter(cells)
    if 2 * sum(count for part, count in values.items() if row(part)) > len(cells):
        return True
    words = sum(count for part, count in values.items() if _is_word(part))
    is_said = {part.casefold() for part in values} <= NO_VALUES
    return not is_said and 2 * words > len(cells) and len(values) <= SHARED * len(cells)


def _is_word(part: str) -> bool:
    """Tell whether a value is neither a number nor a date.

    >>> [_is_word(part) for part in ("12.5", "Jun 12 1998", "2013-07-20T00:00:00Z", "May", "Studio 54")]
    [False, False, False, True, True]
    """
    return bool(LETTER.search(DATE.sub("", part) if DIGIT.search(part) else part))
