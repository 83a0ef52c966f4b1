"""Resolution of names: from a user's text to an entity, a relation, or free text."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set, Sized
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.results.hits import Resolution
from ontodex.engine.spelling import similar_names
from ontodex.errors import SettingsError, UnknownEntity, UnknownRelation, nearest
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph
from ontodex.graph.hierarchy_names import DOWNWARD, PARENT, UPWARD, spelt
from ontodex.graph.identifiers import reference
from ontodex.graph.names import NameKind
from ontodex.graph.prefixes import OBO, looks_like_identifier
from ontodex.graph.text import in_words, inverse_text
from ontodex.scoring.name_similarity import NameSimilarity, plain

__all__ = [
    "ResolvedTerm",
    "expect_pairs",
    "expect_words",
    "for_hints",
    "list_of",
    "of_individual",
    "relation_text",
    "resolve_entities",
    "resolve_entity",
    "resolve_relation",
    "vectors_of",
]


T = TypeVar("T")


@dataclass(frozen=True)
class ResolvedTerm:
    """A name after resolution to an entity, a relation or free text.

    Attributes:
        row: Row of the entity, or number of the relation; ``None`` for free text.
        resolution: How the name was resolved, for answers.
    """

    row: int | None
    resolution: Resolution

    @property
    def inverted(self) -> bool:
        """Whether the inverse of a relation is meant."""
        return self.resolution.inverted

    @property
    def unless_named(self) -> ResolvedTerm:
        """The term itself if it was resolved by an id; otherwise its text as free text."""
        by_id = self.resolution.kind in map(str, (NameKind.ID, NameKind.ALTERNATIVE_ID))
        return self if by_id else ResolvedTerm(None, self.resolution)

    @property
    def words(self) -> str:
        """The text for an encoder, with camel case split into words as in entity texts."""
        return in_words(self.resolution.text)


ID_STARTS = (("", ":"), ("", "_"), (OBO.casefold(), "_"))
"""Lower-case text before and after a prefix, in each form of an id that uses the prefix."""

HINTS = 100
"""Maximal number of texts in a batch whose free texts get hints of similarly spelt names."""

COMPARED, MIN_RATIO = 10, 0.8
"""Number of entities whose names are compared with free text, and the minimal ratio (difflib)."""

Fits = Callable[[int], bool]
"""Function from the row of an entity to whether it fits the question, for ambiguous names."""


def resolve_entity(
    graph: KnowledgeGraph,
    text: str,
    *,
    any_text: bool = False,
    fits: Fits | None = None,
    names: NameSimilarity | None = None,
) -> ResolvedTerm:
    """Resolve a CURIE, an IRI, a label, a synonym or free text to an entity.

    Args:
        graph: The graph.
        text: The user's text.
        any_text: Treat unknown identifiers as free text, instead of raising an error.
        fits: Function from the row of an entity to whether it fits the question. Among several
            entities with the name, fitting entities are preferred. Of these (or of all, if none
            fits), the entity in most triples is taken.
        names: Finds names of similar spelling, for the hint of free text.

    Raises:
        UnknownEntity: If the text is an IRI, or a CURIE with a prefix of the graph, but not the id
            of an entity.
        SettingsError: If the text is empty.
    """
    expect_words(text, "entity")
    found = graph.find_all(text)
    if found is not None:
        rows, kind = found
        fitting = list(filter(fits, rows)) if fits is not None and len(rows) > 1 else []
        row = graph.by_links(fitting or rows)[0]
        hint = f", one of {len(rows)}: give its id to mean another" if len(rows) > 1 else ""
        return ResolvedTerm(
            row, Resolution(text, str(kind), graph.ids[row], graph.labels[row], hint)
        )
    if not any_text and _is_identifier(text, graph.prefixes, graph.ids):
        similar = (known for known in graph.ids if abs(len(known) - len(text)) <= 2)
        raise UnknownEntity(
            f"{graph.source}: no entity {text!r}{nearest(text, similar)}; "
            "give a CURIE, an IRI, a label, or words"
        )
    hint = "" if names is None else _similar_name(graph, names, text)
    return ResolvedTerm(None, Resolution(text, "free text", None, text, hint))


def resolve_entities(
    graph: KnowledgeGraph,
    texts: Iterable[str],
    *,
    any_text: bool = False,
    fits: Fits | None = None,
    names: NameSimilarity | None = None,
) -> list[ResolvedTerm]:
    """Resolve many texts; see :func:`resolve_entity`.

    Raises:
        SettingsError: If ``texts`` is a single text instead of a list.
    """
    texts = list_of(texts, "texts")
    names = for_hints(names, len(texts))
    return [
        resolve_entity(graph, text, any_text=any_text, fits=fits, names=names) for text in texts
    ]


def for_hints(names: NameSimilarity | None, texts: int) -> NameSimilarity | None:
    """Return ``names``, or ``None`` for a batch of more than :data:`HINTS` texts."""
    return names if texts <= HINTS else None


def resolve_relation(graph: KnowledgeGraph, text: str) -> ResolvedTerm:
    """Resolve an identifier or label of a relation, optionally after "inverse ", or free text.

    If exactly one relation of the graph leads from child to parent, usual names of such a relation
    (such as ``broader``) also resolve to it. Usual names of the opposite direction (such as
    ``narrower``) then resolve to its inverse.

    Raises:
        UnknownRelation: If the text is an IRI, or a CURIE with a prefix of relations, but not the
            id of a relation.
        SettingsError: If the text is empty.
    """
    expect_words(text, "relation")
    found = graph.find_relation(text)
    if found is not None:
        number, kind = found
        label = graph.relation_labels[number]
        identifier = graph.relation_ids[number]
        return ResolvedTerm(number, Resolution(text, str(kind), identifier, label))
    prefix = inverse_text("")
    if (
        text[: len(prefix)].casefold() == prefix
        and (found := graph.find_relation(text[len(prefix) :])) is not None
    ):
        number, kind = found
        label = inverse_text(graph.relation_labels[number])
        return ResolvedTerm(
            number, Resolution(text, str(kind), graph.relation_ids[number], label, inverted=True)
        )
    if (usual := _of_hierarchy(graph, text)) is not None:
        return usual
    if _is_identifier(text, graph.prefixes, graph.relation_ids):
        raise UnknownRelation(
            f"{graph.source}: no relation {text!r}{nearest(text, graph.relation_ids)}; "
            "give its identifier, its label, or words for a relation that the graph does not have"
        )
    return ResolvedTerm(
        None, Resolution(text, "free text", None, text, nearest(text, graph.relation_labels, n=1))
    )


def of_individual(
    graph: KnowledgeGraph, entity: ResolvedTerm, relation: ResolvedTerm
) -> ResolvedTerm:
    """Return the relation to its class where an individual is asked for its parents by name.

    For example, *is a* means ``rdf:type`` of an individual. An id means its own relation.

    Args:
        graph: The graph.
        entity: The entity of the question.
        relation: The relation from it, as :func:`resolve_relation` found it.
    """
    how = relation.resolution
    is_usual_name = relation.row in graph.hierarchy_relations and how.kind != str(NameKind.ID)
    if not is_usual_name or how.inverted or entity.row is None:
        return relation
    if not graph.is_individual(entity.row):
        return relation
    own = graph.outgoing(entity.row)[0]
    number = int(np.intersect1d(own, graph.instance_relations)[0])
    name, label = graph.relation_ids[number], graph.relation_labels[number]
    return ResolvedTerm(number, Resolution(how.text, "synonym", name, label))


def relation_text(texts: Sequence[str], relation: ResolvedTerm, backward: bool = False) -> str:
    """Return the text of a relation, or of its inverse, for an encoder.

    Args:
        texts: Texts of the graph's relations, followed by the texts of their inverses.
        relation: The relation, or a free text.
        backward: Whether the inverse is meant.
    """
    if relation.row is not None:
        return texts[relation.row + len(texts) // 2 * backward]
    return inverse_text(relation.words) if backward else relation.words


def vectors_of(
    stored: Vectors,
    entities: Sequence[ResolvedTerm],
    encode: Callable[[list[str]], NDArray[np.float32]],
) -> NDArray[np.float32]:
    """Return a vector for each term: the stored vector of an entity, or an encoded free text.

    Args:
        stored: The vectors of a space.
        entities: Entities and texts.
        encode: Returns the vectors of texts.

    Returns:
        ``float32`` of shape (entities, dim).
    """
    vectors = np.empty((len(entities), stored.dim), dtype=np.float32)
    known = [position for position, entity in enumerate(entities) if entity.row is not None]
    unseen = [position for position, entity in enumerate(entities) if entity.row is None]
    if known:
        rows = np.array([entities[position].row for position in known], dtype=np.int64)
        vectors[known] = stored[rows]
    if unseen:
        vectors[unseen] = encode([entities[position].words for position in unseen])
    return vectors


def _similar_name(graph: KnowledgeGraph, names: NameSimilarity, text: str) -> str:
    """Return a hint with the name whose spelling is nearest to free text, or an empty string."""
    known: dict[str, str] = {}
    for name in similar_names(graph, names, text, COMPARED):
        known.setdefault(plain(name), name)
    match = difflib.get_close_matches(plain(text), known, n=1, cutoff=MIN_RATIO)
    return f"; did you mean {known[match[0]]!r}?" if match else ""


def _of_hierarchy(graph: KnowledgeGraph, text: str) -> ResolvedTerm | None:
    """Return the only relation from child to parent, or its inverse, by one of its usual names.

    The result is ``None`` if there are several such relations, or the text is not a usual name.
    """
    names, upward = spelt(text), UPWARD | PARENT
    if len(graph.hierarchy_relations) != 1 or not names & (upward | DOWNWARD):
        return None
    (number,), inverted = graph.hierarchy_relations, not names & upward
    label = graph.relation_labels[number]
    label = inverse_text(label) if inverted else label
    return ResolvedTerm(
        number, Resolution(text, "synonym", graph.relation_ids[number], label, inverted=inverted)
    )


def expect_pairs(questions: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Check that every question is a pair, and return the questions as a list.

    Raises:
        SettingsError: If a question is not a pair.
    """
    pairs = list_of(questions, "pairs of texts")
    for pair in pairs:
        if not isinstance(pair, Sized) or isinstance(pair, str) or len(pair) != 2:
            raise SettingsError(f"questions: expected pairs of texts, found {pair!r}")
    return pairs


