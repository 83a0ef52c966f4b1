"""Reading tables (TSV, CSV, sheets, data frames, records) as triples, or entities with links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.mapping.guess import FEW, LOOKED_AT, guess_mapping, header_of
from ontodex.readers.mapping.paths import are_paths, paths_as_rows
from ontodex.readers.mapping.triples import no_relation, own_columns
from ontodex.readers.problems import INSPECT, Problems
from ontodex.readers.tables.declared import robot_mapping
from ontodex.readers.tables.entities import add_entities
from ontodex.readers.tables.mapping import TableMapping, column_names
from ontodex.readers.tables.rows import Rows, mapped_header, rows_of
from ontodex.readers.tables.table import Table
from ontodex.readers.tables.triples import SssomHeader, TripleRows, sssom_header
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["add_rows", "freebase_words", "name_freebase", "read_paths", "read_table"]

CONCEPTNET = "/r/"
"""Prefix of relations of ConceptNet; other relations that are paths come from Freebase."""

HEADER = "name head, relation and tail in a header, or id, label and parent"
UNNAMED = (
    f"{HEADER}, or read lines that are sentences by --format sentences, or paths by --format paths"
)
IF_OTHERWISE = f"if the first line is a header or the columns are something else, {INSPECT}"


def read_table(
    source: Path | Sheet,
    builder: GraphBuilder,
    problems: Problems,
    table: Table,
    split: str = "train",
    *,
    may_lack_links: bool = False,
) -> None:
    """Read a table with the given mapping that fits it, or else with a guessed mapping.

    Lines above the table that start with # are comments or SSSOM metadata; the prefixes in SSSOM
    metadata are read. A table without a header has three columns. A warning is given if the first
    line of such a table shares no value with the others, or if there are nearly as many relations
    as lines. Lines that are paths of categories are read by :func:`read_paths`.

    Args:
        source: A TSV or CSV file, or a table that was opened.
        builder: Receives the triples, or the entities and their links.
        problems: Receives lines that are neither triples nor entities.
        table: Has the given mappings; receives the mapping that was used.
        split: The split that triples are in.
        may_lack_links: Whether entities without links, of unknown columns, are no error.

    Raises:
        ReadError: If the header names heads and tails but no relation, if no column has ids or
            labels, or if there are no links.
    """
    given, names, above, rows = _header(source, problems, table)
    columns = column_names(names or [""] * 3)
    width, comments = len(columns), [*above]
    first = [] if names else [*islice(rows, LOOKED_AT)]
    if are_paths([cells for _, cells in first if not cells[0].startswith("#")]):
        read_paths(source, builder, problems, table)
        return
    report = _reporter(source, problems)
    for number, cells in comments:
        is_title = names and sum(bool(cell.strip()) for cell in cells) < 2
        if not (is_title or cells[0].startswith("#")):
            report(_misfit(cells, width), number)
    rows = _fitted(chain(first, rows), width, bool(names), problems, report)
    mapping = given
    if mapping is None:
        are_links = source.are_links if isinstance(source, Sheet) else None
        mapping, rows = guess_mapping(names, rows, table, problems.remark, are_links=are_links)
    else:
        _remark_on_new(mapping, columns, problems)
    if mapping is None:
        raise ReadError(no_relation(names), str(source))
    if not (mapping.are_triples or mapping.names_rows):
        raise ReadError(f"expected a column of ids or labels, found none; {UNNAMED}", str(source))
    if mapping.are_triples:
        is_text = not (isinstance(source, Sheet) and source.unit)
        header = sssom_header(cells[0] for _, cells in comments) if is_text else None
        rows = rows if names or split != "train" else _watched(rows, problems)
        add_rows(mapping, columns, rows, builder, problems, table, report, header, split)
        name_freebase(builder)
        return
    add_rows(mapping, columns, rows, builder, problems, table, report)
    is_known = given or table.join or table.declared.types or own_columns(names)
    if not (is_known or may_lack_links or builder.relation_ids()):
        raise ReadError(f"expected links of entities, found none; {UNNAMED}", str(source))


def read_paths(
    source: Path | Sheet, builder: GraphBuilder, problems: Problems, table: Table
) -> None:
    """Read one category per line; see :func:`ontodex.readers.mapping.paths.paths_as_rows`."""
    rows = paths_as_rows(source, problems)
    read_table(rows, builder, problems, table, may_lack_links=True)


def add_rows(
    mapping: TableMapping,
    columns: Sequence[str],
    rows: Iterable[tuple[int, Sequence[str]]],
    builder: GraphBuilder,
    problems: Problems,
    table: Table,
    report: Callable[[str, int], None],
    header: SssomHeader | None = None,
    split: str = "train",
) -> None:
    """Add triples, or entities and their links, from rows whose mapping is known.

    Args:
        mapping: What the columns hold.
        columns: Names of the columns.
        rows: (number, cells) of every row.
        builder: Receives the triples, or the entities and their links.
        problems: Receives remarks.
        table: Receives the mapping, and the ids of the rows.
        report: Receives the faults of rows that are neither triples nor entities, with the number.
        header: The comments above a table of triples; ``None`` if it cannot have any.
        split: The split that triples are in.
    """
    table.read_by.append(mapping)
    if not mapping.are_triples:
        add_entities(mapping, columns, rows, builder, table, report, problems.remark)
        return
    builder.prefixes.update(header.prefixes if header else {})
    triples = TripleRows(mapping, columns, header, table)
    for number, cells in rows:
        if not triples.add(cells, builder, split):
            report("expected head, relation and tail, found an empty cell", number)
    triples.warn(problems)
    table.first_triples += triples.first


def _reporter(source: Path | Sheet, problems: Problems) -> Callable[[str, int], None]:
    """Return a function that reports the fault of a row, given what it is and the row's number."""
    unit = source.unit if isinstance(source, Sheet) else ""

    def report(what: str, number: int) -> None:
        if unit:
            problems.report(f"{what} in {unit} {number}")
        else:
            problems.report(what, number, str(source))

    return report


