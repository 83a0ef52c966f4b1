"""Links of the rows of a table of entities, and further names, by its columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.prefixes import WELL_KNOWN
from ontodex.readers.tables.codes import parents_by_code
from ontodex.readers.tables.comma_lists import are_comma_lists, comma_parts
from ontodex.readers.tables.entity_columns import NOTHING, EntityColumns, cell_parts
from ontodex.readers.tables.found_rows import FoundRows, Link, Row
from ontodex.readers.tables.keys import Table, relation_label, table_of
from ontodex.readers.tables.paths import add_category, path_of
from ontodex.readers.tables.row_columns import ChosenColumns
from ontodex.readers.tables.values import LETTER, NUMBER, are_short, are_yes_and_no, is_word

__all__ = ["add_links"]

NO_PARENT = frozenset(("0", "0.0", "owl:thing", f"{WELL_KNOWN['owl']}Thing".casefold()))
"""Cells of parents that say so too."""

SHARED = 2 / 3
"""A column is a relation if it has at most this many values for each filled cell: rows share them."""

CODED = 0.1
"""A column has codes of another kind if each is there once, and more than such a share are the ids of their own rows."""

PARTED = re.compile(r"(?=.*[^\W\d_])\w+(?:[.\-/]\w+)*")
"""A code that may tell what a row is below, and no number."""

Named = Sequence[tuple[str, Sequence[str]]]
"""The id and the cells of each row."""


def add_links(
    columns: EntityColumns,
    chosen: ChosenColumns,
    named: Named,
    found: FoundRows,
    builder: GraphBuilder,
    table: Table,
    remark: Callable[[str], None],
) -> None:
    """Add the links of rows; see :func:`ontodex.readers.tables.entities.add_entities`.

    Args:
        columns: What the columns hold.
        chosen: Which of them are paths.
        named: The rows.
        found: Finds them.
        builder: Takes the links.
        table: Takes the columns that are left out.
        remark: Takes what is to be said of the table.
    """
    _add_parents(columns, chosen, named, found, builder)
    others = [(at, name) for at, name in columns.others if name and at not in chosen.paths]
    if columns.id and not columns.parents and not chosen.paths:
        used = _add_by_code([at for at, _ in others], named, builder, remark)
        others = [other for other in others if other[0] != used]
    for at, _ in others:
        found.take_key([(identifier, cells[at]) for identifier, cells in named])
    for at, name in others:
        parts_of = comma_parts if are_comma_lists([cells[at] for _, cells in named]) else cell_parts
        parts = {cell: found.parts(cell, parts_of) for cell in {cells[at] for _, cells in named}}
        links = [(identifier, part) for identifier, cells in named for part in parts[cells[at]]]
        _add_relation(name, links, builder, table, found)
    names = [name for _, name in columns.others]
    for name in {name for _, name in others}.intersection(builder.relation_ids()):
        builder.relation(name, relation_label(name, names))
    for identifier, cells in named:
        for relation, category in chosen.links(cells):
            if relation and found.still_there([(identifier, path_of(category))]):
                builder.triple(identifier, relation, add_category(category, builder))
    _add_value_labels(columns, named, found, builder)


def _add_parents(
    columns: EntityColumns,
    chosen: ChosenColumns,
    named: Named,
    found: FoundRows,
    builder: GraphBuilder,
) -> None:
    for at in [at for at in columns.parents if at not in chosen.paths]:
        links = [
            (identifier, part) for identifier, cells in named for part in found.parts(cells[at])
        ]
        for identifier, part in found.still_there(
            found.told(links, found.row, NOTHING | NO_PARENT)
        ):
            builder.triple(identifier, "is_a", found.row(part) or found.word(part))


def _add_value_labels(
    columns: EntityColumns, named: Named, found: FoundRows, builder: GraphBuilder
) -> None:
    """Add the labels of what a column links to, where another one holds them."""
    for at, label in columns.value_labels:
        for _, cells in named:
            if (
                len(parts := found.parts(cells[at])) == 1
                and not found.row(parts[0])
                and parts[0] in builder
            ):
                builder.entity(parts[0], label=cells[label])


def _add_relation(
    name: str, links: list[Link], builder: GraphBuilder, table: Table, found: FoundRows
) -> None:
    """Add the links of a column, if it is a relation, or the names that it holds, if most are those of their own rows."""
    row = found.rows_by(name, links)
    links = found.told(links, row, NOTHING)
    if not links:
        return
    are_numbers = 2 * sum(bool(NUMBER.fullmatch(part)) for _, part in links) > len(links)
    is_foreign = are_numbers and table_of(name, table.others)
    own = 0 if is_foreign else sum(row(part) == identifier for identifier, part in links)
    if 2 * own > len(links):
        for identifier, part in links:
            builder.entity(identifier, synonyms=[part] if LETTER.search(part) else [])
        return
    are_other_codes = own > CODED * len(links) and len({part for _, part in links}) == len(links)
    if _is_relation([part for _, part in links], row) and not is_foreign and not are_other_codes:
        for identifier, part in found.still_there(links, ids_alone=True):
            builder.triple(identifier, name, row(part) or found.word(part))
    else:
        may_name_rows = not table.is_alone and are_short([part for _, part in links])
        table.left_out.setdefault(name, []).extend(links if may_name_rows else ())


def _add_by_code(
    others: Sequence[int], named: Named, builder: GraphBuilder, remark: Callable[[str], None]
) -> int | None:
    """Add what rows are below by what their ids begin with, or else the codes in one of other columns, which is returned."""
    rows = {identifier: identifier for identifier, _ in named}
    parents, used, what = parents_by_code(rows), None, "ids"
    for at in others if not parents else ():
        rows = _codes(at, named)
        if parents := parents_by_code(rows):
            used, what = at, "codes"
            break
    for code, above in parents.items():
        if rows[code] != rows[above]:
            builder.triple(rows[code], "is_a", rows[above])
    for code, above in islice(parents.items(), 1):
        found = f"{code} is a {above}"
        remark(
            f"took what {what} begin with for what they are below, as no column is named parent ({found})"
        )
    return used


def _codes(at: int, named: Named) -> dict[str, str]:
    """Return what is in a column, and the rows that have it; nothing if that is no code, or if two rows have the same."""
    found: dict[str, str] = {}
    for identifier, cells in named:
        for part in cell_parts(cells[at]):
            if part in found or not PARTED.fullmatch(part):
                return {}
            found[part] = identifier
    return found


def _is_relation(cells: Sequence[str], row: Row) -> bool:
    """Tell whether most cells of a column name rows of the table, or whether rows share its values, which are no texts."""
    values = Counter(cells)
    if 2 * sum(count for part, count in values.items() if row(part)) > len(cells):
        return True
    if not are_short(cells):
        return False
    words = sum(count for part, count in values.items() if is_word(part))
    return (
        not are_yes_and_no(values) and 2 * words > len(cells) and len(values) <= SHARED * len(cells)
    )
