"""Evaluation of an embedded hierarchy: held-out subsumptions, and ranking of ancestors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.subsumption import Subsumption, differences
from ontodex.geometry.vectors import Vectors
from ontodex.graph import Hierarchy, links_fingerprint
from ontodex.scoring.neighbour_voting import NeighbourVotes
from ontodex.scoring.similarity import EntitySimilarity
from ontodex.trainers.data.subsumptions import HierarchyTask
from ontodex.trainers.hierarchies.evaluation import (
    ancestor_recall,
    evaluate_points,
    evaluate_prior,
    evaluate_regression,
    evaluate_rule,
)

if TYPE_CHECKING:
    from ontodex.encoders.hit import Learnt

__all__ = ["EmbeddedHierarchy", "evaluate_embedded", "evaluate_with_neighbours"]


@dataclass(frozen=True, eq=False)
class EmbeddedHierarchy:
    """Every entity of a graph as a point of the Poincaré ball.

    Attributes:
        points: Points, ``float32`` of shape (entities, dim).
        c: The number c; the ball has curvature -c.
        texts: The encoded text of each entity.
        training: What the encoder was trained on; ``None`` if unknown.
        rule: Rule of the index, if the points are from an index; ``None`` if an encoder made them.
        upward: Relations from child to parent that were given to the index; empty if none were.
    """

    points: NDArray[np.float32]
    c: float
    texts: list[str]
    training: Learnt | None
    rule: Subsumption | None = None
    upward: tuple[str, ...] = ()

    def training_of(self, hierarchy: Hierarchy) -> Learnt | None:
        """Return :attr:`training` if the encoder was trained on this hierarchy, else ``None``."""
        if self.training is None:
            return None
        links = links_fingerprint(hierarchy.links, self.texts)
        return self.training if self.training.links == links else None

    def warn_of_leakage(self, task: HierarchyTask, model: str) -> None:
        """Warn if the encoder was trained on another split of this hierarchy.

        Args:
            task: The task to evaluate on.
            model: Name of the encoder, for the message.

        Warns:
            UserWarning: If the encoder was trained on some of the pairs that the task holds out.
        """
        training, settings = self.training_of(task.known), task.settings
        if training is None or settings is None:
            return
        if (training.task, training.seed, training.held_out) != (
            settings.task,
            settings.seed,
            settings.held_out,
        ):
            warnings.warn(
                f"{model}: trained on this hierarchy as {training.task} with seed {training.seed}, "
                f"evaluated as {settings.task} with seed {settings.seed}: it was trained on some "
                "of the test pairs, and the figures are too good",
                stacklevel=3,
            )


def evaluate_embedded(
    task: HierarchyTask, embedded: EmbeddedHierarchy, *, queries: int = 2000, seed: int = 0
) -> dict[str, float]:
    """Classify the test pairs of a task, and rank ancestors among all entities.

    Args:
        task: Validation and test pairs.
        embedded: The entities in the ball.
        queries: Number of entities whose ancestors are ranked.
        seed: Seed of the sample of queries.

    Returns:
        The figures of :func:`.evaluate_points`, and those of :func:`.evaluate_prior` with the
        prefix ``prior.``. The figures of :func:`.ancestor_recall` with the weight of the paper's
        rule that was fitted on random negatives, the same with the weight of the rule of two
        weights (prefix ``two_weights.``) and by distance alone (prefix ``distance_only.``). If the
        points are from an index, also the figures of :func:`.evaluate_rule` and the recall with the
        weight of the index's rule, both with the
        prefix ``index.``.
    """
    points, c = embedded.points, embedded.c
    found = evaluate_points(task, points, c)
    found.update({f"prior.{key}": value for key, value in evaluate_prior(task).items()})
    weights = {
        "": found["random.weight"],
        "two_weights.": found["two_weights.random.weight"],
        "distance_only.": 0.0,
    }
    if embedded.rule is not None:
        by_rule = evaluate_rule(task, points, c, embedded.rule)
        found.update({f"index.{key}": value for key, value in by_rule.items()})
        weights["index."] = embedded.rule.weight
    found.update(
        ancestor_recall(task.known, points, c, weights=weights, queries=queries, seed=seed)
    )
    return found


def evaluate_with_neighbours(
    task: HierarchyTask, embedded: EmbeddedHierarchy, texts: NDArray[np.float32]
) -> dict[str, float]:
    """Classify the test pairs by HiT's distance and norms together with neighbour voting.

    Only training links vote. The weights of all scores are fitted by a logistic regression on the
    validation pairs.

    Args:
        task: Training links, validation and test pairs.
        embedded: The entities in the ball.
        texts: Text vectors of all entities, of shape (entities, text dim).

    Returns:
        The figures of :func:`.evaluate_regression`.
    """
    votes = NeighbourVotes(
        Hierarchy(*task.train.T, ids=task.known.ids), EntitySimilarity(Vectors([texts]))
    )
    return evaluate_regression(task, _measure(embedded, votes))


def _measure(
    embedded: EmbeddedHierarchy, votes: NeighbourVotes
) -> Callable[[NDArray[np.integer], NDArray[np.integer]], NDArray[np.float64]]:
    """Return a function from children and parents to scores, of shape (scores, pairs)."""

    def measure(children: NDArray[np.integer], parents: NDArray[np.integer]) -> NDArray[np.float64]:
        return np.stack(
            [
                *differences(embedded.points, children, parents, embedded.c),
                *votes.of_pairs("parents", children, parents),
            ]
        )

    return measure
