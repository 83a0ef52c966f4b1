"""Guessing what the columns of a table of entities hold, from their names and cells."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ontodex.graph.builder import readable
from ontodex.graph.names import normalise, spellings
from ontodex.graph.prefixes import looks_like_identifier
from ontodex.readers.mapping.headers import EntityColumns, negation_in, spelt
from ontodex.readers.mapping.keys import are_counted, is_key, relation_label, table_of
from ontodex.readers.mapping.paths import path_separator
from ontodex.readers.problems import INSPECT
from ontodex.readers.tables.entities import EntityRows
from ontodex.readers.tables.found_rows import FoundRows, Link, keys_of
from ontodex.readers.tables.mapping import RelationColumn, TableMapping
from ontodex.readers.tables.paths import PathColumn, names_by_level, path_of
from ontodex.readers.tables.table import LeftOut, Table
from ontodex.readers.tables.values import (
    LETTER,
    LONGEST,
    NOTHING,
    NUMBER,
    are_short,
    are_yes_and_no,
    cell_parts,
    is_word,
    share_there,
    whole_name,
)

__all__ = ["TOOK_LABELS", "are_labels", "do_differ", "guess_entities"]

APART = 0.9
"""Minimal shares of rows with a value, and of distinct values, in a column of labels or keys."""

TOOK_LABELS = f"took {{}} for the labels, as no column is named label or name; {INSPECT}"
"""Warning that labels were taken from a column without a name of labels."""

SUBJECT = 1 / 3
"""Minimal distinct values of the id column, as a share of the most distinct values in a column."""

NEARLY_ALL = 0.98
"""Minimal share of distinct cells for a first column of codes to be the id."""

CODE = re.compile(r"[\w.:/-]{1,20}")
"""A cell that may be the id of a row although no column has the name of an id."""

ADDRESS = re.compile(r"@|://")

BY_KEY = 0.9
"""Minimal share of values of a column that occur in a key column, such as e-mail addresses."""

BY_LABEL = 4
"""Values name rows by label only if at least one in ``BY_LABEL`` distinct values names a row."""

DENSE = 1 / 2
"""Maximal share of ids among the whole numbers of a range; above it, numbers match by chance."""

SHARED = 2 / 3
"""Maximal ratio of distinct values to values in a column that is a relation."""

CODED = 0.1
"""Unique values are codes of another kind if more than this share equals the id of its row."""

RECURRING, MOVING = 1 / 2, 1 / 3
"""Minimal shares in comma-separated lists.

``RECURRING``: share of values that occur in several cells; parts of names and streets do not.
``MOVING``: share of these that occur at several positions; cities and countries do not.
"""

LONGEST_LISTED, FEWEST_LISTS, CLOSED = 40, 3, 0.9
"""Limits for comma-separated lists.

