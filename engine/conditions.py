"""Similarity under a condition: all entities projected by it, and searched exactly."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ontodex.engine.answers import Answer, answered, checked, hits_of, no_rows, own_row
from ontodex.engine.condition_ways import ByEncoder, ByProjections, Condition, ConditionWay, Transform
from ontodex.engine.linked_tails import LinkedTails
from ontodex.engine.projector import Projector, vectors_of
from ontodex.engine.resolve import Resolved, relation_text, resolve_entities, resolve_relation
from ontodex.engine.results.hits import Hits
from ontodex.engine.search.raised import no_bonus
from ontodex.engine.search.topk import Searcher
from ontodex.errors import SettingsError
from ontodex.graph import relation_texts
from ontodex.indexers.evidence.structure import Bonus
from ontodex.indexers.index import Index
from ontodex.indexers.storage.space_names import CONDITION
from ontodex.indexers.storage.vectors import Vectors

__all__ = ["DISK", "MEMORY", "Conditions"]

MEMORY = 1 << 30
"""Bytes of memory, by default, for entities projected by conditions."""

DISK = 256 << 20
"""Bytes of disk, by default, for factors of conditions."""

ROWS = 4096
"""Entities that are projected at once: their float64 copies stay in the processor's cache."""

BONUSES = 1 << 22
"""Cosines of tails, of all entities with all that are asked about, that are in memory at once."""

LINKED = ", plus that of what both are linked to by it"


