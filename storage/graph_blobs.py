"""The graph and the sentences of an index as blobs: columns that are memory-mapped when read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.columns import NestedTextColumn, TextColumn
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.names import NameIndex
from ontodex.graph.sentences import EntitySentences
from ontodex.storage.blobs import BlobReader

__all__ = ["graph_blobs", "graph_info", "read_graph", "read_sentences", "sentence_blobs"]

TEXTS = ("ids", "labels", "definitions", "relation_ids", "relation_labels")
"""Columns with one text for each entity or each relation."""

NESTED = ("synonyms", "alternative_ids")
"""Columns with any number of texts for each entity."""

ARRAYS = ("heads", "relations", "tails", "valid", "test")
NAMES = ("hashes", "rows", "kinds")


def graph_blobs(graph: KnowledgeGraph) -> dict[str, NDArray[Any]]:
    """Return the arrays of a graph, by blob name."""
    blobs: dict[str, NDArray[Any]] = {}
    for name in TEXTS:
        column: TextColumn = getattr(graph, name)
        blobs[f"graph/{name}/data"], blobs[f"graph/{name}/offsets"] = column.data, column.offsets
    for name in NESTED:
        nested: NestedTextColumn = getattr(graph, name)
        blobs[f"graph/{name}/data"] = nested.strings.data
        blobs[f"graph/{name}/offsets"] = nested.strings.offsets
        blobs[f"graph/{name}/rows"] = nested.rows
    for name in ARRAYS:
        blobs[f"graph/{name}"] = getattr(graph, name)
    for name in NAMES:
        blobs[f"graph/names/{name}"] = getattr(graph.names, name)
    blobs["graph/by_tail"] = graph.by_tail
    return blobs


def graph_info(graph: KnowledgeGraph) -> dict[str, Any]:
    """Return the ``graph`` entry of the manifest."""
    return {
        "source": graph.source,
        "skipped": graph.skipped,
        "fingerprint": graph.fingerprint,
        "prefixes": dict(graph.prefixes),
        "hierarchy_relations": list(graph.upward),
        "entities": graph.n_entities,
        "relations": graph.n_relations,
        "triples": graph.n_triples,
    }


def read_graph(
    blobs: BlobReader, info: dict[str, Any], mappings: Sequence[Mapping[str, Any]] = ()
) -> KnowledgeGraph:
    """Return the graph of an index; its arrays are views of the store.

    Args:
        blobs: The store.
        info: The ``graph`` entry of the manifest, see :func:`graph_info`.
        mappings: Mappings of the tables that the graph was read from.
    """

    def column(name: str) -> TextColumn:
        return TextColumn(blobs.get(f"graph/{name}/data"), blobs.get(f"graph/{name}/offsets"))

    columns: dict[str, Any] = {name: column(name) for name in TEXTS}
    columns |= {name: blobs.get(f"graph/{name}") for name in ARRAYS}
    columns |= {
        name: NestedTextColumn(column(name), blobs.get(f"graph/{name}/rows")) for name in NESTED
    }
    graph = KnowledgeGraph(
        **columns,
        prefixes=MappingProxyType(info["prefixes"]),
        upward=tuple(info["hierarchy_relations"]),
        source=info["source"],
        skipped=info["skipped"],
        mappings=tuple(mappings),
    )
    names = NameIndex(*(blobs.get(f"graph/names/{name}") for name in NAMES))
    return graph.with_stored(names, np.asarray(blobs.get("graph/by_tail")))


def sentence_blobs(sentences: EntitySentences, space: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of the sentences or phrases of a space, by blob name."""
    column = TextColumn.of(sentences.texts)
    return {
        f"{space}/texts/data": column.data,
        f"{space}/texts/offsets": column.offsets,
        f"{space}/owners": sentences.owners,
    }


def read_sentences(blobs: BlobReader, space: str) -> EntitySentences:
    """Return the sentences or phrases of a space; the arrays are views of the store."""
    column = TextColumn(blobs.get(f"{space}/texts/data"), blobs.get(f"{space}/texts/offsets"))
    return EntitySentences(column, blobs.get(f"{space}/owners"))
