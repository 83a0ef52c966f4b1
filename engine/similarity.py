"""Similarity: search by words or by spans of texts, and entities similar to an entity or a text."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, Scored, answered, checked, hits_of, no_rows, own_row
from ontodex.engine.resolve import ResolvedTerm, resolve_entities, vectors_of
from ontodex.engine.resources import Resources
from ontodex.engine.results.hits import Hit, Hits, Resolution
from ontodex.engine.search.topk import Searcher
from ontodex.errors import IndexMismatch
from ontodex.graph import KnowledgeGraph
from ontodex.graph.text import in_words
from ontodex.storage.space_names import SPAN, TEXT

__all__ = ["by_phrase", "fetched", "search", "similar", "top_per_owner"]


def fetched(
    searcher: Searcher,
    queries: NDArray[np.float32],
    owners: NDArray[np.int32],
    k: int,
    *,
    fetch: int,
    left_out: Sequence[Rows] | None = None,
) -> list[Scored]:
    """Return the best items for each query, so many that they belong to k owners, or all.

    Args:
        searcher: Searches the items.
        queries: One vector a row.
        owners: Owner of each item.
        k: How many owners are wanted.
        fetch: So many items are asked for first, and four times as many whenever they have too few owners.
        left_out: Items that may not be found, for each query.
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
    """Return positions in ``rows``, which are in order of score: the first of each of the first k owners."""
    _, first = np.unique(owners[rows], return_index=True)
    return np.sort(first)[:k]


SPAN_METHOD = "similarity of the phrase (cosine)"


def by_phrase(
    resources: Resources, searcher: Callable[[str], Searcher], texts: Sequence[str], k: int
) -> list[Hits]:
    """Rank all entities by the phrase of their label or definition that is most alike to each text, of an id to its label.

    Raises:
        IndexMismatch: If the index was built without phrases.
    """
    k = checked(k)
    start = time.perf_counter()
    index = resources.index
    if SPAN not in index.manifest.spaces:
        raise IndexMismatch(
            f"{index.path}: the index has no phrases; build it with a Self-StrAE encoder (ontodex train self-strae) and "
            "--spans"
        )
    said, graph = index.sentences(SPAN), index.graph
    read = resolve_entities(graph, texts, any_text=True)
    asked = [one.unless_named for one in read]
    words = [one.words if one.row is None else in_words(graph.labels[one.row]) for one in asked]
    vectors = np.asarray(resources.encoders.text.encode(words))
    answers = []
    for one, (rows, scores) in zip(
        asked, fetched(searcher(SPAN), vectors, said.owners, k, fetch=4 * k), strict=True
    ):
        best = top_per_owner(rows, said.owners, k)
        rows, scores = rows[best], scores[best]
        owners = said.owners[rows].tolist()
        hits = tuple(
            Hit(graph.ids[owner], graph.labels[owner], score, False, None, said.texts[row])
            for row, owner, score in zip(rows.tolist(), owners, scores.tolist(), strict=True)
        )
        text = one.resolution.text
        resolution = (
            Resolution(text, "free text", None, text) if one.row is None else one.resolution
        )
        answers.append((hits, {"text": resolution}, SPAN_METHOD))
    return answered(graph, "search", answers, start)


METHOD = "text similarity (cosine)"
WITH_NAMES = "text similarity (cosine) and likeness of names (trigrams), weighed two to one"

NAMES = 0.5
"""How much the likeness of names counts beside the cosine of texts."""


def search(resources: Resources, searcher: Searcher, texts: Sequence[str], k: int) -> list[Hits]:
    """Rank all entities by the cosine of their text and the likeness of their names; those of that very name come first.

    Args:
        resources: Encoders and scorers of an opened index.
        searcher: Searches its texts.
        texts: What is searched for: words, and by ids the text of the entity.
        k: How many.
    """
    k = checked(k)
    start = time.perf_counter()
    index = resources.index
    read = resolve_entities(index.graph, texts, any_text=True)
    asked = [one.unless_named for one in read]
    named = [_bearers(index.graph, one) for one in read]
    similar_names = [
        resources.name_similarity.find(
            one.resolution.text if one.row is None else one.resolution.label
        )
        for one in asked
    ]
    offsets = [(rows, NAMES * similarity) for rows, similarity in similar_names]
    answers = []
    for one, own, (rows, scores) in zip(
        read, named, searcher.top(_vectors(resources, asked), k, named, offsets), strict=True
    ):
        scored = (
            np.concatenate([own, rows])[:k],
            np.concatenate([np.ones(len(own)), scores / (1 + NAMES)])[:k],
        )
        answers.append(
            (hits_of(index.graph, scored, no_rows()), {"text": one.resolution}, WITH_NAMES)
        )
    return answered(index.graph, "search", answers, start)


def similar(resources: Resources, searcher: Searcher, texts: Sequence[str], k: int) -> list[Hits]:
    """Rank all other entities by the cosine of their text, that of an entity with its definition and all."""
    k = checked(k)
    start = time.perf_counter()
    index = resources.index
    read = resolve_entities(index.graph, texts, names=resources.name_similarity)
    found = searcher.top(_vectors(resources, read), k, [own_row(one) for one in read])
    answers = [
        (hits_of(index.graph, scored, no_rows()), {"text": one.resolution}, METHOD)
        for one, scored in zip(read, found, strict=True)
    ]
    return answered(index.graph, "similar", answers, start)


def _vectors(resources: Resources, asked: Sequence[ResolvedTerm]) -> NDArray[np.float32]:
    return vectors_of(
        resources.index.vectors(TEXT),
        asked,
        lambda texts: np.asarray(resources.encoders.text.encode(texts)),
    )


def _bearers(graph: KnowledgeGraph, one: ResolvedTerm) -> Rows:
    """Return the entities that bear the name that one was found by, those in most triples first."""
    bearers, _ = graph.find_all(one.resolution.text) or ([], None)
    return np.array(graph.by_links(bearers), dtype=np.int64)
