"""Export of the vectors of an index and of queries, for other programs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.resolve import resolve_entities, vectors_of
from ontodex.engine.resources import Resources
from ontodex.engine.results.embeddings import Embeddings
from ontodex.geometry import poincare
from ontodex.graph.text import in_words
from ontodex.storage.index import Index
from ontodex.storage.space_names import (
    ENTAILMENT,
    HIERARCHY,
    HYBRID,
    LINK,
    SENTENCE_SPACES,
    SPAN,
    TEXT,
)

__all__ = ["OF_LINKS", "SPACES", "embed", "embeddings"]

SPACES = (TEXT, LINK, HYBRID, HIERARCHY, ENTAILMENT, SPAN)
"""Spaces whose vectors can be exported."""

OF_LINKS = (LINK, HYBRID)
"""Spaces whose queries are (entity, relation) pairs."""

Floats = NDArray[np.float32]


def embeddings(index: Index, space: str) -> Embeddings:
    """Return the vectors of a space; in the hierarchy space, points of the Poincaré ball.

    Raises:
        IndexMismatch: If the index does not have the space.
    """
    stored, graph = index.vectors(space), index.graph
    vectors = np.concatenate(stored.shards).astype(np.float32, copy=False)
    ids, texts = list(graph.ids), list(graph.labels)
    if space in SENTENCE_SPACES:
        sentences = index.sentences(space)
        ids, texts = [ids[owner] for owner in sentences.owners.tolist()], list(sentences.texts)
    curvature = index.curvature if space == HIERARCHY else 0.0
    if space == HIERARCHY:
        vectors = poincare.unlift(vectors, curvature)
    return Embeddings(space, index.manifest.spaces[space].geometry, curvature, ids, texts, vectors)


def embed(resources: Resources, texts: Sequence[str], space: str) -> Floats:
    """Return vectors of entities and texts, in the form of the vectors of :func:`embeddings`.

    In the spaces of sentences and phrases, an entity is encoded by its label.

    Raises:
        IndexMismatch: If the index does not have the space.
        UnknownEntity: If a text is a CURIE or IRI that the graph does not have.
        SettingsError: If a text is empty.
    """
    index = resources.index
    stored, resolved = index.vectors(space), resolve_entities(index.graph, texts)
    if space == HIERARCHY:
        items = vectors_of(
            stored, resolved, lambda words: np.asarray(resources.encoders.hierarchy.items(words))
        )
        return np.asarray(poincare.unlift(items, index.curvature))
    if space in SENTENCE_SPACES:
        encoder = resources.encoders.entailment if space == ENTAILMENT else resources.encoders.text
        return np.asarray(
            encoder.encode([in_words(one.resolution.label) for one in resolved]), dtype=np.float32
        )
    return vectors_of(
        stored, resolved, lambda words: np.asarray(resources.encoders.text.encode(words))
    )
