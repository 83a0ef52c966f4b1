"""Graphs in XML, as Gephi, yEd and Neo4j export them: GraphML and GEXF."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from typing import Any

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import opened
from ontodex.readers.problems import Problems
from ontodex.readers.records import read_records
from ontodex.readers.tables.table import Table
from ontodex.readers.xml_guard import GuardedXml

__all__ = ["read_graph_xml"]

PIECE = 1 << 20


def read_graph_xml(
    path: Path,
    format: str,
    builder: GraphBuilder,
    problems: Problems,
    table: Table,
    *,
    negated: bool = False,
) -> None:
    """Read nodes and edges with their attributes, as the objects of a JSON file with nodes and links.

    An edge has its relation from an attribute such as ``relation``, ``label`` or ``type``, or from its id where edges share
    it, as networkx writes the keys of a graph.

    Args:
        path: The file.
        format: ``"graphml"`` or ``"gexf"``.
        builder: Takes the entities and their links.
        problems: Takes faults.
        table: Takes what the nodes say of their keys.
        negated: Read what the edges say not to hold, in place of what holds.

    Raises:
        ReadError: If it is not of its format, has no nodes, declares entities that look hostile, or says of no edge what it
            is.
    """
    with opened(path) as stream:
        guarded = GuardedXml(stream, path)
        document = io.BytesIO(
            b"".join(iter(partial(guarded.read, PIECE), b""))
        )  # networkx may begin anew
    graph = _parsed(document, format, str(path))
    if not len(graph):
        raise ReadError("expected a graph with nodes, found none", str(path))
    if not graph.is_directed() and graph.number_of_edges():
        problems.remark(
            "expected a directed graph, found one whose edges have no direction: each is read as it is written"
        )
    is_multi = graph.is_multigraph()
    edges = (
        [*graph.edges(keys=True, data=True)]
        if is_multi
        else [(*ends, "", said) for *ends, said in graph.edges(data=True)]
    )
    keys = {key for _, _, key, _ in edges if isinstance(key, str)}
    are_relations = len(keys) < len(edges)
    links = []
    for head, tail, key, said in edges:
        ends = {"source": head, "target": tail}
        links.append(ends | ({"key": key} if are_relations else {}) | said | ends)
    nodes = [
        {**said, "id": node, "labels": _parted(said.get("labels"))}
        for node, said in graph.nodes(data=True)
    ]
    read_records([*nodes, *links], builder, problems, table, negated=negated)


def _parsed(document: Any, format: str, source: str) -> Any:
    """Return the graph of a document.

    Raises:
        ReadError: If it is not of its format.
    """
    import networkx

    try:
        if format == "graphml":
            return networkx.read_graphml(document, force_multigraph=True)
        return networkx.read_gexf(document)
    except ReadError:
        raise
    except Exception as error:  # of any kind: a faulty document trips networkx in many places
        raise ReadError(
            f"expected {format.upper()}, found a fault ({error}); nothing was read", source
        ) from None


def _parted(labels: Any) -> Any:
    """Return the labels of a node of Neo4j.

    >>> _parted(":User:Person")
    ['User', 'Person']
    """
    return labels[1:].split(":") if isinstance(labels, str) and labels.startswith(":") else labels
