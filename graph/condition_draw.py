"""Drawing two entities that are alike under one condition and unlike under another."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.csts_rows import LABELS, CstsRow
from ontodex.graph.knowledge_graph import KnowledgeGraph

__all__ = ["PairDraw"]

PATIENCE = 40
"""Draws in a row without a new pair after which a condition counts as exhausted."""

SLACK, SLACK_SHARE = 8, 0.1
"""A condition may be drawn so many times more often for the one row than for the other: 8, and a tenth of its rows."""

TRIED = 16
"""Entities of a group that are looked at for one that has tails under a second condition."""

Tails = dict[int, frozenset[int]]
"""Tails of one entity under each condition."""

Drawn = tuple[int, int, int, int]
"""Two entities, the condition under which they are alike, and one under which they are not."""


class PairDraw:
    """Draws pairs of rows, no two texts twice in its life.

    Args:
        graph: Its known triples are drawn from.
        texts: Text of each entity.
        conditions: Text of each relation, and then of each inverse.
        rng: Where chance comes from.
    """

    def __init__(
        self, graph: KnowledgeGraph, texts: Sequence[str], conditions: Sequence[str], rng: np.random.Generator
    ) -> None:
        self._texts, self._conditions, self._rng = texts, conditions, rng
        relations = graph.relations.astype(np.int64)
        condition = np.concatenate([relations, relations + graph.n_relations])
        entity = np.concatenate([graph.heads, graph.tails]).astype(np.int64)
        tail = np.concatenate([graph.tails, graph.heads]).astype(np.int64)
        order = np.lexsort((tail, condition))
        self._condition, self._entity, self._tail = condition[order], entity[order], tail[order]
        self._by_entity = np.argsort(self._entity, kind="stable")
        self._bounds = np.searchsorted(self._entity[self._by_entity], np.arange(graph.n_entities + 1))
        self._tails: dict[int, Tails] = {}
        self._drawn: set[tuple[str, str]] = set()

    def rows(
        self, pairs: int, allowed: NDArray[np.bool_], conditions: Collection[int], of: Collection[int] = ()
    ) -> list[CstsRow]:
        """Draw pairs of rows: first the one of a condition under which the entities are alike, then the other.

        The conditions take turns, each for the row that it was drawn for more seldom so far.

        Args:
            pairs: Most pairs.
            allowed: Which entities may be drawn, of shape (entities,).
            conditions: Which conditions may be.
            of: If any, at least one row of each pair is under one of these; only they are then kept in balance.
        """
        part = _Part(self._groups(allowed, conditions), frozenset(conditions), frozenset(of or conditions))
        failures = dict.fromkeys(sorted(part.balanced & part.members.keys()), 0)
        rows: list[CstsRow] = []
        while len(rows) < 2 * pairs and failures:
            for condition in list(failures):
                wanted = part.balance.get(condition, 0)
                draw = self._alike if wanted < 0 or (wanted == 0 and self._rng.random() < 0.5) else self._unlike
                drawn = draw(part, condition)
                if drawn is None or not self._are_new(*drawn[:2]):
                    failures[condition] += 1
                    if failures[condition] == PATIENCE:
                        del failures[condition]
                    continue
                failures[condition] = 0
                rows += self._rows_of(*drawn)
                part.note(*drawn[2:])
                if len(rows) == 2 * pairs:
                    break
        return rows

    def _groups(
        self, allowed: NDArray[np.bool_], conditions: Collection[int]
    ) -> dict[int, dict[int, NDArray[np.int64]]]:
        """Return, for each condition and each of its tails, the entities that have it."""
        use = allowed[self._entity] & np.isin(self._condition, list(conditions))
        condition, tail, entity = self._condition[use], self._tail[use], self._entity[use]
        bounds = np.flatnonzero((np.diff(condition) != 0) | (np.diff(tail) != 0)) + 1
        starts, ends = np.append(0, bounds), np.append(bounds, len(condition))
        found: dict[int, dict[int, NDArray[np.int64]]] = {}
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            if end > start:
                found.setdefault(int(condition[start]), {})[int(tail[start])] = entity[start:end]
        return found

    def _alike(self, part: _Part, condition: int) -> Drawn | None:
        """Draw two entities that share a tail under a condition, and a condition under which they share none."""
        shared = part.shared.get(condition)
        if not shared:
            return None
        group = shared[self._rng.integers(len(shared))]
        at = self._rng.integers(len(group))
        first, second = int(group[at]), int(group[at - self._rng.integers(1, len(group))])
        ours, theirs = self._tails_of(first), self._tails_of(second)
        options = [
            other
            for other in ours.keys() & theirs.keys() & part.conditions
            if not ours[other] & theirs[other] and part.fits(other, -1)
        ]
        chosen = self._choice(part, options, -1)
        return None if chosen is None else (first, second, condition, chosen)

    def _unlike(self, part: _Part, condition: int) -> Drawn | None:
        """Draw two entities with different tails under a condition, and a condition under which they share one."""
        members = part.members[condition]
        first = int(members[self._rng.integers(len(members))])
        ours = self._tails_of(first)
        chosen = self._choice(
            part, [other for other in ours.keys() & part.shared.keys() if other != condition and part.fits(other, 1)], 1
        )
        if chosen is None:
            return None
        tails = sorted(ours[chosen])
        group = part.groups[chosen][tails[self._rng.integers(len(tails))]]
        for second in group[self._rng.integers(len(group), size=TRIED)].tolist():
            theirs = self._tails_of(second)
            if second != first and condition in theirs and not ours[condition] & theirs[condition]:
                return first, second, chosen, condition
        return None

    def _choice(self, part: _Part, options: list[int], step: int) -> int | None:
        """Choose one of those to keep in balance, if there are any; of these one that needs the step most."""
        options = sorted(part.balanced.intersection(options) or options)
        if not options:
            return None
        need = [-step * part.balance.get(other, 0) for other in options]
        neediest = [other for other, value in zip(options, need, strict=True) if value == max(need)]
        return neediest[self._rng.integers(len(neediest))]

    def _are_new(self, first: int, second: int) -> bool:
        texts = self._texts[first], self._texts[second]
        return texts[0] != texts[1] and "" not in texts and texts not in self._drawn

    def _rows_of(self, first: int, second: int, alike: int, unlike: int) -> list[CstsRow]:
        texts = self._texts[first], self._texts[second]
        self._drawn |= {texts, texts[::-1]}
        ours, theirs = (self._tails_of(entity)[alike] for entity in (first, second))
        label = LABELS[0] + (LABELS[1] - LABELS[0]) * len(ours & theirs) / len(ours | theirs)
        return [(*texts, self._conditions[alike], round(label, 4)), (*texts, self._conditions[unlike], LABELS[0])]

    def _tails_of(self, entity: int) -> Tails:
        if entity not in self._tails:
            rows = self._by_entity[self._bounds[entity] : self._bounds[entity + 1]]
            tails: dict[int, set[int]] = {}
            for condition, tail in zip(self._condition[rows].tolist(), self._tail[rows].tolist(), strict=True):
                tails.setdefault(condition, set()).add(tail)
            self._tails[entity] = {condition: frozenset(those) for condition, those in tails.items()}
        return self._tails[entity]


class _Part:
    """What one part of a data set is drawn from, and how often each condition was drawn for either row.

    Args:
        groups: For each condition and each of its tails, the entities that have it.
        conditions: All conditions of the part.
        balanced: Those to keep in balance.
    """

    def __init__(
        self,
        groups: dict[int, dict[int, NDArray[np.int64]]],
        conditions: frozenset[int],
        balanced: frozenset[int],
    ) -> None:
        self.groups, self.conditions, self.balanced = groups, conditions, balanced
        self.members = {condition: np.unique(np.concatenate(list(of.values()))) for condition, of in groups.items()}
        shared = {condition: [group for group in of.values() if len(group) > 1] for condition, of in groups.items()}
        self.shared = {condition: those for condition, those in shared.items() if those}
        self.balance: dict[int, int] = {}
        self._rows: dict[int, int] = {}

    def fits(self, condition: int, step: int) -> bool:
        """Tell whether a condition may be drawn as alike (1) or as unlike (-1) once more."""
        if condition not in self.balanced:
            return True
        found = self.balance.get(condition, 0) + step
        return found * step <= SLACK + SLACK_SHARE * self._rows.get(condition, 0)

    def note(self, alike: int, unlike: int) -> None:
        """Take note of a pair of rows."""
        for condition, step in ((alike, 1), (unlike, -1)):
            self.balance[condition] = self.balance.get(condition, 0) + step
            self._rows[condition] = self._rows.get(condition, 0) + 1
