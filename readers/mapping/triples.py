"""Finding the columns of heads, relations and tails by the names in a header."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from ontodex.readers.mapping.headers import NAMES, EntityHeader, entity_header, negation_in, spelt
from ontodex.readers.tables.mapping import TableMapping, column_names

__all__ = [
    "ends_of",
    "link_columns",
    "names_ends",
    "no_relation",
    "of_triples",
    "own_columns",
    "triples_mapping",
]

STEMS = tuple(zip(NAMES["head"], NAMES["tail"], strict=True))

ENDS = (
    *STEMS,
    *((f"{head} id", f"{tail} id") for head, tail in (*STEMS, (":start", ":end"))),
    *((f"{head} ref", f"{tail} ref") for head, tail in STEMS),
    *((f"{head} {kind}", f"{tail} {kind}") for kind in ("label", "name") for head, tail in STEMS),
    *((f"x {name}", f"y {name}") for name in ("index", "id", "name")),
)
"""Pairs of names for the columns of heads and tails."""

RELATION = NAMES["relation"]

BETWEEN = ("relation", "relationship", "predicate")
"""Names of a relation column between two columns of any names: those of heads and of tails."""

RELATION_OF = {
    "node1": ("label",),
    "subject": ("predicate",),
    "subject id": ("predicate id", "predicate"),
}
"""Preferred names of the relation column, by name of the head column (KGTK, RDF)."""

TAILS = tuple(
    f"{tail}{kind}"
    for tail in ("target", "object", "tail", "to")
    for kind in ("", " id", " ref", " label")
)
"""Names of a tail in an object that is nested in its head."""


def triples_mapping(names: Sequence[str]) -> TableMapping | None:
    """Return the mapping of a header of triples, or ``None`` for other headers.

    A header with an id and a label has triples only if its head and tail columns are a known pair,
    such as ``subject`` and ``object``. ``start`` and ``end`` do not count, as they may be
    properties of an entity. In a header of only an id, a relation and a tail, the id is the head.
    In one of three columns, of which the second is ``relation`` and no other is known, heads come
    first and tails last.

    >>> found = triples_mapping(["id", "subject", "predicate", "object"])
    >>> found.head, found.relation, found.tail
    ('subject', 'predicate', 'object')
    >>> triples_mapping(["ex:dog", "is_a", "ex:animal"])
    >>> triples_mapping(["id", "relation", "target_label"]).head
    'id'
    >>> triples_mapping(["animal", "relation", "thing"]).tail
    'thing'
    >>> triples_mapping(["id", "name", "relation", "target_label"])
    """
    return _triples_mapping(tuple(map(str, names)))


@lru_cache(maxsize=1 << 12)
def _triples_mapping(names: tuple[str, ...]) -> TableMapping | None:
    places = _places(names)
    entities = entity_header(names)
    said = entities.mapping if entities else TableMapping()
    if entities and said.id and (of_an_id := _of_an_id(names, places, entities)):
        return of_an_id
    is_entity = bool(said.id and (said.label or said.definition))
    pairs = [
        pair
        for pair in ENDS
        if {*pair} <= {*places} and not (is_entity and pair == ("start", "end"))
    ]
    if not pairs and not is_entity:
        heads, tails = (
            [name for name in known if name in places] for known in zip(*ENDS, strict=True)
        )
        pairs = list(zip(heads[:1], tails[:1], strict=False))
    if not pairs:
        known = len(names) == 3 and not said.used and 1 in map(places.get, BETWEEN)
        return of_triples(names, (0, 1, 2)) if known else None
    relation = next(
        (name for name in (*RELATION_OF.get(pairs[0][0], ()), *RELATION) if name in places), None
    )
    if relation is None:
        return None
    found = (pairs[0][0], relation, pairs[0][1])
    labels = {
        places[name]: places[label]
        for name in found
        if (label := next((label for label in _labels_of(name) if label in places), None))
    }
    return of_triples(names, tuple(places[name] for name in found), labels)


def of_triples(
    names: Sequence[str],
    ends: Sequence[int],
    labels: Mapping[int, int] = MappingProxyType({}),
    *,
    header: bool = True,
) -> TableMapping:
    """Return the mapping of a table, given the positions of head, relation and tail.

    Args:
        names: The header.
        ends: Positions of head, relation and tail.
        labels: Positions of the columns of their labels, by position.
        header: Whether the table has the header.
    """
    columns, places = column_names(names), _places(names)
    negation = negation_in(spelt(names))
    review = (places.get("mapping justification"), places.get("mapping tool"))
    justification, tool = ("" if at is None else columns[at] for at in review)
    mapping = TableMapping(
        columns=tuple(columns),
        header=header,
        head=columns[ends[0]],
        relation=columns[ends[1]],
        tail=columns[ends[2]],
        labels_of={columns[at]: columns[label] for at, label in labels.items()},
        negation={columns[negation[0]]: negation[1]} if negation else {},
        justification=justification,
        tool=tool,
    )
    ignored = (name for name in columns if name not in mapping.used)
    return replace(mapping, ignored=dict.fromkeys(ignored, "not part of a triple"))


def _of_an_id(
    names: Sequence[str], places: Mapping[str, int], entities: EntityHeader
) -> TableMapping | None:
    """Return the mapping of a header of only an id (the head), a relation and a tail.

    The result is ``None`` for other headers.
    """
    tails = [f"{tail}{kind}" for _, tail in STEMS for kind in ("", " id", " label", " name")]
    relation, tail = (
        next((name for name in known if name in places), None)
        for known in (NAMES["clear_relation"], (*tails, *NAMES["value"]))
    )
    is_alone = len(names) - len(entities.others) <= len(entities.mapping.id)
    heads = {head for head, _ in ENDS}.intersection(places)
    if heads or relation is None or tail is None or len(names) != 3 or not is_alone:
        return None
    at = entities.mapping.columns.index(entities.mapping.id[0])
    return of_triples(names, (at, places[relation], places[tail]))


def own_columns(names: Sequence[str], *, of_others: bool = False) -> EntityHeader | None:
    """Return the columns of entities in a header, or ``None`` if the header names none.

    A header with ``subject_id`` and ``object_id`` names links, not entities. With ``of_others``,
    the rows describe rows of another table; see :meth:`EntityHeader.of_others`.

    >>> own_columns(["subject_id", "subject_label", "object_id", "verdict"])
    >>> own_columns(["id", "label"]).mapping.id
    ('id',)
    """
    if of_others:
        return EntityHeader.of_others(names)
    return None if {"subject id", "object id"} <= _places(names).keys() else entity_header(names)


@lru_cache(maxsize=1 << 12)
def link_columns(names: tuple[str, ...]) -> tuple[int, int] | None:
    """Return the positions of relation and tail in a link that is nested in its head.

    The result is ``None`` if the names are not those of such a link.

    >>> link_columns(("relType", "target")), link_columns(("type", "value"))
    ((0, 1), (0, 1))
    >>> link_columns(("source", "type", "target"))
    """
    places = _places(names)
    relation = next((name for name in RELATION if name in places), None)
    tail = next((name for name in (*TAILS, *NAMES["value"]) if name in places), None)
    if relation is None or tail is None or {head for head, _ in ENDS} & places.keys():
        return None
    return places[relation], places[tail]


def names_ends(names: Sequence[str]) -> bool:
    """Tell whether a header names heads and tails."""
    return bool(ends_of(names))


def ends_of(names: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of heads and tails in a header, or ``()`` unless it names both.

    >>> ends_of(["source", "target", "weight"]), ends_of(["id", "label"])
    ((0, 1), ())
    """
    places = _places(names)
    return next(
        (tuple(places[end] for end in pair) for pair in ENDS if {*pair} <= places.keys()), ()
    )


def no_relation(names: Sequence[str]) -> str:
    """Return the error message for a header that names heads and tails but no relation."""
    return (
        f"expected a relation beside both ends, found {', '.join(map(str, names))[:80]}; add a "
        "column named relation, which may say the same in every row, or name the columns child "
        "and parent; of an audit, give the table in SSSOM"
    )


def _places(names: Sequence[str]) -> dict[str, int]:
    """Return the position of the first column with each name.

    Names are normalised, without groups of Neo4j ids (``:START_ID(Movie)``).
    """
    forms = spelt([str(name).partition("(")[0] for name in names])
    return {name: at for at, form in reversed([*enumerate(forms)]) for name in form}


def _labels_of(name: str) -> list[str]:
    stem = re.sub(" (?:id|index)$", "", name)
    return [label for label in (f"{stem} label", f"{stem} name", f"{stem};label") if label != name]
