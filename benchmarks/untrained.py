"""Hierarchies that are asked by the encoder in the box, of which some entities or links were changed before."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np

import ontodex
from benchmarks.hierarchies import LOADERS
from benchmarks.record import Measured, expect_data
from ontodex.engine.hierarchy import Subsumptions

__all__ = ["Links", "add_graphs", "built", "hit_alone", "of_each_graph", "with_links"]

Links = Collection[tuple[int, int]]
"""Rows of children and parents."""

GRAPHS = ["doid-2016", "schema-org"]
"""Hierarchies that are measured on unless others are named."""


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
    """Measure each hierarchy that was chosen."""
    expect_data(options, what)
    return [measure(options, name, LOADERS[name](options.data)) for name in options.graph or GRAPHS]


def with_links(
    graph: ontodex.KnowledgeGraph, put_in: Links, *, taken_out: Links = ()
) -> ontodex.KnowledgeGraph:
    """Put links of the hierarchy into a graph, and take others out."""
    (relation, *_) = graph.hierarchy_relations
    out = {(child, relation, parent) for child, parent in taken_out}
    kept = [triple for triple in map(tuple, graph.triples.tolist()) if triple not in out]
    triples = sorted({*kept, *((child, relation, parent) for child, parent in put_in)})
    heads, relations, tails = np.array(triples, dtype=graph.triples.dtype).T
    return dataclasses.replace(graph, heads=heads, relations=relations, tails=tails)


def built(graph: ontodex.KnowledgeGraph, folder: str) -> ontodex.Engine:
    """Build an index of a hierarchy alone: nothing is trained."""
    return ontodex.build(
        graph,
        Path(folder) / "hierarchy.odx",
        train=False,
        structure=False,
        entailment=False,
        quiet=True,
    )


def hit_alone(engine: ontodex.Engine) -> Subsumptions:
    """Return what ranks parents and children of an engine's graph by the subsumption score alone."""
    index = engine.index
    return Subsumptions(
        index.graph, index.graph.hierarchy(on_cycle="warn"), index.vectors("hierarchy"), index.curvature, index.rule,
        encode=lambda texts: np.asarray(engine.resources.encoders.hierarchy.items(texts)),
    )  # fmt: skip
