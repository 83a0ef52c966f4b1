"""Labelled entailment pairs: premises, hypotheses and labels."""

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
"""Names of the labels.

``not_entailment`` is used by data sets that do not distinguish neutral pairs and contradictions.
"""

ENTAILMENT, NEUTRAL, CONTRADICTION, NOT_ENTAILMENT = range(4)

LEAST_LINKS = 20
"""Smallest number of links of a hierarchy from which pairs can be made."""


@dataclass(frozen=True, eq=False)
class EntailmentPairs:
    """Labelled pairs of texts; each text is stored once.

    Attributes:
        texts: Distinct texts.
        premises: Premise of each pair, an index into ``texts``, ``int64`` of shape (pairs,).
        hypotheses: Hypothesis of each pair, an index into ``texts``, ``int64`` of shape (pairs,).
        labels: Label of each pair, an index into :data:`LABELS`, ``int8`` of shape (pairs,).
        two_way: Whether each pair is known to be entailed in both directions, ``bool`` of shape
            (pairs,).

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
        """Build the columns from (premise, hypothesis, label) rows.

        ``two_way`` is set for entailed pairs whose reverse is an entailed pair as well.
        """
        texts: dict[str, int] = {}
        places = [
            (texts.setdefault(premise, len(texts)), texts.setdefault(hypothesis, len(texts)), label)
            for premise, hypothesis, label in rows
        ]
        premises, hypotheses, labels = np.array(places, dtype=np.int64).reshape(-1, 3).T.copy()
        entailed = labels == ENTAILMENT
        reverse = (hypotheses * len(texts) + premises)[entailed]
        two_way = entailed & np.isin(premises * len(texts) + hypotheses, reverse)
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
        """Return a subset of the pairs, with only the texts that occur in it."""
        ends = np.stack([self.premises[which], self.hypotheses[which]])
        used, places = np.unique(ends, return_inverse=True)
        premises, hypotheses = places.reshape(ends.shape)
        texts = [self.texts[text] for text in used.tolist()]
        return EntailmentPairs(texts, premises, hypotheses, self.labels[which], self.two_way[which])

    def split(self, share: float, seed: int) -> tuple[EntailmentPairs, EntailmentPairs]:
        """Hold out all pairs of a random share of the premises.

        Args:
            share: Share of the premises, between 0 and 1.
            seed: Seed of the draw.

        Returns:
            The remaining pairs, and the held-out pairs.

        Raises:
            SettingsError: If one of the two parts would be empty.
        """
        premises = np.unique(self.premises)
        drawn = np.random.default_rng((seed, 11)).permutation(premises)[
            : round(share * len(premises))
        ]
        held_out = np.isin(self.premises, drawn)
        if held_out.all() or not held_out.any():
            raise SettingsError(
                f"expected pairs of enough premises to hold some out, found {len(premises)} "
                "premise(s)"
            )
        return self.part(~held_out), self.part(held_out)

    @classmethod
    def joined(cls, *sets: EntailmentPairs) -> EntailmentPairs:
        """Return the pairs of several data sets as one."""
        merged = cls.of(row for pairs in sets for row in pairs.rows())
        return replace(
            merged, two_way=merged.two_way | np.concatenate([pairs.two_way for pairs in sets])
        )


def entailment_pairs(source: Any, *, relation: str | None = None, seed: int = 0) -> EntailmentPairs:
    """Generate entailment pairs from a hierarchy: a child's text entails its ancestors' texts.

    The text of an entity is its label, or its label and its definition; one of the two is drawn for
    each pair. Each link gives two entailed pairs, the link itself and one with a more distant
    ancestor if there is any. It also gives three neutral pairs: the reversed link, the child with a
    sibling, and the child with a random entity. Neutral pairs assume that the hierarchy is
    complete. Links that close a cycle are left out.

    Args:
        source: A graph with a hierarchy, or a source of :func:`ontodex.read`.
        relation: The relation from child to parent; by default all relations with a name such as
            ``is_a``.
        seed: Seed of all draws.

    Raises:
        GraphError: If there is no hierarchy, or it has fewer than 20 links.
    """
    graph = read(source)
    hierarchy = graph.hierarchy(relation, on_cycle="warn")
    if len(hierarchy.links) < LEAST_LINKS:
        raise GraphError(
            f"{graph.source}: expected a hierarchy of at least {LEAST_LINKS} links to make pairs "
            f"of, found {len(hierarchy.links)}"
        )
    rng = np.random.default_rng((seed, 12))
    texts = _DrawnTexts(graph, rng)
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
        rows += [(texts.draw(child), texts.draw(one), ENTAILMENT) for one in entailed]
        rows.append((texts.draw(parent), texts.draw(child), NEUTRAL))
        rows += [
            (texts.draw(child), texts.draw(one), NEUTRAL) for one in neutral if one is not None
        ]
    return EntailmentPairs.of(row for row in rows if row[0] != row[1])


class _DrawnTexts:
    """Texts of entities: the label, or label and definition, by a random draw."""

    def __init__(self, graph: KnowledgeGraph, rng: np.random.Generator) -> None:
        self._labels: Sequence[str] = [in_words(label) for label in graph.labels]
        self._definitions: Sequence[str] = list(graph.definitions)
        self._rng = rng

    def draw(self, row: int) -> str:
        label, definition = self._labels[row], self._definitions[row]
        return f"{label}: {definition}" if definition and self._rng.random() < 0.5 else label


def _other(
    among: NDArray[np.integer], child: int, above: NDArray[np.integer], rng: np.random.Generator
) -> int | None:
    """Draw an entity other than the child and its ancestors; ``None`` after eight failed draws."""
    for one in among[rng.integers(len(among), size=8)].tolist():
        if one != child and one not in above:
            return int(one)
    return None
