"""A hierarchy whose entities are points of a Poincaré ball; rules and weights are fitted to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.poincare import norm, pairwise, unlift
from ontodex.geometry.subsumption import Subsumption
from ontodex.graph import Hierarchy
from ontodex.graph.negatives import name_groups
from ontodex.indexers.embed import text_keys

__all__ = ["EmbeddedHierarchy", "scores_of"]

ASKED = 500
"""Number of entities whose parents, or children, weights and probabilities are fitted to."""

BLOCK = 8192
"""Number of entities that are scored at once."""


def scores_of(
    question: str,
    rule: Subsumption,
    distances: NDArray[np.float64],
    asked: NDArray[np.float64],
    others: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Score candidates as parents or as children of entities.

    Args:
        question: ``"parents"`` or ``"children"``.
        rule: The rule that scores.
        distances: Hyperbolic distances between entities and candidates.
        asked: Hyperbolic norms of the entities, which broadcast with ``distances``.
        others: Hyperbolic norms of the candidates, which broadcast with ``distances``.
    """
    if question == "parents":
        return rule.score(distances, others - asked, asked)
    return rule.score(distances, asked - others, others)


class EmbeddedHierarchy:
    """The asserted hierarchy of a graph, and the point of each entity.

    A question is ``"parents"`` or ``"children"``; for the second, the hierarchy is reversed.

    Args:
        hierarchy: The asserted hierarchy.
        names: Text of each entity.
        items: Lifted points of all entities, of shape (entities, dim + 1).
        c: The curvature is -c.
        labels: Label of each entity, by default its text. Entities with equal labels are namesakes.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        names: Sequence[str],
        items: NDArray[np.float32],
        c: float,
        labels: Sequence[str] | None = None,
    ) -> None:
        self.hierarchy, self.names, self.items, self.c = hierarchy, names, items, c
        self.labels = names if labels is None else labels

    def asserted(self, question: str) -> Hierarchy:
        """Return the hierarchy in which the answers to a question are the ancestors."""
        return self.hierarchy if question == "parents" else self._reversed

    @cached_property
    def _reversed(self) -> Hierarchy:
        return self.hierarchy.turned()

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """All rows, in an order that depends only on names, so that draws do not depend on rows."""
        return np.argsort(text_keys(self.names), kind="stable")

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Place of each row in :attr:`order`."""
        return np.argsort(self.order)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """A number for each entity; namesakes have the same number."""
        return name_groups(self.labels)

    def points(self, rows: NDArray[np.integer] | slice) -> NDArray[np.float64]:
        """Return points of the ball, ``float64`` of shape (rows, dim)."""
        return unlift(np.array(self.items[rows], dtype=np.float64), self.c)

    def some_asked(
        self, question: str, links: NDArray[np.integer], random: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw at most :data:`ASKED` entities that have an answer among the given links.

        Args:
            question: ``"parents"`` or ``"children"``.
            links: Children and their parents, of shape (n, 2).
            random: Source of random numbers.
        """
        ends = links[:, 0 if question == "parents" else 1]
        drawn: NDArray[np.int64] = random.permutation(self.order[np.unique(self.places[ends])])[
            :ASKED
        ]
        return drawn

    def best_answers(
        self,
        question: str,
        rule: Subsumption,
        asked: NDArray[np.integer],
        k: int,
        *,
        offsets: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]] = (),
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return the best parents or children of entities, ranked as the engine ranks them.

        Answers to ``"parents"`` leave out the entity, its descendants, its namesakes that are not
        its ancestors, and individuals; answers to ``"children"`` leave out the entity, its
        ancestors, and its namesakes that are not its descendants.

        Args:
            question: ``"parents"`` or ``"children"``.
            rule: Scores the answers.
            asked: Rows of the entities, of shape (n,).
            k: Number of answers for each entity.
            offsets: For each entity, rows of answers and the offset of the score of each row.

        Returns:
            For each answer, the position of its entity in ``asked``, its row and its score; the
            answers of an entity are in descending order of score.
        """
        points = self.points(asked)
        norms = norm(points, self.c)[:, None]
        owners, refused = self._refused(question, asked)
        targets = np.concatenate([np.zeros(0, dtype=np.int64), *(found for found, _ in offsets)])
        order = np.argsort(targets, kind="stable")
        lengths = [len(found) for found, _ in offsets]
        askers = np.repeat(np.arange(len(offsets)), lengths)[order]
        more = np.concatenate([np.zeros(0), *(added for _, added in offsets)])[order]
        targets = targets[order]
        never = np.zeros(len(self.items), dtype=np.bool_)
        never[self.asserted(question).individuals] = True
        rows = np.zeros((len(asked), 0), dtype=np.int64)
        scores = np.zeros((len(asked), 0))
        for start in range(0, len(self.items), BLOCK):
            block = self.points(slice(start, start + BLOCK))
            here = slice(*np.searchsorted(refused, [start, start + len(block)]))
            found = scores_of(
                question, rule, pairwise(points, block, self.c), norms, norm(block, self.c)
            )
            in_block = slice(*np.searchsorted(targets, [start, start + len(block)]))
            found[askers[in_block], targets[in_block] - start] += more[in_block]
            found[owners[here], refused[here] - start] = -np.inf
            found[:, never[start : start + len(block)]] = -np.inf
            scores = np.concatenate([scores, found], axis=1)
            rows = np.concatenate(
                [rows, np.broadcast_to(np.arange(start, start + len(block)), found.shape)], axis=1
            )
            best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
            rows, scores = (
                np.take_along_axis(rows, best, axis=1),
                np.take_along_axis(scores, best, axis=1),
            )
        there = np.isfinite(scores)
        return np.nonzero(there)[0], rows[there], scores[there]

    def _refused(
        self, question: str, asked: NDArray[np.integer]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows that :meth:`best_answers` leaves out for each entity.

        Returns:
            Positions of entities in ``asked``, and the rows, in ascending order of row.
        """
        hierarchy = self.asserted(question)
        by_label = np.argsort(self.groups, kind="stable")
        starts, ends = (
            np.searchsorted(self.groups[by_label], self.groups[asked], side=side)
            for side in ("left", "right")
        )
        owners, rows = [], []
        for at, row in enumerate(asked.tolist()):
            same = np.setdiff1d(by_label[starts[at] : ends[at]], hierarchy.ancestors(row))
            rows.append(np.union1d(same, hierarchy.descendants(row)).astype(np.int64))
            owners.append(np.full(len(rows[-1]), at))
        flat = np.concatenate(rows)
        order = np.argsort(flat, kind="stable")
        return np.concatenate(owners)[order], flat[order]
