"""What is alike: search for words, and what is similar to an entity or a text."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ontodex.engine.answers import answered, checked, hits_of, no_rows, own_row
from ontodex.engine.hits import Hits
from ontodex.engine.projector import vectors_of
from ontodex.engine.resolve import Resolved, resolve_entities

if TYPE_CHECKING:
    from ontodex.engine.engine import Engine

__all__ = ["alike"]

METHOD = "text similarity (cosine)"


def alike(engine: Engine, question: str, texts: Sequence[str], k: int) -> list[Hits]:
    """Rank all entities by the cosine of their text.

    A ``"search"`` is for the words, and an entity of that name comes first; what is ``"similar"`` to an entity is asked of
    the entity itself, definition and all, and without it.
    """
    k = checked(k)
    start = time.perf_counter()
    searched = question == "search"
    index, graph = engine.index, engine.graph
    read = resolve_entities(graph, texts, any_text=searched)
    by_words = [searched and one.reading.kind not in ("id", "former id") for one in read]
    asked = [Resolved(None, one.reading) if words else one for one, words in zip(read, by_words, strict=True)]
    vectors = vectors_of(index.vectors("text"), asked, lambda texts: np.asarray(index.text_encoder.encode(texts)))
    found = engine.searcher("text").top(vectors, k, [own_row(one) for one in read])
    answers = []
    for one, (rows, scores) in zip(read, found, strict=True):
        if searched and one.row is not None:
            rows, scores = np.insert(rows, 0, one.row)[:k], np.insert(scores, 0, 1.0)[:k]
        answers.append((hits_of(graph, (rows, scores), no_rows()), {"text": one.reading}, METHOD))
    return answered(graph, question, answers, start)
