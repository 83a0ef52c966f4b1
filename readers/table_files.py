"""Reading tables (TSV, CSV, sheets, data frames, records) as triples, or entities with links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.mapping.guess import (
    FEW,
    LOOKED_AT,
    guess_mapping,
    header_of,
)
from ontodex.readers.mapping.paths import are_paths
from ontodex.readers.mapping.triples import no_relation, own_columns
from ontodex.readers.path_files import read_paths
from ontodex.readers.problems import INSPECT, Problems
from ontodex.readers.tables.declared import robot_mapping
from ontodex.readers.tables.entities import add_entities
from ontodex.readers.tables.mapping import TableMapping, column_names
from ontodex.readers.tables.rows import Rows, mapped_header, rows_of
from ontodex.readers.tables.table import Table
from ontodex.readers.tables.triples import TripleRows, sssom_header
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["add_named_rows", "freebase_words", "name_freebase", "read_table", "remark_on_new"]

CONCEPTNET = "/r/"
"""Prefix of relations of ConceptNet; other relations that are paths come from Freebase."""

HEADER = "name head, relation and tail in a header, or id, label and parent"
UNNAMED = (
    f"{HEADER}, or read lines that are sentences by --format sentences, paths by --format paths, "
    "or an outline by --format outline"
)
IF_OTHERWISE = f"if the first line is a header or the columns are something else, {INSPECT}"


def freebase_words(relation: str) -> str:
    """Return a Freebase relation in words, narrow words first (rule of SimKGC, Wang et al. 2022).

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


