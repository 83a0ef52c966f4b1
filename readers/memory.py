"""Objects in memory: rdflib graphs and networkx graphs, and data frames as tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.formats import Source
from ontodex.readers.mapping.triples import names_ends, own_columns, triples_mapping
from ontodex.readers.ontologies.rdf import read_rdflib
from ontodex.readers.problems import Problems
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["is_frame", "read_object", "table_of_frame"]


def read_object(source: Source, builder: GraphBuilder, problems: Problems) -> None:
    """Read an rdflib or networkx graph that is the content of a source.

    Raises:
        ReadError: If the object is of another type.
    """
    content = source.content
    if hasattr(content, "namespaces") and hasattr(content, "triples"):
        read_rdflib(content, builder, problems)
    elif all(hasattr(content, name) for name in ("nodes", "edges", "is_multigraph")):
        _read_networkx(content, builder, problems)
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


def is_frame(source: Any) -> bool:
    """Tell whether an object is a data frame of pandas or polars."""
    return hasattr(source, "columns") and hasattr(
        source, "iloc" if hasattr(source, "iloc") else "schema"
    )


def table_of_frame(frame: Any, problems: Problems) -> Sheet:
    """Return a pandas or polars frame as a table; a named index of a pandas frame is a column.

    The column names are the header. Three columns without a known name are a table of triples
    without a header, with a warning unless the names are numbers.
    """
    frame = _with_index(frame)
    names = [str(name) for name in frame.columns]
    rows = [*zip(*(_column(frame, at) for at in range(len(names))), strict=True)]
    numbered = [*enumerate(map(list, rows))]
    place = Path(type(frame).__name__)
    is_known = triples_mapping(names) or own_columns(names) or names_ends(names)
    if is_known or len(names) < 3 or (len(names) > 3 and not all(map(str.isdigit, names))):
        return Sheet(place, "", [(0, names), *numbered], has_header=True, unit="row")
    if not all(map(str.isdigit, names)):
        problems.remark(
            f"took the three columns, {', '.join(names)}, for head, relation and tail; name them "
            "so, or name id, label and parent"
        )
    return Sheet(place, "", numbered, unit="row")


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
