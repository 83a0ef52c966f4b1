"""Parents of concepts that a hierarchy does not have: some of its own, taken out, asked for by their labels."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import ontodex
from benchmarks.hierarchies import LOADERS
from benchmarks.record import Measured, expect_data
from ontodex.engine.hits import Hits
from ontodex.engine.subsumptions import Subsumptions
from ontodex.graph import Hierarchy, remove
from ontodex.graph.text import in_words
from ontodex.trainers.hierarchy_evaluation import hops_upward

__all__ = ["add_options", "run"]

DEPTHS = (1, 2, 3, 4)
"""Links from a concept to an ancestor; the last counts for more as well."""

K = 100


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    parser.add_argument("--graph", choices=list(LOADERS), action="append", help="default: doid-2016, schema-org")
    parser.add_argument("--concepts", type=int, default=500, help="leaves that are taken out (default %(default)s)")


def run(options: argparse.Namespace) -> list[Measured]:
    """Measure, and return what came out."""
    expect_data(options, "new-concepts")
    return [_measured(options, name) for name in options.graph or ["doid-2016", "schema-org"]]


def _measured(options: argparse.Namespace, name: str) -> Measured:
    whole = LOADERS[name](options.data)
    hierarchy = whole.hierarchy(on_cycle="drop")
    leaves = np.setdiff1d(hierarchy.links[:, 0], hierarchy.links[:, 1])
    count = min(50 if options.quick else options.concepts, len(leaves) // 5)
    taken = np.random.default_rng(options.seed).permutation(leaves)[:count]
    graph = remove(whole, [whole.ids[row] for row in taken])
    print(f"{whole!r}: {count} leaves taken out …", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hierarchy.odx"
        engine = ontodex.build(graph, path, train=False, structure=False, entailment=False, quiet=True)
        with engine:
            index, labels = engine.index, [whole.labels[row] for row in taken]
            known = graph.hierarchy(on_cycle="drop")
            alone = Subsumptions(
                graph, known, index.vectors("hit"), index.curvature, index.rule,
                encode=lambda texts: np.asarray(index.hit_encoder.items([in_words(text) for text in texts])),
            )  # fmt: skip
            start = time.perf_counter()
            found = engine.parents_batch(labels, K)
            took = time.perf_counter() - start
            places = engine.place_batch(labels, 5)
            figures: dict[str, Any] = {
                "parents": _figures(whole, hierarchy, taken, found),
                "HiT alone": _figures(whole, hierarchy, taken, alone.ranked("parents", labels, K, "include")),
                "cosine": _figures(whole, hierarchy, taken, engine.search_batch(labels, K)),
            }
            placed = [
                [_is_parent(whole, hierarchy, row, place.parent.id) for place in answer]
                for row, answer in zip(taken.tolist(), places, strict=True)
            ]
            figures["place"] = {
                "a direct parent first": np.mean([answer[:1] == [True] for answer in placed]),
                "a direct parent among 5": np.mean([any(answer) for answer in placed]),
            }
            figures["parents"]["milliseconds a concept"] = 1000 * took / count
            kin = index.manifest.encoders["hit"].get("kin")
            seconds = index.manifest.seconds
    return Measured(
        name=f"new-concepts-{name}",
        title=f"Parents of concepts that {name} does not have",
        seed=options.seed,
        settings={"graph": repr(graph), "concepts": count, "kin": kin},
        figures=figures | {"seconds to fit rules": seconds["rule"]},
        notes=[
            "Leaves of the hierarchy are taken out before the index is built, with all their links, and their parents asked "
            "for by the label alone. HiT is the encoder in the box, trained on WordNet's nouns; nothing is trained here.",
            "parents: HiT's score with what is above entities of like text, as ontodex answers; HiT alone: without that; "
            "cosine: the entities of most similar text (all-MiniLM-L6-v2).",
            "Recall of the ancestors so many links away among the best 10 and 100.",
        ],
    )


def _is_parent(graph: ontodex.KnowledgeGraph, hierarchy: Hierarchy, row: int, other: str) -> bool:
    return other in {graph.ids[parent] for parent in hierarchy.parents(row).tolist()}


def _figures(graph: ontodex.KnowledgeGraph, hierarchy: Hierarchy, taken: Any, answers: list[Hits]) -> dict[str, float]:
    first, found = [], {(depth, k): [0, 0] for k in (10, K) for depth in DEPTHS}
    for row, hits in zip(taken.tolist(), answers, strict=True):
        ranks = {hit.id: rank for rank, hit in enumerate(hits, 1)}
        first.append(min(ranks.get(graph.ids[parent], np.inf) for parent in hierarchy.parents(row).tolist()))
        for ancestor, distance in hops_upward(hierarchy, row).items():
            for k in (10, K):
                tally = found[min(distance, DEPTHS[-1]), k]
                tally[0] += ranks.get(graph.ids[ancestor], np.inf) <= k
                tally[1] += 1
    reciprocal = 1 / np.array(first)
    figures = {
        "MRR of the best direct parent": float(reciprocal.mean()),
        "hits@1": float((reciprocal == 1).mean()),
        "hits@10": float((reciprocal >= 0.1).mean()),
    }
    for (depth, k), (right, total) in found.items():
        away = f"{depth} or more links" if depth == DEPTHS[-1] else f"{depth} link{'s' * (depth > 1)}"
        figures[f"ancestors {away} away in the first {k}"] = right / max(1, total)
    return figures
