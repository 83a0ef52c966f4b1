"""Neighbour voting in hierarchies.

The parents (children) of a query's nearest neighbours by text are evidence for its own parents
(children).
"""

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
from ontodex.scoring.similarity import EntitySimilarity, log_similarity

__all__ = ["SCORES", "NeighbourVotes", "NeighbourVoting", "VoteOffsets", "scores_of_answers"]

BLOCK = 64
"""Queries in one block."""

SCORES = {
    "parents": ("itself", "parents", "ancestors"),
    "children": ("itself", "siblings", "children"),
}
"""Relation of an answer to the neighbour that votes for it, for each of the three scores of a
question (:meth:`NeighbourVotes.scores`)."""


class VoteOffsets(NamedTuple):
    """Offsets that neighbour votes add to the answers to one question.

    Attributes:
        rows: The answers with votes, ascending, of shape (n,).
        scores: Offset of each one's subsumption score.
        logits: Offset of the logit of its probability.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    logits: NDArray[np.float64]

    @property
    def offsets(self) -> Offsets:
        """The score offsets alone, for a search."""
        return self.rows, self.scores

    @classmethod
    def none(cls) -> VoteOffsets:
        """Return offsets without an answer."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))

    def logits_of(self, answers: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the logit offsets of some answers, 0 for answers without votes."""
        places = np.searchsorted(self.rows, answers)
        return np.where(np.isin(answers, self.rows), np.append(self.logits, 0.0)[places], 0.0)


@dataclass(frozen=True)
class NeighbourVoting:
    """Weights of neighbour votes, and the logistic curve of the sum of votes and subsumption score.

    Attributes:
        slope: Slope of the logistic curve.
        offset: Logit at zero.
        itself: Weight of a neighbour as an answer itself.
        parents: Weight of its parents, for the question for parents.
        ancestors: Weight of its ancestors, for the question for parents.
        siblings: Weight of its siblings, for the question for children.
        children: Weight of its children, for the question for children.
        curve: Further coefficients of the three scores in the logit, in the order of
            :data:`SCORES`.
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
        """Read the settings of each question that an index has some for.

        Args:
            stated: Entry ``neighbour_voting`` of the manifest.
            where: Name of the file, for messages.

        Returns:
            Settings by question, ``"parents"`` or ``"children"``.
        """
        return {
            question: settings_from(cls, stated[question], where)
            for question in SCORES
            if question in stated
        }

    def offsets(
        self, question: str, rows: NDArray[np.int64], scores: NDArray[np.float64]
    ) -> VoteOffsets:
        """Return the offsets that vote scores, of shape (3, rows), give."""
        weights = np.array([getattr(self, relation) for relation in SCORES[question]])
        return VoteOffsets(rows, weights @ scores, np.array(self.curve) @ scores)

    def probability(
        self, scores: NDArray[np.float64], logits: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return probabilities of sums of score and votes, given their logit offsets."""
        return sigmoid(self.slope * scores + self.offset + logits)


def scores_of_answers(
    scored: Iterable[tuple[NDArray[np.int64], NDArray[np.float64]]],
    owners: NDArray[np.integer],
    answers: NDArray[np.integer],
    entities: int,
) -> NDArray[np.float64]:
    """Look up the scores of some answers.

    Args:
        scored: Rows with a score and their scores, for each query; see
            :meth:`NeighbourVotes.scores`.
        owners: Query of each answer, a position in ``scored``, of shape (n,).
        answers: Row of each answer.
        entities: Number of entities.

    Returns:
        ``float64`` of shape (3, n); 0 for answers without a score.
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
    """Scores parents and children by the asserted hierarchy of a query's nearest neighbours.

    With :class:`~ontodex.scoring.similarity.EntitySimilarity` k, each score is log(1 + sum /
    0.005).

    A parent p of x has three scores: k(x, p) itself, the sum of k(x, c) over its direct children c,
    and the sum over all its descendants c. Asserted descendants of x do not vote, as their
    ancestors include x's.

    A child c of x has three scores: k(x, c) itself, the sum of k(x, s) over its siblings s and
    itself, once for each shared parent, and the sum of k(x, p) over its parents p. The asserted
    links of x do not count: its children are treated as children of its parents, as if x were new.

    Args:
        hierarchy: Asserted hierarchy.
        similarity: Similarity of the entities' texts.
    """

    def __init__(self, hierarchy: Hierarchy, similarity: EntitySimilarity) -> None:
        self._hierarchy, self._similarity = hierarchy, similarity

    def scores(
        self, question: str, vectors: NDArray[np.float32], rows: NDArray[np.integer]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Score the parents, or the children, of entities and texts.

        Args:
            question: ``"parents"`` or ``"children"``.
            vectors: Vectors of their texts, of shape (n, dim); those of entities are not read.
            rows: Rows of the entities, of shape (n,); -1 for texts.

        Yields:
            For each query the rows of answers with a score, ascending, and their scores,
            ``float64`` of shape (3, rows).
        """
        sums_of = self._of_parents if question == "parents" else self._of_children
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            neighbours = self._similarity.of_all(vectors[part], rows[part])
            for row, near, values in zip(rows[part].tolist(), *neighbours, strict=True):
                sums = sums_of(row, near, values)
                reached = np.flatnonzero(sums.any(axis=0))
                yield reached, log_similarity(sums[:, reached])

    def offsets(
        self,
        question: str,
        voting: NeighbourVoting,
        vectors: NDArray[np.float32],
        rows: NDArray[np.integer],
    ) -> Iterator[VoteOffsets]:
        """Yield the vote offsets of each query; see :meth:`scores` for the arguments."""
        for reached, scores in self.scores(question, vectors, rows):
            yield voting.offsets(question, reached, scores)

    def of_pairs(
        self, question: str, entities: NDArray[np.integer], answers: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """Score pairs of an entity and a candidate parent, or child.

        Args:
            question: ``"parents"`` or ``"children"``.
            entities: Rows of the entities, of shape (pairs,).
            answers: Row of each candidate.

        Returns:
            Their :meth:`scores`, ``float64`` of shape (3, pairs).
        """
        queries, owners = np.unique(entities, return_inverse=True)
        scored = self.scores(question, np.zeros((len(queries), 0), dtype=np.float32), queries)
        return scores_of_answers(scored, owners, answers, len(self._similarity))

    def _of_parents(
        self, row: int, near: NDArray[np.int64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Sum the votes for parents of an entity or a text (row -1); of shape (3, entities)."""
        if row >= 0:
            values = np.where(self._hierarchy.is_ancestor(near, np.array(row)), 0.0, values)
        return np.stack(
            [
                self._sum(near, values),
                self._sum_over(self._hierarchy.parents_of(near), values),
                self._sum_over(self._hierarchy.ancestors_of(near), values),
            ]
        )

    def _of_children(
        self, row: int, near: NDArray[np.int64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Sum the votes for children of an entity or a text (row -1); of shape (3, entities)."""
        own = self._sum(near, values)
        through = np.stack([self._sum_over(self._hierarchy.parents_of(near), values), own])
        if row >= 0:
            above = self._hierarchy.parents(row)
            through[0, above] += through[0, row]
            through[:, row] = through[:, above].sum(axis=1)
        parents = np.flatnonzero(through.any(axis=0))
        below = self._hierarchy.children_of(parents)
        return np.stack([own, *(self._sum_over(below, sums) for sums in through[:, parents])])

    def _sum_over(
        self, pairs: tuple[NDArray[np.int64], NDArray[np.int32]], values: NDArray[np.floating]
    ) -> NDArray[np.float64]:
        """Sum values over pairs of a value's position and a row; of shape (entities,)."""
        owners, rows = pairs
        return self._sum(rows, values[owners])

    def _sum(self, rows: NDArray[np.integer], values: NDArray[np.floating]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = np.bincount(rows, values, len(self._similarity)).astype(
            np.float64
        )
        return sums
