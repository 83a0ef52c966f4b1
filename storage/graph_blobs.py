"""A graph as blobs, and back: the same columns, mapped instead of held."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.columns import NestedTextColumn, TextColumn
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.names import NameIndex
from ontodex.graph.sentences import EntitySentences
from ontodex.storage.blobs import BlobReader

__all__ = ["graph_blobs", "read_graph", "read_sentences", "sentence_blobs"]

TEXTS = ("ids", "labels", "definitions", "relation_ids", "relation_labels")
NESTED = {"synonyms": "synonyms", "alternative_ids": "former_ids"}
"""Columns of several texts for each entity, and how their blobs are named."""

ARRAYS = ("heads", "relations", "tails", "valid", "test")
NAMES = ("hashes", "rows", "kinds")


def graph_blobs(graph: KnowledgeGraph) -> dict[str, NDArray[Any]]:
    """Return the arrays that hold a graph, by blob name."""
    blobs: dict[str, NDArray[Any]] = {}
    for name in TEXTS:
        column: TextColumn = getattr(graph, name)
        blobs[f"graph/{name}/data"], blobs[f"graph/{name}/offsets"] = column.data, column.offsets
    for column_name, name in NESTED.items():
        nested: NestedTextColumn = getattr(graph, column_name)
        blobs[f"graph/{name}/data"], blobs[f"graph/{name}/offsets"] = (
            nested.strings.data,
            nested.strings.offsets,
        )
        blobs[f"graph/{name}/rows"] = nested.rows
    for name in ARRAYS:
        blobs[f"graph/{name}"] = getattr(graph, name)
    for name in NAMES:
        blobs[f"graph/names/{name}"] = getattr(graph.names, name)
    blobs["graph/by_tail"] = graph.by_tail
    return blobs


def read_graph(blobs: BlobReader, about: dict[str, Any]) -> KnowledgeGraph:
    """Return the graph of an index; its arrays are views of the file.

    Args:
        blobs: The store.
        about: The manifest's ``graph`` entry: source, skipped, prefixes, and hierarchy_relations if they are said.
    """

    def column(name: str) -> TextColumn:
        return TextColumn(blobs.get(f"graph/{name}/data"), blobs.get(f"graph/{name}/offsets"))

    columns: dict[str, Any] = {name: column(name) for name in TEXTS}
    columns |= {name: blobs.get(f"graph/{name}") for name in ARRAYS}
    columns["alternative_ids"] = NestedTextColumn.of(
        [()] * len(columns["ids"])
    )  # formats up to 7 have none
    for column_name, name in NESTED.items():
        if f"graph/{name}/rows" in blobs:
            columns[column_name] = NestedTextColumn(column(name), blobs.get(f"graph/{name}/rows"))
    graph = KnowledgeGraph(
        **columns,
        prefixes=MappingProxyType(about["prefixes"]),
        upward=tuple(about.get("hierarchy_relations", ())),
        source=about["source"],
        skipped=about["skipped"],
    )
    names = NameIndex(*(blobs.get(f"graph/names/{name}") for name in NAMES))
    return graph.with_stored(names, np.asarray(blobs.get("graph/by_tail")))


def sentence_blobs(said: EntitySentences, space: str) -> dict[str, NDArray[Any]]:
    """Return the arrays that hold what the vectors of a space are of, by blob name."""
    column = TextColumn.of(said.texts)
    return {
        f"{space}/texts/data": column.data,
        f"{space}/texts/offsets": column.offsets,
        f"{space}/owners": said.owners,
    }


def read_sentences(blobs: BlobReader, space: str) -> EntitySentences:
    """Return what the vectors of a space are of; the arrays are views of the file."""
    column = TextColumn(blobs.get(f"{space}/texts/data"), blobs.get(f"{space}/texts/offsets"))
    return EntitySentences(column, blobs.get(f"{space}/owners"))
