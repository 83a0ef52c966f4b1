"""Similarity under a condition: by a condition encoder or projections, and by known tails."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Answer, answered, checked, hits_of, no_rows, own_row
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.resolve import (
    ResolvedTerm,
    relation_text,
    resolve_entities,
    resolve_relation,
    vectors_of,
)
from ontodex.engine.resources import Resources
from ontodex.engine.results.hits import Hits
from ontodex.engine.search.score_offsets import no_offsets
from ontodex.engine.search.topk import Searcher
from ontodex.errors import SettingsError
from ontodex.geometry.conditioned import compact, expanded, under_condition
from ontodex.geometry.vectors import Vectors
from ontodex.graph import relation_texts
from ontodex.scoring.graph_features import Offsets
from ontodex.storage.condition_cache import ConditionCache, Factor
from ontodex.storage.space_names import CONDITION, LINK

__all__ = [
    "DISK",
    "MEMORY",
    "ByEncoder",
    "ByProjections",
    "Condition",
    "ConditionStrategy",
    "Conditions",
    "TailCentroids",
]

Floats = NDArray[np.float32]

ROWS = 4096
"""Number of vectors in one block; their float64 copies fit the processor's cache."""


class TailCentroids:
    """The normalised sum of each entity's tail vectors, for the tails by one relation.

    Only the norms of the sums are stored. The inner product of a query with a sum is computed as
    the sum of its inner products with the tails, so each distinct tail is multiplied once.

    Args:
        heads: Heads of the relation's triples, of shape (n,).
        tails: Tails of the relation's triples, of shape (n,).
        vectors: Unit vectors of the entities.

    Example:
        >>> vectors = Vectors([np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float32)])
        >>> tails = TailCentroids(np.array([0, 2, 2]), np.array([1, 0, 1]), vectors)
        >>> [(rows, cosines)] = tails.cosines(tails.of(0)[None])
        >>> rows.tolist(), cosines.round(3).tolist()
        ([0, 2], [1.0, 0.707])
    """

    def __init__(
        self, heads: NDArray[np.integer], tails: NDArray[np.integer], vectors: Vectors
    ) -> None:
        from scipy.sparse import csr_matrix

        self._vectors = vectors
        self._heads, rows = np.unique(heads.astype(np.int64), return_inverse=True)
        self._tails, columns = np.unique(tails.astype(np.int64), return_inverse=True)
        links = np.ones(len(rows), dtype=np.float32)
        self._links = csr_matrix(
            (links, (rows, columns)), shape=(len(self._heads), len(self._tails))
        )
        sums = np.zeros((len(self._heads), vectors.dim), dtype=np.float32)
        for start in range(0, len(self._tails), ROWS):
            part = slice(start, start + ROWS)
            sums += self._links[:, part] @ vectors[self._tails[part]]
        self._lengths = np.maximum(np.linalg.norm(sums, axis=1), np.finfo(np.float32).tiny)

    @property
    def count(self) -> int:
        """Number of entities that have tails."""
        return len(self._heads)

    def of(self, row: int | None) -> Floats | None:
        """Return the normalised sum of an entity's tails, of shape (dim,); ``None`` without tails.

        Args:
            row: The entity; ``None`` for free text, which has no tails.
        """
        at = np.searchsorted(self._heads, -1 if row is None else row)
        if row is None or at == len(self._heads) or self._heads[at] != row:
            return None
        total = self._vectors[self._tails[self._links[at].indices]].sum(axis=0)
        return np.asarray(total / self._lengths[at], dtype=np.float32)

    def cosines(self, directions: Floats) -> list[Offsets]:
        """Return the cosine between each direction and the tails of each entity.

        Args:
            directions: Unit vectors of shape (n, dim).

        Returns:
            For each direction, the rows of the entities that have tails, ascending, and a cosine
            for each row: that between the direction and the sum of the entity's tail vectors.
        """
        products = np.empty((len(self._tails), len(directions)), dtype=np.float32)
        for start in range(0, len(self._tails), ROWS):
            part = slice(start, start + ROWS)
            block = self._vectors[self._tails[part]]
            for column, direction in enumerate(directions):  # the same bits in any batch
                products[part, column] = block @ direction
        cosines = np.clip(self._links @ products / self._lengths[:, None], -1, 1).astype(np.float64)
        return [(self._heads, column) for column in np.ascontiguousarray(cosines.T)]


Transform = Callable[[Floats], Floats]

