"""What is alike: search for words, and what is similar to an entity or a text."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ontodex.engine.answers import Rows, answered, checked, hits_of, no_rows, own_row
from ontodex.engine.hits import Hits
from ontodex.engine.projector import vectors_of
from ontodex.engine.raised import no_bonus
from ontodex.engine.resolve import Resolved, resolve_entities
from ontodex.graph import KnowledgeGraph

if TYPE_CHECKING:
    from ontodex.engine.engine import Engine

__all__ = ["alike"]

METHOD = "text similarity (cosine)"
WITH_NAMES = "text similarity (cosine) and likeness of names (trigrams), weighed two to one"

NAMES = 0.5
"""How much the likeness of names counts beside the cosine of texts."""


def alike(engine: Engine, question: str, texts: Sequence[str], k: int) -> list[Hits]:
    """Rank all entities by the cosine of their text.

    A ``"search"`` is for the words: entities of that name come first, and those of like names the earlier; what is
    ``"similar"`` to an entity is asked of the entity itself, definition and all, and without it.
    """
    k = checked(k)
    start = time.perf_counter()
    index, graph = engine.index, engine.graph
    searched = question == "search"
    read = resolve_entities(graph, texts, any_text=searched, names=None if searched else index.name_likeness)
    by_words = [searched and one.reading.kind not in ("id", "former id") for one in read]
    asked = [Resolved(None, one.reading) if words else one for one, words in zip(read, by_words, strict=True)]
    vectors = vectors_of(index.vectors("text"), asked, lambda texts: np.asarray(index.text_encoder.encode(texts)))
    named = [_bearers(graph, one) if searched else own_row(one) for one in read]
    names = index.name_likeness if searched else None
    spelt = [one.reading.text if words else one.reading.label for one, words in zip(read, by_words, strict=True)]
    likest = [no_bonus() if names is None else names.find(name) for name in spelt]
    bonuses = [(rows, NAMES * likeness) for rows, likeness in likest]
    method, most = (METHOD, 1.0) if names is None else (WITH_NAMES, 1 + NAMES)
    found = engine.searcher("text").top(vectors, k, named, bonuses)
    answers = []
    for one, own, (rows, scores) in zip(read, named, found, strict=True):
        scores = scores / most
        if searched:
            rows, scores = np.concatenate([own, rows])[:k], np.concatenate([np.ones(len(own)), scores])[:k]
        answers.append((hits_of(graph, (rows, scores), no_rows()), {"text": one.reading}, method))
    return answered(graph, question, answers, start)


def _bearers(graph: KnowledgeGraph, one: Resolved) -> Rows:
    """Return the entities that bear the name that one was found by, those in most triples first."""
    bearers, _ = graph.find_all(one.reading.text) or ([], None)
    return np.array(graph.by_links(bearers), dtype=np.int64)
