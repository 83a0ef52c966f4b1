"""Parents and children of concepts that a hierarchy does not have: some of its own, taken out, asked for by their labels."""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
import tempfile
import time
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

import ontodex
from benchmarks.record import Measured
from benchmarks.untrained import add_graphs, built, hit_alone, of_each_graph, with_links
from ontodex.engine.results.hits import Hits
from ontodex.graph import Hierarchy, remove
from ontodex.graph.columns import NestedTextColumn
from ontodex.scoring.neighbour_voting import NeighbourVoting

__all__ = ["add_options", "probabilities", "reciprocal_ranks", "run"]

DEPTHS = (1, 2, 3, 4)
"""Links from a concept to an ancestor; the last counts for more as well."""

K = 100


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    add_graphs(parser)
    parser.add_argument(
        "--concepts",
        type=int,
        default=500,
        help="most leaves, and others, that are taken out (default %(default)s)",
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Measure, and return what came out."""
    return of_each_graph(options, "new-concepts", _measured)


def _measured(options: argparse.Namespace, name: str, whole: ontodex.KnowledgeGraph) -> Measured:
    hierarchy = whole.hierarchy(on_cycle="warn")
    most = 50 if options.quick else options.concepts
    order = np.random.default_rng(options.seed)
    leaves = np.setdiff1d(hierarchy.links[:, 0], hierarchy.links[:, 1])
    taken = order.permutation(leaves)[: min(most, len(leaves) // 5)]
    inner = _apart(
        hierarchy,
        order.permutation(np.intersect1d(hierarchy.links[:, 0], hierarchy.links[:, 1])),
        most,
    )
    figures: dict[str, Any] = {}
    print(f"{whole!r}: {len(taken)} leaves taken out …", file=sys.stderr)
    graph = remove(whole, [whole.ids[row] for row in taken])
    labels = [whole.labels[row] for row in taken]
    with tempfile.TemporaryDirectory() as folder, built(graph, folder) as engine:
        start = time.perf_counter()
        found = engine.parents_batch(labels, K)
        took = time.perf_counter() - start
        places = engine.place_batch(labels, 5)
        figures["parents"] = _figures(whole, hierarchy, taken, found)
        figures["HiT alone"] = _figures(
            whole, hierarchy, taken, hit_alone(engine).ranked("parents", labels, K, "include")
        )
        figures["cosine"] = _figures(whole, hierarchy, taken, engine.search_batch(labels, K))
        placed = [
            [_is_parent(whole, hierarchy, row, place.parent.id) for place in answer]
            for row, answer in zip(taken.tolist(), places, strict=True)
        ]
        figures["place"] = {
            "a direct parent first": np.mean([answer[:1] == [True] for answer in placed]),
            "a direct parent among 5": np.mean([any(answer) for answer in placed]),
        }
        figures["probability of parents"] = probabilities(
            whole, hierarchy.is_ancestor, taken, found
        )
        figures["parents"]["milliseconds a concept"] = 1000 * took / len(taken)
        rules = NeighbourVoting.read(engine.index.manifest.neighbour_voting, name)
        figures["seconds to fit rules"] = engine.index.manifest.seconds["fit hierarchy"]
    print(f"{whole!r}: {len(inner)} others taken out …", file=sys.stderr)
    with (
        tempfile.TemporaryDirectory() as folder,
        built(_without(whole, hierarchy, inner), folder) as engine,
    ):
        labels = [whole.labels[row] for row in inner]
        figures |= _figures_of_children(whole, hierarchy, inner, engine, labels, "children")
    named = np.array(
        [row for row in np.unique(hierarchy.links[:, 1]) if whole.synonyms[row]], dtype=np.int64
    )
    if len(named):
        named = order.permutation(named)[:most]
        nameless = dataclasses.replace(whole, synonyms=NestedTextColumn.of([()] * whole.n_entities))
        with tempfile.TemporaryDirectory() as folder, built(nameless, folder) as engine:
            synonyms = [whole.synonyms[row][0] for row in named]
            figures |= _figures_of_children(
                whole, hierarchy, named, engine, synonyms, "children by synonym"
            )
    return Measured(
        name=f"new-concepts-{name}",
        title=f"Parents and children of concepts that {name} does not have",
        seed=options.seed,
        settings={
            "graph": repr(graph),
            "leaves": len(taken),
            "others": len(inner),
            "by synonym": len(named),
            "neighbour voting": {
                question: dataclasses.asdict(rule) for question, rule in rules.items()
            },
        },
        figures=figures,
        notes=[
            "Leaves of the hierarchy are taken out before the index is built, with all their links, and their parents asked "
            "for by the label alone. HiT is the encoder in the box, trained on WordNet's nouns; nothing is trained here.",
            "parents: HiT's score with what is above entities of like text, as ontodex answers; HiT alone: without that; "
            "cosine: the entities of most similar text (all-MiniLM-L6-v2).",
            "Recall of the ancestors so many links away among the best 10 and 100.",
            "children: concepts between others are taken out, no two of them linked; their children go to their "
            "parents. Their children are asked for by the label alone; recall is that of at most 10, or 100, of each.",
            "probability: of the first ten answers to each, what share is true, direct or not, and how well their "
            "probabilities tell which; the calibration error is the mean difference between both over ten bands.",
            "children by synonym: only synonyms are taken out; children of concepts are asked for by the first of each.",
        ],
    )


def _apart(hierarchy: Hierarchy, rows: Any, most: int) -> Any:
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


def _without(
    graph: ontodex.KnowledgeGraph, hierarchy: Hierarchy, rows: Any
) -> ontodex.KnowledgeGraph:
    """Take entities out of a hierarchy; their children become those of their parents."""
    through = [
        (child, parent)
        for row in rows.tolist()
        for child in hierarchy.children(row).tolist()
        for parent in hierarchy.parents(row).tolist()
    ]
    return remove(with_links(graph, through), [graph.ids[row] for row in rows])


def _is_parent(graph: ontodex.KnowledgeGraph, hierarchy: Hierarchy, row: int, other: str) -> bool:
    return other in {graph.ids[parent] for parent in hierarchy.parents(row).tolist()}


def reciprocal_ranks(
    graph: ontodex.KnowledgeGraph, hierarchy: Hierarchy, asked: Any, answers: list[Hits]
) -> Any:
    """Return one over the rank of the best direct parent of each entity; of children, turn the hierarchy."""
    first = []
    for row, hits in zip(asked.tolist(), answers, strict=True):
        direct = {graph.ids[parent] for parent in hierarchy.parents(row).tolist()}
        first.append(next((rank for rank, hit in enumerate(hits, 1) if hit.id in direct), np.inf))
    return 1 / np.array(first)


def _figures(
    graph: ontodex.KnowledgeGraph, hierarchy: Hierarchy, taken: Any, answers: list[Hits]
) -> dict[str, float]:
    found = {(depth, k): [0, 0] for k in (10, K) for depth in DEPTHS}
    for row, hits in zip(taken.tolist(), answers, strict=True):
        ranks = {hit.id: rank for rank, hit in enumerate(hits, 1)}
        for ancestor, distance in hierarchy.hops_upward(row).items():
            for k in (10, K):
                tally = found[min(distance, DEPTHS[-1]), k]
                tally[0] += ranks.get(graph.ids[ancestor], np.inf) <= k
                tally[1] += 1
    reciprocal = reciprocal_ranks(graph, hierarchy, taken, answers)
    figures = {
        "MRR of the best direct parent": float(reciprocal.mean()),
        "hits@1": float((reciprocal == 1).mean()),
        "hits@10": float((reciprocal >= 0.1).mean()),
    }
    for (depth, k), (right, total) in found.items():
        away = (
            f"{depth} or more links" if depth == DEPTHS[-1] else f"{depth} link{'s' * (depth > 1)}"
        )
        figures[f"ancestors {away} away in the first {k}"] = right / max(1, total)
    return figures


def _figures_of_children(
    graph: ontodex.KnowledgeGraph,
    hierarchy: Hierarchy,
    rows: Any,
    engine: ontodex.Engine,
    names: list[str],
    what: str,
) -> dict[str, dict[str, float]]:
    """Ask for the children of concepts by names that the engine's graph does not have."""
    found = engine.children_batch(names, K)
    ways = {
        what: found,
        f"{what}, HiT alone": hit_alone(engine).ranked("children", names, K, "include"),
        f"{what}, cosine": engine.search_batch(names, K),
    }
    figures = {
        way: _found_children(graph, hierarchy, rows, answers) for way, answers in ways.items()
    }
    figures[f"probability of {what}"] = probabilities(
        graph, hierarchy.turned().is_ancestor, rows, found
    )
    return figures


def probabilities(
    graph: ontodex.KnowledgeGraph, is_answer: Any, taken: Any, answers: list[Hits]
) -> dict[str, float]:
    """Compare the probabilities of the first ten answers with how many are true, direct or not."""
    rows = {entity: row for row, entity in enumerate(graph.ids)}
    listed = [
        (row, rows[hit.id], hit.probability)
        for row, hits in zip(taken, answers, strict=True)
        for hit in hits[:10]
    ]
    asked, found, probabilities = (np.array(column) for column in zip(*listed, strict=True))
    true = is_answer(asked, found)
    return {
        "true": true.mean(),
        "log loss": log_loss(true, probabilities, labels=[False, True]),
        "area under the ROC curve": roc_auc_score(true, probabilities)
        if 0 < true.mean() < 1
        else math.nan,
        "calibration error, ten bands": np.mean(
            [
                abs(probabilities[band].mean() - true[band].mean())
                for band in np.array_split(np.argsort(probabilities), min(10, len(probabilities)))
            ]
        ),
    }


def _found_children(
    graph: ontodex.KnowledgeGraph, hierarchy: Hierarchy, taken: Any, answers: list[Hits]
) -> dict[str, float]:
    reciprocal, recalls = (
        reciprocal_ranks(graph, hierarchy.turned(), taken, answers),
        {10: [], K: []},
    )
    for row, hits in zip(taken.tolist(), answers, strict=True):
        ranks = {hit.id: rank for rank, hit in enumerate(hits, 1)}
        found = np.array(
            [ranks.get(graph.ids[child], np.inf) for child in hierarchy.children(row).tolist()]
        )
        for k, recall in recalls.items():
            recall.append((found <= k).sum() / min(k, len(found)))
    return {
        "MRR of the best direct child": float(reciprocal.mean()),
        "hits@1": float((reciprocal == 1).mean()),
        **{
            f"direct children in the first {k}": float(np.mean(recall))
            for k, recall in recalls.items()
        },
    }
