"""Sentences of the labels and definitions of a graph, and names of its entities."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.text import in_words

__all__ = ["EntitySentences", "entity_names", "entity_sentences", "label_parts", "sentences"]

LANGUAGE = "en"
"""Language whose abbreviations the splitter knows; similar languages are split as well."""

JOINED = re.compile(r"\s*(?:[&/()]|,? and )\s*", re.IGNORECASE)
LISTED = re.compile(r"\s*(?:[&/();,]| and )\s*", re.IGNORECASE)
"""Separators of the parts of a label; commas separate parts only where others do, too."""
LETTERS = 3
"""Smallest number of letters in a part of a label."""


@dataclass(frozen=True, eq=False)
class EntitySentences:
    """Sentences, phrases or names, and the entity of each.

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


def entity_names(graph: KnowledgeGraph) -> EntitySentences:
    """Return the label, the synonyms, and the parts of the label of every entity, in this order.

    A label in camel case is split into words.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("shop")
        >>> _ = builder.entity("ex:1", "Lamps & Lanterns", ["lights"])
        >>> entity_names(builder.build()).texts
        ['Lamps & Lanterns', 'lights', 'Lamps', 'Lanterns']
    """
    texts: list[str] = []
    owners: list[int] = []
    for row, (label, synonyms) in enumerate(zip(graph.labels, graph.synonyms, strict=True)):
        words = in_words(label)
        own = [words, *synonyms, *label_parts(words)]
        texts += own
        owners += [row] * len(own)
    return EntitySentences(texts, np.array(owners, dtype=np.int32))


def label_parts(label: str) -> list[str]:
    """Return what a label joins by "&", "and", a slash or parentheses; none if it joins nothing.

    >>> label_parts("Bread, Rolls and Cakes"), label_parts("Film (medium)")
    (['Bread', 'Rolls', 'Cakes'], ['Film', 'medium'])
    >>> label_parts("Asthma, allergic")
    []
    """
    if not JOINED.search(label):
        return []
    parts = dict.fromkeys(LISTED.split(label))
    return [part for part in parts if sum(map(str.isalpha, part)) >= LETTERS and part != label]
