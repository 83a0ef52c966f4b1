"""Sentences of the labels and definitions of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.text import in_words

__all__ = ["EntitySentences", "entity_sentences", "sentences"]

LANGUAGE = "en"
"""Language whose abbreviations the splitter knows; similar languages are split as well."""


@dataclass(frozen=True, eq=False)
class EntitySentences:
    """Sentences, and the entity of each sentence.

    Attributes:
        texts: The sentences, grouped by entity; for each entity, the label comes first.
        owners: Row of the entity of each sentence, ``int32`` of shape (sentences,), ascending.
    """

    texts: Sequence[str]
    owners: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.owners)


def sentences(text: str) -> list[str]:
    """Split a text into sentences; a text without the end of a sentence is one sentence.

    >>> sentences("A sleep disorder. It was described by Dr. Smith in 1903.")
    ['A sleep disorder.', 'It was described by Dr. Smith in 1903.']
    """
    from sentencex import segment

    found = (" ".join(part.split()) for part in segment(LANGUAGE, text))
    return [part for part in found if part]


def entity_sentences(graph: KnowledgeGraph) -> EntitySentences:
    """Return the distinct sentences of the label and definition of every entity.

    A label in camel case is split into words.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("pets")
        >>> _ = builder.entity("ex:dog", "dog", [], "An animal that barks. It is loyal.")
        >>> entity_sentences(builder.build()).texts
        ['dog', 'An animal that barks.', 'It is loyal.']
    """
    texts: list[str] = []
    owners: list[int] = []
    for row, (label, definition) in enumerate(zip(graph.labels, graph.definitions, strict=True)):
        own = list(dict.fromkeys([*sentences(in_words(label)), *sentences(definition)])) or [label]
        texts.extend(own)
        owners.extend([row] * len(own))
    return EntitySentences(texts, np.array(owners, dtype=np.int32))
