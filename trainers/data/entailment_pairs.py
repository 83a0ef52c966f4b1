"""Judgements of entailment: premises, hypotheses, and whether the one entails the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import GraphError, SettingsError
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.text import in_words
from ontodex.readers import read

__all__ = [
    "CONTRADICTION",
    "ENTAILMENT",
    "LABELS",
    "NEUTRAL",
    "NOT_ENTAILMENT",
    "EntailmentPairs",
    "entailment_pairs",
]

LABELS = ("entailment", "neutral", "contradiction", "not_entailment")
"""Names of the labels; the last is of sets that do not tell neutral from contradiction."""

ENTAILMENT, NEUTRAL, CONTRADICTION, NOT_ENTAILMENT = range(4)

LEAST_LINKS = 20
"""Links of a hierarchy below which nothing can be learnt and held out."""


@dataclass(frozen=True, eq=False)
class EntailmentPairs:
    """Pairs of texts with a label, each text kept once.

    Attributes:
        texts: Distinct texts.
        premises: Premise of each pair, an index into ``texts``, ``int64`` of shape (pairs,).
        hypotheses: Hypothesis of each pair, likewise.
        labels: Numbers of :data:`LABELS`, ``int8`` of shape (pairs,).
        two_way: Whether each pair is known to be entailed in both directions, ``bool`` of shape (pairs,).

    Example:
        >>> pairs = EntailmentPairs.of([("A dog barks.", "An animal barks.", ENTAILMENT)])
        >>> pairs.texts, pairs.entailed.tolist()
        (['A dog barks.', 'An animal barks.'], [True])
    """

    texts: list[str]
    premises: NDArray[np.int64]
    hypotheses: NDArray[np.int64]
    labels: NDArray[np.int8]
    two_way: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str, int]]) -> EntailmentPairs:
        """Make the columns of (premise, hypothesis, label) rows; two-way are entailed ones whose turned are entailed."""
        texts: dict[str, int] = {}
        places = [
            (texts.setdefault(premise, len(texts)), texts.setdefault(hypothesis, len(texts)), label)
            for premise, hypothesis, label in rows
        ]
        premises, hypotheses, labels = np.array(places, dtype=np.int64).reshape(-1, 3).T.copy()
        entailed = labels == ENTAILMENT
        turned = (hypotheses * len(texts) + premises)[entailed]
        two_way = entailed & np.isin(premises * len(texts) + hypotheses, turned)
        return cls(list(texts), premises, hypotheses, labels.astype(np.int8), two_way)

    def rows(self) -> list[tuple[str, str, int]]:
        """Return the (premise, hypothesis, label) rows."""
        columns = (self.premises.tolist(), self.hypotheses.tolist(), self.labels.tolist())
        return [
            (self.texts[premise], self.texts[hypothesis], label)
            for premise, hypothesis, label in zip(*columns, strict=True)
        ]

    @property
    def entailed(self) -> NDArray[np.bool_]:
        """Whether each premise entails its hypothesis, of shape (pairs,)."""
        return np.asarray(self.labels == ENTAILMENT)

    def part(self, which: NDArray[np.bool_] | NDArray[np.integer]) -> EntailmentPairs:
        """Return some of the pairs, with their texts alone."""
        ends = np.stack([self.premises[which], self.hypotheses[which]])
        used, places = np.unique(ends, return_inverse=True)
        premises, hypotheses = places.reshape(ends.shape)
        texts = [self.texts[text] for text in used.tolist()]
        return EntailmentPairs(texts, premises, hypotheses, self.labels[which], self.two_way[which])

    def split(self, share: float, seed: int) -> tuple[EntailmentPairs, EntailmentPairs]:
        """Hold out about a share of the pairs, all those of a premise together.

        Args:
            share: Of the premises, between 0 and 1.
            seed: Seed of the draw.

        Returns:
            What is left, and what is held out.

        Raises:
            SettingsError: If one of the two would be empty.
        """
        premises = np.unique(self.premises)
        drawn = np.random.default_rng((seed, 11)).permutation(premises)[
            : round(share * len(premises))
        ]
        held_out = np.isin(self.premises, drawn)
        if held_out.all() or not held_out.any():
            raise SettingsError(
                f"expected pairs of enough premises to hold some out, found {len(premises)} premise(s)"
            )
        return self.part(~held_out), self.part(held_out)

    @classmethod
    def joined(cls, *sets: EntailmentPairs) -> EntailmentPairs:
        """Return the pairs of several sets as one."""
        whole = cls.of(row for pairs in sets for row in pairs.rows())
        return replace(
            whole, two_way=whole.two_way | np.concatenate([pairs.two_way for pairs in sets])
        )


def entailment_pairs(source: Any, *, relation: str | None = None, seed: int = 0) -> EntailmentPairs:
    """Make pairs of a hierarchy: what a child says entails what its ancestors say.

    Every entity says its label, and, if it has one, its definition after it; which of the two a pair takes is drawn. For
    each link there are the pair itself; one with an ancestor farther up, if there is one; the pair turned round, a sibling,
    and an entity at random, which are neutral: that a premise entails none of them is taken from the hierarchy as it is.
    Links that close a circle are left out.

    Args:
        source: A graph with a hierarchy, or what :func:`ontodex.read` reads.
        relation: The relation from child to parent; by default every relation named like one.
        seed: Seed of all draws.

    Raises:
        GraphError: If there is no hierarchy, or one of fewer than 20 links.
    """
    graph = read(source)
    hierarchy = graph.hierarchy(relation, on_cycle="warn")
    if len(hierarchy.links) < LEAST_LINKS:
        raise GraphError(
            f"{graph.source}: expected a hierarchy of at least {LEAST_LINKS} links to make pairs of, found "
            f"{len(hierarchy.links)}"
        )
    rng = np.random.default_rng((seed, 12))
    said = _Said(graph, rng)
    rows: list[tuple[str, str, int]] = []
    for child, parent in hierarchy.links.tolist():
        above = hierarchy.ancestors(child)
        farther = np.setdiff1d(above, hierarchy.parents(child))
        entailed = (
            [parent, *farther[rng.integers(len(farther), size=1)].tolist()]
            if len(farther)
            else [parent]
        )
        neutral = [
            _other(hierarchy.children(parent), child, above, rng),
            _other(hierarchy.members, child, above, rng),
        ]
        rows += [(said.by(child), said.by(one), ENTAILMENT) for one in entailed]
        rows.append((said.by(parent), said.by(child), NEUTRAL))
        rows += [(said.by(child), said.by(one), NEUTRAL) for one in neutral if one is not None]
    return EntailmentPairs.of(row for row in rows if row[0] != row[1])


class _Said:
    """What entities say: their label, or their label and definition, as drawn."""

    def __init__(self, graph: KnowledgeGraph, rng: np.random.Generator) -> None:
        self._labels: Sequence[str] = [in_words(label) for label in graph.labels]
        self._definitions: Sequence[str] = list(graph.definitions)
        self._rng = rng

    def by(self, row: int) -> str:
        label, definition = self._labels[row], self._definitions[row]
        return f"{label}: {definition}" if definition and self._rng.random() < 0.5 else label


def _other(
    among: NDArray[np.integer], child: int, above: NDArray[np.integer], rng: np.random.Generator
) -> int | None:
    """Draw one of the entities that is neither the child nor above it; ``None`` if a few draws find none."""
    for one in among[rng.integers(len(among), size=8)].tolist():
        if one != child and one not in above:
            return int(one)
    return None
