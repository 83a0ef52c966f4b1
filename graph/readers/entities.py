"""Entities in tables: one to a row, what is said of it in columns that a header names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.knowledge_graph import HIERARCHY_NAMES
from ontodex.graph.names import normalise

__all__ = ["DEFINITION", "ID", "LABEL", "SYNONYMS", "EntityColumns", "add_entities", "entity_columns", "header_names"]

ID = ("id", "identifier", "mid", "entity", "entity id", "curie", "iri", "uri", "code", "notation", "class id")
LABEL = (
    *("label", "name", "title", "preferred label", "preflabel", "term", "concept", "class", "category", "child"),
    "wikidata label",
)
SYNONYMS = ("synonyms", "synonym", "lemmas", "aliases", "alias", "alternative labels", "altlabel", "exact synonyms")
DEFINITION = ("definition", "gloss", "description", "first sentence", "comment", "wikidata description")
PARENT = (
    *("parent", "parents", "parent id", "parent ids", "parent label", "parent name", "parent class", "parent term"),
    *("superclass", "super class", "broader concept", "broader term"),
    *sorted(HIERARCHY_NAMES),
)

NO_VALUES = frozenset(("true", "false", "yes", "no", "y", "n"))
"""Cells that say whether something holds, and of what nothing is told by it."""

SHARED = 2 / 3
"""A column is a relation if it has at most this many values for each filled cell: rows share them."""

Report = Callable[[str, int], None]
"""Takes what is wrong with a row, and its number."""


@dataclass(frozen=True)
class EntityColumns:
    """Where a header has what is said of entities; positions, the first the most telling.

    Attributes:
        width: Number of columns.
        id: Identifiers; where there are none, labels identify.
        label: Labels; all but the first are synonyms.
        synonyms: Synonyms, parted by ``|`` or ``;``.
        definition: Definitions.
        parents: What is more general, by id or label, parted likewise.
        others: All other columns, and their names.
    """

    width: int
    id: tuple[int, ...]
    label: tuple[int, ...]
    synonyms: tuple[int, ...]
    definition: tuple[int, ...]
    parents: tuple[int, ...]
    others: tuple[tuple[int, str], ...]


def header_names(cells: Iterable[str]) -> list[str]:
    """Return the names of a header as they are known here.

    >>> header_names(["Parent_ID ", "prefLabel"])
    ['parent id', 'preflabel']
    """
    return [normalise(str(cell).replace("_", " ")) for cell in cells]


def entity_columns(names: Sequence[str]) -> EntityColumns | None:
    """Return what a header says, or ``None`` if it names no entities, or nothing of them.

    >>> entity_columns(["ID", "Label", "Parent_ID", "habitat"])
    EntityColumns(width=4, id=(0,), label=(1,), synonyms=(), definition=(), parents=(2,), others=((3, 'habitat'),))
    >>> entity_columns(["dog", "is_a", "animal"])
    """
    plain = header_names(names)

    def places(*known: str) -> tuple[int, ...]:
        return tuple(place for name in known for place, found in enumerate(plain) if found == name)

    found = places(*ID), places(*LABEL), places(*SYNONYMS), places(*DEFINITION), places(*PARENT)
    taken = {place for part in found for place in part}
    if not (found[0] or found[1]) or len(taken) < 2:
        return None
    others = tuple((place, str(name).strip()) for place, name in enumerate(names) if place not in taken)
    return EntityColumns(len(names), *found, others)


def add_entities(
    columns: EntityColumns,
    rows: Iterable[tuple[int, Sequence[str]]],
    builder: GraphBuilder,
    report: Report,
) -> None:
    """Add the entities of a table, and their links.

    A parent is an entity by its id, or by its label in any case; what names no row is an entity of this name. Any other
    column is a relation if most of its cells name rows, or if rows share its values (``habitat``, say); numbers, dates and
    remarks are left out.

    Args:
        columns: What the header says.
        rows: (number, cells) of every row.
        builder: Takes them.
        report: Takes rows that hold no entity.
    """
    named: list[tuple[str, Sequence[str]]] = []
    by_label: dict[str, str] = {}
    for number, cells in rows:
        whole = len(cells) == columns.width
        identifier = next((cells[at].strip() for at in columns.id or columns.label if whole and cells[at].strip()), "")
        if not identifier:
            found = f"{len(cells)}: {' | '.join(cells)[:60]!r}"
            report(f"expected {columns.width} columns and an id or label, found {found}", number)
            continue
        labels = [cells[at] for at in columns.label if cells[at].strip()]
        builder.entity(
            identifier,
            label=next(iter(labels), ""),
            synonyms=[part for at in columns.synonyms for part in _parts(cells[at])] + labels[1:],
            definition=next((cells[at] for at in columns.definition if cells[at].strip()), ""),
        )
        by_label.setdefault(normalise(next(iter(labels), identifier)), identifier)
        named.append((identifier, cells))
    ids = {identifier for identifier, _ in named}

    def entity(part: str) -> str | None:
        return part if part in ids else by_label.get(normalise(part))

    def named_in(cell: str) -> list[str]:
        """Return the parts of a cell; commas part it only where every part is an entity of the table."""
        parts = _parts(cell)
        finer = [part.strip() for part in cell.split(",")]
        return finer if len(parts) == 1 and not entity(parts[0]) and all(map(entity, finer)) else parts

    relations = [(at, "is_a") for at in columns.parents]
    relations += [(at, name) for at, name in columns.others if name and _is_relation(named, at, named_in, entity)]
    for at, relation in relations:
        for identifier, cells in named:
            for part in named_in(cells[at]):
                builder.triple(identifier, relation, entity(part) or part)


def _parts(cell: str) -> list[str]:
    return [part.strip() for part in re.split(r"[|;]", cell) if part.strip()]


def _is_relation(
    named: Sequence[tuple[str, Sequence[str]]],
    at: int,
    named_in: Callable[[str], list[str]],
    entity: Callable[[str], str | None],
) -> bool:
    """Tell whether a column names rows of the table, or values that rows share."""
    values = Counter(part for _, cells in named for part in named_in(cells[at]))
    total = values.total()
    if 2 * sum(count for part, count in values.items() if entity(part)) > total:
        return True
    words = sum(count for part, count in values.items() if re.search(r"[^\W\d_]", part))
    is_said = {part.casefold() for part in values} <= NO_VALUES
    return not is_said and 2 * words > total and len(values) <= SHARED * total
