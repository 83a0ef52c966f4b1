"""Tables of entities, one entity per row, read with a mapping."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import normalise, unique_ids_by_name
from ontodex.graph.prefixes import WELL_KNOWN
from ontodex.readers.tables.mapping import ROWS_BY, UNNAMED, RelationColumn, TableMapping
from ontodex.readers.tables.paths import (
    ARROW,
    Category,
    add_category,
    categories_in,
    names_by_level,
    path_of,
)
from ontodex.readers.tables.table import PREVIEW, Table
from ontodex.readers.tables.values import LETTER, NOTHING, NUMBER, cell_parts, one_line, whole_name

__all__ = [
    "EntityRows",
    "FoundRows",
    "Layout",
    "Link",
    "add_entities",
    "are_denied",
    "denied_left_out",
    "links_to_others",
]

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


def links_to_others(links: Iterable[Link], row: Row) -> list[Link]:
    """Return the links to other rows.

    >>> links_to_others([("a", "b"), ("a", "a"), ("a", "x")], {"a": "a", "b": "b"}.get)
    [('a', 'b')]
    """
    return [link for link in links if row(link[1]) not in (None, link[0])]


def keys_of(cells: Iterable[Link]) -> dict[str, str]:
    """Return the id of the row of each cell, by the text of the cell.

    Args:
        cells: (id of the row, cell) for each cell of a column; cells without a letter are left out.

    Example:
        >>> keys_of([("1", "a@x.org"), ("2", " "), ("3", "b@x.org")])
        {'a@x.org': '1', 'b@x.org': '3'}
    """
    return {cell.strip(): identifier for identifier, cell in cells if LETTER.search(cell)}


# Entities of a table ------------------------------------------------------------------------------


TRUE = frozenset(("true", "yes", "y", "1"))

NO_PARENT = frozenset(("0", "0.0", "owl:thing", f"{WELL_KNOWN['owl']}Thing".casefold()))
"""Cells of a parent column that mean that a row has no parent."""

Report = Callable[[str, int], None]
"""Function that receives the fault of a row, and the number of the row."""

Rows = Iterable[tuple[int, Sequence[str]]]


def are_denied(cells: Sequence[str], words: Iterable[tuple[int, Sequence[str]]]) -> bool:
    """Return whether a row is negated.

    ``words`` has (position, negating words) of each column that may negate a row.

    >>> are_denied(["NOT|part_of"], [(0, ["not"])]), are_denied(["False"], [(0, ["true", "yes"])])
    (True, False)
    """
    return any(
        not {part.strip() for part in re.split(r"[|;,]", cells[at].casefold())}.isdisjoint(of)
        for at, of in words
    )


def denied_left_out(count: int) -> str:
    """Return the warning that negated rows were left out."""
    return f"left out {count} line(s) that say what does not hold"


class Layout:
    """Positions of the columns of a mapping in a table.

    Args:
        mapping: What the columns hold.
        columns: Names of the columns; see :func:`ontodex.readers.tables.mapping.column_names`.
    """

    def __init__(self, mapping: TableMapping, columns: Sequence[str]) -> None:
        self.mapping = mapping
        self.columns = columns
        self.width = len(columns)
        self._places = {name: at for at, name in enumerate(columns)}
        self.id = self.at(mapping.id)
        self.label = self.at(mapping.label)
        self.parts = self.at(mapping.label_parts)
        self.definition = self.at(mapping.definition)
        self.denials = [(self._places[name], words) for name, words in mapping.negation.items()]

    def at(self, names: Iterable[str]) -> tuple[int, ...]:
        """Return the positions of columns."""
        return tuple(self._places[name] for name in names)

    def labels(self, cells: Sequence[str]) -> list[str]:
        """Return the labels of a row."""
        if self.parts:
            return [name] if (name := whole_name(cells[at] for at in self.parts)) else []
        return [cells[at] for at in self.label if cells[at].strip()]

    def names(self, columns: Sequence[str], cells: Sequence[str]) -> list[str]:
        """Return the values in some columns of a row, without words that mean "none"."""
        found = []
        for column in columns:
            cell, separators = cells[self._places[column]], self.mapping.separators.get(column)
            found += cell_parts(cell, separators) if separators else cell_parts(cell)
        return [name for name in found if name.casefold() not in NOTHING]

    def add_entity(
        self, identifier: str, labels: Sequence[str], cells: Sequence[str], builder: GraphBuilder
    ) -> None:
        """Add the entity of a row, without its links."""
        builder.entity(
            identifier,
            label=next(iter(labels), ""),
            synonyms=[*self.names(self.mapping.synonyms, cells), *labels],
            definition=next((cells[at] for at in self.definition if cells[at].strip()), ""),
        )


class EntityRows(Layout):
    """The entities of a table, and lookup of the rows that its cells name.

    Args:
        mapping: What the columns hold; relations may be missing.
        columns: Names of the columns.
        rows: (number, cells) of every row, as wide as the header.
        table: Receives the ids; says whether negated rows are read, or all others.
        report: Receives rows without an id or a label.

    Attributes:
        named: (id, labels, cells) of every row that is an entity.
        stated: (id, cells) of the rows whose links are read.
        denied: Number of rows whose links are left out because the rows are negated.
        found: Finds the rows that cells name.
        paths: Separators of columns of paths, by position. The paths made of ``mapping.levels`` are
            at position ``width``.
        path: Position of the column with the row's own path if rows are categories, or ``None``.
    """

    def __init__(
        self,
        mapping: TableMapping,
        columns: Sequence[str],
        rows: Rows,
        table: Table,
        report: Report,
    ) -> None:
        super().__init__(mapping, columns)
        self._report = report
        levels = self.at(mapping.levels)
        if levels:
            rows = [*rows]
            names = names_by_level((cells for _, cells in rows), levels)
            rows = [
                (number, [*cells, path_of(found)])
                for (number, cells), found in zip(rows, names, strict=True)
            ]
        is_path = (mapping.path, *mapping.parent, *mapping.relations)
        read = [name for name in mapping.paths if name in is_path and name in self._places]
        self.paths = {self._places[name]: mapping.paths[name] for name in read}
        if levels:
            self.paths[self.width] = ARROW
        self.path = self._places.get(mapping.path)
        if levels and not mapping.level_of:
            self.path = self.width
        self.found = FoundRows(table.ids)
        self.named = [*self._named(rows, self.at(mapping.obsolete))]
        rows_that_hold = [
            (identifier, cells)
            for identifier, _, cells in self.named
            if not self.denials or are_denied(cells, self.denials) == table.negated
        ]
        self.stated = rows_that_hold
        self.denied = 0 if table.negated else len(self.named) - len(rows_that_hold)

    def _named(
        self, rows: Rows, obsolete: Sequence[int]
    ) -> Iterator[tuple[str, list[str], Sequence[str]]]:
        for number, cells in rows:
            if any(cells[at].strip().casefold() in TRUE for at in obsolete):
                ids = [*(cells[at] for at in self.id), *self.own_paths(cells)]
                self.found.leave_out(ids, (cells[at] for at in self.label))
                continue
            labels = self.labels(cells)
            candidates = [*(cells[at] for at in self.id), *self._own_path(cells), *labels]
            identifier = next(filter(None, map(one_line, candidates)), "")
            if not identifier:
                found = " | ".join(cells[: self.width])[:60]
                self._report(f"expected an id or label, found {found!r}", number)
                continue
            self.found.add(identifier, next(iter(labels), identifier))
            yield identifier, labels, cells

    def categories(self, at: int, cells: Sequence[str]) -> tuple[Category, ...]:
        """Return the categories in a column of paths of a row."""
        return categories_in(cells[at], self.paths[at])

    def _category(self, cells: Sequence[str]) -> Category:
        """Return the path of a row that is a category; empty for other rows."""
        return () if self.path is None else (*self.categories(self.path, cells), ())[0]

    def _own_path(self, cells: Sequence[str]) -> list[str]:
        """Return a list with the path of a row, which is its id, if no column holds ids."""
        category = () if self.id else self._category(cells)
        return [path_of(category)] if category else []

    def labels(self, cells: Sequence[str]) -> list[str]:
        """Return the labels of a row; without columns of labels, the last name of its path."""
        if self.parts or self.label:
            return super().labels(cells)
        return [name] if (name := (*self._category(cells), "")[-2:][0]) else []

    def own_paths(self, cells: Sequence[str]) -> list[str]:
        """Return the paths of a row that is a category: its own, and its name below its parents."""
        own = [] if self.path is None else self.categories(self.path, cells)
        parents = [at for at in self.at(self.mapping.parent) if at in self.paths]
        above = [one for at in parents for one in self.categories(at, cells) or [()]]
        return [
            *map(path_of, own),
            *(path_of((*one, name)) for one in above for name in self.labels(cells)[:1]),
        ]

    def key(self, column: str) -> dict[str, str]:
        """Return ids of rows by their cells in a column whose values other columns refer to."""
        at = self._places[column]
        return keys_of((identifier, cells[at]) for identifier, cells in self.stated)

    def row_by(self, of: RelationColumn) -> Row:
        """Return the function that finds the row that a value of a relation names."""
        return self.found.row_by(of, self.key(of.by) if of.by not in ROWS_BY else {})

    def alternative_ids(self) -> Iterator[Link]:
        """Yield pairs (id of the row, alternative id), without the links of relations."""
        for column in self.mapping.alternative_ids:
            of = self.mapping.relations.get(column)
            if of is None:
                for identifier, cells in self.stated:
                    yield from ((identifier, name) for name in self.names([column], cells))
                continue
            row = self.row_by(of)
            links = self.found.told(self.links_in(column), row, NOTHING)
            others = {*links_to_others(links, row)}
            yield from (link for link in links if link not in others)

    def links_in(self, column: str) -> list[Link]:
        """Return pairs (id of the row, value) for each value in a column."""
        at, separators = self._places[column], self.mapping.separators.get(column, "")
        parts = {
            cell: self.found.parts(cell, separators)
            for cell in {cells[at] for _, cells in self.stated}
        }
        return [
            (identifier, part) for identifier, cells in self.stated for part in parts[cells[at]]
        ]


def add_entities(
    mapping: TableMapping,
    columns: Sequence[str],
    rows: Rows,
    builder: GraphBuilder,
    table: Table,
    report: Report,
    remark: Callable[[str], None],
) -> None:
    """Add the entities of a table, and their links.

    A cell names a row by its id, by its label, or by its label regardless of case. A value that
    names no row, or is the label of several rows, becomes an entity with this name, except for
    words such as "none". Obsolete rows and links to them are left out. A row with its own path is a
    child of the category one level up in this path. If other columns have paths, the row is linked
    to the categories at the ends of these paths.

    Args:
        mapping: What the columns hold.
        columns: Names of the columns.
        rows: (number, cells) of every row.
        builder: Receives entities and links.
        table: Receives the ids of the rows.
        report: Receives rows without an entity.
        remark: Receives remarks on the table.
    """
    entities = EntityRows(mapping, columns, rows, table, report)
    table.first_ids += [identifier for identifier, *_ in entities.named[:PREVIEW]]
    _warn_of_shared_names(entities, remark)
    for identifier, labels, cells in entities.named:
        entities.add_entity(identifier, labels, cells, builder)
    if entities.denied:
        remark(denied_left_out(entities.denied))
    stated, found = entities.stated, entities.found
    alternatives = unique_ids_by_name(
        (name, identifier) for identifier, name in entities.alternative_ids()
    )
    alternatives.update(
        (path, identifier) for identifier, cells in stated for path in entities.own_paths(cells)
    )
    builder.replace(alternatives)
    found.stand_for(alternatives)
    _add_parents(entities, builder)
    for column, of in mapping.relations.items():
        if not entities.paths.keys() & entities.at([column]):
            _add_relation(column, of, entities, builder)
    _add_categories(entities, builder)
    _add_labels(entities, builder)
    found.finish(remark)


def _warn_of_shared_names(entities: EntityRows, remark: Callable[[str], None]) -> None:
    """Warn of names, of rows without an id, that several rows with different texts share.

    Texts are definitions and columns that are left out: an entity has one value of each. Rows that
    differ in links or synonyms alone give several values of one entity.
    """
    mapping = entities.mapping
    texts = [*mapping.definition, *(one for one, why in mapping.ignored.items() if why != UNNAMED)]
    places = [at for at, name in enumerate(entities.columns) if name in texts]
    rows: dict[str, list[Sequence[str]]] = {}
    for identifier, labels, cells in entities.named if places else ():
        if identifier in map(one_line, labels) and not any(cells[at].strip() for at in entities.id):
            rows.setdefault(identifier, []).append(cells)
    shared, columns = dict[str, int](), dict[str, None]()
    for name, of in rows.items():
        values = {at: {cells[at].strip() for cells in of}.difference(("",)) for at in places}
        if differing := [at for at in places if len(values[at]) > 1]:
            shared[name] = len(of)
            columns |= dict.fromkeys(entities.columns[at] for at in differing)
    if shared:
        examples = " and ".join(
            f"{name!r} ({count:,} rows)" for name, count in islice(shared.items(), 2)
        )
        remark(
            f"found {len(shared):,} name(s) in several rows that differ in {', '.join(columns)}, "
            f"such as {examples}: rows of one name are read as one entity; if they are several, "
            "give the rows a column of ids"
        )


def _add_parents(entities: EntityRows, builder: GraphBuilder) -> None:
    found, mapping = entities.found, entities.mapping
    for column in mapping.parent:
        if entities.paths.keys() & entities.at([column]):
            continue
        links = found.told(entities.links_in(column), found.row, NOTHING | NO_PARENT)
        for identifier, part in found.still_there(links):
            builder.triple(identifier, "is_a", found.row(part) or found.word(part))
    if mapping.code:
        codes = {part: identifier for identifier, part in entities.links_in(mapping.code)}
        for code, above in parents_by_code(codes, mapping.paths.get(mapping.code, "")).items():
            if codes[code] != codes[above]:
                builder.triple(codes[code], "is_a", codes[above])


def parents_by_code(codes: Iterable[str], separator: str) -> dict[str, str]:
    """Return the parent of each code: the longest other code that it begins with.

    If ``separator`` is not empty, it must follow in the longer code.

    >>> parents_by_code(["A", "01", "01.1", "01.11"], "."), parents_by_code(["1", "11", "1121"], "")
    ({'01.1': '01', '01.11': '01'}, {'11': '1', '1121': '11'})
    """
    known = dict.fromkeys(codes)
    found = {}
    for code in known:
        ends = (
            end
            for end in range(len(code) - 1, 0, -1)
            if code[:end] in known and code.startswith(separator, end)
        )
        if end := next(ends, 0):
            found[code] = code[:end]
    return found


def _add_relation(
    column: str, of: RelationColumn, entities: EntityRows, builder: GraphBuilder
) -> None:
    found = entities.found
    row = entities.row_by(of)
    links = found.told(entities.links_in(column), row, NOTHING)
    if column in entities.mapping.alternative_ids:
        links = links_to_others(links, row)
    relation = of.relation or column
    for identifier, part in found.still_there(links, ids_alone=True):
        builder.triple(identifier, relation, row(part) or found.word(part))
    if of.label and relation in builder.relation_ids():
        builder.relation(relation, of.label)


def _add_categories(entities: EntityRows, builder: GraphBuilder) -> None:
    """Add links from rows to the categories that their paths stand for."""
    relations: Mapping[int, str] = {
        **{
            at: of.relation or column
            for column, of in entities.mapping.relations.items()
            for at in entities.at([column])
        },
        **dict.fromkeys(entities.at(entities.mapping.parent), "is_a"),
        entities.width: entities.mapping.level_of,
    }
    for identifier, cells in entities.stated:
        for at in entities.paths:
            for category in entities.categories(at, cells):
                relation = relations.get(at, "")
                if at == entities.path:
                    relation, category = "is_a", category[:-1]
                if not (relation and category):
                    continue
                if entities.found.still_there([(identifier, path_of(category))]):
                    builder.triple(identifier, relation, add_category(category, builder))


def _add_labels(entities: EntityRows, builder: GraphBuilder) -> None:
    """Add labels for the targets of a column if another column holds these labels."""
    found = entities.found
    for column, label in entities.mapping.labels_of.items():
        at, label_at = entities.at([column, label])
        for _, cells in entities.stated:
            parts = found.parts(cells[at])
            if len(parts) == 1 and not found.row(parts[0]) and parts[0] in builder:
                builder.entity(parts[0], label=cells[label_at])
