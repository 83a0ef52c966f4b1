"""What the rows of a table of entities tell of its columns, where the header leaves it open."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ontodex.graph.names import normalise, spellings
from ontodex.graph.prefixes import looks_like_identifier
from ontodex.readers.tables.comma_lists import are_listed_codes
from ontodex.readers.tables.entity_columns import EntityColumns, whole_name
from ontodex.readers.tables.keys import are_counted
from ontodex.readers.tables.levels import names_by_level
from ontodex.readers.tables.paths import ARROW, Category, PathColumn, path_of
from ontodex.readers.tables.values import LETTER, are_short, is_word

__all__ = ["APART", "TOOK_LABELS", "ChosenColumns", "are_labels", "chosen_columns", "do_differ"]

APART = 0.9
"""A column may hold the labels of a table that names none if so many of its rows have one and so many differ."""

TOOK_LABELS = "took {} for the labels, as no column is named label or name; name the one that is"
"""What is said where labels have another name."""

SUBJECT = 1 / 3
"""Rows that share all values are about the first column that has so many values for each of the one that has most."""

NEARLY_ALL = 0.98
"""A first column tells rows apart by itself if so many of its cells differ: the others are repeated rows."""

CODE = re.compile(r"[\w.:/-]{1,20}")
"""What may tell rows apart where no name of a column says so."""

ADDRESS = re.compile(r"@|://")

Row = tuple[int, Sequence[str]]
Cells = Sequence[Sequence[str]]


class ChosenColumns(NamedTuple):
    """What the columns of a table of entities hold.

    Attributes:
        rows: (number, cells) of every row, with those cells that stand for the paths of its levels, and for its own path and
            the name that this ends with.
        columns: The columns, these too.
        paths: Those whose cells are paths of categories.
        own: Which of these has the paths of the rows, which are categories themselves.
        relations: What the others say of a row and a category.
    """

    rows: Sequence[Row]
    columns: EntityColumns
    paths: Mapping[int, PathColumn]
    own: int | None
    relations: Mapping[int, str]

    def own_paths(self, cells: Sequence[str]) -> list[str]:
        """Return the paths of a row that is a category: those that it has, and that of its parent with its label."""
        own = [] if self.own is None else self.paths[self.own].categories(cells[self.own])
        parents = [(at, self.paths[at]) for at in self.columns.parents if at in self.paths]
        above = [one for at, column in parents for one in column.categories(cells[at]) or [()]]
        return [
            *map(path_of, own),
            *(path_of((*one, name)) for one in above for name in self.columns.labels(cells)[:1]),
        ]

    def links(self, cells: Sequence[str]) -> Iterator[tuple[str, Category]]:
        """Yield each category that a row is linked to by a path, and the relation before it."""
        for at, column in self.paths.items():
            for category in column.categories(cells[at]):
                if at != self.own:
                    yield self.relations[at], category
                elif len(category) > 1:
                    yield "is_a", category[:-1]


def chosen_columns(
    rows: Sequence[Row],
    columns: EntityColumns,
    remark: Callable[[str], None],
    *,
    may_be_labelled: bool = True,
) -> ChosenColumns:
    """Return what the columns hold, by the rows too: which are ids and labels, and which are paths.

    Args:
        rows: (number, cells) of every row that is as wide as the header.
        columns: What the header says.
        remark: Takes what is to be said of the table.
        may_be_labelled: Whether a column may hold labels though it is not named so.
    """
    rows, columns = _with_full_names(rows, columns)
    rows, columns, paths = _with_levels(rows, columns)
    columns = _identified([cells for _, cells in rows], columns)
    lines = [cells for _, cells in rows]
    places = [(at, "") for at in (*columns.label[:1], *columns.parents)] + [*columns.others]
    for at, name in places:
        if at not in paths and (column := PathColumn.of([cells[at] for cells in lines], name)):
            paths[at] = column
    if may_be_labelled and (columns.guess or not columns.label):
        columns = _labelled(lines, columns, paths, remark)
    commas = frozenset(
        at for at in columns.synonyms if are_listed_codes([cells[at] for cells in lines])
    )
    columns = replace(columns, commas=commas)
    own = next(
        (
            at
            for at in paths
            if at not in columns.parents and _is_own(lines, columns, at, paths[at])
        ),
        None,
    )
    paths = {at: column for at, column in paths.items() if at == own or at not in columns.label}
    if own is not None:
        rows = [
            (number, [*cells, *_path_and_name(paths[own], cells[own])]) for number, cells in rows
        ]
        columns = replace(
            columns,
            width=columns.width + 2,
            id=columns.id or (columns.width,),
            label=tuple(at for at in columns.label if at != own) or (columns.width + 1,),
            others=tuple(other for other in columns.others if other[0] != own),
        )
    relations = {**dict(columns.others), **dict.fromkeys(columns.parents, "is_a")}
    return ChosenColumns(rows, columns, paths, own, relations)


def _with_full_names(
    rows: Sequence[Row], columns: EntityColumns
) -> tuple[Sequence[Row], EntityColumns]:
    """Return the rows with a column of labels that first and last names make, if these are all the labels that there are."""
    if not columns.full_name:
        return rows, columns
    named = [
        (number, [*cells, whole_name(cells[at] for at in columns.full_name)])
        for number, cells in rows
    ]
    return named, replace(columns, width=columns.width + 1, label=(columns.width,), full_name=())


def _with_levels(
    rows: Sequence[Row], columns: EntityColumns
) -> tuple[Sequence[Row], EntityColumns, dict[int, PathColumn]]:
    """Return the rows with a column of the paths that their levels make, if there are levels.

    A label that most rows lack is none of theirs.
    """
    if not columns.levels:
        return rows, columns, {}
    if 2 * sum(any(map(str.strip, columns.labels(cells))) for _, cells in rows) <= len(rows):
        columns = replace(columns, label=())
    paths = [
        path_of(names) for names in names_by_level([cells for _, cells in rows], columns.levels)
    ]
    rows = [(number, [*cells, path]) for (number, cells), path in zip(rows, paths, strict=True)]
    at, others = columns.width, (*columns.others, (columns.width, columns.level_of))
    return rows, replace(columns, width=at + 1, others=others), {at: PathColumn(ARROW, paths)}


def _path_and_name(column: PathColumn, cell: str) -> tuple[str, str]:
    category = next(iter(column.categories(cell)), ("",))
    return path_of(category), category[-1]


def _is_own(rows: Cells, columns: EntityColumns, at: int, column: PathColumn) -> bool:
    """Tell whether a column has the paths of the rows: of most the name, or else a path that no other row has."""
    filled = [cells for cells in rows if cells[at].strip()]
    if not columns.label or at == columns.label[0]:
        return not columns.id or len({cells[at] for cells in filled}) >= APART * len(filled)
    named = [(column.categories(cells[at]), normalise(cells[columns.label[0]])) for cells in filled]
    return 2 * sum(
        any(normalise(one[-1]) == name for one in categories) for categories, name in named
    ) > len(named)


def _identified(rows: Cells, columns: EntityColumns) -> EntityColumns:
    """Return the columns with the first of several keys that tells the rows, or their labels, apart as id.

    So does a column of codes that stands first, whatever its name. Without one labels identify.
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
    """Tell whether the first cells of rows are codes that tell nearly all apart, and no labels, dates or mere numbers."""
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
    """Return the columns with the one that holds labels, if one does though it is not named so.

    None of paths does. One that is named as those of something (``director_name``) does not, if rows share its values.
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
    """Tell whether nearly all of some cells differ."""
    return len({*cells}) >= APART * len(cells)


def are_labels(cells: Sequence[str], ids: Collection[str]) -> bool:
    """Tell whether the cells of a column name nearly all rows, by short words that are no ids and differ."""
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
    """Return the columns with one of short words as id, whose rows are one where they share it: the first of many values.

    Another one that is named as a name is the label, if it goes with it.
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
    remark(
        f"took {names[at]} for what the rows are about, and those that share it for one; name the column that is id or label"
    )
    others = tuple(other for other in columns.others if other[0] not in (at, *labels[:1]))
    return replace(columns, id=(at,), label=tuple(labels[:1]), others=others)


def _are_words(rows: Cells, at: int) -> bool:
    """Tell whether nearly all cells of a column are filled, with short texts that are no dates and no addresses."""
    filled = [cell for cells in rows if (cell := cells[at].strip())]
    words = sum(is_word(cell) and not ADDRESS.search(cell) for cell in filled)
    return words >= APART * len(rows) > 0 and are_short(filled)