@dataclass(frozen=True, eq=False)
class _Projected:
    """All entities under one condition, and what they are linked to by it, if it is a relation of the graph."""

    transform: Transform
    searcher: Searcher
    tails: LinkedTails | None

    def parts(self, positions: list[int]) -> Iterator[list[int]]:
        """Part what is asked about into as many at once as there is room for."""
        step = len(positions) if self.tails is None else max(1, BONUSES // max(1, self.tails.count))
        for start in range(0, len(positions), step):
            yield positions[start : start + step]


class Conditions:
    """Answers what is similar under a condition; see :meth:`~ontodex.engine.engine.Engine.similar`.

    A condition costs most the first time: all entities are projected by it, by the condition encoder of the index or by the
    projections of relations, and kept in memory until others need the room.

    Where the condition is a relation of the graph, what both are linked to by it counts as much: the cosine of the sums of
    their tails' vectors. What is asked about and has none is compared by where the projections, if the index has some,
    look for them.

    Args:
        index: An opened index.
        memory: Bytes for projected entities.
        disk: Bytes for factors of a condition encoder in the index's folder; 0 for none.

    Raises:
        IndexMismatch: If the index has neither a condition encoder nor projections.
        SettingsError: If a budget is too small for the entities under one condition, or for one factor.
    """

    def __init__(self, index: Index, memory: int = MEMORY, disk: int = DISK) -> None:
        self._index = index
        self._graph = index.graph
        self._projector = Projector(index)
        by_projections = CONDITION not in index.manifest.encoders and self._projector.projects
        self._way: ConditionWay = ByProjections(index, self._projector) if by_projections else ByEncoder(index, disk)
        self._room = self._expect_room(memory)
        self._projected: OrderedDict[Condition, _Projected] = OrderedDict()
        self._lock = threading.Lock()

    def similar(self, texts: Sequence[str], condition: str | Sequence[str], k: int) -> list[Hits]:
        """Rank the other entities by how alike they are to each text, under one condition or one for each.

        Raises:
            SettingsError: If there are not as many conditions as texts, or a text or condition is empty or too long.
        """
        k = checked(k)
        start = time.perf_counter()
        read = resolve_entities(self._graph, texts, names=self._index.name_likeness)
        if isinstance(condition, str) or not isinstance(condition, Sequence):
            named = [condition] * len(read)
        else:
            named = list(condition)
        if len(named) != len(read):
            raise SettingsError(f"condition: expected one, or one for each of {len(read)} texts, found {len(named)}")
        under = [self._resolved(one) for one in named]
        groups: dict[Condition, list[int]] = {}
        for position, one in enumerate(under):
            groups.setdefault(one, []).append(position)
        vectors = vectors_of(self._way.vectors, read, self._way.encode)
        hits: list[Answer] = [((), {}, "")] * len(read)
        for one, projected in self._under(list(groups)):
            for positions in projected.parts(groups[one]):
                asked = [read[position] for position in positions]
                queries = projected.transform(vectors[positions])
                bonuses = self._bonuses(asked, one, projected.tails)
                raised = None if projected.tails is None else bonuses
                answers = projected.searcher.top(queries, k, [own_row(entity) for entity in asked], raised)
                for position, entity, scored, (linked, _) in zip(positions, asked, answers, bonuses, strict=True):
                    readings = {"text": entity.reading, "condition": under[position].relation.reading}
                    method = self._way.method + LINKED * (len(linked) > 0)
                    hits[position] = hits_of(self._graph, scored, no_rows()), readings, method
        return answered(self._graph, "similar", hits, start)

    def _resolved(self, condition: str) -> Condition:
        """Read a relation, "inverse " and a relation, or any other text."""
        if not isinstance(condition, str) or not condition.strip():
            raise SettingsError(f"condition: expected a relation or a text such as 'genre', found {condition!r}")
        relation = resolve_relation(self._graph, condition)
        text = relation_text(self._relation_texts, relation, relation.inverted)
        return Condition(text, relation.row, relation.inverted, relation)

    def _under(self, conditions: Sequence[Condition]) -> Iterator[tuple[Condition, _Projected]]:
        """Yield the entities under each condition, those that are at hand first."""
        with self._lock:
            ready = {one: self._projected[one] for one in conditions if one in self._projected}
            for one in ready:
                self._projected.move_to_end(one)
        yield from ready.items()
        missing = [one for one in conditions if one not in ready]
        ready.clear()
        for one, transform in self._way.transforms(missing):
            projected = _Projected(transform, self._searcher(transform), self._tails(one))
            with self._lock:
                self._projected[one] = projected
                while len(self._projected) > self._room:
                    self._projected.popitem(last=False)
            yield one, projected

    def _searcher(self, transform: Transform) -> Searcher:
        whole = np.empty((len(self._way.vectors), self._way.width), dtype=np.float32)
        for first, block in self._way.vectors.blocks():
            for start in range(0, len(block), ROWS):
                piece = block[start : start + ROWS]
                whole[first + start : first + start + len(piece)] = transform(piece)
        return Searcher(Vectors([whole]), self._index.device)

    def _tails(self, condition: Condition) -> LinkedTails | None:
        """Return what entities are linked to by a condition that is a relation."""
        if condition.row is None:
            return None
        links = np.flatnonzero(self._graph.relations == condition.row)
        heads, tails = self._graph.heads[links], self._graph.tails[links]
        if condition.backward:
            heads, tails = tails, heads
        return LinkedTails(heads, tails, self._projector.entities)

    def _bonuses(self, asked: Sequence[Resolved], condition: Condition, tails: LinkedTails | None) -> list[Bonus]:
        """Return what tails add to the score of each entity that has some, for each that is asked about."""
        bonuses = [no_bonus()] * len(asked)
        if tails is None:
            return bonuses
        directions = {position: tails.of(entity.row) for position, entity in enumerate(asked)}
        without = [position for position, direction in directions.items() if direction is None]
        if without and self._projector.projects:
            vectors = self._projector.vectors([asked[position] for position in without])
            projections, number = self._projector.projections(condition.relation, backward=condition.backward)
            directions.update(zip(without, projections.project(vectors, number), strict=True))
        known = {position: direction for position, direction in directions.items() if direction is not None}
        if known:
            for position, bonus in zip(known, tails.alike(np.stack(list(known.values()))), strict=True):
                bonuses[position] = bonus
        return bonuses

    def _expect_room(self, memory: int) -> int:
        """Return how many conditions the memory has room for.

        Raises:
            SettingsError: If it has none.
        """
        rows, width = len(self._way.vectors), self._way.width
        one = rows * width * 4
        if memory < one:
            raise SettingsError(
                f"condition_memory: expected at least {one:,} bytes, for {rows:,} entities under one condition "
                f"({width} numbers each), found {memory:,}"
            )
        return memory // max(1, one)

    @cached_property
    def _relation_texts(self) -> list[str]:
        return relation_texts(self._graph)
