"""Construction of a graph: declare entities and relations, add triples, build."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import ReadError
from ontodex.graph.columns import NestedTextColumn, TextColumn
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.prefixes import local_name

__all__ = ["LANGUAGE", "GraphBuilder", "expect_synonyms", "own_name", "readable", "unique_triples"]

LONGEST_TEXT = 1_000_000
"""Maximal length of an identifier, label, synonym or definition, in letters."""

LANGUAGE = "en"
"""Default language of names where a source has names in several languages."""

MOST_SYNONYMS = 100_000
"""Maximal number of synonyms of one entity."""


def readable(identifier: str) -> str:
    """Derive a label from an identifier: its local name, split into words.

    >>> readable("http://x.org/onto#hasPart"), readable("schema:worksFor")
    ('has part', 'works for')
    >>> readable("_derivationally_related_form")
    'derivationally related form'
    >>> readable("ProductID"), readable("ex:hasURLOf")
    ('Product ID', 'has URLOf')
    >>> readable("dbr:S%C3%A3o_Paulo"), readable("100%25 cotton")
    ('São Paulo', '100%25 cotton')
    >>> readable("HP:0001166")
    'HP:0001166'
    """
    local = local_name(identifier)
    if local != identifier:
        local = unquote(local)
    if not any(c.isalpha() for c in local):
        return identifier
    around = zip(f" {local}", local, f"{local[1:]} ", strict=False)
    words = "".join(
        f" {c if n.isupper() else c.lower()}" if p.islower() and c.isupper() else c
        for p, c, n in around
    )
    return " ".join(words.replace("_", " ").split()) or identifier


def own_name(identifier: str) -> str:
    """Derive a label from the id of an entity that has no label.

    The label has the words of a CURIE's or IRI's local name, or of an id that is itself a name.

    >>> own_name("schema:LocalBusiness"), own_name("New_York"), own_name("YouTube")
    ('Local business', 'New York', 'YouTube')
    >>> own_name("AC/DC")
    'AC/DC'
    """
    is_name = local_name(identifier) == identifier
    return (
        " ".join(identifier.replace("_", " ").split()) or identifier
        if is_name
        else readable(identifier)
    )


def unique_triples(triples: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the distinct triples in (head, relation, tail) order, of shape (n, 3).

    >>> unique_triples(np.array([[1, 0, 2], [0, 0, 1], [1, 0, 2]], dtype=np.int32)).tolist()
    [[0, 0, 1], [1, 0, 2]]
    """
    ordered: NDArray[np.int32] = triples[np.lexsort((triples[:, 2], triples[:, 1], triples[:, 0]))]
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    unique: NDArray[np.int32] = ordered[new]
    return unique


def expect_synonyms(count: int, identifier: str, source: str = "") -> None:
    """Reject an entity with more than 100,000 synonyms.

    Args:
        count: Number of synonyms.
        identifier: Id of the entity, for the message.
        source: Name of the source, for the message.

    Raises:
        ReadError: If ``count`` is more than 100,000.
    """
    if count > MOST_SYNONYMS:
        raise ReadError(
            f"expected at most {MOST_SYNONYMS:,} synonyms, found more at {identifier[:60]}", source
        )


