"""Objects in memory: rdflib graphs, networkx graphs and data frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.formats import Source
from ontodex.readers.mapping.guess import guess_mapping, of_table
from ontodex.readers.mapping.triples import (
    names_ends,
    no_relation,
    own_columns,
    triples_mapping,
)
from ontodex.readers.ontologies.rdf import read_rdflib
from ontodex.readers.problems import Problems
from ontodex.readers.table_files import add_named_rows, remark_on_new
from ontodex.readers.tables.mapping import TableMapping, chosen_mapping, column_names
from ontodex.readers.tables.table import Table
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["is_frame", "read_object", "table_of_frame"]


def read_object(source: Source, builder: GraphBuilder, problems: Problems) -> None:
    """Read the object that is the content of a source.

    Args:
        source: The source; ``source.table`` receives ids and unread columns of a data frame.
        builder: Receives entities, relations and triples.
        problems: Receives faulty parts, and remarks.

    Raises:
        ReadError: If the type of the object is not supported, or a data frame has no columns for
            triples or entities.
    """
    content = source.content
    if hasattr(content, "namespaces") and hasattr(content, "triples"):
        read_rdflib(content, builder, problems)
    elif all(hasattr(content, name) for name in ("nodes", "edges", "is_multigraph")):
        _read_networkx(content, builder, problems)
    elif is_frame(content):
        _read_frame(content, builder, problems, source.table, negated=source.settings.negated)
    else:
        raise ReadError(
            "expected a path, an rdflib graph, a networkx graph or a data frame, found an object "
            "of another kind",
            type(content).__name__,
        )


def _read_networkx(graph: Any, builder: GraphBuilder, problems: Problems) -> None:
    """Read a networkx graph.

    The relation of an edge is its attribute ``relation``, or else its key. Attributes of nodes are
    ``label``, ``definition``, ``synonyms`` and ``alternative_ids``. Attributes of the graph are
    ``relations`` (label by relation) and ``prefixes``.
    """
    builder.prefixes.update(graph.graph.get("prefixes") or {})
    for relation, label in (graph.graph.get("relations") or {}).items():
        builder.relation(str(relation), str(label))
    if not graph.is_directed() and graph.number_of_edges():
        problems.remark(
            "expected a directed graph, found one whose edges have no direction: each is read from "
            "the node that was added first; give a DiGraph or a MultiDiGraph"
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
                "expected an attribute 'relation' or a text key, found none on the edge "
                f"{head} - {tail}"
            )
        else:
            builder.triple(str(head), str(relation), str(tail))


def _read_frame(
    frame: Any, builder: GraphBuilder, problems: Problems, table: Table, *, negated: bool = False
) -> None:
    """Read a pandas or polars frame as triples or entities, by its column names.

    If no column name is known, the first three columns are read as triples, with a warning unless
    the names are numbers. A named index of a pandas frame is a column. ``table`` receives ids and
    unread columns; for ``negated`` see :func:`ontodex.readers.table_files.read_table`.

    Raises:
        ReadError: If no column name is known and there are fewer than three columns, or if columns
            name heads and tails but no relation.
    """
    frame = _with_index(frame)
    names = [str(name) for name in frame.columns]
    columns = column_names(names)
    if given := chosen_mapping(table.mappings, table.name, columns):
        remark_on_new(given, columns, problems)
        _add_frame(frame, given, columns, builder, problems, table, negated)
        return
    if triples_mapping(names) or own_columns(names) or names_ends(names):
        cells = zip(*(_column(frame, at) for at in range(len(names))), strict=True)
        rows = ((number, [*row]) for number, row in enumerate(cells))
        mapping, _ = guess_mapping(names, rows, table, problems.remark, negated=negated)
        if mapping is None:
            raise ReadError(no_relation(names), builder.source)
    else:
        if len(names) < 3:
            raise ReadError(
                "expected columns head, relation and tail, or id, label and parent, found "
                f"{', '.join(names)}",
                builder.source,
            )
        if not all(map(str.isdigit, names)):
            problems.remark(
                f"took the first three columns, {', '.join(names[:3])}, for head, relation and "
                "tail; name them so, or name id, label and parent"
            )
        head, relation, tail = columns[:3]
        ends = TableMapping(columns=tuple(columns), head=head, relation=relation, tail=tail)
        mapping = of_table(ends, {}, table)
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
    """Add the rows of a frame; cells of unread columns are not converted."""
    used = {*mapping.used}
    cells = zip(
        *(
            _column(frame, at) if name in used else repeat("", len(frame))
            for at, name in enumerate(columns)
        ),
        strict=True,
    )
    rows = enumerate(cells)
    add_named_rows(mapping, columns, rows, builder, problems, table, "row", negated=negated)


def is_frame(source: Any) -> bool:
    """Tell whether an object is a data frame of pandas or polars."""
    return hasattr(source, "columns") and hasattr(
        source, "iloc" if hasattr(source, "iloc") else "schema"
    )


def table_of_frame(frame: Any) -> Sheet:
    """Return a frame as a table with its column names in the first row."""
    frame = _with_index(frame)
    rows = zip(*(_column(frame, at) for at in range(len(frame.columns))), strict=True)
    return Sheet(
        Path(type(frame).__name__),
        "",
        [*enumerate([[*map(str, frame.columns)], *map(list, rows)])],
        True,
    )


def _with_index(frame: Any) -> Any:
    """Return a frame with its index as a column, if the index has a name."""
    has_index = hasattr(frame, "reset_index") and any(
        name is not None for name in frame.index.names
    )
    return frame.reset_index() if has_index else frame


def _column(frame: Any, at: int) -> Iterator[str]:
    return map(
        _cell, (frame.iloc[:, at] if hasattr(frame, "iloc") else frame.to_series(at)).to_list()
    )


def _cell(value: Any) -> str:
    """Return a cell as text: several values joined by ``|``, whole numbers without ``.0``."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "|".join(_texts(value))


def _text(value: Any) -> str:
    return "" if _is_missing(value) else str(value)


def _texts(value: Any) -> list[str]:
    """Return one value or several as texts, without missing and empty ones."""
    parts = [value] if isinstance(value, str) or not hasattr(value, "__iter__") else value
    return [text for part in parts if (text := _text(part).strip())]


def _is_missing(value: Any) -> bool:
    """Tell whether a value is missing: ``None``, NaN, or NA of pandas."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return not hasattr(value, "__len__")
