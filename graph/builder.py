"""How a reader makes a graph: declare entities and relations, add triples, build."""

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
"""Letters of an identifier, label, synonym or definition; whatever is longer is none of these."""

LANGUAGE = "en"
"""Of names in several languages those are taken that are in this one, unless another is asked for."""

MOST_SYNONYMS = 100_000
"""Synonyms of one entity."""


def readable(identifier: str) -> str:
    """Make words of an identifier that has no label.

    >>> readable("http://x.org/onto#hasPart"), readable("_derivationally_related_form"), readable("schema:worksFor")
    ('has part', 'derivationally related form', 'works for')
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
    """Return the label of an entity that has none: of a CURIE or an IRI the words, any other name itself.

    >>> own_name("schema:LocalBusiness"), own_name("New_York"), own_name("YouTube"), own_name("AC/DC")
    ('Local business', 'New York', 'YouTube', 'AC/DC')
    """
    is_name = local_name(identifier) == identifier
    return (
        " ".join(identifier.replace("_", " ").split()) or identifier
        if is_name
        else readable(identifier)
    )


def unique_triples(triples: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return triples in (head, relation, tail) order, each once; shapes (n, 3).

    >>> unique_triples(np.array([[1, 0, 2], [0, 0, 1], [1, 0, 2]], dtype=np.int32)).tolist()
    [[0, 0, 1], [1, 0, 2]]
    """
    ordered: NDArray[np.int32] = triples[np.lexsort((triples[:, 2], triples[:, 1], triples[:, 0]))]
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    unique: NDArray[np.int32] = ordered[new]
    return unique


def expect_synonyms(count: int, identifier: str, source: str = "") -> None:
    """Refuse an entity of over a hundred thousand synonyms.

    Raises:
        ReadError: If it has so many.
    """
    if count > MOST_SYNONYMS:
        raise ReadError(
            f"expected at most {MOST_SYNONYMS:,} synonyms, found more at {identifier[:60]}", source
        )


class GraphBuilder:
    """Collects what a source says and makes a :class:`KnowledgeGraph` of it.

    Entities and relations come into being when they are first named, in that order; what is said of one later adds to
    it: the first label and definition stay, synonyms are joined.

    Args:
        source: Where the graph comes from, for messages.
        language: Tag of the language that its names are wanted in; readers choose by it where a source has several.

    Attributes:
        prefixes: Namespace of each prefix.
        aliases: Alternative ids of entities, and what stands in their place wherever they are named.

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
        """Declare an entity, or say more of one; return its row.

        Raises:
            ReadError: If one of the texts is longer than a million letters, or there are over a hundred thousand synonyms.
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
        """Let ids stand for entities that are there, from here on, but for ids that are entities themselves."""
        self.aliases.update(
            {name: one for name, one in alternatives.items() if name not in self and one in self}
        )

    def relation(self, identifier: str, label: str = "") -> int:
        """Declare a relation, or give it a label; return its number.

        Raises:
            ReadError: As :meth:`entity`.
        """
        self._expect_texts(identifier, identifier, label)
        number = self._relations.setdefault(identifier, len(self._relations))
        if number == len(self._relation_labels):
            self._relation_labels.append("")
        self._relation_labels[number] = self._relation_labels[number] or " ".join(label.split())
        return number

    def relation_ids(self) -> tuple[str, ...]:
        """Return the relations named so far."""
        return tuple(self._relations)

    def triple(self, head: str, relation: str, tail: str, split: str = "train") -> None:
        """Add a triple, but for one whose ends are one entity only as one of their ids stands for the other.

        ``split`` is ``train`` for what is known, ``valid`` or ``test`` for what is held out.
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
        """Return how many triples are in two splits."""
        return len(np.intersect1d(self._numbers(split), self._numbers(other)))

    def build(self, *, skipped: int = 0) -> KnowledgeGraph:
        """Make the graph: triples sorted and unique, names in place of missing labels.

        Raises:
            ReadError: If nothing was declared.
        """
        if not self._rows:
            raise ReadError(
                "expected at least one entity, found none; is it empty, of another format, or without links and names?",
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
            message = f"expected names and definitions of at most {LONGEST_TEXT:,} letters, found {longest:,}"
            raise ReadError(f"{message} at {identifier[:60]}; shorten the text", self.source)

    def _sorted(self, split: str) -> NDArray[np.int32]:
        return unique_triples(self._rows_of(split))

    def _numbers(self, split: str) -> NDArray[np.int64]:
        """Return a number for each triple of a split, the same for the same triple."""
        heads, relations, tails = self._rows_of(split).T.astype(np.int64)
        return np.asarray((heads * len(self._relations) + relations) * len(self._rows) + tails)

    def _rows_of(self, split: str) -> NDArray[np.int32]:
        return np.frombuffer(self._triples[split], dtype=np.int32).reshape(-1, 3)
