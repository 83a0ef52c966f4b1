"""A hierarchy whose entities are points of a Poincaré ball, to fit rules and weights to."""

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

ASKED, LISTED = 500, 10
"""Entities whose best answers a probability is fitted to, and the number of answers of each."""

BLOCK = 8192
"""Entities that are scored at once."""


def scores_of(
    question: str,
    rule: Subsumption,
    distances: NDArray[np.float64],
    asked: NDArray[np.float64],
    others: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Score entities as parents, or as children, of others.

    Args:
        question: ``"parents"`` or ``"children"``.
        rule: The rule.
        distances: Distances between the asked entities and the others.
        asked: Norms of the asked entities, which broadcast with ``distances``.
        others: Norms of the others, likewise.
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
        labels: Label of each entity, by default its text; entities of one label are namesakes.
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
        """All rows in an order that depends on names alone, so that draws do too."""
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
        """Draw at most :data:`ASKED` entities that have an answer among some links.

        Args:
            question: ``"parents"`` or ``"children"``.
            links: Children and their parents, of shape (n, 2).
            random: Draws them.
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
        k: int = LISTED,
        *,
        offsets: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]] = (),
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Rank all entities as parents or children of some, as the engine does.

        Namesakes of the asked entity are left out, and its asserted descendants when parents are
        asked for (ancestors when children are).

        Args:
            question: ``"parents"`` or ``"children"``.
            rule: Scores the answers.
            asked: Rows of the entities, of shape (n,).
            k: Answers for each.
            offsets: For each entity, rows of answers and what is added to their scores.

        Returns:
            Position in ``asked``, row and score of each answer, the best of each entity first.
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
        rows = np.zeros((len(asked), 0), dtype=np.int64)
        scores = np.zeros((len(asked), 0))
        for start in range(0, len(self.items), BLOCK):
            block = self.points(slice(start, start + BLOCK))
            here = slice(*np.searchsorted(refused, [start, start + len(block)]))
            found = scores_of(
                question, rule, pairwise(points, block, self.c), norms, norm(block, self.c)
            )
            raised = slice(*np.searchsorted(targets, [start, start + len(block)]))
            found[askers[raised], targets[raised] - start] += more[raised]
            found[owners[here], refused[here] - start] = -np.inf
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
        """Return the rows that are no answer to each question: itself, descendants and namesakes.

        Returns:
            Positions in ``asked``, and rows, ascending.
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