CONDITIONS = 64
"""Number of conditions whose factors are computed in one batch."""


@dataclass(frozen=True)
class Condition:
    """A condition of similarity.

    Attributes:
        text: Text of the condition, for an encoder.
        row: Number of the relation, if the condition is a relation of the graph; ``None`` for free
            text.
        backward: Whether the condition is the inverse of the relation.
        relation: Resolution of the condition. It is ignored when conditions are compared.
    """

    text: str
    row: int | None
    backward: bool
    relation: ResolvedTerm = field(compare=False)


class ConditionStrategy(Protocol):
    """A way to transform vectors by conditions.

    Attributes:
        method: Name of the similarity of transformed vectors, for answers.
        vectors: Vectors of the entities, before the transformation.
        width: Dimension of transformed vectors.
    """

    method: str
    vectors: Vectors
    width: int

    def encode(self, texts: list[str]) -> Floats:
        """Return vectors of free texts, before the transformation."""

    def transforms(self, conditions: Sequence[Condition]) -> Iterator[tuple[Condition, Transform]]:
        """Yield each condition with its transformation.

        A transformation is a function from vectors (n, dim) to unit vectors (n, width).

        Raises:
            SettingsError: If a condition is longer than the limit of the encoder.
        """


class ByEncoder:
    """Transformation by a condition encoder.

    The encoder computes a factor for each condition: the numbers that define its projection.
    Factors are cached in the folder of the index.

    Args:
        resources: Encoders and scorers of an index that has a condition encoder.
        disk: Maximal size of the cache of factors, in bytes; 0 for no cache.

    Raises:
        SettingsError: If the cache is too small for one factor.
    """

    method = "similarity under the condition (cosine)"

    def __init__(self, resources: Resources, disk: int) -> None:
        index = resources.index
        self._resources = resources
        self._about = index.encoder_info(CONDITION)
        self.vectors = index.vectors(CONDITION)
        self.width = int(self._about["width"])
        factor = (
            self.vectors.dim * (self.width if self._about["architecture"] == "hyper" else 1) * 4
            + 1024
        )
        if disk != 0 and disk < factor:
            raise SettingsError(
                f"condition_disk: expected at least {factor:,} bytes, for the projection of one "
                f"condition, or 0 for none, found {disk:,}"
            )
        self._cache = ConditionCache(index.path, disk)

    def encode(self, texts: list[str]) -> Floats:
        """See :class:`ConditionStrategy`."""
        return np.asarray(self._resources.encoders.condition.text.encode(texts))

    def transforms(self, conditions: Sequence[Condition]) -> Iterator[tuple[Condition, Transform]]:
        """See :class:`ConditionStrategy`."""
        for start in range(0, len(conditions), CONDITIONS):
            some = conditions[start : start + CONDITIONS]
            factors = self._factors([one.text for one in some])
            for one in some:
                yield one, self._by(expanded(factors[one.text], self.vectors.dim, self.width))

    def _by(self, factor: Factor) -> Transform:
        return lambda vectors: under_condition(vectors, factor, self._mix)

    @cached_property
    def _mix(self) -> Floats | None:
        """Matrix (dim, dim) that text vectors are multiplied by, if the architecture has one."""
        if self._about["architecture"] != "concat":
            return None
        return self._resources.encoders.condition.mix

    def _factors(self, conditions: Sequence[str]) -> dict[str, Factor]:
        """Return compact factors of conditions; cached factors equal computed ones to the bit."""
        encoder = str(self._about["fingerprint"])
        factors = self._cache.get(encoder, conditions)
        missing = [text for text in conditions if text not in factors]
        if missing:
            made = dict(
                zip(
                    missing,
                    map(compact, self._resources.encoders.condition.factors(missing)),
                    strict=True,
                )
            )
            self._cache.put(encoder, made)
            factors.update(made)
        return factors


