"""Tasks on a hierarchy, as in the HiT paper: training links, held-out subsumptions, negatives.

Source: He et al., Language Models as Hierarchy Encoders (2024), section 4 and its public data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ontodex.errors import GraphError, SettingsError, expect_choice
from ontodex.graph.builder import GraphBuilder
from ontodex.graph.hierarchy import Hierarchy, Rows
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.merging import union
from ontodex.graph.names import NameKind
from ontodex.graph.negatives import Pairs, draw_negatives
from ontodex.graph.splits import DIRECT, hold_out

__all__ = [
    "TASKS",
    "HierarchyTask",
    "Pairs",
    "TaskSettings",
    "make_task",
    "with_root",
]

TASKS = ("multi-hop", "mixed-hop", "transfer")
"""Tasks on a hierarchy; ``transfer`` has no training links."""

INDIRECT, VALID, TEST = 1, 3, 4
"""Numbers of the streams of random numbers that draw the parts of a split."""


@dataclass(frozen=True)
class TaskSettings:
    """Settings of a task.

    Attributes:
        task: One of :data:`TASKS`.
        seed: Seed of split and negatives; equal seeds give equal tasks on every machine.
        negatives: Negatives of each kind for each positive.
        held_out: Share of the subsumptions in validation and test together.
        homonyms: Whether an entity named like the child or one of its ancestors may be a negative.
        relation: The relation from child to parent; ``None`` for all relations with a name such as
            ``is_a``.
        links: :func:`links_fingerprint` of the hierarchy; ``None`` if it was not recorded.
    """

    task: str = "multi-hop"
    seed: int = 0
    negatives: int = 10
    held_out: float = 0.1
    homonyms: bool = True
    relation: str | None = None
    links: str | None = None


@dataclass(frozen=True, eq=False)
class HierarchyTask:
    """Training links and held-out subsumptions of a hierarchy.

    Attributes:
        train: Direct links (child, parent), ``int32`` of shape (n, 2); empty for transfer.
        valid: Held-out subsumptions that select checkpoint, weight and threshold.
        test: Held-out subsumptions for measurement.
        known: The full hierarchy, including held-out links. As in the paper, no negative of a child
            is an ancestor of the child in this hierarchy.
        settings: Settings of the task; ``None`` for files without settings.
    """

    train: Rows
    valid: Pairs
    test: Pairs
    known: Hierarchy
    settings: TaskSettings | None = None


def make_task(
    hierarchy: Hierarchy,
    task: str = "multi-hop",
    *,
    seed: int = 0,
    negatives: int = 10,
    held_out: float | None = None,
    names: Sequence[str] | None = None,
) -> HierarchyTask:
    """Split the subsumptions of a hierarchy as in the paper.

    Multi-hop inference trains on all direct links; a sample of the indirect subsumptions is halved
    into validation and test. Mixed-hop prediction holds out the same indirect subsumptions and an
    equal share of the direct links. Transfer has no training links and holds out all subsumptions,
    to evaluate an encoder trained on another hierarchy. The paper evaluates transfer in this way on
    Schema.org, and on validation and test of mixed-hop for its larger ontologies.

    Args:
        hierarchy: The full hierarchy. For the ontologies of the paper see :func:`with_root`.
        task: One of :data:`TASKS`.
        seed: Seed of split and negatives; equal seeds give equal tasks.
        negatives: Negatives of each kind for each held-out positive.
        held_out: Share of the subsumptions in validation and test together: of the indirect ones
            for multi-hop, otherwise of direct and indirect ones. By default 1 for transfer,
            otherwise a tenth.
        names: Names of the rows, if homonyms are to be excluded from the negatives; see
            :func:`draw_negatives`.

    Raises:
        GraphError: If there are too few subsumptions or candidates.
        SettingsError: If a setting is out of range.

    Example:
        >>> children, parents = np.arange(1, 30, dtype=np.int32), np.arange(29, dtype=np.int32)
        >>> chain = Hierarchy(children, parents, ids=list(map(str, range(30))))
        >>> task = make_task(chain, held_out=0.01, negatives=1)
        >>> len(task.train), len(task.valid), len(task.test)
        (29, 2, 2)
    """
    expect_choice("task", task, TASKS)
    transfer = task == "transfer"
    share = held_out if held_out is not None else 1.0 if transfer else 0.1
    if not (0 < share < 1 or (transfer and share == 1)):
        most = "at most" if transfer else "less than"
        raise SettingsError(f"held_out: expected more than 0 and {most} 1, found {share}")
    links = hierarchy.links
    if not len(links):
        raise GraphError(
            "expected a hierarchy with links from children to parents, found none; there is no "
            "task to make"
        )
    _, *indirect = hold_out(hierarchy.indirect_subsumptions(), share, seed, INDIRECT)
    remaining, *direct = hold_out(links, share, seed, DIRECT)
    parts = [indirect] if task == "multi-hop" else [direct, indirect]
    train = {"multi-hop": links, "mixed-hop": remaining, "transfer": links[:0]}[task]
    valid, test = (np.concatenate(half) for half in zip(*parts, strict=True))
    if not len(valid) or not len(test) or (not len(train) and not transfer):
        raise GraphError(
            f"{task}: expected enough subsumptions to train on and to hold out {share:g} of, for "
            f"validation and test, found {len(links)} direct and "
            f"{len(hierarchy.subsumption_keys) - len(links)} indirect; set held_out, take "
            "mixed-hop, or take a larger hierarchy"
        )
    drawn = [
        draw_negatives(hierarchy, half, negatives=negatives, seed=(seed, part), names=names)
        for half, part in ((valid, VALID), (test, TEST))
    ]
    settings = TaskSettings(task, seed, negatives, share, names is None)
    return HierarchyTask(train, drawn[0], drawn[1], hierarchy, settings)


def with_root(
    graph: KnowledgeGraph,
    identifier: str = "owl:Thing",
    label: str = "thing",
    *,
    relation: str | None = None,
) -> KnowledgeGraph:
    """Return the graph with one entity above all roots of its hierarchy, as the paper does.

    The paper adds such a root to ontologies, but not to WordNet, whose nouns have twelve roots when
    instances are left out. Entities without links get no parent, since they may not be classes. The
    new entity has the last row; all other rows are unchanged.

    Args:
        graph: The graph.
        identifier: CURIE or IRI of the root; an existing entity with this id is used.
        label: Label of the root.
        relation: The relation from child to parent. By default all relations with a name such as
            ``is_a`` define the hierarchy, and the new links have the first of these relations.

    Raises:
        GraphError: If the graph has no hierarchy.
        UnknownRelation: If the graph does not have ``relation``.
        CycleError: If the hierarchy has a cycle.

    Example:
        >>> builder = GraphBuilder("pets")
        >>> builder.triple("dog", "is_a", "animal"); builder.triple("oak", "is_a", "plant")
        >>> with_root(builder.build()).hierarchy()
        Hierarchy(5 entities, 4 links, 1 roots)
    """
    roots = graph.hierarchy(relation).roots.tolist()
    numbers = (
        graph.hierarchy_relations
        if relation is None
        else [(graph.find_relation(relation) or (0,))[0]]
    )
    there = graph.find(identifier)
    own = there[0] if there is not None and there[1] is NameKind.ID else -1
    builder = GraphBuilder(graph.source)
    builder.prefixes.update({"owl": "http://www.w3.org/2002/07/owl#", **graph.prefixes})
    builder.entity(identifier, label)
    for row in roots:
        if row != own:
            builder.triple(graph.ids[row], graph.relation_ids[numbers[0]], identifier)
    return union(graph, builder.build())
