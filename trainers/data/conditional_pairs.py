"""Conditional similarity pairs drawn from a graph.

The conditions are relations; two entities are similar under a relation if they share tails.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import GraphError, SettingsError, expect_whole
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.text import DEFAULT_TEXTS, TextSettings, entity_texts, relation_texts
from ontodex.trainers.data.csts_rows import LABELS, CstsRow, CstsRows

__all__ = ["ConditionalPairs", "ConditionalPairsSettings", "PairDraw", "conditional_pairs"]

PATIENCE = 40
"""Consecutive draws without a new pair after which a condition counts as exhausted."""

SLACK, SLACK_SHARE = 8, 0.1
"""Allowed imbalance between similar and dissimilar rows of a condition.

The difference may be 8 plus a tenth of the rows of the condition.
"""

TRIED = 16
"""Entities of a group that are tried as the second entity of a dissimilar row."""

Tails = dict[int, frozenset[int]]
"""Tails of one entity under each condition."""

Drawn = tuple[int, int, int, int]
"""Two entities, a condition under which they share tails, and one under which they do not."""


class PairDraw:
    """Draws pairs of rows without repetition: a pair of texts is drawn at most once.

    Args:
        graph: The graph, whose known triples give the tails of entities.
        texts: Text of each entity.
        conditions: Texts of the relations, followed by the texts of their inverses.
        rng: Source of random numbers.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        texts: Sequence[str],
        conditions: Sequence[str],
        rng: np.random.Generator,
    ) -> None:
        self._texts, self._conditions, self._rng = texts, conditions, rng
        relations = graph.relations.astype(np.int64)
        condition = np.concatenate([relations, relations + graph.n_relations])
        entity = np.concatenate([graph.heads, graph.tails]).astype(np.int64)
        tail = np.concatenate([graph.tails, graph.heads]).astype(np.int64)
        order = np.lexsort((tail, condition))
        self._condition, self._entity, self._tail = condition[order], entity[order], tail[order]
        self._by_entity = np.argsort(self._entity, kind="stable")
        self._bounds = np.searchsorted(
            self._entity[self._by_entity], np.arange(graph.n_entities + 1)
        )
        self._tails: dict[int, Tails] = {}
        self._drawn: set[tuple[str, str]] = set()

    def rows(
        self,
        pairs: int,
        allowed: NDArray[np.bool_],
        conditions: Collection[int],
        of: Collection[int] = (),
    ) -> list[CstsRow]:
        """Draw pairs of rows: a row with similar entities, then a row with dissimilar ones.

        The two rows of a pair have the same entities under different conditions. Conditions take
        turns. A condition is drawn for a row with similar entities if it has fewer such rows than
        rows with dissimilar entities, and the other way round.

        Args:
            pairs: Largest number of pairs.
            allowed: Which entities may be drawn, of shape (entities,).
            conditions: Conditions that may be drawn.
            of: If not empty, at least one row of each pair is under one of these conditions, and
                only these are balanced.
        """
        part = _Part(
            self._groups(allowed, conditions), frozenset(conditions), frozenset(of or conditions)
        )
        failures = dict.fromkeys(sorted(part.balanced & part.members.keys()), 0)
        rows: list[CstsRow] = []
        while len(rows) < 2 * pairs and failures:
            for condition in list(failures):
                wanted = part.balance.get(condition, 0)
                draw = (
                    self._similar
                    if wanted < 0 or (wanted == 0 and self._rng.random() < 0.5)
                    else self._dissimilar
                )
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
        """Return, for each condition and each of its tails, the entities that have the tail."""
        use = allowed[self._entity] & np.isin(self._condition, list(conditions))
        condition, tail, entity = self._condition[use], self._tail[use], self._entity[use]
        bounds = np.flatnonzero((np.diff(condition) != 0) | (np.diff(tail) != 0)) + 1
        starts, ends = np.append(0, bounds), np.append(bounds, len(condition))
        found: dict[int, dict[int, NDArray[np.int64]]] = {}
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            if end > start:
                found.setdefault(int(condition[start]), {})[int(tail[start])] = entity[start:end]
        return found

    def _similar(self, part: _Part, condition: int) -> Drawn | None:
        """Draw two entities that share tails under ``condition``, and a condition without any."""
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

    def _dissimilar(self, part: _Part, condition: int) -> Drawn | None:
        """Draw two entities without shared tails under ``condition``, and a condition with some."""
        members = part.members[condition]
        first = int(members[self._rng.integers(len(members))])
        ours = self._tails_of(first)
        chosen = self._choice(
            part,
            [
                other
                for other in ours.keys() & part.shared.keys()
                if other != condition and part.fits(other, 1)
            ],
            1,
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
        """Choose a condition at random among those whose balance ``step`` improves most.

        Conditions that must be balanced are preferred. ``step`` is 1 for a row with similar
        entities and -1 for a row with dissimilar entities.
        """
        options = sorted(part.balanced.intersection(options) or options)
        if not options:
            return None
        need = [-step * part.balance.get(other, 0) for other in options]
        neediest = [other for other, value in zip(options, need, strict=True) if value == max(need)]
        return neediest[self._rng.integers(len(neediest))]

    def _are_new(self, first: int, second: int) -> bool:
        texts = self._texts[first], self._texts[second]
        return texts[0] != texts[1] and "" not in texts and texts not in self._drawn

    def _rows_of(self, first: int, second: int, similar: int, dissimilar: int) -> list[CstsRow]:
        texts = self._texts[first], self._texts[second]
        self._drawn |= {texts, texts[::-1]}
        ours, theirs = (self._tails_of(entity)[similar] for entity in (first, second))
        label = LABELS[0] + (LABELS[1] - LABELS[0]) * len(ours & theirs) / len(ours | theirs)
        return [
            (*texts, self._conditions[similar], round(label, 4)),
            (*texts, self._conditions[dissimilar], LABELS[0]),
        ]

    def _tails_of(self, entity: int) -> Tails:
        if entity not in self._tails:
            rows = self._by_entity[self._bounds[entity] : self._bounds[entity + 1]]
            tails: dict[int, set[int]] = {}
            for condition, tail in zip(
                self._condition[rows].tolist(), self._tail[rows].tolist(), strict=True
            ):
                tails.setdefault(condition, set()).add(tail)
            self._tails[entity] = {
                condition: frozenset(those) for condition, those in tails.items()
            }
        return self._tails[entity]


class _Part:
    """Entities and conditions of a part of a data set, with the balance of each condition.

    The balance is the number of rows with similar entities minus the number of rows with dissimilar
    entities.

    Args:
        groups: For each condition and each of its tails, the entities that have the tail.
        conditions: All conditions of the part.
        balanced: Conditions that must be balanced.
    """

    def __init__(
        self,
        groups: dict[int, dict[int, NDArray[np.int64]]],
        conditions: frozenset[int],
        balanced: frozenset[int],
    ) -> None:
        self.groups, self.conditions, self.balanced = groups, conditions, balanced
        self.members = {
            condition: np.unique(np.concatenate(list(of.values())))
            for condition, of in groups.items()
        }
        shared = {
            condition: [group for group in of.values() if len(group) > 1]
            for condition, of in groups.items()
        }
        self.shared = {condition: those for condition, those in shared.items() if those}
        self.balance: dict[int, int] = {}
        self._rows: dict[int, int] = {}

    def fits(self, condition: int, step: int) -> bool:
        """Return whether a condition is balanced enough for one more row.

        Args:
            condition: The condition.
            step: 1 for a row with similar entities, -1 for a row with dissimilar entities.
        """
        if condition not in self.balanced:
            return True
        found = self.balance.get(condition, 0) + step
        return found * step <= SLACK + SLACK_SHARE * self._rows.get(condition, 0)

    def note(self, similar: int, dissimilar: int) -> None:
        """Update the balance of the two conditions of a new pair of rows."""
        for condition, step in ((similar, 1), (dissimilar, -1)):
            self.balance[condition] = self.balance.get(condition, 0) + step
            self._rows[condition] = self._rows.get(condition, 0) + 1


TOO_COMMON = 0.25
"""Largest share of the triples that a held-out relation may have.

Without a more frequent relation, too few triples would be left for training.
"""


@dataclass(frozen=True)
class ConditionalPairsSettings:
    """Settings of a generated data set of conditional similarity.

    Attributes:
        pairs: Largest number of pairs of rows to train on.
        held_out: Largest number of pairs of rows in each of the four other parts. ``valid`` and
            ``test`` also have at most a tenth of the number of pairs to train on.
        unseen_conditions: Share of the relations that is held out; 0 for none. If it is not 0, a
            graph with three or more relations holds out at least one, except that relations more
            frequent than :data:`TOO_COMMON` are never held out.
        unseen_entities: Share of the entities that is held out.
        seed: Seed of all draws; equal seeds give equal data sets on every machine.

    Raises:
        SettingsError: If a setting is out of range.
    """

    pairs: int = 40_000
    held_out: int = 1_000
    unseen_conditions: float = 0.15
    unseen_entities: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        expect_whole(self, pairs=1, held_out=0, seed=0)
        for name in ("unseen_conditions", "unseen_entities"):
            if not 0 <= getattr(self, name) < 1:
                raise SettingsError(
                    f"{name}: expected a share from 0 to below 1, found {getattr(self, name)!r}"
                )


@dataclass(frozen=True, eq=False)
class ConditionalPairs:
    """A data set of conditional similarity generated from a graph.

    Attributes:
        train: Training rows: seen entities under seen conditions.
        valid: Validation rows: other pairs of seen entities under seen conditions.
        test: Test rows: further pairs of seen entities under seen conditions.
        unseen_conditions: Test rows of seen entities; at least one row of each pair is under a
            held-out condition.
        unseen_entities: Test rows under seen conditions; both entities are held out.
        seen: Conditions that are not held out.
        settings: Settings of the data set.
    """

    train: CstsRows
    valid: CstsRows
    test: CstsRows
    unseen_conditions: CstsRows
    unseen_entities: CstsRows
    seen: tuple[str, ...]
    settings: ConditionalPairsSettings


def conditional_pairs(
    graph: KnowledgeGraph,
    settings: ConditionalPairsSettings | None = None,
    texts: TextSettings = DEFAULT_TEXTS,
) -> ConditionalPairs:
    """Generate a data set of conditional similarity from the known triples of a graph.

    A condition is a relation, or "inverse " and a relation. Two entities that share tails under a
    condition form a similar row with the label 1 + 4 |A ∩ B| / |A ∪ B|, where A and B are their
    sets of tails. The second row of the pair has a condition under which both entities have tails
    but share none; its label is 1. Only the condition distinguishes the two rows of a pair. Each
    condition is drawn about equally often (up to a tenth) for both kinds of rows, so that the
    condition alone does not predict the label.

    Args:
        graph: The graph; its held-out triples are not used.
        settings: Sizes, shares to hold out, and the seed.
        texts: How entity texts are built.

    Raises:
        GraphError: If the graph has fewer than two relations, two relations with the same text, or
            no entities that can be drawn.
    """
    settings = settings or ConditionalPairsSettings()
    conditions = _distinct_conditions(graph)
    rng = np.random.default_rng(settings.seed)
    relations = _relations_to_hold_out(graph, settings.unseen_conditions, rng)
    held_out = frozenset(relations) | {relation + graph.n_relations for relation in relations}
    seen = frozenset(range(len(conditions))) - held_out
    names = entity_texts(graph, texts)
    numbers: dict[str, int] = {}
    unknown = (rng.random(graph.n_entities) < settings.unseen_entities)[
        # Entities with the same text are held out together.
        [numbers.setdefault(name, len(numbers)) for name in names]
    ]
    draw = PairDraw(graph, names, conditions, rng)
    unseen_conditions = (
        draw.rows(settings.held_out, ~unknown, seen | held_out, held_out) if held_out else []
    )
    unseen_entities = draw.rows(settings.held_out, unknown, seen)
    drawn = draw.rows(settings.pairs + 2 * settings.held_out, ~unknown, seen)
    if not drawn:
        raise GraphError(
            f"{graph.source}: expected entities that share a tail of one relation and have "
            "different tails of another, found none; this graph cannot train conditions"
        )
    pairs = len(drawn) // 2
    order = rng.permutation(pairs)
    held = min(settings.held_out, pairs // 12)
    parts = [
        [row for pair in part.tolist() for row in drawn[2 * pair : 2 * pair + 2]]
        for part in (order[2 * held :][: settings.pairs], order[:held], order[held : 2 * held])
    ]
    train, valid, test = (CstsRows.of(part) for part in parts)
    return ConditionalPairs(
        train=train,
        valid=valid,
        test=test,
        unseen_conditions=CstsRows.of(unseen_conditions),
        unseen_entities=CstsRows.of(unseen_entities),
        seen=tuple(conditions[at] for at in sorted(seen)),
        settings=settings,
    )


def _distinct_conditions(graph: KnowledgeGraph) -> list[str]:
    """Return the texts of all relations and their inverses."""
    if graph.n_relations < 2:
        raise GraphError(
            f"{graph.source}: expected at least two relations, so that entities can be similar "
            f"under one and dissimilar under another, found {graph.n_relations}"
        )
    conditions = relation_texts(graph)
    at: dict[str, int] = {}
    for number, text in enumerate(conditions):
        before = at.setdefault(text, number)
        if before != number:
            first, second = (
                graph.relation_ids[one % graph.n_relations] for one in (before, number)
            )
            raise GraphError(
                f"{graph.source}: expected relations with different texts, found {text!r} for "
                f"{first} and for {second}; give one of them another label"
            )
    return conditions


def _relations_to_hold_out(
    graph: KnowledgeGraph, share: float, rng: np.random.Generator
) -> list[int]:
    """Draw relations to hold out, except too frequent ones; at least two relations are left."""
    counts = np.bincount(graph.relations, minlength=graph.n_relations)
    fit = np.flatnonzero((counts > 1) & (counts <= TOO_COMMON * counts.sum()))
    wanted = min(max(1, round(share * graph.n_relations)), graph.n_relations - 2) if share else 0
    chosen: list[int] = sorted(rng.permutation(fit)[:wanted].tolist())
    return chosen