class ByProjections:
    """Transformation by relation projections, which map a head to a prediction of its tails.

    Args:
        resources: Encoders and scorers of an index with relation projections.
        link_queries: Makes the projections.
    """

    method = "similarity of relation projections (cosine)"

    def __init__(self, resources: Resources, link_queries: LinkQueries) -> None:
        self._resources, self._queries = resources, link_queries
        self.vectors = resources.index.vectors(LINK)
        self.width = self.vectors.dim

    def encode(self, texts: list[str]) -> Floats:
        """See :class:`ConditionStrategy`."""
        return self._queries.encode(texts)

    def transforms(self, conditions: Sequence[Condition]) -> Iterator[tuple[Condition, Transform]]:
        """See :class:`ConditionStrategy`."""
        unknown = [one.text for one in conditions if one.row is None]
        if unknown:
            from ontodex.encoders.condition import expect_readable  # imports torch

            expect_readable(self._resources.encoders.link.text, unknown)
        for one in conditions:
            yield one, self._by(one)

    def _by(self, condition: Condition) -> Transform:
        projections, number = self._queries.projection(
            condition.relation, backward=condition.backward
        )
        return lambda vectors: projections.project(vectors, number)


MEMORY = 1 << 30
"""Default size of the cache of transformed entities, in bytes of memory."""

DISK = 256 << 20
"""Default size of the cache of conditions' factors, in bytes on disk."""

PRODUCTS = 1 << 22
"""Maximal number of cosines with known tails (entities times queries) in memory at a time."""

WITH_TAILS = " + similarity of known tails (cosine)"


