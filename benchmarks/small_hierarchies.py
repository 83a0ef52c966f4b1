"""Parents and children in small taxonomies: parts of larger hierarchies, each its own index."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from typing import Any

import numpy as np

import ontodex
from benchmarks.new_concepts import reciprocal_ranks
from benchmarks.record import Measured
from benchmarks.untrained import PredictedSubsumptions, add_graphs, built, hit_alone, of_each_graph
from ontodex.engine.results.hits import Hits
from ontodex.graph import GraphBuilder, Hierarchy

__all__ = ["add_options", "run"]

SIZES = (8, 47)
"""Fewest and most entities of a part, which has fewer than fifty links."""

MOST_CHILDREN = 8
"""Most children of an entity in a part; at least two are in it."""

LEAST_PARENTS = 3
"""Fewest entities of a part that have children in it."""

K = 50


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    add_graphs(parser)
    parser.add_argument(
        "--parts", type=int, default=50, help="taxonomies from each graph (default %(default)s)"
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    return of_each_graph(options, "small-hierarchies", _measured)


def _measured(options: argparse.Namespace, name: str, whole: ontodex.KnowledgeGraph) -> Measured:
    hierarchy, random = whole.hierarchy(on_cycle="warn"), np.random.default_rng(options.seed)
    count = 5 if options.quick else options.parts
    print(f"{whole!r}: {count} parts …", file=sys.stderr)
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    sizes = []
    for _ in range(count):
        part = _part(whole, hierarchy, random)
        sizes.append(part.n_entities)
        with tempfile.TemporaryDirectory() as folder, built(part, folder) as engine:
            for way, figures in _figures(part, engine).items():
                for figure, value in figures.items():
                    found[way][figure].append(value)
    return Measured(
        name=f"small-hierarchies-{name}",
        title=f"Parents and children in small parts of {name}",
        seed=options.seed,
        settings={
            "graph": repr(whole),
            "parts": count,
            "entities of a part": [min(sizes), max(sizes)],
        },
        figures={
            way: {figure: float(np.nanmean(values)) for figure, values in figures.items()}
            for way, figures in found.items()
        },
        notes=[
            "Each part is an entity with some of its descendants, breadth first, with fewer "
            "than fifty links, and is an index by itself. The queries are the parents or "
            "children of its entities; the asserted links of a query entity do not contribute "
            "to its own answer. HiT is the bundled encoder, trained on WordNet's nouns; nothing "
            "is trained or fitted here.",
            "parents, children: the answers of ontodex, with neighbour voting. The weights for "
            "parents were chosen on parts of Schema.org, Brick and EDAM, the weight for children "
            "was fitted to parts of WordNet, Schema.org and the Human Phenotype Ontology. HiT "
            "alone: without neighbour voting, by the encoder's own rule.",
            "Means over parts. Their answers have no probabilities: the parts have too few links "
            "to fit them to.",
        ],
    )


def _part(
    whole: ontodex.KnowledgeGraph, hierarchy: Hierarchy, random: np.random.Generator
) -> ontodex.KnowledgeGraph:
    """Draw a part of a hierarchy."""
    tops = np.unique(hierarchy.links[:, 1])
    while True:
        rows, most = [int(random.choice(tops))], int(random.integers(SIZES[0], SIZES[1] + 1))
        for row in rows:
            below = random.permutation(hierarchy.children(row))[
                : random.integers(2, MOST_CHILDREN + 1)
            ].tolist()
            rows += [child for child in below if child not in rows][: max(0, most - len(rows))]
        links = [
            (row, parent)
            for row in rows
            for parent in hierarchy.parents(row).tolist()
            if parent in rows
        ]
        if (
            len(rows) >= SIZES[0]
            and len(links) < 50
            and len({parent for _, parent in links}) >= LEAST_PARENTS
        ):
            break
    builder = GraphBuilder(whole.source)
    for row in rows:
        builder.entity(
            whole.ids[row], whole.labels[row], whole.synonyms[row], whole.definitions[row]
        )
    for child, parent in links:
        builder.triple(whole.ids[child], "is_a", whole.ids[parent])
    return builder.build()


def _figures(part: ontodex.KnowledgeGraph, engine: ontodex.Engine) -> dict[str, dict[str, float]]:
    hierarchy = part.hierarchy(on_cycle="warn")
    figures, alone = {}, hit_alone(engine, PredictedSubsumptions)
    by_all = PredictedSubsumptions.of(engine.resources, hierarchy)
    for question, turned in (("parents", hierarchy), ("children", hierarchy.turned())):
        asked = np.unique(turned.links[:, 0])
        names = [part.ids[row] for row in asked.tolist()]
        for way, answers in (
            (question, by_all.ranked(question, names, K, "include")),
            (f"{question}, HiT alone", alone.ranked(question, names, K, "include")),
        ):
            figures[way] = _ranks(part, turned, asked, answers)
    return figures


def _ranks(
    part: ontodex.KnowledgeGraph, hierarchy: Hierarchy, asked: Any, answers: list[Hits]
) -> dict[str, float]:
    """Rank the best direct answer to each entity among the wrong and indirect answers."""
    reciprocal = reciprocal_ranks(part, hierarchy, asked, answers)
    return {
        "MRR of the best direct answer": float(reciprocal.mean()),
        "hits@1": float((reciprocal == 1).mean()),
    }
