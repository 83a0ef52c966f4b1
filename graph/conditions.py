"""From a graph to similarity under conditions: a relation is one, entities that share its tails are alike under it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ontodex.errors import GraphError, SettingsError, expect_whole
from ontodex.graph.condition_draw import PairDraw
from ontodex.graph.csts_rows import CstsRows
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.text import DEFAULT_TEXTS, TextSettings, entity_texts, relation_texts

__all__ = ["ConditionalPairs", "ConditionalPairsSettings", "conditional_pairs"]

TOO_COMMON = 0.25
"""A relation with more than this share of the triples is not held out: too little would be left to learn from."""


@dataclass(frozen=True)
class ConditionalPairsSettings:
    """How a data set is made.

    Attributes:
        pairs: Most pairs of rows to train on.
        held_out: Most pairs of rows in each of the four other parts, and no more than a tenth of those to train on in
            ``valid`` and ``test``.
        unseen_conditions: Share of the relations that are held out; at least one of three.
        unseen_entities: Share of the entities that are held out.
        seed: Equal seeds give equal data sets, on every machine.

    Raises:
        SettingsError: If one makes no sense.
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
                raise SettingsError(f"{name}: expected a share from 0 to below 1, found {getattr(self, name)!r}")


@dataclass(frozen=True, eq=False)
class ConditionalPairs:
    """A data set of conditional similarity, made of a graph.

    Attributes:
        train: To train on: seen entities under seen conditions.
        valid: Other pairs of these entities, under these conditions, to choose by.
        test: Likewise, to measure on.
        unseen_conditions: Seen entities; at least one row of each pair is under a condition that is held out.
        unseen_entities: Seen conditions; both entities are held out.
        seen: The conditions that are not held out.
        settings: How it was made.
    """

    train: CstsRows
    valid: CstsRows
    test: CstsRows
    unseen_conditions: CstsRows
    unseen_entities: CstsRows
    seen: tuple[str, ...]
    settings: ConditionalPairsSettings


def conditional_pairs(
    graph: KnowledgeGraph, settings: ConditionalPairsSettings | None = None, texts: TextSettings = DEFAULT_TEXTS
) -> ConditionalPairs:
    """Make a data set of conditional similarity from the known triples of a graph.

    A condition is a relation, or "inverse " and a relation. Two entities that share tails of it are alike under it:
    label 1 + 4 |A ∩ B| / |A ∪ B|, with A and B their tails. Their other row is under a condition of which both have
    tails and share none: label 1. So one must read the condition to tell the rows of a pair apart; and because each
    condition is drawn as often for the one row as for the other (up to a tenth), the condition alone says little.

    Args:
        graph: Triples held out in it are not looked at.
        settings: How many pairs, what to hold out, and the seed.
        texts: How an entity's text is built.

    Raises:
        GraphError: If the graph has fewer than two relations, two with the same text, or no entities to be drawn.
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
        [numbers.setdefault(name, len(numbers)) for name in names]  # what reads alike is held out together
    ]
    draw = PairDraw(graph, names, conditions, rng)
    unseen_conditions = draw.rows(settings.held_out, ~unknown, seen | held_out, held_out) if held_out else []
    unseen_entities = draw.rows(settings.held_out, unknown, seen)
    drawn = draw.rows(settings.pairs + 2 * settings.held_out, ~unknown, seen)
    if not drawn:
        raise GraphError(
            f"{graph.source}: expected entities that share a tail of one relation and have different tails of "
            "another, found none; conditions cannot be learnt from this graph"
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
            f"{graph.source}: expected at least two relations, so that entities can be alike under one and not under "
            f"another, found {graph.n_relations}"
        )
    conditions = relation_texts(graph)
    at: dict[str, int] = {}
    for number, text in enumerate(conditions):
        before = at.setdefault(text, number)
        if before != number:
            first, second = (graph.relation_ids[one % graph.n_relations] for one in (before, number))
            raise GraphError(
                f"{graph.source}: expected relations that read differently, found {text!r} for {first} and for {second}; "
                "give one of them another label"
            )
    return conditions


def _relations_to_hold_out(graph: KnowledgeGraph, share: float, rng: np.random.Generator) -> list[int]:
    """Draw relations that are none of the most common; two at least are left."""
    counts = np.bincount(graph.relations, minlength=graph.n_relations)
    fit = np.flatnonzero((counts > 1) & (counts <= TOO_COMMON * counts.sum()))
    wanted = min(max(1, round(share * graph.n_relations)), graph.n_relations - 2) if share else 0
    chosen: list[int] = sorted(rng.permutation(fit)[:wanted].tolist())
    return chosen
