"""Guessing the mapping of a table: finding the header, and what the columns hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from ontodex.graph.builder import readable
from ontodex.graph.names import normalise
from ontodex.graph.prefixes import looks_like_identifier
from ontodex.readers.mapping.headers import (
    EntityHeader,
    are_counted,
    entity_header,
    is_key,
    may_be_parent,
    relation_label,
    table_of,
)
from ontodex.readers.mapping.paths import is_path_name, path_separator
from ontodex.readers.mapping.triples import names_ends, of_triples, own_columns, triples_mapping
from ontodex.readers.problems import INSPECT
from ontodex.readers.tables.entities import EntityRows, FoundRows, Link, links_to_others
from ontodex.readers.tables.mapping import UNNAMED, RelationColumn, TableMapping, column_names
from ontodex.readers.tables.paths import ARROW, categories_in, names_by_level, path_of
from ontodex.readers.tables.rows import Rows
from ontodex.readers.tables.table import Table
from ontodex.readers.tables.values import (
    LETTER,
    LONGEST,
    NOTHING,
    NUMBER,
    are_short,
    are_yes_and_no,
    is_word,
    whole_name,
)

__all__ = ["FEW", "LOOKED_AT", "are_labels", "guess_mapping", "header_of"]

LOOKED_AT = 20
"""Number of rows in which no cell of the header may recur, if only one of its names is known."""

LONGEST_NAME = 50
"""Maximal number of letters of an unknown column name."""

NAME = re.compile(r"[#%_]?\s*\w[^{}<>|]*")
"""A possible name of a column; paths and JSON objects do not match."""

ABOVE = 1000
"""Maximal number of lines above a header."""

FEW = 3
"""Minimal number of rows that show what a table holds."""


def guess_mapping(
    names: Sequence[str],
    rows: Rows,
    table: Table,
    remark: Callable[[str], None],
    *,
    are_links: bool | None = None,
) -> tuple[TableMapping | None, Rows]:
    """Guess what the columns of a table hold, by its header and its rows.

    Args:
        names: The header; empty for a table of triples without a header.
        rows: (number, cells) of every row below; read only if the header does not name triples.
        table: The table; receives the columns that are left out.
        remark: Receives remarks on the guess.
        are_links: Whether rows are links or entities, if that is known.

    Returns:
        The mapping, and the rows. The mapping is ``None`` if the header names heads and tails but
        no relation.
    """
    if not names:
        columns = column_names([""] * 3)
        unnamed = of_triples(columns, (0, 1, 2), header=False)
        return of_table(unnamed, table), rows
    columns = column_names(names)
    if table.join and table.join.head:
        ends = (table.join.head, table.join.relation, table.join.tail)
        return of_table(of_triples(names, [columns.index(end) for end in ends]), table), rows
    found = None if are_links is False else triples_mapping(names)
    entities = own_columns(names, of_others=table.is_of_others)
    if found is None and are_links is not False and not entities and names_ends(names):
        return None, rows
    if found is None:
        values = {name: why for name, why in table.declared.values.items() if name in columns}
        header = _with_declared(entities or EntityHeader.of(names), table)
        taken = [*rows]
        rows = iter(taken)
        found = guess_entities(header, taken, table, remark)
        left_out = {name: why for name, why in values.items() if name not in found.used}
        found = replace(found, ignored={**found.ignored, **left_out})
    return of_table(found, table), rows


def _with_declared(header: EntityHeader, table: Table) -> EntityHeader:
    """Return a header with the id that a join or a data package names.

    Columns that a data package declares as numbers, dates or the like are left out.
    """
    joined, declared = table.join.id if table.join else (), table.declared.key
    key = joined or (declared if len(declared) == 1 else ())
    if key and key[0] in header.names and (joined or key[0] not in header.mapping.label):
        header = header.identified(key[0])
    values = table.declared.values
    return replace(header, others=tuple(one for one in header.others if one not in values))


def of_table(mapping: TableMapping, table: Table) -> TableMapping:
    """Return a mapping completed for a table: with its name, and the keys by which it is joined."""
    mapping = replace(mapping, table=table.name)
    if table.join is None:
        return mapping
    return replace(
        mapping,
        columns=(*mapping.columns, *table.join.ignored),
        id_prefix=table.join.id_prefix,
        rows_about=table.join.rows_about,
        keys=table.join.keys,
        ignored={**mapping.ignored, **table.join.ignored},
    )


def header_of(rows: Rows, *, is_first: bool = False) -> tuple[list[str], Rows, Rows]:
    """Return the header of a table, the rows above it and the rows below it.

    If there is no header, the names and the rows above are empty.

    Args:
        rows: The rows of the table.
        is_first: Whether the first row is known to be the header.
    """
    if is_first:
        return next(rows)[1], iter(()), rows
    above: list[tuple[int, list[str]]] = []
    for number, cells in rows:
        if triples_mapping(cells):
            return cells, iter(above), rows
        header = entity_header(cells)
        if header or names_ends(cells):
            below = [*islice(rows, LOOKED_AT if header and header.told < 2 else 1)]
            rows = chain(below, rows)
            pairs = [pair for _, others in below for pair in zip(cells, others, strict=False)]
            if not any(cell == other and cell.strip() for cell, other in pairs):
                return cells, iter(above), rows
        above.append((number, cells))
        is_triple = (
            len(cells) == 3 and not cells[0].startswith("#") and any(map(str.strip, cells[1:]))
        )
        if len(above) > ABOVE or is_triple:
            break
    first = next(
        (at for at, (_, cells) in enumerate(above) if not cells[0].startswith("#")), len(above)
    )
    above += islice(rows, LOOKED_AT)
    lines = [cells for _, cells in above[first : first + LOOKED_AT]]
    if _is_header(lines):
        return lines[0], iter(above[:first]), chain(above[first + 1 :], rows)
    for at in reversed(range(first)):
        names = [name.strip("# ") for name in above[at][1]]
        if len(names) > 3 and _is_header([names, *lines]):
            return names, iter(above[:at]), chain(above[first:], rows)
    return [], iter(()), chain(above, rows)


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first of some rows is a header whose names need not be known.

    Among two or three columns, at least one name must be known. No name may recur in the column
    below, unless all filled cells of the column equal the name (such as ``EU``).

    >>> rows = [["Titel", "Autor", "Verlag", "Jahr"], ["Momo", "Ende", "Thienemann", "1973"]]
    >>> _is_header(rows), _is_header(rows[1:])
    (True, False)
    >>> _is_header([["ticker", "name", "sector"], ["A", "Alpha", "tools"], ["B", "Beta", "tools"]])
    True
    """
    names = [name.strip() for name in rows[0]] if rows else []
    named = names if any(names[:1]) else names[1:]  # the index of a pandas frame may have no name
    below = [cells for cells in rows[1:] if len(cells) == len(names)]
    are_names = (
        all(LETTER.search(name) and NAME.fullmatch(name) for name in named)
        and max(map(len, names), default=0) <= LONGEST_NAME
    )
    columns = [{cell.strip() for cell in column} for column in zip(*below, strict=True)]
    recur = any(
        name in column and column != {name, ""}
        for name, column in zip(names, columns, strict=False)
    )
    is_told = len(names) > 3 or (len(names) > 1 and _tells_entities(names, below))
    return (
        are_names
        and is_told
        and len({*names}) == len(names)
        and not recur
        and 2 * len(below) > len(rows[1:])
    )


