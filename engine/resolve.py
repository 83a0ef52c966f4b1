"""From what a user types to an entity, a relation, or free text."""

from __future__ import annotations

from dataclasses import dataclass

from ontodex.engine.hits import Reading
from ontodex.errors import SettingsError, UnknownEntity, UnknownRelation, nearest
from ontodex.graph import KnowledgeGraph
from ontodex.graph.prefixes import looks_like_identifier

__all__ = ["Resolved", "resolve_entity", "resolve_relation"]


@dataclass(frozen=True)
class Resolved:
    """What a name stands for: a row, or ``None`` for free text; and how it was read."""

    row: int | None
    reading: Reading


def resolve_entity(graph: KnowledgeGraph, text: str) -> Resolved:
    """Read a CURIE, an IRI, a label, a synonym or free text.

    Raises:
        UnknownEntity: If it is written like a CURIE or an IRI, and no entity has it.
        SettingsError: If it is empty.
    """
    _expect_words(text, "entity")
    found = graph.find(text)
    if found is not None:
        row, kind = found
        return Resolved(row, Reading(text, kind.name.lower(), graph.ids[row], graph.labels[row]))
    if looks_like_identifier(text):
        raise UnknownEntity(
            f"{graph.source}: no entity {text!r}{nearest(text, graph.ids)}; give a CURIE, an IRI, a label, or words"
        )
    return Resolved(None, Reading(text, "free text", None, text))


def resolve_relation(graph: KnowledgeGraph, text: str) -> Resolved:
    """Read the identifier or label of a relation, or the text of one that the graph does not have.

    Raises:
        UnknownRelation: If it is written like a CURIE or an IRI, and no relation has it.
        SettingsError: If it is empty.
    """
    _expect_words(text, "relation")
    number = graph.find_relation(text)
    if number is not None:
        label = graph.relation_labels[number]
        identifier = graph.relation_ids[number]
        kind = "label" if text.casefold() == label.casefold() else "id"
        return Resolved(number, Reading(text, kind, identifier, label))
    if looks_like_identifier(text):
        raise UnknownRelation(f"{graph.source}: no relation {text!r}{nearest(text, graph.relation_ids)}")
    return Resolved(None, Reading(text, "free text", None, text))


def _expect_words(text: str, role: str) -> None:
    if not isinstance(text, str) or not text.strip():
        raise SettingsError(f"{role}: expected a CURIE, an IRI, a label or words, found {text!r}")
