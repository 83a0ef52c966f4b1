"""What is above entities of like text is likely to be above a phrase as well, and a text that is alike to be below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import settings_from
from ontodex.geometry.subsumption import Subsumption
from ontodex.graph import Hierarchy
from ontodex.indexers.likeness import Likeness, counted

__all__ = ["Kin", "KinRule"]

BLOCK = 64
"""Entities that are looked at at once."""

KEYS = {"parents": "kin", "children": "kin_of_children"}
"""Where the manifest has the rule for each question."""


@dataclass(frozen=True)
class KinRule:
    """How much like entities count beside the subsumption score, and what the sum of both means.

    Attributes:
        itself: Weight of the likeness of a parent, or of a child.
        parents: Weight of the likeness of a parent's direct children; 0 for children.
        ancestors: Weight of the likeness of all that is below a parent; 0 for children.
        slope: Steepness of the logistic curve that turns the sum into a probability.
        offset: The curve's logit at zero.
    """

    itself: float
    parents: float
    ancestors: float
    slope: float
    offset: float

    @classmethod
    def read(cls, encoders: Mapping[str, Mapping[str, Any]], where: str) -> dict[str, KinRule]:
        """Return those of an index, by the question: ``"parents"``, ``"children"``, or none.

        Args:
            encoders: What its manifest says of encoders.
            where: What to name if it is damaged.
        """
        about = encoders.get("hit", {})
        return {question: settings_from(cls, about[key], where) for question, key in KEYS.items() if key in about}

    def applied(self, rule: Subsumption) -> Subsumption:
        """Return the rule with the probabilities of sums."""
        return replace(rule, slope=self.slope, offset=self.offset)


class Kin:
    """Scores parents by the asserted hierarchy of entities whose texts are alike, and children by their own texts.

    With the :class:`~ontodex.indexers.likeness.Likeness` k, a parent p of x has three scores, each log(1 + sum / 0.005): its
    own k(x, p), the sum of k(x, c) over its direct children c, and that over all entities c below it. What is asserted below
    x does not count: it says what is above x. A child c has the score log(1 + k(x, c) / 0.005) alone: that it is below an
    entity like x tells siblings of x's children, not these.

    Args:
        hierarchy: What is asserted.
        likeness: Of the entities' texts.
    """

    def __init__(self, hierarchy: Hierarchy, likeness: Likeness) -> None:
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
            For each the rows of answers with a score, ascending, and their scores, ``float64`` of shape (3, rows) for
            parents and (1, rows) for children.
        """
        upward = question == "parents"
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            for row, near, likeness in zip(
                rows[part].tolist(), *self._likeness.of_all(vectors[part], rows[part]), strict=True
            ):
                sums = np.zeros((3 if upward else 1, len(self._likeness)))
                if upward and row >= 0:
                    likeness[self._hierarchy.is_ancestor(near, np.array(row))] = 0.0
                sums[0, near] = likeness
                if upward:
                    parents, ancestors = self._hierarchy.parents_of(near), self._hierarchy.ancestors_of(near)
                    for own, (owners, above) in zip(sums[1:], (parents, ancestors), strict=True):
                        own += np.bincount(above, likeness[owners], sums.shape[1])
                reached = np.flatnonzero(sums.any(axis=0))
                yield reached, counted(sums[:, reached])

    def bonuses(
        self, question: str, rule: KinRule, vectors: NDArray[np.float32], rows: NDArray[np.integer]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Yield what is added to the subsumption score of each of ``"parents"`` or ``"children"``; see :meth:`scores`."""
        weights = np.array([rule.itself, rule.parents, rule.ancestors])
        for reached, scores in self.scores(question, vectors, rows):
            yield reached, weights[: len(scores)] @ scores