def _tells_entities(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a table with few columns has entities rather than triples.

    It has entities if a column has a name of ids, labels or paths, or if a later column has
    numbers.
    """
    mapping = EntityHeader.of(names).mapping
    is_alone = not any({*names} & {*cells} for cells in below)
    is_told = bool(mapping.id or mapping.label) or not names[0] or is_path_name(names[0])
    are_values = len(below) >= FEW and any(
        all(NUMBER.fullmatch(cells[at].strip()) for cells in below) for at in range(1, len(names))
    )
    return bool(below) and is_alone and (is_told or are_values)


# Tables of entities -------------------------------------------------------------------------------


APART = 0.9
"""Minimal shares of rows with a value, and of distinct values, in a column of labels or keys."""

NEARLY_ALL = 0.98
"""Minimal share of distinct cells for a first column of codes to be the id."""

CODE = re.compile(r"[\w.:/-]{1,20}")
"""A cell that may be the id of a row although no column has the name of an id."""

ADDRESS = re.compile(r"@|://")

BY_LABEL = 4
"""Values name rows by label only if at least one in ``BY_LABEL`` distinct values names a row."""

SHARED, SHARED_IN_LISTS = 2 / 3, 0.9
"""Maximal ratios of distinct values to values in a column that is a relation.

The second is for a column of lists, such as the actors of films.
"""

SEVERAL = 1.5
"""Minimal mean number of values in a cell of a column of lists."""

CODED = 0.1
"""Unique values are codes of another kind if more than this share equals the id of its row."""

SYNONYMS, PARENT = "synonyms", "parent"
SENTENCES, UNSHARED = "sentences", "texts that few rows share"
"""What :func:`_relation` returns for a column that is no relation."""

WORDS = 3
"""Definitions have more words than this in the mean; the names of people or places do not."""

Row = tuple[int, Sequence[str]]
Cells = Sequence[Sequence[str]]


def guess_entities(
    header: EntityHeader,
    rows: Sequence[Row],
    table: Table,
    remark: Callable[[str], None],
) -> TableMapping:
    """Guess the mapping of a table of entities.

    A column is a relation if most of its cells refer to rows of the table, or if several rows have
    the same value in it (``habitat``). A column of alternative ids (``replaces``) is also a
    relation if a value names another row; the others remain alternative ids. A relation to rows of
    the table that is named like a parent (``parent skill``) has their parents. Numbers, dates, and
    texts that few rows share are ignored. Values refer to rows by label only if at least a quarter
    of the distinct values of the column are ids or labels of rows. If the ids of the table are
    consecutive numbers, numbers in another column refer to rows only if the column is named like a
    key (``manager_id``). If the header names no column of labels, the first column of short
    distinct texts has the labels. If it names no column of definitions, the longest of the ignored
    texts are definitions.

    Args:
        header: What the names in the header say.
        rows: (number, cells) of every row.
        table: The table; receives the columns that are left out.
        remark: Receives remarks on the guess.
    """
    table.own_labels = header.are_labelled
    columns = header.mapping.columns
    lines = [cells for _, cells in rows]
    header = _identified(lines, header)
    paths = _path_columns(lines, header)
    if not (table.is_of_others or header.are_labelled):
        header = _labelled(lines, header, paths, remark)
    level_of, own = _own_path(lines, header, paths)
    mapping = replace(
        header.mapping,
        label=tuple(one for one in header.mapping.label if one != own),
        path=own,
        paths={
            one: of for one, of in paths.items() if one not in header.mapping.label or one == own
        },
        level_of=level_of,
    )
    entities = EntityRows(mapping, columns, rows, Table(negated=table.negated), lambda *_: None)
    others = {one: header.names[one] for one in header.others if one != own}
    return _with_relations(mapping, others, entities, table, remark)


# Ids, labels and paths --------------------------------------------------------------------------


def _labels(rows: Cells, header: EntityHeader) -> list[str]:
    """Return the label of each row; empty if there are no columns of labels."""
    columns = header.mapping.label_parts or header.mapping.label[:1]
    cells = [header.cells(rows, column) for column in columns]
    return [whole_name(parts) for parts in zip(*cells, strict=True)]


def _identified(rows: Cells, header: EntityHeader) -> EntityHeader:
    """Return the header with a chosen id.

    The id is the first of the keys with distinct cells. Without keys, a first column of codes is
    the id, whatever its name. Without an id, labels identify rows.
    """
    first = header.mapping.columns[:1]
    if not header.keys:
        may_be = header.are_labelled and not header.mapping.id and header.others[:1] == first
        return header.identified(first[0]) if may_be and _are_codes(rows, header) else header
    for key in header.keys:
        if do_differ([*map(str.strip, header.cells(rows, key))]):
            return header.identified(key)
    others = header.in_order((*header.others, *header.keys))
    return replace(header, mapping=replace(header.mapping, id=()), others=others, keys=())


def _are_codes(rows: Cells, header: EntityHeader) -> bool:
    """Return whether the first column has codes, nearly all of them different.

    Labels, dates and consecutive numbers do not count as codes.
    """
    codes = {cells[0].strip() for cells in rows}
    return (
        len(codes) >= NEARLY_ALL * len(rows) > 0
        and not are_counted(codes)
        and codes.isdisjoint(_labels(rows, header))
        and all(CODE.fullmatch(code) and (code.isdigit() or is_word(code)) for code in codes)
    )


def _path_columns(rows: Cells, header: EntityHeader) -> dict[str, str]:
    """Return the separators of the columns of paths."""
    found, mapping = {}, header.mapping
    for column in (*mapping.label[:1], *mapping.parent, *header.others):
        name = header.names[column] if column in header.others else ""
        if mark := path_separator(header.cells(rows, column), name):
            found[column] = mark
    return found


def _labelled(
    rows: Cells, header: EntityHeader, paths: Collection[str], remark: Callable[[str], None]
) -> EntityHeader:
    """Return the header with a column of labels that has no name of labels, if there is one.

    Columns of paths are excluded.
    """
    of_ids = (header.cells(rows, column) for column in header.mapping.id)
    ids = {cell.strip() for cells in of_ids for cell in cells}
    for column in header.others:
        cells = [*map(str.strip, header.cells(rows, column))]
        if column not in paths and are_labels(cells, ids):
            remark(f"took {column} for the labels, as no column is named label or name; {INSPECT}")
            return _identified(rows, header.labelled(column))
    return header


def do_differ(cells: Collection[str]) -> bool:
    """Return whether nearly all cells are different."""
    return len({*cells}) >= APART * len(cells)


def are_labels(cells: Sequence[str], ids: Collection[str]) -> bool:
    """Return whether nearly all rows have distinct short texts that are not ids."""
    filled = [cell for cell in cells if cell]
    words = sum(_is_name(cell) and cell not in ids for cell in filled)
    return min(words, len({*filled})) >= APART * len(cells) > 0 and are_short(filled)


def _is_name(cell: str) -> bool:
    return (
        bool(LETTER.search(cell)) and not ADDRESS.search(cell) and not looks_like_identifier(cell)
    )


def _own_path(rows: Cells, header: EntityHeader, paths: Mapping[str, str]) -> tuple[str, str]:
    """Return the relation of rows to their levels, and the column of their own paths.

    The relation is empty if there are no levels, or if the levels are the rows' own path. The
    column is empty if there is none.
    """
    labels, mapping = _labels(rows, header), header.mapping
    if mapping.levels:
        places = [mapping.columns.index(one) for one in mapping.levels]
        levels = [path_of(names) for names in names_by_level(rows, places)]
        if _are_own(levels, ARROW, labels, header):
            return "", ""
    for column, mark in paths.items():
        of_rows = [] if mapping.label[:1] == (column,) else labels
        cells = header.cells(rows, column)
        if column not in mapping.parent and _are_own(cells, mark, of_rows, header):
            return mapping.level_of, column
    return mapping.level_of, ""


def _are_own(
    paths: Sequence[str], separator: str, labels: Sequence[str], header: EntityHeader
) -> bool:
    """Return whether paths are the rows' own paths.

    Most of these paths end with the label of the row, or are unique if there are no labels.
    """
    filled = [path for path in paths if path.strip()]
    if not labels:
        return not header.mapping.id or do_differ(filled)
    ending = sum(
        any(normalise(one[-1]) == normalise(label) for one in categories_in(path, separator))
        for path, label in zip(paths, labels, strict=True)
        if path.strip()
    )
    return 2 * ending > len(filled)


# Relations --------------------------------------------------------------------------------------


def _with_relations(
    mapping: TableMapping,
    others: Mapping[str, str],
    entities: EntityRows,
    table: Table,
    remark: Callable[[str], None],
) -> TableMapping:
    """Return the mapping with relations, further synonyms and parents, and ignored columns.

    If no column has definitions by its name, the ignored texts that are longest are definitions.

    Args:
        mapping: The mapping without relations.
        others: Names in the header of the columns without another meaning, by column.
        entities: The rows, read with the mapping.
        table: Receives the columns that are left out.
        remark: Receives remarks on the guess.
    """
    flags = {column for column, words in mapping.negation.items() if "true" in words}
    columns = [column for column, name in others.items() if name and column not in flags]
    relations = _between_rows(mapping.alternative_ids, entities)
    synonyms, parents = [*mapping.synonyms], [*mapping.parent]
    ignored = {column: UNNAMED for column, name in others.items() if not name}
    for column in columns:
        name = others[column]
        of = (
            RelationColumn()
            if column in mapping.paths
            else _relation(column, name, entities, table)
        )
        if isinstance(of, RelationColumn):
            label = relation_label(name, [*others.values()])
            relations[column] = replace(
                of,
                relation="" if name == column else name,
                label="" if label == readable(name) else label,
            )
        elif of == SYNONYMS:
            synonyms.append(column)
        elif of == PARENT:
            parents.append(column)
        else:
            ignored[column] = of
    definition = mapping.definition or _definitions(ignored, entities)
    for column in definition:
        if column in ignored:
            remark(
                f"took {column} for the definitions, as no column is named definition or "
                f"description; {INSPECT}"
            )
            del ignored[column], table.left_out[column]
    return replace(
        mapping,
        synonyms=tuple(synonyms),
        parent=tuple(parents),
        definition=definition,
        relations=relations,
        ignored=ignored,
    )


def _between_rows(columns: Sequence[str], entities: EntityRows) -> dict[str, RelationColumn]:
    """Return the relations in columns of alternative ids: those whose values name other rows.

    If the ids of the rows are consecutive numbers, numbers are no relation, such as former ids.
    """
    relations = {}
    for column in columns:
        links = entities.links_in(column)
        if _are_numbers(links) and are_counted(entities.found.ids):
            continue
        of = _named(column, links, entities.found)
        if links_to_others(links, entities.row_by(of)):
            relations[column] = of
    return relations


def _definitions(ignored: Mapping[str, str], entities: EntityRows) -> tuple[str, ...]:
    """Return the column of definitions among ignored ones, that with most letters, if there is one.

    Its texts have several words, and few of them have numbers, as addresses do.

    Args:
        ignored: The reason to ignore each column.
        entities: The rows.
    """
    found = {}
    for column in (one for one, why in ignored.items() if why in (SENTENCES, UNSHARED)):
        texts = [part for _, part in entities.links_in(column)]
        numbered = sum(any(map(str.isdigit, text)) for text in texts)
        if sum(len(text.split()) for text in texts) > WORDS * len(texts) and (
            2 * numbered < len(texts)
        ):
            found[column] = sum(map(len, texts))
    return (max(found, key=found.__getitem__),) if found else ()


def _relation(column: str, name: str, entities: EntityRows, table: Table) -> RelationColumn | str:
    """Return the relation in a column, or what the column is instead.

    That is :data:`SYNONYMS`, :data:`PARENT`, or the reason to ignore the column.

    Args:
        column: The column.
        name: Its name in the header.
        entities: The rows, read with the mapping without relations.
        table: The table, with the names of other tables; receives a column that is left out.
    """
    found, links = entities.found, entities.links_in(column)
    of = _named(column, links, found)
    row = found.row_by(of, {})
    links = FoundRows.told(links, row, NOTHING)
    if not links:
        return "empty"
    parts = [part for _, part in links]
    is_foreign = bool(_are_numbers(links) and table_of(column, table.others))
    own = 0 if is_foreign else sum(row(part) == identifier for identifier, part in links)
    if 2 * own > len(links):
        words = sum(bool(LETTER.search(part)) for part in parts)
        return SYNONYMS if 2 * words > len(parts) else "repeats the ids"
    values = Counter(parts)
    if table.join and column in table.join.keys:
        return of
    if is_foreign:
        why = "numbers of another table"
    elif own > CODED * len(links) and len(values) == len(links):
        why = "codes of another kind"
    else:
        named = sum(n for part, n in values.items() if row(part))
        if 2 * named > len(links) and may_be_parent(name):
            return PARENT
        rows = len({identifier for identifier, _ in links})
        why = _why_not(values, named, SEVERAL * rows <= len(links))
    if why:
        table.left_out[column] = why
    return why or of


def _named(column: str, links: Sequence[Link], found: FoundRows) -> RelationColumn:
    """Return a relation that says how the values of a column name rows."""
    if not is_key(column) and _are_numbers(links) and are_counted(found.ids):
        return RelationColumn(by="nothing")
    values = {part for _, part in links}
    by_label = len(values) <= BY_LABEL * sum(bool(found.row(value)) for value in values)
    return RelationColumn(by="any" if by_label else "id")


def _are_numbers(links: Sequence[Link]) -> bool:
    return 2 * sum(bool(NUMBER.fullmatch(part)) for _, part in links) > len(links)


def _why_not(values: Counter[str], rows: int, are_lists: bool = False) -> str:
    """Return why a column is not a relation, or ``""`` if it is one.

    Args:
        values: Number of occurrences of each value.
        rows: Number of occurrences of values that name rows.
        are_lists: Whether the cells are lists, whose values rows share less.

    Example:
        >>> _why_not(Counter(["forest", "forest", "house"]), 0), _why_not(Counter(["1", "2"]), 0)
        ('', 'numbers or dates')
    """
    count = sum(values.values())
    if 2 * rows > count:
        return ""
    if sum(len(part) * n for part, n in values.items()) > LONGEST * count:
        return SENTENCES
    if are_yes_and_no(values):
        return "yes and no"
    if 2 * sum(n for part, n in values.items() if is_word(part)) <= count:
        return "numbers or dates"
    shared = SHARED_IN_LISTS if are_lists else SHARED
    return "" if len(values) <= shared * count else UNSHARED
