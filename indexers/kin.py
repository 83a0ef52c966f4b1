"""What is above entities of like text: it is likely to be above a phrase as well."""

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


@dataclass(frozen=True)
class KinRule:
    """How much like entities count beside the subsumption score, and what the sum of both means.

    Attributes:
        itself: Weight of a parent's own likeness.
        parents: Weight of the likeness of its direct children.
        ancestors: Weight of the likeness of all that is below it.
        slope: Steepness of the logistic curve that turns the sum into a probability.
        offset: The curve's logit at zero.
    """

    itself: float
    parents: float
    ancestors: float
    slope: float
    offset: float

    @classmethod
    def read(cls, encoders: Mapping[str, Mapping[str, Any]], where: str) -> KinRule | None:
        """Return that of an index, ``None`` if it has none.

        Args:
            encoders: What its manifest says of encoders.
            where: What to name if it is damaged.
        """
        about = encoders.get("hit", {}).get("kin")
        return None if about is None else settings_from(cls, about, where)

    def applied(self, rule: Subsumption) -> Subsumption:
        """Return the rule with the probabilities of sums."""
        return replace(rule, slope=self.slope, offset=self.offset)


class Kin:
    """Scores parents by the asserted hierarchy of entities whose texts are alike.

    With the :class:`~ontodex.indexers.likeness.Likeness` k, a parent p of x has three scores, each log(1 + sum / 0.005): its
    own k(x, p), the sum of k(x, c) over its direct children c, and that over all entities c below it. What is asserted below
    x does not count: it says what is above x.

    Args:
        hierarchy: What is asserted.
        likeness: Of the entities' texts.
    """

    def __init__(self, hierarchy: Hierarchy, likeness: Likeness) -> None:
        self._hierarchy, self._likeness = hierarchy, likeness

    def scores(
        self, vectors: NDArray[np.float32], rows: NDArray[np.integer]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Score the parents of entities and texts.

        Args:
            vectors: Vectors of their texts, of shape (n, dim); those of entities are not looked at.
            rows: Rows of the entities, of shape (n,); -1 for what is none.

        Yields:
            For each the rows of parents with a score, ascending, and their scores, ``float64`` of shape (3, rows).
        """
        count = len(self._likeness)
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            for row, near, likeness in zip(
                rows[part].tolist(), *self._likeness.of_all(vectors[part], rows[part]), strict=True
            ):
                if row >= 0:
                    likeness[self._hierarchy.is_ancestor(near, np.array(row))] = 0.0
                sums = np.zeros((3, count))
                sums[0, near] = likeness
                for own, (owners, above) in zip(
                    sums[1:], (self._hierarchy.parents_of(near), self._hierarchy.ancestors_of(near)), strict=True
                ):
                    own += np.bincount(above, likeness[owners], count)
                reached = np.flatnonzero(sums.any(axis=0))
                yield reached, counted(sums[:, reached])

    def bonuses(
        self, rule: KinRule, vectors: NDArray[np.float32], rows: NDArray[np.integer]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Yield what is added to the subsumption score of each parent; see :meth:`scores`."""
        weights = np.array([rule.itself, rule.parents, rule.ancestors])
        for reached, scores in self.scores(vectors, rows):
            yield reached, weights @ scores