class GraphBuilder:
    """Collects entities, relations and triples of a source and makes a :class:`KnowledgeGraph`.

    Entities and relations are numbered in the order of first use. An entity may be declared
    several times: its first label and first definition are used, and all synonyms.

    Args:
        source: Name of the source, for messages.
        language: Tag of the preferred language of names; readers choose names by it.

    Attributes:
        prefixes: IRI namespace of each CURIE prefix.
        aliases: Entity id for each alternative id; in triples, the entity id replaces the
            alternative id.

    Example:
        >>> builder = GraphBuilder("by hand")
        >>> _ = builder.entity("ex:dog", label="dog", synonyms=["domestic dog"])
        >>> builder.triple("ex:dog", "is_a", "ex:animal")
        >>> builder.build()
        KnowledgeGraph('by hand': 2 entities, 1 relations, 1 triples)
    """

    def __init__(self, source: str, language: str = LANGUAGE) -> None:
        self.source = source
        self.language = language
        self.prefixes: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        self._rows: dict[str, int] = {}
        self._labels: list[str] = []
        self._definitions: list[str] = []
        self._synonyms: list[dict[str, None]] = []
        self._relations: dict[str, int] = {}
        self._relation_labels: list[str] = []
        self._triples = {split: array("i") for split in ("train", "valid", "test")}

    def __contains__(self, entity: str) -> bool:
        return entity in self._rows

    def entity(
        self, identifier: str, label: str = "", synonyms: Iterable[str] = (), definition: str = ""
    ) -> int:
        """Declare an entity, or add names and a definition to a declared one; return its row.

        Raises:
            ReadError: If a text is longer than 1,000,000 letters, or the entity has more than
                100,000 synonyms.
        """
        identifier = self.aliases.get(identifier, identifier)
        self._expect_texts(identifier, identifier, label, definition)
        row = self._rows.setdefault(identifier, len(self._rows))
        if row == len(self._labels):
            self._labels.append("")
            self._definitions.append("")
            self._synonyms.append({})
        self._labels[row] = self._labels[row] or " ".join(label.split())
        self._definitions[row] = self._definitions[row] or " ".join(definition.split())
        for synonym in synonyms:
            self._expect_texts(identifier, synonym)
            if words := " ".join(synonym.split()):
                self._synonyms[row][words] = None
        expect_synonyms(len(self._synonyms[row]), identifier, self.source)
        return row

    def replace(self, alternatives: Mapping[str, str]) -> None:
        """Add alternative ids of declared entities.

        An alternative id that is declared as an entity itself is left out.

        Args:
            alternatives: Entity id for each alternative id.
        """
        self.aliases.update(
            {name: one for name, one in alternatives.items() if name not in self and one in self}
        )

    def relation(self, identifier: str, label: str = "") -> int:
        """Declare a relation, or add a label to a declared one; return its number.

        Raises:
            ReadError: If a text is longer than 1,000,000 letters.
        """
        self._expect_texts(identifier, identifier, label)
        number = self._relations.setdefault(identifier, len(self._relations))
        if number == len(self._relation_labels):
            self._relation_labels.append("")
        self._relation_labels[number] = self._relation_labels[number] or " ".join(label.split())
        return number

    def relation_ids(self) -> tuple[str, ...]:
        """Return the ids of the relations declared so far."""
        return tuple(self._relations)

    def triple(self, head: str, relation: str, tail: str, split: str = "train") -> None:
        """Add a triple.

        A triple between two different ids of one entity is left out.

        Args:
            head: Id of the head.
            relation: Id of the relation.
            tail: Id of the tail.
            split: ``"train"`` for a known triple, ``"valid"`` or ``"test"`` for a held-out triple.
        """
        rows, relations = self._rows, self._relations
        head_row, number, tail_row = rows.get(head), relations.get(relation), rows.get(tail)
        if head_row is None or number is None or tail_row is None:
            head_row, number, tail_row = (
                self.entity(head),
                self.relation(relation),
                self.entity(tail),
            )
            if head_row == tail_row and head != tail:
                return
        self._triples[split].extend((head_row, number, tail_row))

    def count_shared(self, split: str, other: str) -> int:
        """Return the number of triples that two splits have in common."""
        return len(np.intersect1d(self._numbers(split), self._numbers(other)))

    def build(self, *, skipped: int = 0) -> KnowledgeGraph:
        """Make the graph, with sorted unique triples and derived names for missing labels.

        Raises:
            ReadError: If no entity was declared.
        """
        if not self._rows:
            raise ReadError(
                "expected at least one entity, found none; is it empty, of another format, "
                "or without links and names?",
                self.source,
            )
        labels = [
            label or own_name(identifier)
            for identifier, label in zip(self._rows, self._labels, strict=True)
        ]
        relation_labels = [
            label or readable(name)
            for name, label in zip(self._relations, self._relation_labels, strict=True)
        ]
        known = self._sorted("train")
        return KnowledgeGraph(
            ids=TextColumn.of(self._rows),
            labels=TextColumn.of(labels),
            synonyms=NestedTextColumn.of(
                [name for name in names if name != label]
                for names, label in zip(self._synonyms, labels, strict=True)
            ),
            definitions=TextColumn.of(self._definitions),
            alternative_ids=NestedTextColumn.of(self._alternative_ids()),
            relation_ids=TextColumn.of(self._relations),
            relation_labels=TextColumn.of(relation_labels),
            heads=np.ascontiguousarray(known[:, 0]),
            relations=np.ascontiguousarray(known[:, 1]),
            tails=np.ascontiguousarray(known[:, 2]),
            valid=self._sorted("valid"),
            test=self._sorted("test"),
            prefixes=MappingProxyType(dict(self.prefixes)),
            source=self.source,
            skipped=skipped,
        )

    def _alternative_ids(self) -> list[list[str]]:
        found: list[list[str]] = [[] for _ in self._rows]
        for name, entity in self.aliases.items():
            if name not in self and entity in self:
                found[self._rows[entity]].append(name)
        return found

    def _expect_texts(self, identifier: str, *texts: str) -> None:
        longest = max(map(len, texts))
        if longest > LONGEST_TEXT:
            message = f"expected names and definitions of at most {LONGEST_TEXT:,} letters"
            message = f"{message}, found {longest:,} at {identifier[:60]}"
            raise ReadError(f"{message}; shorten the text", self.source)

    def _sorted(self, split: str) -> NDArray[np.int32]:
        return unique_triples(self._rows_of(split))

    def _numbers(self, split: str) -> NDArray[np.int64]:
        """Return an integer for each triple of a split; equal triples have equal integers."""
        heads, relations, tails = self._rows_of(split).T.astype(np.int64)
        return np.asarray((heads * len(self._relations) + relations) * len(self._rows) + tails)

    def _rows_of(self, split: str) -> NDArray[np.int32]:
        return np.frombuffer(self._triples[split], dtype=np.int32).reshape(-1, 3)
