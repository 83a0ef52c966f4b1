"""Evaluating hierarchy encoders and what they are compared with."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.locate import DEFAULT_ENCODER, locate
from ontodex.errors import SettingsError, expect_choice
from ontodex.geometry import poincare
from ontodex.geometry.subsumption import differences
from ontodex.graph import (
    LABEL_ALONE,
    Hierarchy,
    KnowledgeGraph,
    entity_texts,
    hierarchy_texts,
    homonym_rate,
    links_fingerprint,
)
from ontodex.indexing import load_hierarchy_encoder
from ontodex.readers import read
from ontodex.storage.space_names import HIERARCHY
from ontodex.trainers.data.subsumptions import HierarchyTask
from ontodex.trainers.data.task_files import hierarchy_task

if TYPE_CHECKING:
    from ontodex.encoders.hit import Learnt
    from ontodex.geometry.subsumption import Subsumption
    from ontodex.trainers.hierarchies.pair_classifier import PairClassifierTraining
    from ontodex.trainers.hierarchies.static_poincare import StaticPoincareTraining

__all__ = ["BASELINES", "evaluate_baselines", "evaluate_hierarchy"]

BASELINES = ("probe", "classifier", "static")
"""What a hierarchy encoder is compared with."""


def evaluate_hierarchy(
    model: str | Path,
    source: Any,
    *,
    task: str | HierarchyTask | None = None,
    relation: str | None = None,
    seed: int = 0,
    negatives: int = 10,
    homonyms: bool = True,
    pairs: str | Path | None = None,
    queries: int = 2000,
    baselines: Sequence[str] = (),
    base: str = DEFAULT_ENCODER,
    device: str = "auto",
    quiet: bool = False,
) -> dict[str, float]:
    """Classify held-out subsumptions of a graph among random and hard negatives, and rank ancestors among all entities.

    A model that was trained on the graph must have been trained on the same split, task and seed: if it was not, and says
    so, there is a warning.

    Args:
        model: A HiT encoder (folder or name; ``"hit-wordnet"`` is the one that ontodex brings), or an index of the graph
            with its points.
        source: A graph with a hierarchy, or what :func:`ontodex.read` reads.
        task: ``"multi-hop"``, ``"mixed-hop"`` or ``"transfer"``, see :func:`.hierarchy_task`; or a task that
            it made. By default what the encoder was trained on, where that is this hierarchy.
        relation: See :func:`.hierarchy_task`, as are ``negatives``, ``homonyms`` and ``pairs``; by default
            what the index was built with, if that was said.
        seed: Seed of the split, of the negatives and of the sample of ``queries``.
        negatives: Negatives of each kind for each pair.
        homonyms: Whether negatives may be named like the child or an ancestor.
        pairs: A folder of pairs.
        queries: Entities whose ancestors are ranked.
        baselines: Of :data:`BASELINES`; see :func:`evaluate_baselines`.
        base: Pretrained encoder of the baselines, and of the texts that tell which entities are alike.
        device: Where to compute.
        quiet: Show no progress on stderr.

    Returns:
        ``random.f1``, ``random.precision``, ``random.recall``, ``random.weight``, ``random.tilt``, ``random.threshold`` and
        ``random.valid_f1``, the same with ``hard.``; ``hop1.recall@10`` and so on by the weight fitted on random
        negatives, with ``distance_only.`` before them by the distance alone; ``homonyms``, the share of entities whose
        name another bears; the baselines' figures with their name before them. For mixed-hop also ``kin.random.f1`` and so
        on: pairs are classified by HiT's distance and norms together with what the training links say of entities of like
        text, as the engine ranks parents, by a logistic regression fitted on validation. Of an index also F1, precision and
        recall by its own rule (``index.random.f1`` and so on, ``index.weight``, ``index.tilt``,
        ``index.threshold``) and the recall of ancestors by its weight (``index.hop1.recall@10``).

    Raises:
        GraphError: If the graph has no hierarchy, or one too small for the task.
        IndexMismatch: If the index is of another graph, or has no points of a HiT encoder.
        SettingsError: If there is no such task or baseline.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.hierarchies.evaluation import (
        ancestor_recall,
        evaluate_points,
        evaluate_regression,
        evaluate_rule,
    )

    _check_baselines(baselines)
    graph = read(source)
    embedded = _embedded(model, graph, device)
    points, c = embedded.points, embedded.c
    if relation is None and embedded.upward:
        graph = graph.with_hierarchy(*embedded.upward)
    if not isinstance(task, HierarchyTask):
        if (
            task is None
            and pairs is None
            and (learnt := embedded.learnt_from(graph.hierarchy(relation, on_cycle="ignore")))
        ):
            task = learnt.task
        task = hierarchy_task(
            graph,
            task,
            relation=relation,
            seed=seed,
            negatives=negatives,
            homonyms=homonyms,
            pairs=pairs,
        )
    _check_static(task, baselines)
    _check_split(task, embedded, str(model))
    found = evaluate_points(task, points, c)
    weights = {"": found["random.weight"], "distance_only.": 0.0}
    if embedded.rule is not None:
        found.update(
            {
                f"index.{key}": value
                for key, value in evaluate_rule(task, points, c, embedded.rule).items()
            }
        )
        weights["index."] = embedded.rule.weight
    for name, weight in weights.items():
        recalls = ancestor_recall(task.known, points, c, weight=weight, queries=queries, seed=seed)
        found.update(
            {name + key: value for key, value in recalls.items() if not name or "recall" in key}
        )
    if task.settings is not None and task.settings.task == "mixed-hop":
        kin = _kin(task, TextEncoder.load(base, device).encode(embedded.texts), points, c)
        found.update({f"kin.{key}": value for key, value in evaluate_regression(task, kin).items()})
    found["homonyms"] = homonym_rate([graph.labels[row] for row in task.known.members.tolist()])
    if baselines:
        found.update(
            evaluate_baselines(
                task, graph, baselines, base=base, seed=seed, device=device, quiet=quiet
            )
        )
    return found


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
    """Classify the pairs of a task by what a hierarchy encoder is compared with, thresholds chosen on validation.

    Args:
        task: Made by :func:`.hierarchy_task`.
        graph: Where its entities are; they are read by their labels, as a hierarchy encoder reads them.
        baselines: ``"probe"``, a pretrained encoder's cosine; ``"classifier"``, the same encoder fine-tuned on pairs;
            ``"static"``, Poincaré embeddings without texts, for multi-hop alone: they know what they were trained on.
        base: The pretrained encoder.
        limit: Most positives in validation and in test, drawn by seed; all by default.
        seed: Seed of the sample.
        classifier: How to train the classifier.
        static: How to train the embeddings.
        device: Where to compute.
        quiet: Show no progress on stderr.

    Returns:
        ``probe.random.f1`` and so on.

    Raises:
        SettingsError: If there is no such baseline, or it is not for this task.
        TrainingError: If one is to be trained and the task has no training links.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.hierarchies.evaluation import Score, at_most, evaluate_scores
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

    _check_baselines(baselines)
    _check_static(task, baselines)
    asked = task if limit is None else at_most(task, limit, seed)
    found: dict[str, float] = {}
    for name in baselines:
        measured = evaluate_scores(asked, score_of(name), None if name == "static" else names)
        found.update({f"{name}.{key}": value for key, value in measured.items()})
    return found


def _check_baselines(baselines: Sequence[str]) -> None:
    for name in baselines:
        expect_choice("baselines", name, BASELINES)


def _check_static(task: HierarchyTask, baselines: Sequence[str]) -> None:
    """Refuse static embeddings where a member of the hierarchy is in no training link: it would have none."""
    if (
        "static" in baselines
        and len(task.train)
        and len(np.setdiff1d(task.known.members, task.train))
    ):
        raise SettingsError(
            "baselines: expected static embeddings on multi-hop only, where every entity is in a training link, found "
            f"{task.settings.task if task.settings else 'a task'} without some of them; leave static out"
        )


def _kin(
    task: HierarchyTask, texts: NDArray[np.float32], points: NDArray[np.float32], c: float
) -> Callable[[NDArray[np.integer], NDArray[np.integer]], NDArray[np.float64]]:
    """Return what measures pairs by HiT, and by the training links of entities whose text vectors are alike."""
    from ontodex.geometry.vectors import Vectors
    from ontodex.scoring.neighbour_voting import NeighbourVotes
    from ontodex.scoring.similarity import EntitySimilarity

    kin = NeighbourVotes(
        Hierarchy(*task.train.T, ids=task.known.ids), EntitySimilarity(Vectors([texts]))
    )

    def measure(children: NDArray[np.integer], parents: NDArray[np.integer]) -> NDArray[np.float64]:
        return np.stack(
            [
                *differences(points, children, parents, c),
                *kin.of_pairs("parents", children, parents),
            ]
        )

    return measure


@dataclass(frozen=True, eq=False)
class _Embedded:
    """Every entity of a graph in the ball.

    Attributes:
        points: Its points, of shape (entities, dim).
        c: The curvature is -c.
        texts: What was read of each entity.
        learnt: What the encoder was trained on, where that is known.
        rule: The rule of the index, if it is one.
        upward: Relations that its hierarchy is said to be made of.
    """

    points: NDArray[np.float32]
    c: float
    texts: list[str]
    learnt: Learnt | None
    rule: Subsumption | None = None
    upward: tuple[str, ...] = ()

    def learnt_from(self, hierarchy: Hierarchy) -> Learnt | None:
        """Return what the encoder was trained on, if it is the links of this hierarchy."""
        if self.learnt is None or self.learnt.links != links_fingerprint(
            hierarchy.links, self.texts
        ):
            return None
        return self.learnt


def _check_split(task: HierarchyTask, embedded: _Embedded, model: str) -> None:
    """Warn if the encoder was trained on the links of the task, but by another split of them."""
    learnt, settings = embedded.learnt_from(task.known), task.settings
    if learnt is None or settings is None:
        return
    if (learnt.task, learnt.seed, learnt.held_out) != (
        settings.task,
        settings.seed,
        settings.held_out,
    ):
        warnings.warn(
            f"{model}: trained on this hierarchy as {learnt.task} with seed {learnt.seed}, evaluated as {settings.task} "
            f"with seed {settings.seed}: it has learnt some of what it is asked, and the figures are too good",
            stacklevel=3,
        )


def _embedded(model: str | Path, graph: KnowledgeGraph, device: str) -> _Embedded:
    """Return the points of an encoder, or those of an index."""
    if not (Path(model) / "CURRENT").exists():
        encoder = load_hierarchy_encoder(str(model), device)
        texts = hierarchy_texts(graph, encoder.texts, str(model))
        return _Embedded(encoder.points(texts), encoder.c, texts, encoder.learnt)
    from ontodex.engine.resources import Resources
    from ontodex.storage.index import Index

    index = Index.open(Path(model))
    index.encoder_info(HIERARCHY)
    index.expect_graph(graph)
    items = np.concatenate(index.vectors(HIERARCHY).shards)
    points = np.asarray(poincare.unlift(items, index.curvature), dtype=np.float32)
    encoder = Resources(index, device).encoders.hierarchy
    texts = hierarchy_texts(graph, encoder.texts, str(model))
    return _Embedded(points, index.curvature, texts, encoder.learnt, index.rule, index.graph.upward)
