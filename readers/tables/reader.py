"""Tables in TSV and CSV: triples, with and without a header, or entities with what is said of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.problems import Problems
from ontodex.readers.tables.entities import add_entities
from ontodex.readers.tables.entity_columns import EntityColumns, entity_columns
from ontodex.readers.tables.keys import Table
from ontodex.readers.tables.path_files import are_paths, read_paths
from ontodex.readers.tables.paths import is_path_name
from ontodex.readers.tables.reviewed import Reviewed
from ontodex.readers.tables.rows import Rows, rows_of
from ontodex.readers.tables.sssom import SssomHeader, sssom_header
from ontodex.readers.tables.triple_columns import (
    TripleColumns,
    names_ends,
    no_relation,
    own_columns,
    triple_columns,
)
from ontodex.readers.tables.values import LETTER, NUMBER
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["freebase_words", "header_of", "name_freebase", "read_table"]

LOOKED_AT = 20
"""Rows in which a header must not recur, where it has only one of the names."""

LONGEST_NAME = 40
"""Letters of the name of a column that is none of those known, without a remark after it."""

NAME = re.compile(r"[#%_]?\s*\w[^{}<>|]*")
"""What the name of a column may look like: no path, no object of JSON."""

ABOVE = 1000
"""Lines that may stand above a header."""

CONCEPTNET = "/r/"
"""How relations of ConceptNet begin, whose last part says it all; other paths are Freebase's."""

HEADER = "name head, relation and tail in a header, or id, label and parent"
UNNAMED = (
    f"{HEADER}, or read lines that are sentences by --format sentences, or paths by --format paths"
)
IF_OTHERWISE = f"if the first line is a header or the columns are something else, {HEADER}"

FEW = 3
"""Triples from which on they tell whether the first line is one of them."""


def freebase_words(relation: str) -> str:
    """Return a Freebase relation in words, the narrow ones first (SimKGC's rule, Wang et al. 2022).

    >>> freebase_words("/people/person/nationality")
    'nationality person people'
    >>> freebase_words("/film/actor/film./film/performance/film")
    'performance actor film'
    """
    kept: list[str] = []
    for token in relation.replace("./", "/").replace("_", " ").strip().split("/"):
        if token.strip() and token not in kept[-3:]:
            kept.append(token)
    kept.reverse()
    return " ".join(token for at, token in enumerate(kept) if not at or token != kept[at - 1])


