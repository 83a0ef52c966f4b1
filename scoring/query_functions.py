"""How an encoder of link prediction asks: from entities and relations of a graph to queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.bi_encoder import BiEncoder
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph, relation_texts
from ontodex.graph.text import in_words

if TYPE_CHECKING:
    from ontodex.encoders.link_encoder import LinkEncoder

__all__ = ["QueryFunction", "query_function", "query_function_as_new"]

QueryFunction = Callable[[NDArray[np.integer], NDArray[np.integer]], NDArray[np.float32]]
"""From rows of entities and numbers of relations, those from R on inverses, to queries of the link space."""


def query_function(
    encoder: LinkEncoder, vectors: Vectors, texts: Sequence[str], relations: Sequence[str]
) -> QueryFunction:
    """Return how an encoder asks without an index.

    Args:
        encoder: The encoder.
        vectors: Its entity vectors.
        texts: What it reads of each entity.
        relations: Texts of the relations, inverses included.
    """
    if isinstance(encoder, BiEncoder):

        def queries(rows: NDArray[np.integer], numbers: NDArray[np.integer]) -> NDArray[np.float32]:
            pairs = zip(rows.tolist(), numbers.tolist(), strict=True)
            return np.asarray(
                encoder.queries([(texts[row], relations[number]) for row, number in pairs])
            )

        return queries
    projections = encoder.projections(relations)
    return lambda rows, numbers: projections.queries(vectors[rows], numbers)


def query_function_as_new(
    encoder: LinkEncoder, graph: KnowledgeGraph, rows: NDArray[np.integer]
) -> tuple[Vectors, QueryFunction]:
    """Read entities of a graph as if they were new, by their labels; return their vectors, and how it asks of them."""
    words = [in_words(graph.labels[row]) for row in rows.tolist()]
    made = Vectors([encoder.entities(encoder.text.encode(words))])
    return made, query_function(encoder, made, words, relation_texts(graph))
