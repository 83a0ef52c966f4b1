"""Evaluation of the baselines of hierarchy encoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ontodex.encoders.locate import DEFAULT_ENCODER, locate
from ontodex.errors import SettingsError, expect_choice
from ontodex.graph import LABEL_ALONE, KnowledgeGraph, entity_texts
from ontodex.trainers.data.subsumptions import HierarchyTask
from ontodex.trainers.hierarchies.evaluation import Score, at_most, evaluate_scores

if TYPE_CHECKING:
    from ontodex.trainers.hierarchies.pair_classifier import PairClassifierTraining
    from ontodex.trainers.hierarchies.static_poincare import StaticPoincareTraining

__all__ = ["BASELINES", "evaluate_baselines", "expect_baselines", "expect_trained_members"]

BASELINES = ("probe", "classifier", "static")
"""Cosine of a pretrained encoder; a pair classifier; Poincaré embeddings without texts."""


def evaluate_baselines(
    task: HierarchyTask,
    graph: KnowledgeGraph,
    baselines: Sequence[str] = BASELINES,
    *,
    base: str = DEFAULT_ENCODER,
    limit: int | None = None,
    seed: int = 0,
    classifier: PairClassifierTraining | None = None,
    static: StaticPoincareTraining | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> dict[str, float]:
    """Classify the pairs of a task by baselines, with thresholds chosen on validation.

    Args:
        task: A task of :func:`.hierarchy_task`.
        graph: The graph of the task. The text of an entity is its label, as for HiT.
        baselines: ``"probe"``: cosine of a pretrained encoder; ``"classifier"``: the same encoder
            fine-tuned on pairs; ``"static"``: Poincaré embeddings without texts, for multi-hop
            alone, since they embed the entities of training links only.
        base: The pretrained encoder.
        limit: Largest number of positives in validation and in test, drawn by ``seed``; ``None``
            for all.
        seed: Seed of the sample that ``limit`` draws.
        classifier: Settings of the classifier's training.
        static: Settings of the embeddings' training.
        device: Device of encoders and runs.
        quiet: Print no progress on stderr.

    Returns:
        The figures of :func:`.evaluate_scores`, each with the baseline's name as prefix
        (``probe.random.f1``).

    Raises:
        SettingsError: If a baseline is unknown, or does not apply to the task.
        TrainingError: If a baseline needs training, and the task has no training links.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.hierarchies.pair_classifier import train_pair_classifier
    from ontodex.trainers.hierarchies.probe import probe
    from ontodex.trainers.hierarchies.static_poincare import train_static_poincare

    names = entity_texts(graph, LABEL_ALONE)

    def score_of(name: str) -> Score:
        if name == "probe":
            return probe(TextEncoder.load(base, device), names)
        if name == "classifier":
            encoder = locate(base)
            return train_pair_classifier(
                task, names, encoder=encoder, settings=classifier, device=device, quiet=quiet
            )
        return train_static_poincare(task, settings=static, device=device, quiet=quiet)

    expect_baselines(baselines)
    expect_trained_members(task, baselines)
    sample = task if limit is None else at_most(task, limit, seed)
    found: dict[str, float] = {}
    for name in baselines:
        figures = evaluate_scores(sample, score_of(name), None if name == "static" else names)
        found.update({f"{name}.{key}": value for key, value in figures.items()})
    return found


def expect_baselines(baselines: Sequence[str]) -> None:
    """Reject unknown baselines.

    Raises:
        SettingsError: If a name is not one of :data:`BASELINES`.
    """
    for name in baselines:
        expect_choice("baselines", name, BASELINES)


def expect_trained_members(task: HierarchyTask, baselines: Sequence[str]) -> None:
    """Reject static embeddings if an entity of the hierarchy is in no training link.

    Raises:
        SettingsError: If ``baselines`` has ``"static"``, and an entity would have no embedding.
    """
    if (
        "static" in baselines
        and len(task.train)
        and len(np.setdiff1d(task.known.members, task.train))
    ):
        raise SettingsError(
            "baselines: expected static embeddings on multi-hop only, where every entity is in a "
            f"training link, found {task.settings.task if task.settings else 'a task'} without "
            "some of them; leave static out"
        )
