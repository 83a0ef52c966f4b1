"""Neighbour voting in hierarchies.

The parents (children) of a query's nearest neighbours by text are evidence for its own parents
(children). Names are further evidence (:mod:`ontodex.scoring.name_evidence`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import SettingsError, settings_from
from ontodex.geometry.logistic import sigmoid
from ontodex.graph import Hierarchy
from ontodex.graph.arrays import distinct
from ontodex.scoring.graph_features import Offsets
from ontodex.scoring.name_evidence import NAME_SCORES, NameEvidence
from ontodex.scoring.similarity import TINY, EntitySimilarity, log_similarity

__all__ = ["COMPETING", "SCORES", "NeighbourVotes", "NeighbourVoting", "log_sum"]

COMPETING = 20
"""Number of best answers to a question that its :func:`log_sum` is of."""

HALVINGS = 50
"""Number of times that the bracket of a root is halved."""

BLOCK = 64
"""Number of queries in one block."""

SCORES = {
    "parents": ("itself", "parents", "ancestors"),
    "children": ("itself", "siblings", "children"),
}
"""The three scores by text for each question: what an answer is to the neighbour that votes for it.

See :meth:`NeighbourVotes.scores`.
"""


@dataclass(frozen=True)
class NeighbourVoting:
    """Weights of neighbour votes for one question, and the logistic curve of probabilities.

    Attributes:
        itself: Weight of votes of a neighbour for itself as an answer.
        parents: Weight of votes for a neighbour's parents (only for ``"parents"``).
        ancestors: Weight of votes for a neighbour's ancestors (only for ``"parents"``).
        siblings: Weight of votes for a neighbour's siblings (only for ``"children"``).
        children: Weight of votes for a neighbour's children (only for ``"children"``).
        letters: Weight of the similarity of names by trigrams.
        words: Weight of the words that names share.
        voters: Weight of the votes of neighbours by trigrams.
        hypernyms: Weight of the closeness of words of wider meaning (only for ``"parents"``).
        relative: Whether similarities by text are divided by that of the nearest neighbour, and
            squared. In a small hierarchy even the nearest is often too far to count otherwise.
        curve: Weight of the score, weight of the question's :func:`log_sum`, and intercept of the
            logistic regression that gives the probability of an answer; ``None`` if the graph has
            too few links to fit it to.
    """

    itself: float
    parents: float = 0.0
    ancestors: float = 0.0
    siblings: float = 0.0
    children: float = 0.0
    letters: float = 0.0
    words: float = 0.0
    voters: float = 0.0
    hypernyms: float = 0.0
    relative: bool = False
    curve: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        if self.curve is None:
            return
        try:
            of_score, of_log_sum, intercept = map(float, self.curve)
        except (TypeError, ValueError):
            raise SettingsError(
                f"curve: expected three numbers, found {self.curve!r}; build the index anew"
            ) from None
        object.__setattr__(self, "curve", (of_score, of_log_sum, intercept))

    @classmethod
    def read(cls, stated: Mapping[str, Any], where: str) -> dict[str, NeighbourVoting]:
        """Read the weights that an index has for each question.

        Args:
            stated: Entry ``neighbour_voting`` of the manifest.
            where: Name of the manifest's file, for error messages.

        Returns:
            Weights by question, ``"parents"`` or ``"children"``; a question without weights is
            left out.
        """
        return {
            question: settings_from(cls, stated[question], where)
            for question in SCORES
            if question in stated
        }

    def offsets(
        self, question: str, rows: NDArray[np.int64], scores: NDArray[np.float64]
    ) -> Offsets:
        """Return the offsets of the subsumption scores of answers with votes.

        Args:
            question: ``"parents"`` or ``"children"``.
            rows: Rows of the answers, ascending, of shape (n,).
            scores: Scores of the answers by text, of shape (3, n), or by text and names; see
                :meth:`NeighbourVotes.scores`.
        """
        fields = (*SCORES[question], *NAME_SCORES[question])[: len(scores)]
        return rows, np.array([getattr(self, field) for field in fields]) @ scores

    def log_odds(self, best: NDArray[np.float64], most: float = np.inf) -> float:
        """Return the part of the log-odds that all answers to a question have in common.

        It is the intercept and the weighted :func:`log_sum`, lowered where the probabilities of the
        best answers would otherwise sum to more than ``most``.

        Args:
            best: The best scores of the question, with vote offsets, in descending order.
            most: Largest number of answers that can be right.
        """
        if self.curve is None:
            return 0.0
        of_score, of_log_sum, intercept = self.curve
        common = of_log_sum * log_sum(best) + intercept
        own = of_score * best[:COMPETING] + common
        if sigmoid(own).sum() <= most:
            return common
        low, high = -own.max() - np.log(len(own)), 0.0  # lowered by the first, they sum to below 1
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if sigmoid(own + middle).sum() > most:
                high = middle
            else:
                low = middle
        return float(common + low)

    def probability(
        self, scores: NDArray[np.float64], log_odds: NDArray[np.float64] | float
    ) -> NDArray[np.float64] | None:
        """Return the probability that each answer is a direct parent, or child; ``None`` if unfit.

        The weight of the score is positive, so of two answers to one question the one with the
        higher score has the higher probability.

        Args:
            scores: Subsumption scores with vote offsets.
            log_odds: The :meth:`log_odds` of the question of each score.
        """
        return None if self.curve is None else sigmoid(self.curve[0] * scores + log_odds)


def log_sum(best: NDArray[np.float64]) -> float:
    """Return the log of the sum of exponentials of the best scores of a question.

    An answer is less likely if others score as high.

    Args:
        best: The best scores, with vote offsets, in descending order; those after the first
            :data:`COMPETING` do not count. There may be none.
    """
    return float(np.logaddexp.reduce(best[:COMPETING]))


class NeighbourVotes:
    """Scores candidate parents and children of a query by its nearest neighbours.

    Let k(x, y) be the similarity of :class:`~ontodex.scoring.similarity.EntitySimilarity`, zero
    unless y is a near neighbour of x. A candidate has three sums of k, and each score is
    log(1 + sum / 0.005).

    A candidate parent p of x has the sums k(x, p), the sum of k(x, c) over its children c, and the
    sum of k(x, c) over its descendants c. Asserted descendants of x do not vote, because their
    ancestors include those of x.

    A candidate child c of x has the sums k(x, c), the sum of k(x, s) over its siblings s and c
    itself (once for each parent that s shares with c), and the sum of k(x, p) over its parents p.
    The asserted links of x are ignored: its children are treated as children of its parents.

    Args:
        hierarchy: Asserted hierarchy.
        similarity: Similarity of the entities' texts.
        names: Evidence of names; ``None`` to score by texts alone.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        similarity: EntitySimilarity,
        names: NameEvidence | None = None,
    ) -> None:
        self._hierarchy, self._similarity, self._names = hierarchy, similarity, names

    def scores(
        self,
        question: str,
        vectors: NDArray[np.float32],
        rows: NDArray[np.integer],
        names: Sequence[str] = (),
        *,
        relative: bool = False,
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Score candidate parents, or candidate children, of entities and texts.

        Args:
            question: ``"parents"`` or ``"children"``.
            vectors: Text vectors of the queries, of shape (n, dim). They are used only where the
                row is -1.
            rows: Row of each query's entity, of shape (n,); -1 for a text that is not an entity's.
            names: Label of each query's entity, or the text; not used to score by texts alone.
            relative: See :class:`NeighbourVoting`.

        Yields:
            For each query, the rows of candidates with a score, ascending, and their scores,
            ``float64`` of shape (3, rows); with evidence of names, the scores of
            :data:`~ontodex.scoring.name_evidence.NAME_SCORES` are below them.
        """
        by_text = self._by_text(question, vectors, rows, relative)
        if self._names is None:
            yield from by_text
            return
        by_names = self._names.scores(question, names, rows)
        for parts in zip(by_text, by_names, strict=True):
            reached = distinct(np.concatenate([own for own, _ in parts]))
            scores = np.zeros((sum(len(values) for _, values in parts), len(reached)))
            first = 0
            for own, values in parts:
                scores[first : first + len(values), np.searchsorted(reached, own)] = values
                first += len(values)
            yield reached, scores

    def _by_text(
        self,
        question: str,
        vectors: NDArray[np.float32],
        rows: NDArray[np.integer],
        relative: bool = False,
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Score candidates by the neighbours by text; see :meth:`scores`."""
        sums_of = self._of_parents if question == "parents" else self._of_children
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            neighbours = self._similarity.of_all(vectors[part], rows[part])
            for row, near, values in zip(rows[part].tolist(), *neighbours, strict=True):
                if relative:
                    values = (values / max(values.max(initial=0.0), TINY)) ** 2
                sums = sums_of(row, near, values)
                reached = np.flatnonzero(sums.any(axis=0))
                yield reached, log_similarity(sums[:, reached])

    def offsets(
        self,
        question: str,
        voting: NeighbourVoting,
        vectors: NDArray[np.float32],
        rows: NDArray[np.integer],
        names: Sequence[str] = (),
    ) -> Iterator[Offsets]:
        """Yield the vote offsets of each query; see :meth:`scores` for the arguments."""
        scored = self.scores(question, vectors, rows, names, relative=voting.relative)
        for reached, scores in scored:
            yield voting.offsets(question, reached, scores)

    def of_pairs(
        self, question: str, entities: NDArray[np.integer], answers: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """Score pairs of an entity and a candidate parent, or child, by texts alone.

        Args:
            question: ``"parents"`` or ``"children"``.
            entities: Row of each pair's entity, of shape (pairs,).
            answers: Row of each pair's candidate, of shape (pairs,).

        Returns:
            Scores as in :meth:`scores`, ``float64`` of shape (3, pairs).
        """
        queries, owners = np.unique(entities, return_inverse=True)
        scored = self._by_text(question, np.zeros((len(queries), 0), dtype=np.float32), queries)
        return _scores_of_answers(scored, owners, answers, len(self._similarity))

    def _of_parents(
        self, row: int, near: NDArray[np.int64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Sum the votes for each candidate parent of an entity, or of a text (row -1).

        Args:
            row: Row of the entity, or -1.
            near: Rows of its nearest neighbours.
            values: Similarities of the neighbours.

        Returns:
            Sums of shape (3, entities).
        """
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
        """Sum the votes for each candidate child of an entity, or of a text (row -1).

        Arguments and result are as in :meth:`_of_parents`.
        """
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
        """Sum values for each row over pairs (position of the value, row); of shape (entities,)."""
        owners, rows = pairs
        return self._sum(rows, values[owners])

    def _sum(self, rows: NDArray[np.integer], values: NDArray[np.floating]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = np.bincount(rows, values, len(self._similarity)).astype(
            np.float64
        )
        return sums


def _scores_of_answers(
    scored: Iterable[tuple[NDArray[np.int64], NDArray[np.float64]]],
    owners: NDArray[np.integer],
    answers: NDArray[np.integer],
    entities: int,
) -> NDArray[np.float64]:
    """Look up the vote scores of some answers.

    Args:
        scored: For each query, the rows of scored answers and their scores; see
            :meth:`NeighbourVotes.scores`.
        owners: Query of each answer, as a position in ``scored``, of shape (n,).
        answers: Row of each answer, of shape (n,).
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
