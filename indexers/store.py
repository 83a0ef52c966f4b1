"""The files of a generation: the store, the encoders, and the FAISS indexes of large spaces."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import faiss
from numpy.typing import NDArray

from ontodex.geometry.vectors import Vectors
from ontodex.indexers.embed import text_keys
from ontodex.indexers.step import Build
from ontodex.scoring.name_completion import NameCompletion
from ontodex.scoring.name_similarity import NameSimilarity
from ontodex.storage.blobs import BlobWriter
from ontodex.storage.candidates import EXACT_UP_TO, make_candidates, measure_recall
from ontodex.storage.graph_blobs import graph_blobs, sentence_blobs
from ontodex.storage.integrity import STORE
from ontodex.storage.manifest import SpaceInfo
from ontodex.storage.space_names import CONDITION, DEFINITION, GEOMETRIES, NAME
from ontodex.storage.vectors import write_vectors

__all__ = ["write_candidates", "write_store"]


def write_store(build: Build, folder: Path) -> None:
    """Write the graph, the spaces and the blobs into ``store.mdb``, and the encoders' files.

    Args:
        build: The build; the entries of its manifest are set.
        folder: Folder of the generation.

    Raises:
        EncoderError: If a vector is not valid in the geometry of its space.
    """
    arrays = _arrays(build)
    stored_in = _homes(build)
    homes = {home: build.spaces[home] for home in stored_in.values()}
    size = sum(array.nbytes for array in arrays.values())
    size += sum(home.vectors.nbytes for home in homes.values())
    writer = BlobWriter(folder / STORE, size)
    try:
        for name, array in arrays.items():
            writer.put(name, array)
        shards = {
            name: write_vectors(writer, name, home.vectors, GEOMETRIES[name], home.texts)
            for name, home in homes.items()
        }
    finally:
        writer.close()
    build.entries.blobs = writer.infos
    build.entries.spaces = {
        name: SpaceInfo(
            GEOMETRIES[name],
            space.vectors.shape[1],
            len(space.vectors),
            shards[stored_in[name]],
            stored_in[name],
        )
        for name, space in build.spaces.items()
    }
    if build.spaces:
        build.made.save(build.inputs.index, folder)
        build.entries.encoders = build.made.described()


def _arrays(build: Build) -> dict[str, NDArray[Any]]:
    """Return all arrays of the store besides vectors, by blob name."""
    graph = build.inputs.graph
    arrays = graph_blobs(graph) | NameSimilarity.of(graph).arrays()
    arrays |= NameCompletion.of(graph).arrays()
    for name, space in build.spaces.items():
        if space.extends is None:
            arrays[f"{name}/keys"] = text_keys(space.texts)
    arrays.update(build.blobs)
    for name, space in build.spaces.items():
        if space.sentences is not None:
            arrays.update(sentence_blobs(space.sentences, name))
    return arrays


def _homes(build: Build) -> dict[str, str]:
    """Return, for each space, the space that stores its vectors; shared vectors are stored once."""
    spaces = build.spaces
    homes = {
        name: next(other for other in spaces if spaces[other].vectors is space.vectors)
        for name, space in spaces.items()
    }
    homes.update(
        {space.extends: name for name, space in spaces.items() if space.extends is not None}
    )
    return homes


def write_candidates(build: Build, folder: Path) -> None:
    """Write a FAISS index of each large space, ``<space>.faiss``, and measure its recall.

    Args:
        build: The build, whose store is written; the recall is set in the entries of the spaces.
        folder: Folder of the generation.
    """
    recall: dict[str, float] = {}
    for name, info in build.entries.spaces.items():
        if (
            info.rows > EXACT_UP_TO
            and info.stored_in == name
            and info.geometry == "cosine"
            and name not in (CONDITION, NAME, DEFINITION)
        ):
            vectors = Vectors([build.spaces[name].vectors])
            index = make_candidates(vectors)
            faiss.write_index(index, str(folder / f"{name}.faiss"))
            recall[name] = measure_recall(index, vectors)
    build.entries.spaces = {
        name: dataclasses.replace(info, recall=recall.get(info.stored_in))
        for name, info in build.entries.spaces.items()
    }