@dataclass(frozen=True, eq=False)
class _Projected:
    """All entities under one condition, and their tails if the condition is a relation."""

    transform: Transform
    searcher: Searcher
    tails: TailCentroids | None

    def parts(self, positions: list[int]) -> Iterator[list[int]]:
        """Split queries into batches of at most :data:`PRODUCTS` cosines."""
        step = (
            len(positions) if self.tails is None else max(1, PRODUCTS // max(1, self.tails.count))
        )
        for start in range(0, len(positions), step):
            yield positions[start : start + step]


class Conditions:
    """Answers questions about similarity under a condition; see :meth:`ontodex.Engine.similar`.

    The first question under a condition transforms all entities: by the condition encoder of the
    index or, if it has none, by relation projections. The result stays in memory until other
    conditions need the room.

    If the condition is a relation of the graph, a second cosine is added to the score: that between
    the sum of the query's known tail vectors and the sum of the entity's. For a query without known
    tails, its relation projection takes the place of the sum, if the index has projections.

    Args:
        resources: Encoders and scorers of an opened index.
        memory: Size of the cache of transformed entities, in bytes.
        disk: Size of the cache of a condition encoder's factors in the index's folder, in bytes; 0
            for no cache.

    Raises:
        IndexMismatch: If the index has neither a condition encoder nor projections.
        SettingsError: If a cache is too small for the entities under one condition, or for one
            factor.
    """

    def __init__(self, resources: Resources, memory: int = MEMORY, disk: int = DISK) -> None:
        index = resources.index
        index.expect_built(LINK)
        self._resources = resources
        self._graph = index.graph
        self._queries = LinkQueries(resources)
        by_projections = CONDITION not in index.manifest.encoders and self._queries.projects
        self._strategy: ConditionStrategy = (
            ByProjections(resources, self._queries)
            if by_projections
            else ByEncoder(resources, disk)
        )
        self._room = self._expect_room(memory)
        self._projected: OrderedDict[Condition, _Projected] = OrderedDict()
        self._lock = threading.Lock()

    def similar(self, texts: Sequence[str], condition: str | Sequence[str], k: int) -> list[Hits]:
        """Rank the other entities by similarity to each text under a condition.

        Args:
            texts: Entities or texts.
            condition: One condition for all texts, or one condition per text.
            k: Number of hits.

        Raises:
            SettingsError: If the numbers of conditions and texts differ, or a text or condition is
                empty or too long.
        """
        k = checked(k)
        start = time.perf_counter()
        resolved = resolve_entities(self._graph, texts, names=self._resources.name_similarity)
        if isinstance(condition, str) or not isinstance(condition, Sequence):
            named = [condition] * len(resolved)
        else:
            named = list(condition)
        if len(named) != len(resolved):
            raise SettingsError(
                f"condition: expected one, or one for each of {len(resolved)} texts, found "
                f"{len(named)}"
            )
        under = [self.resolved(one) for one in named]
        groups: dict[Condition, list[int]] = {}
        for position, one in enumerate(under):
            groups.setdefault(one, []).append(position)
        vectors = vectors_of(self._strategy.vectors, resolved, self._strategy.encode)
        hits = [Answer()] * len(resolved)
        for one, projected in self._under(list(groups)):
            for positions in projected.parts(groups[one]):
                entities = [resolved[position] for position in positions]
                queries = projected.transform(vectors[positions])
                offsets = self._offsets(entities, one, projected.tails)
                answers = projected.searcher.top(
                    queries,
                    k,
                    [own_row(entity) for entity in entities],
                    None if projected.tails is None else offsets,
                )
                for position, entity, scored, (linked, _) in zip(
                    positions, entities, answers, offsets, strict=True
                ):
                    resolutions = {
                        "text": entity.resolution,
                        "condition": under[position].relation.resolution,
                    }
                    method = self._strategy.method + WITH_TAILS * (len(linked) > 0)
                    hits[position] = Answer(
                        hits_of(self._graph, scored, no_rows()), resolutions, method
                    )
        return answered(self._graph, "similar", hits, start)

    def resolved(self, condition: str) -> Condition:
        """Resolve a relation, "inverse " and a relation, or any other text to a condition.

        Raises:
            SettingsError: If ``condition`` is not text, or is empty.
            UnknownRelation: If ``condition`` is a CURIE or IRI that the graph does not have.
        """
        if not isinstance(condition, str) or not condition.strip():
            raise SettingsError(
                f"condition: expected a relation or a text such as 'genre', found {condition!r}"
            )
        relation = resolve_relation(self._graph, condition)
        text = relation_text(self._relation_texts, relation, relation.inverted)
        return Condition(text, relation.row, relation.inverted, relation)

    def _under(self, conditions: Sequence[Condition]) -> Iterator[tuple[Condition, _Projected]]:
        """Yield each condition with the transformed entities; conditions in memory come first."""
        with self._lock:
            ready = {one: self._projected[one] for one in conditions if one in self._projected}
            for one in ready:
                self._projected.move_to_end(one)
        yield from ready.items()
        missing = [one for one in conditions if one not in ready]
        ready.clear()
        for one, transform in self._strategy.transforms(missing):
            projected = _Projected(transform, self._searcher(transform), self._tails(one))
            with self._lock:
                self._projected[one] = projected
                while len(self._projected) > self._room:
                    self._projected.popitem(last=False)
            yield one, projected

    def _searcher(self, transform: Transform) -> Searcher:
        whole = np.empty((len(self._strategy.vectors), self._strategy.width), dtype=np.float32)
        for first, block in self._strategy.vectors.blocks():
            for start in range(0, len(block), ROWS):
                piece = block[start : start + ROWS]
                whole[first + start : first + start + len(piece)] = transform(piece)
        return Searcher(Vectors([whole]), self._resources.device)

    def _tails(self, condition: Condition) -> TailCentroids | None:
        """Return the known tails of all entities; ``None`` if the condition is free text."""
        if condition.row is None:
            return None
        links = np.flatnonzero(self._graph.relations == condition.row)
        heads, tails = self._graph.heads[links], self._graph.tails[links]
        if condition.backward:
            heads, tails = tails, heads
        return TailCentroids(heads, tails, self._queries.entities)

    def _offsets(
        self, entities: Sequence[ResolvedTerm], condition: Condition, tails: TailCentroids | None
    ) -> list[Offsets]:
        """Return the score offsets of each query: the cosines with known tails."""
        offsets = [no_offsets()] * len(entities)
        if tails is None:
            return offsets
        directions = {position: tails.of(entity.row) for position, entity in enumerate(entities)}
        without = [position for position, direction in directions.items() if direction is None]
        if without and self._queries.projects:
            vectors = self._queries.vectors([entities[position] for position in without])
            projections, number = self._queries.projection(
                condition.relation, backward=condition.backward
            )
            directions.update(zip(without, projections.project(vectors, number), strict=True))
        known = {
            position: direction
            for position, direction in directions.items()
            if direction is not None
        }
        if known:
            cosines = tails.cosines(np.stack(list(known.values())))
            for position, own in zip(known, cosines, strict=True):
                offsets[position] = own
        return offsets

    def _expect_room(self, memory: int) -> int:
        """Return the number of conditions whose transformed entities fit into ``memory`` bytes.

        Raises:
            SettingsError: If the entities under one condition do not fit.
        """
        rows, width = len(self._strategy.vectors), self._strategy.width
        one = rows * width * 4
        if memory < one:
            raise SettingsError(
                f"condition_memory: expected at least {one:,} bytes, for {rows:,} entities under "
                f"one condition ({width} numbers each), found {memory:,}"
            )
        return memory // max(1, one)

    @cached_property
    def _relation_texts(self) -> list[str]:
        return relation_texts(self._graph)
