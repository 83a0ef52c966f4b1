"""The task on the hierarchy of a graph: drawn, or read where it is kept."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

from ontodex.errors import SettingsError, expect_choice
from ontodex.graph.hierarchy import Hierarchy
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.subsumptions import TASKS, HierarchyTask, TaskSettings, links_fingerprint, make_task
from ontodex.graph.task_files import read_settings, read_task, write_task

__all__ = ["hierarchy_task"]

LEAST_INDIRECT = 100
"""Indirect subsumptions below which too few would be held out of them alone."""


def hierarchy_task(
    graph: KnowledgeGraph,
    task: str | None = None,
    *,
    relation: str | None = None,
    seed: int = 0,
    negatives: int = 10,
    homonyms: bool = True,
    pairs: str | Path | None = None,
) -> HierarchyTask:
    """Return a task on the hierarchy of a graph, its pairs drawn by seed, or read from a folder.

    Args:
        graph: A graph with a hierarchy.
        task: ``"multi-hop"`` holds out a tenth of what follows from the links, ``"mixed-hop"`` a tenth of the links as
            well; ``"transfer"`` has all subsumptions, and no training links. By default multi-hop, but mixed-hop, with a
            warning, for a flat hierarchy: one from whose links fewer than a hundred subsumptions follow.
        relation: The relation from child to parent; by default every relation named like one.
        seed: Seed of split and negatives.
        negatives: Negatives of each kind for each pair.
        homonyms: Whether an entity with the label of the child or of an ancestor may be a negative, as in the paper.
        pairs: A folder of pairs; read if there are any, else written.

    Raises:
        GraphError: If the graph has no hierarchy, or one too small for the task.
        SettingsError: If there is no such task, or the folder holds another, or one of another hierarchy.
    """
    if task is not None:
        expect_choice("task", task, TASKS)
    folder = None if pairs is None else Path(pairs)
    if folder is not None and folder.is_dir() and any(folder.iterdir()):
        kept = read_settings(folder)
        if kept is not None:
            wanted = TaskSettings(task or kept.task, seed, negatives, kept.held_out, homonyms, relation, kept.links)
            if kept != wanted:
                raise SettingsError(f"{folder}: expected pairs of {wanted}, found {kept}; name another folder")
            links = graph.hierarchy(relation, on_cycle="warn").links
            if kept.links not in (None, links_fingerprint(links, graph.ids)):
                raise SettingsError(
                    f"{folder}: expected pairs of the hierarchy of {graph.source}, found those of another, or of another "
                    "state of it: its links differ; name another folder"
                )
        return read_task(folder, graph.ids)
    hierarchy, names = graph.hierarchy(relation, on_cycle="warn"), list(graph.labels)
    task = task or _usual_task(hierarchy, graph.source)
    made = make_task(hierarchy, task, seed=seed, negatives=negatives, names=None if homonyms else names)
    if made.settings is not None:
        fingerprint = links_fingerprint(hierarchy.links, graph.ids)
        made = replace(made, settings=replace(made.settings, relation=relation, links=fingerprint))
    if folder is not None:
        write_task(made, graph.ids, folder, names)
    return made


def _usual_task(hierarchy: Hierarchy, source: str) -> str:
    indirect = len(hierarchy.subsumption_keys) - len(hierarchy.links)
    if indirect >= LEAST_INDIRECT or not len(hierarchy.links):
        return "multi-hop"
    warnings.warn(
        f"{source}: a flat hierarchy, {indirect} subsumptions follow from its {len(hierarchy.links)} links; a tenth of "
        "the links is held out too (mixed-hop)",
        stacklevel=3,
    )
    return "mixed-hop"
