"""Similarity under a condition: all entities projected by it, and searched exactly."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Answer, Scored, answered, checked, hits_of, no_rows, own_row
from ontodex.engine.hits import Hits, Reading
from ontodex.engine.projector import vectors_of
from ontodex.engine.resolve import Resolved, resolve_entities, resolve_relation
from ontodex.engine.topk import Searcher
from ontodex.errors import SettingsError
from ontodex.geometry.conditioned import compact, expanded, under_condition
from ontodex.graph import inverse_text, relation_texts
from ontodex.indexers.condition_cache import ConditionCache, Factor
from ontodex.indexers.index import Index
from ontodex.indexers.vectors import Vectors

__all__ = ["DISK", "MEMORY", "Conditions"]

MEMORY = 1 << 30
"""Bytes of memory, by default, for entities projected by conditions."""

DISK = 256 << 20
"""Bytes of disk, by default, for factors of conditions."""

CONDITIONS = 64
"""Conditions whose factors are made at once."""

ROWS = 4096
"""Entities that are projected at once: their float64 copies stay in the processor's cache."""

SPACE = "condition"
METHOD = "similarity under the condition (cosine)"


@dataclass(frozen=True, eq=False)
class _Projected:
    """All entities under one condition."""

    factor: Factor
    searcher: Searcher


class Conditions:
    """Answers what is similar under a condition; see :meth:`~ontodex.engine.engine.Engine.similar`.

    A condition costs most the first time: its text is encoded to a factor, which is kept on the disk, and all entities are
    projected by it, which are kept in memory until others need the room.

    Args:
        index: An opened index.
        memory: Bytes for projected entities.
        disk: Bytes for factors in the index's folder; 0 for none.

    Raises:
        IndexMismatch: If the index has no condition encoder.
        SettingsError: If a budget is too small for the entities under one condition, or for one factor.
    """

    def __init__(self, index: Index, memory: int = MEMORY, disk: int = DISK) -> None:
        self._index = index
        self._graph = index.graph
        self._about = index.condition
        self._vectors = index.vectors(SPACE)
        self._shown = self._expect_room(memory, disk)
        self._cache = ConditionCache(index.path, disk)
        self._projected: OrderedDict[str, _Projected] = OrderedDict()
        self._lock = threading.Lock()

    def similar(self, texts: Sequence[str], condition: str | Sequence[str], k: int) -> list[Hits]:
        """Rank the other entities by how alike they are to each text, under one condition or one for each.

        Raises:
            SettingsError: If there are not as many conditions as texts, or a text or condition is empty or too long.
        """
        k = checked(k)
        start = time.perf_counter()
        named = [condition] * len(texts) if isinstance(condition, str) else list(condition)
        if len(named) != len(texts):
            raise SettingsError(f"condition: expected one, or one for each of {len(texts)} texts, found {len(named)}")
        read = resolve_entities(self._graph, texts)
        under = [self._resolved(one) for one in named]
        groups: dict[str, list[int]] = {}
        for position, (text, _) in enumerate(under):
            groups.setdefault(text, []).append(position)
        vectors = vectors_of(
            self._vectors, read, lambda texts: np.asarray(self._index.condition_encoder.text.encode(texts))
        )
        found: list[Scored] = [(no_rows(), np.zeros(0))] * len(texts)
        for text, projected in self._under(list(groups)):
            positions = groups[text]
            queries = self._transformed(vectors[positions], projected.factor)
            answers = projected.searcher.top(queries, k, [own_row(read[position]) for position in positions])
            for position, answer in zip(positions, answers, strict=True):
                found[position] = answer
        hits: list[Answer] = [
            (hits_of(self._graph, scored, no_rows()), {"text": one.reading, "condition": reading}, METHOD)
            for scored, one, (_, reading) in zip(found, read, under, strict=True)
        ]
        return answered(self._graph, "similar", hits, start)

    def _resolved(self, condition: str) -> tuple[str, Reading]:
        """Return the text that stands for a condition: a relation's, that of a relation's inverse, or any other."""
        if not isinstance(condition, str) or not condition.strip():
            raise SettingsError(f"condition: expected a relation or a text such as 'genre', found {condition!r}")
        prefix = inverse_text("")
        whole, backward = resolve_relation(self._graph, condition), False
        if whole.row is None and condition.startswith(prefix) and condition[len(prefix) :].strip():
            inverted = resolve_relation(self._graph, condition[len(prefix) :])
            if inverted.row is not None:
                reading = inverted.reading
                whole, backward = (
                    Resolved(inverted.row, Reading(condition, reading.kind, reading.id, inverse_text(reading.label))),
                    True,
                )
        if whole.row is None:
            return condition, whole.reading
        return self._relation_texts[whole.row + self._graph.n_relations * backward], whole.reading

    def _under(self, conditions: Sequence[str]) -> Iterator[tuple[str, _Projected]]:
        """Yield the entities under each condition, those that are at hand first."""
        with self._lock:
            ready = {text: self._projected[text] for text in conditions if text in self._projected}
            for text in ready:
                self._projected.move_to_end(text)
        yield from ready.items()
        missing = [text for text in conditions if text not in ready]
        ready.clear()
        for start in range(0, len(missing), CONDITIONS):
            for text, kept in self._factors(missing[start : start + CONDITIONS]).items():
                factor = expanded(kept, self._vectors.dim, int(self._about["width"]))
                projected = _Projected(factor, self._searcher(factor))
                with self._lock:
                    self._projected[text] = projected
                    while len(self._projected) > self._shown:
                        self._projected.popitem(last=False)
                yield text, projected

    def _factors(self, conditions: Sequence[str]) -> dict[str, Factor]:
        """Return compact factors of conditions, from the disk or from their texts: the same to the last bit."""
        encoder = str(self._about["network"])
        factors = self._cache.get(encoder, conditions)
        missing = [text for text in conditions if text not in factors]
        if missing:
            made = dict(zip(missing, map(compact, self._index.condition_encoder.factors(missing)), strict=True))
            self._cache.put(encoder, made)
            factors.update(made)
        return {text: factors[text] for text in conditions}

    def _searcher(self, factor: Factor) -> Searcher:
        whole = np.empty((len(self._vectors), int(self._about["width"])), dtype=np.float32)
        for first, block in self._vectors.blocks():
            for start in range(0, len(block), ROWS):
                piece = block[start : start + ROWS]
                whole[first + start : first + start + len(piece)] = self._transformed(piece, factor)
        return Searcher(Vectors([whole]), self._index.device)

    def _transformed(self, vectors: NDArray[np.float32], factor: Factor) -> NDArray[np.float32]:
        return under_condition(vectors, factor, self._index.condition_mix)

    def _expect_room(self, memory: int, disk: int) -> int:
        """Return how many conditions the memory has room for.

        Raises:
            SettingsError: If it has none, or the disk has none for a factor.
        """
        rows, width, dim = len(self._vectors), int(self._about["width"]), self._vectors.dim
        one, factor = rows * width * 4, dim * (width if self._about["architecture"] == "hyper" else 1) * 4 + 1024
        if memory < one:
            raise SettingsError(
                f"condition_memory: expected at least {one:,} bytes, for {rows:,} entities under one condition "
                f"({width} numbers each), found {memory:,}"
            )
        if disk != 0 and disk < factor:
            raise SettingsError(
                f"condition_disk: expected at least {factor:,} bytes, for the projection of one condition, or 0 for none, "
                f"found {disk:,}"
            )
        return memory // max(1, one)

    @cached_property
    def _relation_texts(self) -> list[str]:
        return relation_texts(self._graph)
