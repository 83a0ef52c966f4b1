"""What a graph states in sentences: those of every entity's label and definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.text import in_words

__all__ = ["EntitySentences", "entity_sentences", "sentences"]

LANGUAGE = "en"
"""Whose abbreviations are known; other languages that end their sentences alike are taken apart too."""


@dataclass(frozen=True, eq=False)
class EntitySentences:
    """Sentences, and which entity says each.

    Attributes:
        texts: The sentences, those of an entity one after the other, its label's first.
        owners: Row of the entity of each, ``int32`` of shape (sentences,), ascending.
    """

    texts: Sequence[str]
    owners: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.owners)


def sentences(text: str) -> list[str]:
    """Take a text apart into sentences; one without any end of a sentence is one.

    >>> sentences("A sleep disorder. It was described by Dr. Smith in 1903.")
    ['A sleep disorder.', 'It was described by Dr. Smith in 1903.']
    """
    from sentencex import segment

    found = (" ".join(part.split()) for part in segment(LANGUAGE, text))
    return [part for part in found if part]


def entity_sentences(graph: KnowledgeGraph) -> EntitySentences:
    """Return the sentences of every entity's label (in words, if it is in camel case) and definition, each once.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("pets")
        >>> _ = builder.entity("ex:dog", "dog", [], "An animal that barks. It is loyal.")
        >>> statements(builder.build()).texts
        ['dog', 'An animal that barks.', 'It is loyal.']
    """
    texts: list[str] = []
    owners: list[int] = []
    for row, (label, definition) in enumerate(zip(graph.labels, graph.definitions, strict=True)):
        own = list(dict.fromkeys([*sentences(in_words(label)), *sentences(definition)])) or [label]
        texts.extend(own)
        owners.extend([row] * len(own))
    return EntitySentences(texts, np.array(owners, dtype=np.int32))