def _fitted(rows: Rows, width: int, problems: Problems | None) -> Rows:
    """Yield rows without comments, and without empty cells beyond ``width`` cells.

    If ``problems`` is given and its policy is not ``"raise"``, rows with fewer cells are filled up
    with empty ones, with a warning.
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
            f"{short:,} row(s) have fewer cells than the {width} columns of the header: the last "
            "ones are empty"
        )


class _Unnamed:
    """Warns of a table without a header that may not consist of triples."""

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
    """Reports lines that are not as wide as the table, except comments above the table."""

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
    """Read a table with the given mapping that fits it, or else with a guessed mapping.

    Lines above the table that start with # are comments or SSSOM metadata; the prefixes in SSSOM
    metadata are read. A table without a header has three columns. A warning is given if the first
    line of such a table shares no value with the others, or if there are nearly as many relations
    as lines. Lines that are paths of categories are read by
    :func:`ontodex.readers.path_files.read_paths`.

    Args:
        source: A TSV or CSV file, or a sheet of a workbook.
        builder: Receives the triples, or the entities and their links.
        problems: Receives lines that are neither triples nor entities.
        table: Has the given mappings; receives the mapping that was used.
        split: The split that triples are in.
        negated: Read negated rows only; if false, all other rows.

    Raises:
        ReadError: If the header names heads and tails but no relation, or there are no links.
    """
    given, columns, above, rows = mapped_header(
        rows_of(source, problems), table.mappings, table.name
    )
    names, sheet = columns, source if isinstance(source, Sheet) else None
    if given is None:
        is_first = bool(sheet and sheet.has_header) or bool(table.declared.types)
        template, names, rows = _template(rows)
        if template is None:
            names, above, rows = header_of(rows, is_first=is_first)
        given = template and replace(template, table=table.name)
        columns = column_names(names or [""] * 3)
    elif given.header:
        rows = _without_template(columns, rows)
    width, comments = len(columns), [*above]
    first = [] if names else [*islice(rows, LOOKED_AT)]
    if are_paths([cells for _, cells in first if not cells[0].startswith("#")]):
        read_paths(source, builder, problems, table)
        return
    misfits = _Misfits(str(source), problems, width)
    for number, cells in comments:
        is_title = sum(bool(cell.strip()) for cell in cells) < 2
        if not (names and is_title):
            misfits.report(number, cells)
    misfits.begun = bool(names)
    rows = _fitted(chain(first, rows), width, problems if names else None)
    if given is None:
        called = sheet.columns if sheet else ()
        mapping, rows = guess_mapping(
            names, rows, table, problems.remark, columns=called, negated=negated
        )
        columns = [*called] or columns
    else:
        mapping = given
        remark_on_new(mapping, columns, problems)
    if mapping is None:
        raise ReadError(no_relation(names), str(source))
    table.read_by.append(mapping)
    if mapping.are_triples:
        header = sssom_header(cells[0] for _, cells in comments)
        builder.prefixes.update(header.prefixes)
        triples = TripleRows(mapping, columns, header, negated=negated)
        _read_triples(triples, rows, builder, misfits, split)
        table.first_triples += triples.first
        return

    def report(what: str, number: int) -> None:
        problems.report(what, number, str(source))

    add_entities(mapping, columns, rows, builder, table, report, problems.remark, negated=negated)
    is_known = given or table.declared.types or own_columns(names, of_others=table.is_of_others)
    if not is_known and not builder.relation_ids():
        raise ReadError(f"expected links of entities, found none; {UNNAMED}", str(source))


def _template(rows: Rows) -> tuple[TableMapping | None, list[str], Rows]:
    """Return mapping, header and rows of a ROBOT template; no mapping for another table."""
    first = [*islice(rows, 2)]
    if len(first) == 2 and (found := robot_mapping(first[0][1], first[1][1])):
        return found, first[0][1], rows
    return None, [], chain(first, rows)


def _without_template(columns: Sequence[str], rows: Rows) -> Rows:
    """Return the rows below a header, without the template row of a ROBOT template."""
    first = [*islice(rows, 1)]
    is_template = bool(first) and robot_mapping(columns, first[0][1]) is not None
    return rows if is_template else chain(first, rows)


def remark_on_new(mapping: TableMapping, columns: Sequence[str], problems: Problems) -> None:
    """Warn of columns that the table did not have when its mapping was written."""
    known = {*mapping.used, *mapping.ignored, *mapping.columns, *mapping.keys}
    new = [name for name in columns if mapping.columns and name not in known]
    if new:
        problems.remark(
            f"left out {', '.join(new)}: not in the mapping of the table; add what is to be "
            "read to the mapping"
        )


def _read_triples(
    triples: TripleRows, rows: Rows, builder: GraphBuilder, misfits: _Misfits, split: str
) -> None:
    unnamed, problems, is_named = _Unnamed(), misfits.problems, misfits.begun
    for number, cells in rows:
        if len(cells) != misfits.width:
            misfits.report(number, cells)
            continue
        misfits.begun = True
        if not triples.add(cells, builder, split):
            problems.report(
                "expected head, relation and tail, found an empty cell", number, misfits.source
            )
        elif not is_named and split == "train":
            unnamed.take(cells)
    unnamed.warn(problems)
    triples.warn(problems)
    name_freebase(builder)


def add_named_rows(
    mapping: TableMapping,
    columns: Sequence[str],
    rows: Iterable[tuple[int, Sequence[str]]],
    builder: GraphBuilder,
    problems: Problems,
    table: Table,
    kind: str,
    *,
    negated: bool = False,
) -> None:
    """Add triples, or entities and their links, from rows that are not lines of a file.

    Args:
        mapping: What the columns hold.
        columns: Names of the columns.
        rows: (number, cells) of every row.
        builder: Receives the triples, or the entities and their links.
        problems: Receives rows that are neither.
        table: Receives the mapping, and the ids of the rows.
        kind: Word for a row in messages, such as ``"record"``.
        negated: Read negated rows only; if false, all other rows.
    """

    def report(what: str, number: int) -> None:
        problems.report(f"{what} in {kind} {number}")

    table.read_by.append(mapping)
    if not mapping.are_triples:
        add_entities(
            mapping, columns, rows, builder, table, report, problems.remark, negated=negated
        )
        return
    triples = TripleRows(mapping, columns, None, negated=negated)
    for number, cells in rows:
        if not triples.add(cells, builder):
            report("expected head, relation and tail, found an empty cell", number)
    triples.warn(problems)
    table.first_triples += triples.first


def name_freebase(builder: GraphBuilder) -> None:
    """Set the labels of the Freebase relations in a builder to words."""
    for identifier in builder.relation_ids():
        if identifier.startswith("/") and not identifier.startswith(CONCEPTNET):
            builder.relation(identifier, freebase_words(identifier))
