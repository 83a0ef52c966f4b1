"""Graphs that are in memory already: networkx and data frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.mapping.guess import guess_mapping, of_table
from ontodex.readers.mapping.model import TableMapping, chosen_mapping, column_names
from ontodex.readers.mapping.triples import (
    names_ends,
    no_relation,
    own_columns,
    triples_mapping,
)
from ontodex.readers.problems import Problems
from ontodex.readers.tables.reader import add_named_rows, remark_on_new
from ontodex.readers.tables.table import Table
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["is_frame", "read_frame", "read_networkx", "table_of_frame"]


def read_networkx(graph: Any, builder: GraphBuilder, problems: Problems) -> None:
    """Read a networkx graph.

    The relation of an edge is its attribute ``relation``, or its key. Nodes may have ``label``, ``definition`` and
    ``synonyms`` and ``alternative_ids``; the graph attributes ``relations`` (labels by relation) and ``prefixes`` are read
    too.
    """
    builder.prefixes.update(graph.graph.get("prefixes") or {})
    for relation, label in (graph.graph.get("relations") or {}).items():
        builder.relation(str(relation), str(label))
    if not graph.is_directed() and graph.number_of_edges():
        problems.remark(
            "expected a directed graph, found one whose edges have no direction: each is read from the node that was "
            "added first; give a DiGraph or a MultiDiGraph"
        )
    alternatives: dict[str, str] = {}
    for node, data in graph.nodes(data=True):
        builder.entity(
            str(node),
            label=_text(data.get("label")) or _text(data.get("name")),
            synonyms=_texts(data.get("synonyms")),
            definition=_text(data.get("definition")),
        )
        alternatives.update(dict.fromkeys(_texts(data.get("alternative_ids")), str(node)))
    builder.replace(alternatives)
    edges = graph.edges(keys=True, data=True) if graph.is_multigraph() else graph.edges(data=True)
    for head, tail, *key, data in edges:
        relation = data.get("relation") or next(
            (name for name in key if isinstance(name, str)), None
        )
        if relation is None:
            problems.report(
                f"expected an attribute 'relation' or a text key, found none on the edge {head} - {tail}"
            )
        else:
            builder.triple(str(head), str(relation), str(tail))


def read_frame(
    frame: Any, builder: GraphBuilder, problems: Problems, table: Table, *, negated: bool = False
) -> None:
    """Read the head, relation and tail columns of a pandas or polars frame, its entities, or its first three columns.

    An index of a pandas frame that has a name is a column. Where columns have names, and none that tells what they are, the
    first three make a warning. ``table`` takes what a table of entities says of its keys; ``negated`` and
    what a review says are as for :func:`ontodex.readers.tables.reader.read_table`.

    Raises:
        ReadError: If there are fewer than three columns, and they name no entities, or if they name heads and tails
            and no relation.
    """
    frame = _with_index(frame)
    names = [str(name) for name in frame.columns]
    columns = column_names(names)
    if given := chosen_mapping(table.mappings, table.name, columns):
        remark_on_new(given, columns, problems)
        _add_frame(frame, given, columns, builder, problems, table, negated)
        return
    triples, entities = triples_mapping(names), own_columns(names)
    if not triples and not entities and names_ends(names):
        raise ReadError(no_relation(names), builder.source)
    if len(names) < 3 and not triples and not entities:
        raise ReadError(
            f"expected columns head, relation and tail, or id, label and parent, found {', '.join(names)}",
            builder.source,
        )
    if not triples and not entities and not all(name.isdigit() for name in names):
        problems.remark(
            f"took the first three columns, {', '.join(names[:3])}, for head, relation and tail; name them so, or name "
            "id, label and parent"
        )
    if entities and not triples:
        cells = zip(*(_column(frame, at) for at in range(len(names))), strict=True)
        rows = [*enumerate(cells, start=1)]
        mapping = guess_mapping(names, rows, table, problems.remark, negated=negated)
        assert mapping is not None
    else:
        head, relation, tail = columns[:3]
        ends = TableMapping(columns=tuple(columns), head=head, relation=relation, tail=tail)
        mapping = of_table(triples or ends, {}, table)
    _add_frame(frame, mapping, columns, builder, problems, table, negated)


def _add_frame(
    frame: Any,
    mapping: TableMapping,
    columns: Sequence[str],
    builder: GraphBuilder,
    problems: Problems,
    table: Table,
    negated: bool,
) -> None:
    used = {*mapping.used}
    cells = zip(
        *(
            _column(frame, at) if name in used else repeat("", len(frame))
            for at, name in enumerate(columns)
        ),
        strict=True,
    )
    rows = enumerate(cells, start=1)
    add_named_rows(mapping, columns, rows, builder, problems, table, "row", negated=negated)


def is_frame(source: Any) -> bool:
    """Tell whether an object is a data frame of pandas or polars."""
    return hasattr(source, "columns") and hasattr(
        source, "iloc" if hasattr(source, "iloc") else "schema"
    )


def table_of_frame(frame: Any) -> Sheet:
    """Return a frame as a table, the names of its columns in the first row."""
    frame = _with_index(frame)
    rows = zip(*(_column(frame, at) for at in range(len(frame.columns))), strict=True)
    return Sheet(
        Path(type(frame).__name__),
        "",
        [*enumerate([[*map(str, frame.columns)], *map(list, rows)])],
        True,
    )


def _with_index(frame: Any) -> Any:
    """Return a frame with its index as a column, if that has a name."""
    has_index = hasattr(frame, "reset_index") and any(
        name is not None for name in frame.index.names
    )
    return frame.reset_index() if has_index else frame


def _column(frame: Any, at: int) -> Iterator[str]:
    return map(
        _cell, (frame.iloc[:, at] if hasattr(frame, "iloc") else frame.to_series(at)).to_list()
    )


def _cell(value: Any) -> str:
    """Return a cell as text: several values parted by ``|``, whole numbers without the ``.0`` of columns with gaps."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "|".join(_texts(value))


def _text(value: Any) -> str:
    return "" if _is_missing(value) else str(value)


def _texts(value: Any) -> list[str]:
    """Return one value or several as texts, without what is missing or empty."""
    parts = [value] if isinstance(value, str) or not hasattr(value, "__iter__") else value
    return [text for part in parts if (text := _text(part).strip())]


def _is_missing(value: Any) -> bool:
    """Tell whether a value stands for none: ``None``, NaN or pandas' NA, of which it cannot be said that it is itself."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return not hasattr(value, "__len__")