def header_of(rows: Rows, *, is_first: bool = False) -> tuple[list[str], Rows, Rows]:
    """Return the header of a table, the rows above it and those below; without a header, no names and no rows above.

    Args:
        rows: The rows of the table.
        is_first: Whether the first is known to be the header.
    """
    if is_first:
        return next(rows)[1], iter(()), rows
    above: list[tuple[int, list[str]]] = []
    for number, cells in rows:
        if triple_columns(cells):
            return cells, iter(above), rows
        columns = entity_columns(cells)
        if columns or names_ends(cells):
            below = [*islice(rows, LOOKED_AT if columns and columns.told < 2 else 1)]
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
    """Tell whether the first of some rows names columns by words that are none of those known; of two or three one tells it.

    A name does not recur below, but where the column has it or nothing (``EU``).

    >>> rows = [["Titel", "Autor", "Verlag", "Jahr"], ["Momo", "Ende", "Thienemann", "1973"]]
    >>> _is_header(rows), _is_header(rows[1:])
    (True, False)
    >>> _is_header([["ticker", "name", "sector"], ["A", "Alpha", "tools"], ["B", "Beta", "tools"]])
    True
    """
    names = [name.strip() for name in rows[0]] if rows else []
    named = names if any(names[:1]) else names[1:]  # an index of pandas has no name
    below = [cells for cells in rows[1:] if len(cells) == len(names)]
    are_names = (
        all(LETTER.search(name) and NAME.fullmatch(name) for name in named)
        and max(map(len, map(_without_remark, names)), default=0) <= LONGEST_NAME
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


def _without_remark(name: str) -> str:
    """Return the name of a column without what stands in brackets after it: "ID (supplied by NCBI)"."""
    return (
        name.partition("(")[0]
        if name.endswith(")")
        else name.partition("[")[0]
        if name.endswith("]")
        else name
    )


def _tells_entities(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Tell whether few columns hold no triples: one is said to hold ids, labels or paths, or another one holds numbers."""
    columns, seconds = EntityColumns.of(names), {cells[1] for cells in below}
    is_alone = not any({*names} & {*cells} for cells in below)
    told = (*columns.id, *columns.label)
    is_first = below and (0 in told or not names[0] or is_path_name(names[0]))
    is_later = 2 in told or (1 in told and 2 * len(seconds) > len(below))
    are_values = len(below) >= FEW and any(
        all(NUMBER.fullmatch(cells[at].strip()) for cells in below) for at in range(1, len(names))
    )
    return bool(is_alone and (is_first or is_later or are_values))


def _fitted(rows: Rows, width: int, problems: Problems | None) -> Rows:
    """Yield rows without the empty cells that stand behind a table of so many columns, and without comments in between.

    With ``problems``, rows that lack cells at their end, as programs write them that leave out what is empty, are filled up,
    with a warning; where faults are errors they stay as they are.
    """
    short = 0
    for number, cells in rows:
        if len(cells) == 1 < width and cells[0].startswith("#"):
            continue
        if problems and problems.policy != "raise" and 1 < len(cells) < width:
            short += 1
            cells = [*cells, *[""] * (width - len(cells))]
        yield number, cells if any(map(str.strip, cells[width:])) else cells[:width]
    if short and problems:
        problems.remark(
            f"{short:,} row(s) have fewer cells than the {width} columns of the header: the last ones are empty"
        )


class _Unnamed:
    """Triples without a header, and what speaks against them."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._is_alone = True
        self._count = 0
        self._relations: set[str] = set()

    def take(self, cells: list[str]) -> None:
        self._is_alone = self._is_alone and not {*cells} & {*self._first}
        self._first = self._first or cells
        self._count += 1
        self._relations.add(cells[1])

    def warn(self, problems: Problems) -> None:
        if self._count > FEW and len(self._relations) >= 3 / 4 * self._count:
            problems.remark(
                f"found {len(self._relations)} relations in {self._count} triples; {IF_OTHERWISE}"
            )
        elif self._count >= FEW and self._is_alone:
            found = " | ".join(self._first)[:80]
            problems.remark(
                f"the first line, {found!r}, has nothing in common with the others; {IF_OTHERWISE}"
            )


class _Misfits:
    """Lines that are not as wide as the table: faults, but for comments above it."""

    def __init__(self, source: str, problems: Problems, width: int) -> None:
        self.problems, self.source, self.width = problems, source, width
        self.begun = False
        self._hint = f"{UNNAMED}, or "

    def report(self, number: int, cells: Sequence[str]) -> None:
        if self.begun or not cells[0].startswith("#"):
            found = f"expected {self.width} columns, found {len(cells)}: {' | '.join(cells)[:80]!r}"
            self.problems.report(
                f"{found}; {'' if self.begun else self._hint}mend or delete the line",
                number,
                self.source,
            )
            self._hint = ""


def read_table(
    source: Path | Sheet,
    builder: GraphBuilder,
    problems: Problems,
    table: Table,
    split: str = "train",
    *,
    negated: bool = False,
) -> None:
    """Read head, relation and tail of every line; a header is known by its names, without one there are 3 columns.

    Without one, a first line that shares nothing with the others, or nearly as many relations as lines, make a warning.
    Where the header names entities instead (``id``, ``label``, ``parent``, …), each line is one of them; see
    :func:`ontodex.readers.tables.entities.add_entities`; where lines are paths of categories, see
    :func:`ontodex.readers.tables.path_files.read_paths`. Lines above the table that start with # are comments, or
    SSSOM's metadata, of which the prefixes are read. What an audit proposed in SSSOM is no fact, unless its justification is
    another now.

    Args:
        source: A TSV or CSV file, or a sheet of a workbook.
        builder: Takes the triples, or the entities and their links.
        problems: Takes lines that hold none.
        table: Takes what a table of entities says of its keys.
        split: What the triples are for.
        negated: Read what the table says not to hold, in place of what holds.

    Raises:
        ReadError: If the header names heads and tails and no relation.
    """
    names, above, rows = header_of(
        rows_of(source, problems), is_first=isinstance(source, Sheet) and source.has_header
    )
    columns, entities = triple_columns(names), own_columns(names, of_others=table.is_of_others)
    first = [] if names else [*islice(rows, LOOKED_AT)]
    if are_paths([cells for _, cells in first if not cells[0].startswith("#")]):
        read_paths(source, builder, problems, table)
        return
    rows = _fitted(chain(first, rows), len(names) or 3, problems if names else None)
    misfits = _Misfits(str(source), problems, len(names) or 3)
    comments = list(above)
    for number, cells in comments:
        if (
            not names or sum(bool(cell.strip()) for cell in cells) > 1
        ):  # else it is the title of the table
            misfits.report(number, cells)
    misfits.begun = bool(names)
    if not names or columns:
        header = sssom_header(cells[0] for _, cells in comments)
        builder.prefixes.update(header.prefixes)
        _read_triples(columns or TripleColumns(), header, rows, builder, misfits, split, negated)
    elif not entities and names_ends(names):
        raise ReadError(no_relation(names), str(source))
    else:
        add_entities(
            entities or EntityColumns.of(names),
            rows,
            builder,
            table,
            lambda what, at: problems.report(what, at, str(source)),
            problems.remark,
            negated=negated,
        )
        if not entities and not builder.relation_ids():
            raise ReadError(f"expected links of entities, found none; {UNNAMED}", str(source))


def _read_triples(
    columns: TripleColumns,
    header: SssomHeader,
    rows: Rows,
    builder: GraphBuilder,
    misfits: _Misfits,
    split: str,
    negated: bool,
) -> None:
    unnamed, reviewed, problems = (
        _Unnamed(),
        Reviewed(columns, header, negated=negated),
        misfits.problems,
    )
    is_named = misfits.begun
    for number, cells in rows:
        if len(cells) != misfits.width:
            misfits.report(number, cells)
            continue
        misfits.begun = True
        if reviewed.keeps(cells, builder) and not columns.add(cells, builder, split):
            problems.report(
                "expected head, relation and tail, found an empty cell", number, misfits.source
            )
        elif not is_named and split == "train":
            unnamed.take(cells)
    unnamed.warn(problems)
    reviewed.warn(problems)
    name_freebase(builder)


def name_freebase(builder: GraphBuilder) -> None:
    """Give the relations of Freebase that are in a builder names in words."""
    for identifier in builder.relation_ids():
        if identifier.startswith("/") and not identifier.startswith(CONCEPTNET):
            builder.relation(identifier, freebase_words(identifier))
