"""Search for phrases: of every entity the part of its texts that is most alike to what is asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from ontodex.engine.answers import answered, checked
from ontodex.engine.owned import best_of_each, fetched
from ontodex.engine.resolve import resolve_entities
from ontodex.engine.results.hits import Hit, Hits, Reading
from ontodex.engine.search.topk import Searcher
from ontodex.errors import IndexMismatch
from ontodex.graph.text import in_words
from ontodex.indexers.index import Index
from ontodex.indexers.storage.space_names import SPAN

__all__ = ["by_phrase"]

METHOD = "similarity of the phrase (cosine)"


def by_phrase(index: Index, searcher: Callable[[str], Searcher], texts: Sequence[str], k: int) -> list[Hits]:
    """Rank all entities by the phrase of their label or definition that is most alike to each text, of an id to its label.

    Raises:
        IndexMismatch: If the index was built without phrases.
    """
    k = checked(k)
    start = time.perf_counter()
    if SPAN not in index.manifest.spaces:
        raise IndexMismatch(
            f"{index.path}: the index has no phrases; build it with a Self-StrAE encoder (ontodex train self-strae) and "
            "--spans"
        )
    said, graph = index.said(SPAN), index.graph
    read = resolve_entities(graph, texts, any_text=True)
    asked = [one.unless_named for one in read]
    words = [one.words if one.row is None else in_words(graph.labels[one.row]) for one in asked]
    vectors = np.asarray(index.text_encoder.encode(words))
    answers = []
    for one, (rows, scores) in zip(asked, fetched(searcher(SPAN), vectors, said.owners, k, fetch=4 * k), strict=True):
        best = best_of_each(rows, said.owners, k)
        rows, scores = rows[best], scores[best]
        owners = said.owners[rows].tolist()
        hits = tuple(
            Hit(graph.ids[owner], graph.labels[owner], score, False, None, said.texts[row])
            for row, owner, score in zip(rows.tolist(), owners, scores.tolist(), strict=True)
        )
        text = one.reading.text
        reading = Reading(text, "free text", None, text) if one.row is None else one.reading
        answers.append((hits, {"text": reading}, METHOD))
    return answered(graph, "search", answers, start)
