"""Hierarchies with changed entities or links, queried by the bundled encoder without training."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np

import ontodex
from benchmarks.hierarchies import LOADERS
from benchmarks.record import Measured, expect_data
from ontodex.engine.answers import Rows, no_rows
from ontodex.engine.hierarchy import Subsumptions
from ontodex.graph import Hierarchy, KnowledgeGraph, remove
from ontodex.graph.subgraph import with_triples

__all__ = [
    "Links",
    "add_graphs",
    "apart",
    "built",
    "hit_alone",
    "of_each_graph",
    "with_links",
    "without",
]

Links = Collection[tuple[int, int]]
"""Rows of children and parents."""

GRAPHS = ["doid-2016", "schema-org"]
"""Default hierarchies."""


def add_graphs(parser: argparse.ArgumentParser) -> None:
    """Add the choice of hierarchies."""
    parser.add_argument(
        "--graph",
        choices=list(LOADERS),
        action="append",
        help=f"default: {', '.join(GRAPHS)}; may be repeated",
    )


def of_each_graph(
    options: argparse.Namespace,
    what: str,
    measure: Callable[[argparse.Namespace, str, ontodex.KnowledgeGraph], Measured],
) -> list[Measured]:
    """Measure each chosen hierarchy."""
    expect_data(options, what)
    return [measure(options, name, LOADERS[name](options.data)) for name in options.graph or GRAPHS]


def with_links(
    graph: ontodex.KnowledgeGraph, put_in: Links, *, taken_out: Links = ()
) -> ontodex.KnowledgeGraph:
    """Add links to the hierarchy of a graph, and remove others."""
    (relation, *_) = graph.hierarchy_relations
    out = {(child, relation, parent) for child, parent in taken_out}
    kept = [triple for triple in map(tuple, graph.triples.tolist()) if triple not in out]
    triples = sorted({*kept, *((child, relation, parent) for child, parent in put_in)})
    known = np.array(triples, dtype=graph.triples.dtype)
    return with_triples(graph, known, graph.valid, graph.test)


def apart(hierarchy: Hierarchy, rows: Any, most: int) -> Any:
    """Return the first of the rows that are not linked to one another, a fifth of all at most."""
    chosen: dict[int, None] = {}
    for row in rows.tolist():
        if chosen.keys().isdisjoint(
            [*hierarchy.parents(row).tolist(), *hierarchy.children(row).tolist()]
        ):
            chosen[row] = None
        if len(chosen) == min(most, len(rows) // 5):
            break
    return np.array(list(chosen))


def without(graph: KnowledgeGraph, hierarchy: Hierarchy, rows: Any) -> KnowledgeGraph:
    """Take entities out of a hierarchy; their children become those of their parents."""
    through = [
        (child, parent)
        for row in rows.tolist()
        for child in hierarchy.children(row).tolist()
        for parent in hierarchy.parents(row).tolist()
    ]
    return remove(with_links(graph, through), [graph.ids[row] for row in rows])


def built(graph: ontodex.KnowledgeGraph, folder: str) -> ontodex.Engine:
    """Build an index of a hierarchy alone, without training."""
    return ontodex.build(
        graph,
        Path(folder) / "hierarchy.odx",
        train=False,
        structure=False,
        entailment=False,
        quiet=True,
    )


class PredictedSubsumptions(Subsumptions):
    """Ranks asserted parents and children as if they were not asserted, by their scores."""

    def asserted(self, question: str, row: int | None) -> tuple[Rows, Rows]:
        """Return no asserted answers, and the entities that would close a cycle."""
        return no_rows(), super().asserted(question, row)[1]


def hit_alone(engine: ontodex.Engine, kind: type[Subsumptions] = Subsumptions) -> Subsumptions:
    """Return a ranker of parents and children by the subsumption score alone."""
    index = engine.index
    return kind(
        index.graph,
        index.graph.hierarchy(on_cycle="warn"),
        index.vectors("hierarchy"),
        index.curvature,
        index.rule,
        encode=lambda texts: np.asarray(engine.resources.encoders.hierarchy.items(texts)),
    )
