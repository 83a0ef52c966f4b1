"""Texts of entities, relations and queries for text encoders."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ontodex.errors import expect_whole, settings_from
from ontodex.graph.builder import readable
from ontodex.graph.knowledge_graph import KnowledgeGraph

__all__ = [
    "DEFAULT_TEXTS",
    "LABEL_ALONE",
    "TextSettings",
    "entity_texts",
    "hierarchy_texts",
    "in_words",
    "inverse_text",
    "question_text",
    "relation_texts",
]


@dataclass(frozen=True)
class TextSettings:
    """Contents of the text of an entity.

    Attributes:
        synonyms: Largest number of synonyms in an entity's text.
        definition: Whether the definition is in an entity's text.
        neighbours: Largest number of linked entities whose labels are in an entity's text, as far
            as ``max_words`` allows.
        max_words: Largest number of words in an entity's text; further words are cut off.

    Raises:
        SettingsError: If a number is negative, or ``max_words`` is 0.
    """

    synonyms: int = 3
    definition: bool = True
    neighbours: int = 0
    max_words: int = 50

    def __post_init__(self) -> None:
        expect_whole(self, synonyms=0, neighbours=0, max_words=1)


DEFAULT_TEXTS = TextSettings()
"""Default contents of a text."""

LABEL_ALONE = TextSettings(synonyms=0, definition=False)
"""Contents of a text for a hierarchy encoder: the label alone, as in the paper of HiT."""


def entity_texts(graph: KnowledgeGraph, settings: TextSettings = DEFAULT_TEXTS) -> list[str]:
    """Return "label (synonym; synonym): definition" of each entity.

    A label in camel case is split into words. If a definition starts with the label, the label is
    removed from the definition. If ``settings.neighbours`` is positive, the labels of entities
    linked by known triples are appended, in the order of their ids. These are the rules of SimKGC
    (Wang et al. 2022).

    Args:
        graph: The graph of the entities.
        settings: Contents of the texts.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("pets")
        >>> _ = builder.entity("ex:dog", "dog", ["hound"], "dog that barks")
        >>> entity_texts(builder.build())
        ['dog (hound): that barks']
    """
    texts = []
    columns = zip(graph.labels, graph.synonyms, graph.definitions, strict=True)
    for row, (label, synonyms, definition) in enumerate(columns):
        words = _text(
            in_words(label),
            synonyms[: settings.synonyms],
            definition if settings.definition else "",
        ).split()
        if settings.neighbours and len(words) < settings.max_words:
            near = sorted(
                (graph.ids[other], graph.labels[other]) for other in graph.neighbours(row).tolist()
            )
            words += [word for _, name in near[: settings.neighbours] for word in name.split()]
        texts.append(" ".join(words[: settings.max_words]))
    return texts


def hierarchy_texts(graph: KnowledgeGraph, trained: Mapping[str, Any], where: str) -> list[str]:
    """Return the text of each entity for a hierarchy encoder.

    Args:
        graph: The graph of the entities.
        trained: Text settings that the encoder was trained with, as fields of
            :class:`TextSettings`; fields that are missing have the values of :data:`LABEL_ALONE`.
        where: Where ``trained`` is stated, for error messages.

    Raises:
        SettingsError: If ``trained`` has an unknown field or value.
    """
    return entity_texts(
        graph, settings_from(TextSettings, {**asdict(LABEL_ALONE), **trained}, where)
    )


def question_text(entity: str, relation: str, *, backward: bool = False) -> str:
    """Return the text of a query for tails, or for heads if ``backward`` is true.

    >>> question_text("Lisbon", "capital of")
    'Lisbon capital of'
    >>> question_text("Portugal", "capital of", backward=True)
    'capital of Portugal'
    """
    return f"{relation} {entity}" if backward else f"{entity} {relation}"


def inverse_text(relation: str) -> str:
    """Return the text of an inverse relation; heads of a relation are tails of its inverse.

    >>> inverse_text("has part")
    'inverse has part'
    """
    return f"inverse {relation}"


def relation_texts(graph: KnowledgeGraph) -> list[str]:
    """Return the labels of all R relations, then the texts of their inverses: 2R texts.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("pets")
        >>> builder.triple("dog", "is_a", "animal")
        >>> relation_texts(builder.build())
        ['is a', 'inverse is a']
    """
    labels = list(graph.relation_labels)
    return labels + [inverse_text(label) for label in labels]


_CAMEL_CASE = re.compile(r"[A-Z]?[a-z]{2,}(?:[A-Z][a-z]+)+")


def in_words(label: str) -> str:
    """Split a label in camel case into words.

    >>> in_words("FoodEstablishment"), in_words("McDonald"), in_words("FBN1")
    ('Food establishment', 'McDonald', 'FBN1')
    """
    return readable(label) if _CAMEL_CASE.fullmatch(label) else label


def _text(label: str, synonyms: Sequence[str], definition: str) -> str:
    if definition.startswith(label) and not definition[len(label) : len(label) + 1].isalnum():
        definition = definition[len(label) :].strip()
    named = f"{label} ({'; '.join(synonyms)})" if synonyms else label
    return f"{named}: {definition}" if definition else named