def list_of(found: Iterable[T], what: str) -> list[T]:
    """Return an ordered iterable as a list.

    Args:
        found: The iterable.
        what: Name of its items, for the message.

    Raises:
        SettingsError: If ``found`` is a single text, or not an ordered iterable.
    """
    if isinstance(found, str):
        raise SettingsError(
            f"expected a list of {what}, found one text, {found!r}; put it in a list"
        )
    if isinstance(found, bytes | Set | Mapping) or not isinstance(found, Iterable):
        raise SettingsError(f"expected a list of {what}, found {found!r}")
    return list(found)


def _is_identifier(text: str, prefixes: Mapping[str, str], ids: Iterable[str]) -> bool:
    """Return whether a text is an identifier: an IRI, or an id with a prefix of the graph.

    An id with a prefix is a CURIE or a short form (``HP_0001945``). The case of the prefix does not
    matter.
    """
    if "://" in text:
        return looks_like_identifier(text)
    prefix, colon, _ = text.partition(":")
    if not colon:
        short = reference(text)
        prefix = "" if short is None else text[: -len(short.local) - 1]
    elif not looks_like_identifier(text):
        prefix = ""
    if not prefix:
        return False
    folded = prefix.casefold()
    starts = tuple(f"{before}{folded}{after}" for before, after in ID_STARTS)
    return prefix in prefixes or any(known.casefold().startswith(starts) for known in ids)


def expect_words(text: str, role: str) -> None:
    """Reject values that are not text, empty texts, and texts that cannot be encoded in UTF-8.

    Raises:
        SettingsError: If ``text`` is rejected.
    """
    if not isinstance(text, str) or not text.strip():
        raise SettingsError(f"{role}: expected a CURIE, an IRI, a label or words, found {text!r}")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise SettingsError(f"{role}: expected text in UTF-8, found {text!r}")