Maximal mean length of values, minimal number of cells with commas, and minimal share of values in
which all brackets are closed.
"""

SYNONYMS = "synonyms"

LEVELS = 1 << 30
"""Stands for the position of the paths that are made from columns of levels."""

Row = tuple[int, Sequence[str]]
Cells = Sequence[Sequence[str]]


@dataclass(frozen=True)
class _Columns:
    """Columns of a table of entities.

    Attributes:
        names: The columns by name and position.
        paths: Separators of columns of paths, by position; paths from levels are at ``LEVELS``.
        own: Position of the column with the row's own path if rows are categories, or ``None``.
    """

    names: EntityColumns
    paths: Mapping[int, str]
    own: int | None


def guess_entities(
    header: EntityColumns,
    columns: Sequence[str],
    rows: Sequence[Row],
    table: Table,
    remark: Callable[[str], None],
    *,
    negated: bool = False,
) -> TableMapping:
    """Guess the mapping of a table of entities.

    A column is a relation if most of its cells refer to rows of the table, or if several rows have
    the same value in it (``habitat``). Numbers, dates, and texts that few rows share are ignored.
    Values refer to rows by label only if at least a quarter of the distinct values of the column
    are ids or labels of rows. If the ids of the table are consecutive numbers, numbers in another
    column refer to rows only if the column is named like a key (``manager_id``). If the header
    names no column of labels, columns of first and last names are joined to labels; without such
    columns, the first column of short distinct texts has the labels.

    Args:
        header: Positions of ids, labels, parents and so on, found by the names in the header.
        columns: Names of the columns in the mapping.
        rows: (number, cells) of every row.
        table: The table; receives the cells of columns that may refer to rows of other tables.
        remark: Receives remarks on the guess.
        negated: Guess relations from the rows whose links the table negates; if false, from all
            other rows.
    """
    table.own_labels = header.are_labelled and not header.guess
    width = len(columns)
    fitting = [row for row in rows if len(row[1]) == width]
    found = _chosen(fitting, header, remark, may_be_labelled=not table.is_of_others)
    mapping = _without_relations(found, header, columns, [cells for _, cells in fitting])
    entities = EntityRows(mapping, columns, fitting, set(), lambda *_: None, negated=negated)
    return _with_relations(mapping, found, entities, table)


def _without_relations(
    found: _Columns, header: EntityColumns, columns: Sequence[str], lines: Cells
) -> TableMapping:
    """Return the mapping of a table without its relations."""
    names, width = found.names, len(columns)

    def called(places: Sequence[int]) -> tuple[str, ...]:
        return tuple(columns[at] for at in places if at < width)

    others = dict(names.others)
    negation = negation_in(spelt([others.get(at, "") for at in range(width)]))
    level_of = "" if not header.levels or found.own == LEVELS else header.level_of
    return TableMapping(
        columns=tuple(columns),
        id=called(names.id),
        label=called(names.label),
        label_parts=called(header.full_name if width in names.label else ()),
        synonyms=called(names.synonyms),
        definition=called(names.definition),
        alternative_ids=called(names.alternatives),
        parent=called(names.parents),
        path=next(iter(called(() if found.own is None else (found.own,))), ""),
        levels=called(header.levels),
        level_of=level_of,
        labels_of={columns[at]: columns[label] for at, label in names.value_labels},
        separators={
            columns[at]: ","
            for at, _ in names.others
            if at < width and at not in found.paths and are_comma_lists([one[at] for one in lines])
        },
        paths={columns[at]: mark for at, mark in found.paths.items() if at < width},
        negation={columns[negation[0]]: negation[1]} if negation else {},
        obsolete=called(names.obsolete),
    )


def _chosen(
    rows: Sequence[Row],
    columns: EntityColumns,
    remark: Callable[[str], None],
    *,
    may_be_labelled: bool,
) -> _Columns:
    """Decide by the rows which columns are ids, labels and paths."""
    lines = [cells for _, cells in rows]
    width, paths = columns.width, dict[int, str]()
    cells_of = dict[int, list[str]]()
    if columns.full_name:
        labels = [whole_name(cells[at] for at in columns.full_name) for cells in lines]
        lines = [[*cells, label] for cells, label in zip(lines, labels, strict=True)]
        columns = replace(columns, label=(width,), full_name=())
    if columns.levels:
        named = sum(any(cells[at].strip() for at in columns.label) for cells in lines)
        if 2 * named <= len(lines):
            columns = replace(
                columns, label=()
            )  # a column that most rows leave empty has no labels of rows
        cells_of[LEVELS] = [path_of(names) for names in names_by_level(lines, columns.levels)]
        paths[LEVELS] = ">"
    columns = _identified(lines, columns)
    places = [(at, "") for at in (*columns.label[:1], *columns.parents)] + [*columns.others]
    for at, name in places:
        if at not in paths and (mark := path_separator([cells[at] for cells in lines], name)):
            paths[at] = mark
    if may_be_labelled and (columns.guess or not columns.label):
        columns = _labelled(lines, columns, paths, remark)
    for at in paths.keys() - cells_of.keys():
        cells_of[at] = [cells[at] for cells in lines]
    may_be_own = [at for at in paths if at not in columns.parents]
    own = next(
        (at for at in may_be_own if _is_own(lines, columns, at, cells_of[at], paths[at])), None
    )
    paths = {at: mark for at, mark in paths.items() if at == own or at not in columns.label}
    if own is not None:
        columns = replace(
            columns,
            label=tuple(at for at in columns.label if at != own),
            others=tuple(other for other in columns.others if other[0] != own),
        )
    return _Columns(columns, paths, own)


def _is_own(
    rows: Cells, columns: EntityColumns, at: int, paths: Sequence[str], separator: str
) -> bool:
    """Return whether a column has the rows' own paths.

    Most of these paths end with the label of the row, or are unique if there are no labels.
    """
    filled = [path for path in paths if path.strip()]
    if not columns.label or at == columns.label[0]:
        return not columns.id or len({*filled}) >= APART * len(filled)
    column = PathColumn(separator, paths)
    named = [
        (column.categories(path), normalise(cells[columns.label[0]]))
        for path, cells in zip(paths, rows, strict=True)
        if path.strip()
    ]
    return 2 * sum(
        any(normalise(one[-1]) == name for one in categories) for categories, name in named
    ) > len(named)


def _identified(rows: Cells, columns: EntityColumns) -> EntityColumns:
    """Return the columns with a chosen id.

    The id is the first of the keys with distinct cells, or with one label for each cell. Without
    keys, a first column of codes is the id, whatever its name. Without an id, labels identify rows.
    """
    if not columns.keys:
        may_be_first = (
            columns.label and not columns.id and columns.others[:1] and columns.others[0][0] == 0
        )
        if may_be_first and _are_codes(rows, columns):
            return replace(columns, id=(0,), others=columns.others[1:])
        return columns
    apart = [
        at
        for at, _ in columns.keys
        if len({cells[at].strip() for cells in rows}) >= APART * len(rows)
    ]
    if not apart and columns.label:
        labels = [cells[columns.label[0]].strip() for cells in rows]
        for at, _ in columns.keys:
            keys = [cells[at].strip() for cells in rows]
            if len(set(keys)) == len(set(labels)) == len(set(zip(keys, labels, strict=True))):
                apart.append(at)
    others = sorted(
        {*columns.others, *columns.keys} - {key for key in columns.keys if key[0] in apart[:1]}
    )
    return replace(columns, id=tuple(apart[:1]), others=tuple(others), keys=())


def _are_codes(rows: Cells, columns: EntityColumns) -> bool:
    """Return whether the first column has codes, nearly all of them different.

    Labels, dates and consecutive numbers do not count as codes.
    """
    codes = {cells[0].strip() for cells in rows}
    labels = {cells[columns.label[0]].strip() for cells in rows}
    return (
        len(codes) >= NEARLY_ALL * len(rows) > 0
        and not are_counted(codes)
        and codes.isdisjoint(labels)
        and all(CODE.fullmatch(code) and (code.isdigit() or is_word(code)) for code in codes)
    )


def _labelled(
    rows: Cells, columns: EntityColumns, paths: Collection[int], remark: Callable[[str], None]
) -> EntityColumns:
    """Return the columns with a column of labels that has no name of labels, if there is one.

    Columns of paths are excluded. A column whose name may name another entity (``director_name``)
    is excluded if rows share its values.
    """
    if columns.guess:
        names = [cell for cells in rows if (cell := cells[columns.label[0]].strip())]
        if do_differ(names):
            return columns
        others = sorted((*columns.others, (columns.label[0], columns.guess)))
        columns = replace(columns, label=(), others=tuple(others), guess="")
    ids = {cells[at].strip() for cells in rows for at in columns.id}
    for at, name in [other for other in columns.others if other[0] not in paths]:
        if are_labels([cells[at].strip() for cells in rows], ids):
            remark(TOOK_LABELS.format(name))
            return _identified(rows, columns.labelled(at))
    return columns if columns.id or paths else _with_subject(rows, columns, remark)


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


def _with_subject(
    rows: Cells, columns: EntityColumns, remark: Callable[[str], None]
) -> EntityColumns:
    """Return the columns with the first column of short texts that has many values as id.

    Rows with the same value are one entity. A column whose name ends with "name", "label" or
    "title" is the label if there is one such value for each id.
    """
    values = {
        at: {cells[at].strip() for cells in rows}
        for at, _ in columns.others
        if _are_words(rows, at)
    }
    most = max(map(len, values.values()), default=0)
    at = next((at for at, found in values.items() if len(found) >= SUBJECT * most), None)
    if at is None:
        return columns
    names = dict(columns.others)
    labels = [
        place
        for place, found in values.items()
        if spellings(names[place])[-1].endswith((" name", " label", " title"))
        and len(found) >= APART * len(values[at])
        and len({(cells[at].strip(), cells[place].strip()) for cells in rows})
        <= len(values[at]) / APART
        and found.isdisjoint(values[at])
    ]
    remark(f"took {names[at]} for the id, as no column is named id or label; {INSPECT}")
    others = tuple(other for other in columns.others if other[0] not in (at, *labels[:1]))
    return replace(columns, id=(at,), label=tuple(labels[:1]), others=others)


def _are_words(rows: Cells, at: int) -> bool:
    """Return whether nearly all cells are short texts, and neither dates nor addresses."""
    filled = [cell for cells in rows if (cell := cells[at].strip())]
    words = sum(is_word(cell) and not ADDRESS.search(cell) for cell in filled)
    return words >= APART * len(rows) > 0 and are_short(filled)


def _with_relations(
    mapping: TableMapping, found: _Columns, entities: EntityRows, table: Table
) -> TableMapping:
    """Return the mapping with relations, further synonyms and ignored columns."""
    columns, width = mapping.columns, len(mapping.columns)
    others = [(at, name) for at, name in found.names.others if at < width]
    flags = [at for at, words in entities.denials if "true" in words]
    others = [(at, name) for at, name in others if at not in flags]
    names = [name for _, name in others]
    guesses = _Relations(entities, table, [columns[at] for at, name in others if name])
    relations, synonyms, ignored = (
        dict[str, RelationColumn](),
        [*mapping.synonyms],
        dict[str, str](),
    )
    for at, name in others:
        column = columns[at]
        if not name:
            ignored[column] = "without a name"
        elif column in mapping.paths:
            relations[column] = RelationColumn("" if name == column else name)
        else:
            of = guesses.of(column, name)
            if isinstance(of, RelationColumn):
                label = relation_label(name, names)
                relations[column] = replace(
                    of,
                    relation="" if name == column else name,
                    label="" if label == readable(name) else label,
                )
            elif of == SYNONYMS:
                synonyms.append(column)
            else:
                ignored[column] = of
    return replace(
        mapping,
        synonyms=tuple(synonyms),
        relations=relations,
        separators={
            column: of for column, of in mapping.separators.items() if column not in ignored
        },
        ignored=ignored,
    )


class _Relations:
    """Guesses which columns are relations.

    Args:
        entities: The rows, read with the mapping without relations.
        table: The table, with the names of other tables.
        columns: The columns that may be relations.
    """

    def __init__(self, entities: EntityRows, table: Table, columns: Sequence[str]) -> None:
        self._table, self._entities, self._found = table, entities, entities.found
        self._keys = {
            column: key
            for column, at in zip(columns, entities.at(columns), strict=True)
            if column not in entities.mapping.paths
            and (key := _key([(identifier, cells[at]) for identifier, cells in entities.stated]))
        }
        self._are_counted = are_counted(self._found.ids)
        self._numbers = sorted(
            int(name) for name in self._found.ids if name.isascii() and name.isdigit()
        )

    def of(self, column: str, name: str) -> RelationColumn | str:
        """Return the relation in a column, :data:`SYNONYMS`, or the reason to ignore it."""
        links = self._entities.links_in(column)
        of = self._named(name, links)
        row = self._found.row_by(of, self._keys.get(of.by, {}))
        links = FoundRows.told(links, row, NOTHING)
        if not links:
            return "empty"
        parts = [part for _, part in links]
        are_numbers = 2 * sum(bool(NUMBER.fullmatch(part)) for part in parts) > len(parts)
        is_foreign = bool(are_numbers and table_of(name, self._table.others))
        own = 0 if is_foreign else sum(row(part) == identifier for identifier, part in links)
        if 2 * own > len(links):
            words = sum(bool(LETTER.search(part)) for part in parts)
            return SYNONYMS if 2 * words > len(parts) else "repeats the ids"
        values = Counter(parts)
        if is_foreign:
            why = "numbers of another table"
        elif own > CODED * len(links) and len(values) == len(links):
            why = "codes of another kind"
        else:
            why = _why_not(values, sum(n for part, n in values.items() if row(part)))
        if not why:
            return of
        may_name_rows = not self._table.is_alone and are_short(parts)
        left_out = self._table.left_out.setdefault(name, LeftOut(why, []))
        left_out.links.extend(links if may_name_rows else ())
        return why

    def _named(self, name: str, links: Sequence[Link]) -> RelationColumn:
        """Return a relation that says how the values of a column name rows."""
        values = {part for _, part in links}
        for column, key in self._keys.items():
            others = sum(key.get(part, head) != head for head, part in links)
            if links and others >= BY_KEY * len(links):
                return RelationColumn(by=column)
        by_number = is_key(name) or not (self._are_counted or self._are_there(values))
        by_label = len(values) <= BY_LABEL * sum(bool(self._found.row(value)) for value in values)
        return RelationColumn(by="any" if by_label else "id", by_number=by_number)

    def _are_there(self, values: Collection[str]) -> bool:
        """Return whether most whole numbers in the range of the values are ids.

        If so, values match ids by chance.
        """
        found = sorted(int(value) for value in values if value.isascii() and value.isdigit())
        if not found:
            return False
        low, high = found[len(found) // 10], found[-1 - len(found) // 10]
        there = bisect_right(self._numbers, high) - bisect_left(self._numbers, low)
        return share_there(there, low, high) > DENSE


def _key(cells: Sequence[Link]) -> dict[str, str]:
    """Return the ids of rows by their cells in a column, or an empty dict if it is not a key.

    Args:
        cells: (id of the row, cell) for each cell of the column.
    """
    key, filled = keys_of(cells), sum(bool(LETTER.search(cell)) for _, cell in cells)
    is_key = not are_yes_and_no(key) and are_short(key)
    return key if is_key and len(key) == filled >= APART * len(cells) > 0 else {}


def _why_not(values: Counter[str], rows: int) -> str:
    """Return why a column is not a relation, or ``""`` if it is one.

    Args:
        values: Number of occurrences of each value.
        rows: Number of occurrences of values that name rows.

    Example:
        >>> _why_not(Counter(["forest", "forest", "house"]), 0), _why_not(Counter(["1", "2"]), 0)
        ('', 'numbers or dates')
    """
    count = sum(values.values())
    if 2 * rows > count:
        return ""
    if sum(len(part) * n for part, n in values.items()) > LONGEST * count:
        return "sentences"
    if are_yes_and_no(values):
        return "yes and no"
    if 2 * sum(n for part, n in values.items() if is_word(part)) <= count:
        return "numbers or dates"
    return "" if len(values) <= SHARED * count else "texts that few rows share"


def are_comma_lists(cells: Collection[str]) -> bool:
    """Return whether the distinct cells of a column are comma-separated lists.

    In lists, the same values occur in many combinations.

    >>> cells = {"Drama, Comedy", "Comedy, Action", "Action, Drama, Crime", "Crime"}
    >>> are_comma_lists(cells | {"Comedy, Crime"})
    True
    >>> are_comma_lists({"Bonn, Germany", "Kiel, Germany", "Rome, Italy", "Pisa, Italy", "Italy"})
    False
    """
    if 2 * sum('":' in cell for cell in cells) > sum("," in cell for cell in cells):
        return False  # cells are JSON objects
    lists = [parts for cell in {*cells} if (parts := cell_parts(cell, ","))]
    several = [parts for parts in lists if len(parts) > 1]
    if len(several) < FEWEST_LISTS:
        return False
    places = defaultdict[str, set[int]](set)
    cells_with = defaultdict[str, int](int)
    for parts in lists:
        for place, part in enumerate(parts):
            places[part].add(place)
        for part in {*parts}:
            cells_with[part] += 1
    listed = [part for parts in several for part in parts]
    recurring = {part for part in listed if cells_with[part] > 1}
    moving = sum(len(places[part]) > 1 for part in recurring)
    often = sum(part in recurring for part in listed) > RECURRING * len(listed)
    closed = sum(
        all(part.count(one) == part.count(other) for one, other in ("()", "[]", "{}"))
        for part in listed
    )
    if closed < CLOSED * len(listed):
        return False  # commas are inside brackets: "2-(4-methyl-1,3-thiazol)"
    return are_short(listed, LONGEST_LISTED) and often and moving >= MOVING * len(recurring) > 0
