"""What is alike: search for words, and what is similar to an entity or a text."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, answered, checked, hits_of, no_rows, own_row
from ontodex.engine.projector import vectors_of
from ontodex.engine.resolve import Resolved, resolve_entities
from ontodex.engine.results.hits import Hits
from ontodex.engine.search.topk import Searcher
from ontodex.graph import KnowledgeGraph
from ontodex.indexers.index import Index
from ontodex.indexers.storage.space_names import TEXT

__all__ = ["search", "similar"]

METHOD = "text similarity (cosine)"
WITH_NAMES = "text similarity (cosine) and likeness of names (trigrams), weighed two to one"

NAMES = 0.5
"""How much the likeness of names counts beside the cosine of texts."""


def search(index: Index, searcher: Searcher, texts: Sequence[str], k: int) -> list[Hits]:
    """Rank all entities by the cosine of their text and the likeness of their names; those of that very name come first.

    Args:
        index: An opened index.
        searcher: Searches its texts.
        texts: What is searched for: words, and by ids the text of the entity.
        k: How many.
    """
    k = checked(k)
    start = time.perf_counter()
    read = resolve_entities(index.graph, texts, any_text=True)
    asked = [one.unless_named for one in read]
    named = [_bearers(index.graph, one) for one in read]
    names, bonuses, most, method = index.name_likeness, None, 1.0, METHOD
    if names is not None:
        likest = [names.find(one.reading.text if one.row is None else one.reading.label) for one in asked]
        bonuses, most, method = [(rows, NAMES * likeness) for rows, likeness in likest], 1 + NAMES, WITH_NAMES
    answers = []
    for one, own, (rows, scores) in zip(
        read, named, searcher.top(_vectors(index, asked), k, named, bonuses), strict=True
    ):
        scored = np.concatenate([own, rows])[:k], np.concatenate([np.ones(len(own)), scores / most])[:k]
        answers.append((hits_of(index.graph, scored, no_rows()), {"text": one.reading}, method))
    return answered(index.graph, "search", answers, start)


def similar(index: Index, searcher: Searcher, texts: Sequence[str], k: int) -> list[Hits]:
    """Rank all other entities by the cosine of their text, that of an entity with its definition and all."""
    k = checked(k)
    start = time.perf_counter()
    read = resolve_entities(index.graph, texts, names=index.name_likeness)
    found = searcher.top(_vectors(index, read), k, [own_row(one) for one in read])
    answers = [
        (hits_of(index.graph, scored, no_rows()), {"text": one.reading}, METHOD)
        for one, scored in zip(read, found, strict=True)
    ]
    return answered(index.graph, "similar", answers, start)


def _vectors(index: Index, asked: Sequence[Resolved]) -> NDArray[np.float32]:
    return vectors_of(index.vectors(TEXT), asked, lambda texts: np.asarray(index.text_encoder.encode(texts)))


def _bearers(graph: KnowledgeGraph, one: Resolved) -> Rows:
    """Return the entities that bear the name that one was found by, those in most triples first."""
    bearers, _ = graph.find_all(one.reading.text) or ([], None)
    return np.array(graph.by_links(bearers), dtype=np.int64)
