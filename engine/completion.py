"""Completion of names as they are typed."""

from __future__ import annotations

import time

import numpy as np

from ontodex.engine.answers import checked, milliseconds
from ontodex.engine.resolve import expect_words
from ontodex.engine.results.completions import Completion, Completions
from ontodex.graph import KnowledgeGraph
from ontodex.graph.names import NameKind
from ontodex.scoring.name_completion import NameCompletion

__all__ = ["complete"]


def complete(graph: KnowledgeGraph, names: NameCompletion, prefix: str, k: int) -> Completions:
    """Complete a name; see :meth:`ontodex.Engine.complete`.

    Args:
        graph: The graph.
        names: The sorted words of its names.
        prefix: What was typed.
        k: Number of names.
    """
    k = checked(k)
    expect_words(prefix, "prefix")
    start = time.perf_counter()
    found = []
    for row, number in names.find(prefix, k):
        place = number - int(np.searchsorted(names.owners, row))
        label = graph.labels[row]
        name = graph.synonyms[row][place - 1] if place else label
        kind = NameKind.SYNONYM if place else NameKind.LABEL
        found.append(Completion(name, graph.ids[row], label, str(kind)))
    return Completions(tuple(found), prefix, milliseconds(start, 1))
