"""Rows whose cells have names, but no lines of a file: of data frames, and of records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.problems import Problems
from ontodex.readers.tables.entities import add_entities
from ontodex.readers.tables.entity_columns import EntityColumns
from ontodex.readers.tables.keys import Table
from ontodex.readers.tables.reviewed import Reviewed
from ontodex.readers.tables.triple_columns import TripleColumns

__all__ = ["add_named_rows"]


def add_named_rows(
    columns: TripleColumns | EntityColumns,
    rows: Iterable[tuple[int, Sequence[str]]],
    builder: GraphBuilder,
    problems: Problems,
    table: Table,
    kind: str,
    *,
    negated: bool = False,
) -> None:
    """Add the triples of rows, or the entities and their links.

    Args:
        columns: What the names say.
        rows: (number, cells) of every row.
        builder: Takes them.
        problems: Takes rows that hold none.
        table: Takes what a table of entities says of its keys.
        kind: What a row is called.
        negated: Read what the rows say not to hold, in place of what holds.
    """

    def report(what: str, number: int) -> None:
        problems.report(f"{what} in {kind} {number}")

    if isinstance(columns, EntityColumns):
        add_entities(columns, rows, builder, table, report, problems.remark, negated=negated)
        return
    reviewed = Reviewed(columns, None, negated=negated)
    for number, cells in rows:
        if reviewed.keeps(line := list(cells), builder) and not columns.add(line, builder):
            report("expected head, relation and tail, found an empty cell", number)
    reviewed.warn(problems)
