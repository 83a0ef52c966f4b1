"""A hierarchy whose entities are points of the Poincaré ball: what rules are fitted to."""

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
"""Entities whose best answers a probability is fitted to, and how many of each."""

BLOCK = 8192
"""Entities that are scored at once."""


def scores_of(
    question: str,
    rule: Subsumption,
    distances: NDArray[np.float64],
    asked: NDArray[np.float64],
    others: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Score entities as parents, or children, of others, by their distances and the norms of both."""
    if question == "parents":
        return rule.score(distances, others - asked, asked)
    return rule.score(distances, asked - others, others)


class EmbeddedHierarchy:
    """What is asserted of the entities of a graph, and where an encoder puts them.

    A question is ``"parents"`` or ``"children"``; for the second, the hierarchy is upside down.

    Args:
        hierarchy: The asserted hierarchy.
        names: Text of every entity.
        items: Lifted points of all entities, of shape (entities, dim + 1).
        c: The curvature is -c.
        labels: Label of every entity, by which namesakes are told, as in answers; by default the texts.
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
        """Return the hierarchy in which true answers to a question are above the entity that is asked about."""
        return self.hierarchy if question == "parents" else self._turned

    @cached_property
    def _turned(self) -> Hierarchy:
        return self.hierarchy.turned()

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """All rows, in an order that depends on names, not on that of a file's lines: draws are made by it."""
        return np.argsort(text_keys(self.names), kind="stable")

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Place of each row in :attr:`order`."""
        return np.argsort(self.order)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """Number of each entity's label: namesakes have the same."""
        return name_groups(self.labels)

    def points(self, rows: NDArray[np.integer] | slice) -> NDArray[np.float64]:
        """Return points of the ball, of shape (rows, dim)."""
        return unlift(np.array(self.items[rows], dtype=np.float64), self.c)

    def some_asked(
        self, question: str, links: NDArray[np.integer], random: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw entities at one end of links, of shape (n, 2), that have an answer at the other."""
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
        """Rank all entities as parents or children of some, as the engine does; what is no answer is left out.

        That is a namesake, and what is asserted below an entity whose parents are asked for (or above, for children).

        Args:
            question: ``"parents"`` or ``"children"``.
            rule: Scores them.
            asked: Rows of the entities, of shape (n,).
            k: How many answers for each.
            offsets: Rows of answers, and what is added to their scores, of each entity.

        Returns:
            Position in ``asked``, row and score of each answer, the best of each entity first.
        """
        points = self.points(asked)
        norms = norm(points, self.c)[:, None]
        owners, refused = self._refused(question, asked)
        raised = np.concatenate([np.zeros(0, dtype=np.int64), *(reached for reached, _ in offsets)])
        by = np.argsort(raised, kind="stable")
        gainers = np.repeat(np.arange(len(offsets)), [len(reached) for reached, _ in offsets])[by]
        gains = np.concatenate([np.zeros(0), *(gain for _, gain in offsets)])[by]
        raised = raised[by]
        rows = np.zeros((len(asked), 0), dtype=np.int64)
        scores = np.zeros((len(asked), 0))
        for start in range(0, len(self.items), BLOCK):
            block = self.points(slice(start, start + BLOCK))
            here = slice(*np.searchsorted(refused, [start, start + len(block)]))
            found = scores_of(
                question, rule, pairwise(points, block, self.c), norms, norm(block, self.c)
            )
            better = slice(*np.searchsorted(raised, [start, start + len(block)]))
            found[gainers[better], raised[better] - start] += gains[better]
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
        """Return (position in ``asked``, row) of what is no answer: the entity, what is below it, namesakes; by row."""
        hierarchy = self.asserted(question)
        alike = np.argsort(self.groups, kind="stable")
        starts, ends = (
            np.searchsorted(self.groups[alike], self.groups[asked], side=side)
            for side in ("left", "right")
        )
        owners, rows = [], []
        for at, row in enumerate(asked.tolist()):
            same = np.setdiff1d(alike[starts[at] : ends[at]], hierarchy.ancestors(row))
            rows.append(np.union1d(same, hierarchy.descendants(row)).astype(np.int64))
            owners.append(np.full(len(rows[-1]), at))
        flat = np.concatenate(rows)
        order = np.argsort(flat, kind="stable")
        return np.concatenate(owners)[order], flat[order]
