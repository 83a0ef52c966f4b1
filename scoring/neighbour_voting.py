"""What is above entities of like text is likely to be above a phrase as well, and what is below them, below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import SettingsError, settings_from
from ontodex.geometry.logistic import sigmoid
from ontodex.graph import Hierarchy
from ontodex.scoring.graph_features import Offsets
from ontodex.scoring.similarity import EntitySimilarity, counted

__all__ = ["SCORES", "Added", "NeighbourVotes", "NeighbourVoting", "of_answers"]

BLOCK = 64
"""Entities that are looked at at once."""

SCORES = {
    "parents": ("itself", "parents", "ancestors"),
    "children": ("itself", "siblings", "children"),
}
"""Of which of an entity's kin an answer to each question may be one: the rows of :meth:`NeighbourVotes.scores`."""


class Added(NamedTuple):
    """What like entities say of the answers to one question.

    Attributes:
        rows: The answers of which they say something, ascending, of shape (n,).
        scores: What is added to the subsumption score of each.
        logits: What is added to the logit of its probability.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    logits: NDArray[np.float64]

    @property
    def bonus(self) -> Offsets:
        """What is added to scores alone, as a search takes it."""
        return self.rows, self.scores

    @classmethod
    def nothing(cls) -> Added:
        """Return nothing, of no answer."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))

    def logits_of(self, answers: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return what is added to the logits of some answers."""
        places = np.searchsorted(self.rows, answers)
        return np.where(np.isin(answers, self.rows), np.append(self.logits, 0.0)[places], 0.0)


@dataclass(frozen=True)
class NeighbourVoting:
    """How much like entities count beside the subsumption score, and what the sum of both means.

    Attributes:
        slope: Steepness of the logistic curve that turns the sum into a probability.
        offset: The curve's logit at zero.
        itself: Weight of like entities themselves.
        parents: Weight of their parents, as parents.
        ancestors: Weight of their ancestors, as parents.
        siblings: Weight of their siblings, as children.
        children: Weight of their children, as children.
        curve: What each of the three scores by kin adds to the curve's logit, beside what the sum says; their order is that
            of :data:`SCORES`.
    """

    slope: float
    offset: float
    itself: float
    parents: float = 0.0
    ancestors: float = 0.0
    siblings: float = 0.0
    children: float = 0.0
    curve: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        try:
            first, second, third = map(float, self.curve)
        except (TypeError, ValueError):
            raise SettingsError(
                f"curve: expected three numbers, found {self.curve!r}; build the index anew"
            ) from None
        object.__setattr__(self, "curve", (first, second, third))

    @classmethod
    def read(cls, stated: Mapping[str, Any], where: str) -> dict[str, NeighbourVoting]:
        """Return those of an index, by the question: ``"parents"``, ``"children"``, or none.

        Args:
            stated: The ``neighbour_voting`` entry of its manifest.
            where: What to name if it is damaged.
        """
        return {
            question: settings_from(cls, stated[question], where)
            for question in SCORES
            if question in stated
        }

    def added(self, question: str, rows: NDArray[np.int64], scores: NDArray[np.float64]) -> Added:
        """Return what scores by kin, of shape (3, rows), add."""
        weights = np.array([getattr(self, kin) for kin in SCORES[question]])
        return Added(rows, weights @ scores, np.array(self.curve) @ scores)

    def probability(
        self, scores: NDArray[np.float64], logits: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Turn sums, and what is added to their logits, into probabilities."""
        return sigmoid(self.slope * scores + self.offset + logits)


def of_answers(
    scored: Iterable[tuple[NDArray[np.int64], NDArray[np.float64]]],
    owners: NDArray[np.integer],
    answers: NDArray[np.integer],
    entities: int,
) -> NDArray[np.float64]:
    """Pick the scores of some answers.

    Args:
        scored: Rows with a score, and their scores, of all who asked; see :meth:`NeighbourVotes.scores`.
        owners: Who asked for each answer, a position in ``scored``, of shape (n,).
        answers: Row of each answer.
        entities: How many rows there are.

    Returns:
        ``float64`` of shape (3, n); 0 for what has no score.
    """
    found, every = np.zeros((3, len(answers))), np.zeros((3, entities))
    order = np.argsort(owners, kind="stable")
    start = 0
    for (reached, scores), end in zip(
        scored, np.cumsum(np.bincount(owners)).tolist(), strict=False
    ):
        own, start = order[start:end], end
        every[:, reached] = scores
        found[:, own] = every[:, answers[own]]
        every[:, reached] = 0.0
    return found


class NeighbourVotes:
    """Scores parents and children by the asserted hierarchy of entities whose texts are alike.

    With the :class:`~ontodex.scoring.similarity.EntitySimilarity` k, a parent p of x has three scores, each log(1 + sum
    / 0.005): its own k(x, p), the sum of k(x, c) over its direct children c, and that over all entities c below it. What
    is asserted below x does not count: it says what is above x. A child c has three as well: its own k(x, c), the sum of
    k(x, s) over its siblings s and itself, once for each parent that they share, and that of k(x, p) over its parents p.
    What is asserted of x itself does not count there: its children are taken for children of its parents, as if it were
    new.

    Args:
        hierarchy: What is asserted.
        likeness: Of the entities' texts.
    """

    def __init__(self, hierarchy: Hierarchy, likeness: EntitySimilarity) -> None:
        self._hierarchy, self._likeness = hierarchy, likeness

    def scores(
        self, question: str, vectors: NDArray[np.float32], rows: NDArray[np.integer]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Score the parents, or the children, of entities and texts.

        Args:
            question: ``"parents"`` or ``"children"``.
            vectors: Vectors of their texts, of shape (n, dim); those of entities are not looked at.
            rows: Rows of the entities, of shape (n,); -1 for what is none.

        Yields:
            For each the rows of answers with a score, ascending, and their scores, ``float64`` of shape (3, rows).
        """
        sums_of = self._of_parents if question == "parents" else self._of_children
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            alike = self._likeness.of_all(vectors[part], rows[part])
            for row, near, likeness in zip(rows[part].tolist(), *alike, strict=True):
                sums = sums_of(row, near, likeness)
                reached = np.flatnonzero(sums.any(axis=0))
                yield reached, counted(sums[:, reached])

    def added(
        self,
        question: str,
        rule: NeighbourVoting,
        vectors: NDArray[np.float32],
        rows: NDArray[np.integer],
    ) -> Iterator[Added]:
        """Yield what is added to each of ``"parents"`` or ``"children"``; see :meth:`scores`."""
        for reached, scores in self.scores(question, vectors, rows):
            yield rule.added(question, reached, scores)

    def of_pairs(
        self, question: str, entities: NDArray[np.integer], answers: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """Score pairs of an entity and one that may be its parent, or child.

        Args:
            question: ``"parents"`` or ``"children"``.
            entities: Rows of the entities that are asked about, of shape (pairs,).
            answers: Row of the answer to each.

        Returns:
            Their :meth:`scores`, ``float64`` of shape (3, pairs).
        """
        asked, owners = np.unique(entities, return_inverse=True)
        scored = self.scores(question, np.zeros((len(asked), 0), dtype=np.float32), asked)
        return of_answers(scored, owners, answers, len(self._likeness))

    def _of_parents(
        self, row: int, near: NDArray[np.int64], likeness: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Sum likeness to the entity of a row, or to a text (-1), for parents: of shape (3, entities)."""
        if row >= 0:
            likeness = np.where(self._hierarchy.is_ancestor(near, np.array(row)), 0.0, likeness)
        return np.stack(
            [
                self._sum(near, likeness),
                self._sum_over(self._hierarchy.parents_of(near), likeness),
                self._sum_over(self._hierarchy.ancestors_of(near), likeness),
            ]
        )

    def _of_children(
        self, row: int, near: NDArray[np.int64], likeness: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Sum likeness to the entity of a row, or to a text (-1), for children: of shape (3, entities)."""
        own = self._sum(near, likeness)
        through = np.stack([self._sum_over(self._hierarchy.parents_of(near), likeness), own])
        if row >= 0:
            above = self._hierarchy.parents(row)
            through[0, above] += through[0, row]
            through[:, row] = through[:, above].sum(axis=1)
        parents = np.flatnonzero(through.any(axis=0))
        below = self._hierarchy.children_of(parents)
        return np.stack([own, *(self._sum_over(below, values) for values in through[:, parents])])

    def _sum_over(
        self, pairs: tuple[NDArray[np.int64], NDArray[np.int32]], values: NDArray[np.floating]
    ) -> NDArray[np.float64]:
        """Sum values over (position of a value, row) pairs: of shape (entities,)."""
        owners, rows = pairs
        return self._sum(rows, values[owners])

    def _sum(self, rows: NDArray[np.integer], values: NDArray[np.floating]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = np.bincount(rows, values, len(self._likeness)).astype(
            np.float64
        )
        return sums