# Headers and widths -----------------------------------------------------------------------------


def _header(
    source: Path | Sheet, problems: Problems, table: Table
) -> tuple[TableMapping | None, list[str], Rows, Rows]:
    """Find the header of a table, and the mapping that is given or that a ROBOT template declares.

    Returns:
        The mapping or ``None``, the names in the header (empty without a header), the rows above
        the header, and the rows below.
    """
    given, names, above, rows = mapped_header(rows_of(source, problems), table.mappings, table.name)
    if given is not None:
        return given, names, above, _template(names, rows)[1] if given.header else rows
    first = [*islice(rows, 1)]
    template, below = _template(first[0][1], rows) if first else (None, rows)
    if template is not None:
        return replace(template, table=table.name), first[0][1], above, below
    is_first = isinstance(source, Sheet) and source.has_header
    rows = chain(first, below)
    return None, *header_of(rows, is_first=is_first or bool(table.declared.types))


def _template(names: Sequence[str], rows: Rows) -> tuple[TableMapping | None, Rows]:
    """Return the mapping of a ROBOT template, whose second row is left out; ``None`` without it."""
    first = [*islice(rows, 1)]
    found = robot_mapping(names, first[0][1]) if first else None
    return found, rows if found else chain(first, rows)


def _remark_on_new(mapping: TableMapping, columns: Sequence[str], problems: Problems) -> None:
    """Warn of columns that the table did not have when its mapping was written."""
    known = {*mapping.used, *mapping.ignored, *mapping.columns, *mapping.keys}
    new = [name for name in columns if mapping.columns and name not in known]
    if new:
        problems.remark(
            f"left out {', '.join(new)}: not in the mapping of the table; add what is to be "
            "read to the mapping"
        )


def _fitted(
    rows: Rows, width: int, has_header: bool, problems: Problems, report: Callable[[str, int], None]
) -> Rows:
    """Yield the rows that are as wide as the table, and report the others, except comments.

    Empty cells beyond the width are cut off. If the table has a header and the policy is not
    ``"raise"``, rows with fewer cells are filled up with empty ones, with a warning.
    """
    short, begun, hint = 0, has_header, f"{UNNAMED}, or "
    may_be_short = has_header and problems.policy != "raise"
    for number, cells in rows:
        if may_be_short and 1 < len(cells) < width:
            short += 1
            cells = [*cells, *[""] * (width - len(cells))]
        elif not any(map(str.strip, cells[width:])):
            cells = cells[:width]
        if len(cells) == width:
            begun = True
            yield number, cells
        elif not cells[0].startswith("#") or (begun and len(cells) > 1):
            report(_misfit(cells, width, "" if begun else hint), number)
            hint = ""
    if short:
        problems.remark(
            f"{short:,} row(s) have fewer cells than the {width} columns of the header: the last "
            "ones are empty"
        )


def _misfit(cells: Sequence[str], width: int, hint: str = "") -> str:
    found = f"found {len(cells)}: {' | '.join(cells)[:80]!r}"
    return f"expected {width} columns, {found}; {hint}mend or delete the line"


def _watched(rows: Rows, problems: Problems) -> Rows:
    """Yield the rows of a table without a header; warn if it may not consist of triples."""
    first, is_alone, count, relations = list[str](), True, 0, set[str]()
    for number, cells in rows:
        is_alone = is_alone and not {*cells} & {*first}
        first = first or cells
        count += 1
        relations.add(cells[1])
        yield number, cells
    if count > FEW and len(relations) >= 3 / 4 * count:
        problems.remark(f"found {len(relations)} relations in {count} triples; {IF_OTHERWISE}")
    elif count >= FEW and is_alone:
        found = " | ".join(first)[:80]
        problems.remark(
            f"the first line, {found!r}, has nothing in common with the others; {IF_OTHERWISE}"
        )


# Relations of Freebase --------------------------------------------------------------------------


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


def name_freebase(builder: GraphBuilder) -> None:
    """Set the labels of the Freebase relations in a builder to words."""
    for identifier in builder.relation_ids():
        if identifier.startswith("/") and not identifier.startswith(CONCEPTNET):
            builder.relation(identifier, freebase_words(identifier))
