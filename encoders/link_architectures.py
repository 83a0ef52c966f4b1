"""Architectures of link prediction: from (entity, relation) pairs to queries of the link space.

An architecture reads one form of a pair and ignores the others, so the forms are made on request
(:class:`LinkPairs`). This module does not import torch: a tri-encoder answers questions about known
entities and relations without its networks. :mod:`ontodex.encoders.link_encoder` has the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.projection import Projections
from ontodex.geometry.vectors import Vectors

__all__ = [
    "BI_ENCODER",
    "PROJECTIONS",
    "TRI_ENCODERS",
    "LinkArchitecture",
    "LinkPairs",
    "PairArchitecture",
    "ProjectionArchitecture",
    "TextArchitecture",
    "query_function",
]

Floats = NDArray[np.float32]
Rows = NDArray[np.integer]

TRI_ENCODERS = ("hyper", "hadamard", "concat")
"""Tri-encoders by how they combine the embeddings of head and relation: by a hypernetwork, by the
elementwise product, or by a linear layer over both."""

PROJECTIONS = ("residual", "paper", "public")
"""How a tri-encoder makes a query of a head h and its projection W h: unit(h + W h), unit(W h), or
W h as it is."""

BI_ENCODER = "bi-encoder"
"""Name of the architecture that encodes head and relation together."""


@dataclass(frozen=True)
class LinkPairs:
    """A batch of n (entity, relation) pairs, in each form that an architecture may read.

    Attributes:
        relations: Number of each relation, of shape (n,): 0 to R - 1 for the R relations of the
            graph, R to 2R - 1 for their inverses, -1 for a relation that is not in the graph.
        vectors: Returns the entities' vectors in the link space, ``float32`` of shape (n, dim).
        entity_texts: Returns the text of each entity.
        relation_texts: Returns the text of each relation.
        questions: Returns each pair as one text, such as "Lisbon capital of".
    """

    relations: Rows
    vectors: Callable[[], Floats]
    entity_texts: Callable[[], Sequence[str]]
    relation_texts: Callable[[], Sequence[str]]
    questions: Callable[[], Sequence[str]]


class LinkArchitecture(Protocol):
    """Makes queries of (entity, relation) pairs.

    Attributes:
        method: Name of the score between a query and an entity, for the method of answers.
        projects: Whether a query is a projection of the entity's vector; see :meth:`projection`.
    """

    method: str
    projects: bool

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of entities that are given as texts, of shape (texts, dim)."""

    def query(self, pairs: LinkPairs) -> Floats:
        """Return the query of each pair, ``float32`` of shape (n, dim)."""

    def query_by_each(self, pairs: LinkPairs) -> Floats:
        """Return the queries of one entity with n known relations, faster than :meth:`query`."""

    def projection(self, number: int, text: str) -> tuple[Projections, int]:
        """Return the projection of one relation, as a set of projections and an index into the set.

        Args:
            number: Number of the relation in the graph; -1 if the graph does not have it.
            text: Text of the relation.

        Raises:
            NotImplementedError: If the architecture has no projections (see :attr:`projects`).
        """


class TextSide(Protocol):
    """The text encoder of an architecture."""

    def encode(self, texts: Sequence[Any]) -> Floats:
        """Return one vector per text or pair of texts; a pair is encoded jointly."""


class _EntitySide(Protocol):
    """The part of a link encoder that embeds entities."""

    @property
    def text(self) -> TextSide:
        """The text encoder of entities."""

    def entities(self, embeddings: Floats) -> Floats:
        """Return the vectors of entities from their text embeddings."""


class ProjectionSide(_EntitySide, Protocol):
    """A tri-encoder, as :class:`ProjectionArchitecture` uses it."""

    def projections(self, relations: Sequence[str]) -> Projections:
        """Return the projections of relations, which are given as texts."""


