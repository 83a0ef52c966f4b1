"""Writing the store of a generation: the graph, what projects relations, and the vectors of all spaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ontodex.geometry.projection import Projections
from ontodex.graph import EntitySentences, KnowledgeGraph
from ontodex.indexers.embed import Embeddings, text_keys
from ontodex.scoring.graph_features import GraphFeatures
from ontodex.scoring.name_similarity import NameSimilarity
from ontodex.storage.blobs import BlobInfo, BlobWriter
from ontodex.storage.graph_blobs import graph_blobs, sentence_blobs
from ontodex.storage.manifest import SpaceInfo
from ontodex.storage.vectors import write_vectors

__all__ = ["write_store"]


def write_store(
    file: Path,
    graph: KnowledgeGraph,
    names: Mapping[str, Sequence[str]],
    vectors: Mapping[str, Embeddings],
    geometries: Mapping[str, str],
    prefixes: Mapping[str, str],
    projections: Projections | None,
    structure: GraphFeatures | None,
    said: Mapping[str, EntitySentences],
) -> tuple[dict[str, SpaceInfo], dict[str, BlobInfo]]:
    """Write a new store.

    Args:
        file: The file to make.
        graph: What is known.
        names: Text of every entity, by space, where it was encoded.
        vectors: Vectors of every entity, by space; the same array in two spaces is stored once.
        geometries: Geometry of each space.
        prefixes: Spaces whose vectors are the first numbers of those of another space, and which.
        projections: Those of all relations and their inverses, of a tri-encoder.
        structure: Structural vectors, whose relations and weights are stored.
        said: What the vectors are of, of spaces of sentences or phrases.

    Raises:
        EncoderError: If a vector is none of its space's geometry.

    Returns:
        What the manifest says of the spaces, and of the blobs.
    """
    arrays: dict[str, NDArray[Any]] = graph_blobs(graph) | NameSimilarity.of(graph).arrays()
    for space, texts in names.items():
        arrays[f"{space}/keys"] = text_keys(texts)
    if projections is not None:
        arrays.update({f"link/{name}": part for name, part in projections.parts().items()})
    if structure is not None:
        arrays.update(structure.arrays())
    for space, entity_sentences in said.items():
        arrays.update(sentence_blobs(entity_sentences, space))
    homes = {
        space: next(other for other in vectors if vectors[other] is array)
        for space, array in vectors.items()
    }
    homes.update(prefixes)
    first = {home: space for space, home in prefixes.items()}
    stored = {home: vectors[home] for home in homes.values()}
    size = sum(array.nbytes for array in (*arrays.values(), *stored.values()))
    file.unlink(missing_ok=True)
    writer = BlobWriter(file, size)
    try:
        for name, array in arrays.items():
            writer.put(name, array)
        shards = {
            home: write_vectors(writer, home, array, geometries[home], names[first.get(home, home)])
            for home, array in stored.items()
        }
    finally:
        writer.close()
    spaces = {
        space: SpaceInfo(
            geometries[space], array.shape[1], len(array), shards[homes[space]], homes[space]
        )
        for space, array in vectors.items()
    }
    return spaces, writer.infos
