"""Entities in tables: one to a row, what is said of it in columns that a header names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import unique_ids_by_name
from ontodex.readers.tables.entity_columns import EntityColumns, one_line, spelt
from ontodex.readers.tables.found_rows import FoundRows
from ontodex.readers.tables.keys import Table
from ontodex.readers.tables.negation import left_out, negation_in
from ontodex.readers.tables.row_columns import chosen_columns
from ontodex.readers.tables.row_links import add_links

__all__ = ["add_entities", "add_entity"]

TRUE = frozenset(("true", "yes", "y", "1"))

Report = Callable[[str, int], None]
"""Takes what is wrong with a row, and its number."""


def add_entity(
    columns: EntityColumns, cells: Sequence[str], builder: GraphBuilder, *, exact: bool = False
) -> str:
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
    labels, first and last names make them, or else the first of short texts that differ is taken for one. Paths of
    categories, or a column for each level of a hierarchy, place a row below what its path begins with, if it is a category
    itself, and else link it to the last on it. Where there is none of these, codes may tell what they are below by what they
    begin with. A cell may list values by commas, and name rows by what another column tells them apart by.

    Args:
        columns: What the header says.
        rows: (number, cells) of every row.
        builder: Takes them.
        table: Takes the ids of the rows, and the columns that are left out here.
        report: Takes rows that hold no entity.
        remark: Takes what is to be said of the table.
        negated: Read the links of rows that say of themselves that they do not hold, in place of those that hold.
    """
    table.own_labels = columns.are_labelled and not columns.guess
    fitting = [row for row in rows if _fits(row, columns.width, report)]
    chosen = chosen_columns(fitting, columns, remark, may_be_labelled=not table.is_of_others)
    width, columns = columns.width, chosen.columns
    named: list[tuple[str, Sequence[str]]] = []
    found = FoundRows(table)
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
    alternatives = unique_ids_by_name(
        (name, identifier)
        for identifier, cells in named
        for name in columns.names(columns.alternatives, cells)
    )
    alternatives.update(
        (path, identifier) for identifier, cells in named for path in chosen.own_paths(cells)
    )
    builder.replace(alternatives)
    found.stand_for(alternatives)
    add_links(columns, chosen, named, found, builder, table, remark)
    found.finish(remark)


def _fits(row: tuple[int, Sequence[str]], width: int, report: Report) -> bool:
    """Tell whether a row is as wide as the header, or report it."""
    if len(row[1]) != width:
        report(_no_entity(row[1], width), row[0])
    return len(row[1]) == width


def _no_entity(cells: Sequence[str], width: int) -> str:
    return f"expected {width} columns and an id or label, found {len(cells)}: {' | '.join(cells)[:60]!r}"


def _stated(
    named: list[tuple[str, Sequence[str]]],
    columns: EntityColumns,
    remark: Callable[[str], None],
    negated: bool,
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