class PairSide(_EntitySide, Protocol):
    """A bi-encoder, as :class:`PairArchitecture` uses it."""

    def queries(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return the query of each pair (entity text, relation text)."""


def _encoded(encoder: _EntitySide, texts: Sequence[str]) -> Floats:
    return np.asarray(encoder.entities(encoder.text.encode(texts)))


class ProjectionArchitecture:
    """A tri-encoder: the query is the projection of the entity's vector by the relation.

    Args:
        projections: Returns the projections of the graph's relations, then of their inverses.
        encoder: Returns the encoder. It is called only for texts, and for relations that the graph
            does not have.
    """

    method = "relation projection"
    projects = True

    def __init__(
        self, projections: Callable[[], Projections], encoder: Callable[[], ProjectionSide]
    ) -> None:
        self._projections, self._encoder = projections, encoder

    def encode(self, texts: Sequence[str]) -> Floats:
        """See :meth:`LinkArchitecture.encode`."""
        return _encoded(self._encoder(), texts)

    def query(self, pairs: LinkPairs) -> Floats:
        """See :meth:`LinkArchitecture.query`."""
        vectors, known = pairs.vectors(), pairs.relations >= 0
        if known.all():
            return self._projections().queries(vectors, pairs.relations)
        queries = np.empty(vectors.shape, dtype=np.float32)
        if known.any():
            queries[known] = self._projections().queries(vectors[known], pairs.relations[known])
        unknown: dict[str, list[int]] = {}
        for position, text in enumerate(pairs.relation_texts()):
            if not known[position]:
                unknown.setdefault(text, []).append(position)
        for text, positions in unknown.items():
            queries[positions] = self._encoder().projections([text]).project(vectors[positions], 0)
        return queries

    def query_by_each(self, pairs: LinkPairs) -> Floats:
        """See :meth:`LinkArchitecture.query_by_each`."""
        return self._projections().by_each(pairs.vectors()[0], pairs.relations)

    def projection(self, number: int, text: str) -> tuple[Projections, int]:
        """See :meth:`LinkArchitecture.projection`."""
        if number >= 0:
            return self._projections(), number
        return self._encoder().projections([text]), 0


class PairArchitecture:
    """A bi-encoder: the query is the joint encoding of the entity's text and the relation's text.

    Args:
        encoder: Returns the encoder.
    """

    method = "bi-encoder"
    projects = False

    def __init__(self, encoder: Callable[[], PairSide]) -> None:
        self._encoder = encoder

    def encode(self, texts: Sequence[str]) -> Floats:
        """See :meth:`LinkArchitecture.encode`."""
        return _encoded(self._encoder(), texts)

    def query(self, pairs: LinkPairs) -> Floats:
        """See :meth:`LinkArchitecture.query`."""
        both = zip(pairs.entity_texts(), pairs.relation_texts(), strict=True)
        return np.asarray(self._encoder().queries(list(both)))

    def query_by_each(self, pairs: LinkPairs) -> Floats:
        """See :meth:`LinkArchitecture.query_by_each`."""
        return self.query(pairs)

    def projection(self, number: int, text: str) -> tuple[Projections, int]:
        """See :meth:`LinkArchitecture.projection`."""
        raise NotImplementedError("a bi-encoder has no projections of relations")


class TextArchitecture:
    """No link encoder: the query is the embedding of the text "entity relation".

    Args:
        text: Returns the text encoder.
    """

    method = "text of entity and relation"
    projects = False

    def __init__(self, text: Callable[[], TextSide]) -> None:
        self._text = text

    def encode(self, texts: Sequence[str]) -> Floats:
        """See :meth:`LinkArchitecture.encode`."""
        return np.asarray(self._text().encode(texts))

    def query(self, pairs: LinkPairs) -> Floats:
        """See :meth:`LinkArchitecture.query`."""
        return self.encode(pairs.questions())

    def query_by_each(self, pairs: LinkPairs) -> Floats:
        """See :meth:`LinkArchitecture.query_by_each`."""
        return self.query(pairs)

    def projection(self, number: int, text: str) -> tuple[Projections, int]:
        """See :meth:`LinkArchitecture.projection`."""
        raise NotImplementedError("a text encoder has no projections of relations")


def query_function(
    architecture: LinkArchitecture,
    vectors: Vectors,
    texts: Sequence[str],
    relations: Sequence[str],
) -> Callable[[Rows, Rows], Floats]:
    """Return a function from rows of entities and numbers of relations to queries.

    Args:
        architecture: Makes the queries.
        vectors: Entity vectors.
        texts: Text of each entity.
        relations: Texts of the graph's relations, then of their inverses.

    Returns:
        A function of entities (n,) and relations (n,), which returns ``float32`` of shape (n, dim).
    """

    def queries(rows: Rows, numbers: Rows) -> Floats:
        def entity_texts() -> list[str]:
            return [texts[row] for row in rows.tolist()]

        def relation_texts() -> list[str]:
            return [relations[number] for number in numbers.tolist()]

        def questions() -> list[str]:
            return list(map(" ".join, zip(entity_texts(), relation_texts(), strict=True)))

        return architecture.query(
            LinkPairs(numbers, lambda: vectors[rows], entity_texts, relation_texts, questions)
        )

    return queries
