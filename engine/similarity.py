"""Similarity: search by phrases, and entities similar to an entity or a text."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import (
    Answer,
    Rows,
    Scored,
    answered,
    checked,
    hits_of,
    no_rows,
    own_row,
)
from ontodex.engine.entity_types import EntityType
from ontodex.engine.resolve import ResolvedTerm, resolve_entities, vectors_of
from ontodex.engine.resources import Resources
from ontodex.engine.results.hits import Hit, Hits, Resolution
from ontodex.engine.search.topk import Searcher
from ontodex.errors import IndexMismatch
from ontodex.graph.text import in_words
from ontodex.storage.space_names import SPAN, TEXT

__all__ = ["by_phrase", "fetched", "similar", "text_vectors", "top_per_owner"]


def fetched(
    searcher: Searcher,
    queries: NDArray[np.float32],
    owners: NDArray[np.int32],
    k: int,
    *,
    fetch: int,
    left_out: Sequence[Rows] | None = None,
) -> list[Scored]:
    """Return the best items of each query, enough of them to have ``k`` distinct owners.

    If all items together have fewer owners, all items are returned.

    Args:
        searcher: Search of the items.
        queries: Query vectors, of shape (queries, dim).
        owners: Owner of each item, such as the entity of a sentence.
        k: Number of owners.
        fetch: Number of items of the first search. While the items of a query have too few owners,
            the search is repeated with four times as many items.
        left_out: Items to exclude, for each query.
    """
    found: list[Scored] = [(no_rows(), np.zeros(0))] * len(queries)
    open_ones = np.arange(len(queries))
    while len(open_ones):
        refused = None if left_out is None else [left_out[query] for query in open_ones.tolist()]
        for query, answer in zip(
            open_ones.tolist(), searcher.top(queries[open_ones], fetch, refused), strict=True
        ):
            found[query] = answer
        short = [len(np.unique(owners[found[query][0]])) < k for query in open_ones.tolist()]
        open_ones = open_ones[np.array(short, dtype=bool)] if fetch < len(owners) else open_ones[:0]
        fetch *= 4
    return found


def top_per_owner(rows: Rows, owners: NDArray[np.int32], k: int) -> Rows:
    """Return the position of the best item of each of the best k owners.

    Args:
        rows: Items, the best first.
        owners: Owner of each item.
        k: Number of owners.

    Returns:
        Positions in ``rows``, ascending.
    """
    _, first = np.unique(owners[rows], return_index=True)
    return np.sort(first)[:k]


SPAN_METHOD = "phrase similarity (cosine)"


def by_phrase(
    resources: Resources,
    searcher: Callable[[str], Searcher],
    texts: Sequence[str],
    k: int,
    only: EntityType | None = None,
) -> list[Hits]:
    """Rank all entities by the phrase of their label or definition that is most similar to a text.

    If a text is an id, the label of its entity is compared.

    Args:
        resources: Encoders of an opened index.
        searcher: Returns the searcher of a space, given its name.
        texts: The texts.
        k: Number of entities.
        only: The type of the entities that are ranked; ``None`` for all.

    Raises:
        IndexMismatch: If the index was built without phrases.
    """
    k = checked(k)
    start = time.perf_counter()
    index = resources.index
    if SPAN not in index.manifest.spaces:
        index.expect_built(SPAN)
        raise IndexMismatch(
            f"{index.path}: the index has no phrases; build it with a Self-StrAE encoder "
            "(ontodex train self-strae) and --spans"
        )
    phrases, graph = index.sentences(SPAN), index.graph
    resolved = resolve_entities(graph, texts, any_text=True)
    terms = [one.unless_named for one in resolved]
    words = [one.words if one.row is None else in_words(graph.labels[one.row]) for one in terms]
    vectors = np.asarray(resources.encoders.text.encode(words))
    if only is None:
        found = fetched(searcher(SPAN), vectors, phrases.owners, k, fetch=4 * k)
    else:
        own = np.flatnonzero(np.isin(phrases.owners, only.rows))
        found = [searcher(SPAN).among(vector, own, len(own)) for vector in vectors]
    answers = []
    for one, (rows, scores) in zip(terms, found, strict=True):
        best = top_per_owner(rows, phrases.owners, k)
        rows, scores = rows[best], scores[best]
        owners = phrases.owners[rows].tolist()
        hits = tuple(
            Hit(graph.ids[owner], graph.labels[owner], score, False, None, phrases.texts[row])
            for row, owner, score in zip(rows.tolist(), owners, scores.tolist(), strict=True)
        )
        text = one.resolution.text
        resolution = (
            Resolution(text, "free text", None, text) if one.row is None else one.resolution
        )
        resolutions = {"text": resolution}
        if only is not None:
            resolutions["type"] = only.resolution
        answers.append(Answer(hits, resolutions, SPAN_METHOD))
    return answered(graph, "search", answers, start)


METHOD = "text similarity (cosine)"


def similar(resources: Resources, searcher: Searcher, texts: Sequence[str], k: int) -> list[Hits]:
    """Rank all other entities by text similarity; the text of an entity includes its definition."""
    k = checked(k)
    start = time.perf_counter()
    index = resources.index
    resolved = resolve_entities(index.graph, texts, names=resources.name_similarity)
    found = searcher.top(text_vectors(resources, resolved), k, [own_row(one) for one in resolved])
    answers = [
        Answer(hits_of(index.graph, scored, no_rows()), {"text": one.resolution}, METHOD)
        for one, scored in zip(resolved, found, strict=True)
    ]
    return answered(index.graph, "similar", answers, start)


def text_vectors(resources: Resources, terms: Sequence[ResolvedTerm]) -> NDArray[np.float32]:
    """Return the text vectors of entities and texts, ``float32`` of shape (terms, dim)."""
    return vectors_of(
        resources.index.vectors(TEXT),
        terms,
        lambda texts: np.asarray(resources.encoders.text.encode(texts)),
    )
