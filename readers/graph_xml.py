"""Graphs in XML: GraphML and GEXF."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import opened
from ontodex.readers.formats import NamedFormat, Source
from ontodex.readers.problems import Problems
from ontodex.readers.records import read_records
from ontodex.readers.xml_guard import GuardedXml, after_prolog

__all__ = ["GEXF", "GRAPHML", "GraphXmlFormat"]

PIECE = 1 << 20


@dataclass(frozen=True)
class GraphXmlFormat(NamedFormat):
    """A format of graphs in XML; ``name`` is the name of the root element: graphml or gexf."""

    def sniff(self, path: Path, head: bytes) -> bool:
        """Tell whether the root element of a file has the name of the format."""
        root = re.compile(rb"<(?:!doctype\s+)?%b[\s>]" % self.name.encode(), re.IGNORECASE)
        return root.match(head, after_prolog(head)) is not None

    def read(self, source: Source, builder: GraphBuilder, problems: Problems) -> None:
        """Read nodes and edges with their attributes, like records of nodes and links in JSON.

        The relation of an edge is an attribute such as ``relation``, ``label`` or ``type``. Without
        such an attribute, the id of the edge is the relation if several edges share ids, as in the
        GraphML that networkx writes for a multigraph.

        Raises:
            ReadError: If the file is not in the format, has no nodes or no relations, or declares
                XML entities that look like an attack.
        """
        records = _records(source.path, self.name, problems)
        read_records(records, source.path, builder, problems, source.table)


GRAPHML = GraphXmlFormat(
    "graphml", (".graphml",), "Graphs in GraphML, as networkx, yEd, Gephi and Neo4j export them."
)
GEXF = GraphXmlFormat("gexf", (".gexf",), "Graphs in GEXF, as Gephi exports them.")


def _records(path: Path, format: str, problems: Problems) -> list[dict[str, Any]]:
    """Return the nodes and the edges of a file as records."""
    with opened(path) as stream:
        guarded = GuardedXml(stream, path)
        document = io.BytesIO(
            b"".join(iter(partial(guarded.read, PIECE), b""))
        )  # networkx may read it twice
    graph = _parsed(document, format, str(path))
    if not len(graph):
        raise ReadError("expected a graph with nodes, found none", str(path))
    if not graph.is_directed() and graph.number_of_edges():
        problems.remark(
            "expected a directed graph, found one whose edges have no direction: each is read as "
            "it is written"
        )
    is_multi = graph.is_multigraph()
    edges = (
        [*graph.edges(keys=True, data=True)]
        if is_multi
        else [(*ends, "", attributes) for *ends, attributes in graph.edges(data=True)]
    )
    keys = {key for _, _, key, _ in edges if isinstance(key, str)}
    are_relations = len(keys) < len(edges)
    links = []
    for head, tail, key, attributes in edges:
        ends = {"source": head, "target": tail}
        links.append(ends | ({"key": key} if are_relations else {}) | attributes | ends)
    nodes = [
        {**attributes, "id": node, "labels": _parted(attributes.get("labels"))}
        for node, attributes in graph.nodes(data=True)
    ]
    return [*nodes, *links]


def _parsed(document: Any, format: str, source: str) -> Any:
    """Parse a document with networkx.

    Raises:
        ReadError: If the document is not in its format.
    """
    import networkx

    try:
        if format == "graphml":
            return networkx.read_graphml(document, force_multigraph=True)
        return networkx.read_gexf(document)
    except ReadError:
        raise
    except Exception as error:  # networkx raises many kinds for faulty documents
        raise ReadError(
            f"expected {format.upper()}, found a fault ({error}); nothing was read", source
        ) from None


def _parted(labels: Any) -> Any:
    """Split the labels of a node that Neo4j exported; other values are returned unchanged.

    >>> _parted(":User:Person")
    ['User', 'Person']
    """
    return labels[1:].split(":") if isinstance(labels, str) and labels.startswith(":") else labels
