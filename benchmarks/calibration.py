"""Probabilities beside the share of right answers, for every question that has one."""

from __future__ import annotations

import argparse
import dataclasses
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score

import ontodex
from benchmarks.everyday_data import GRAPHS, sources
from benchmarks.ground import without_some
from benchmarks.record import Measured
from benchmarks.untrained import apart, without
from ontodex.graph import Hierarchy, KnowledgeGraph, remove
from ontodex.graph.subgraph import with_triples

__all__ = ["add_options", "calibration_of", "run"]

USUAL = ("schema-org", "brick", "edam", "countries", "biomappings")
"""Default graphs."""

TEN, BANDS = 10, 10
"""Number of answers to each question that count, and of bands of the calibration error."""

LEAST = 100
"""Smallest number of answers that figures are given of."""

HELD_OUT = 0.05
"""Share of the triples that are held out."""

Judged = list[tuple[float | None, bool]]
"""Probability of each answer, and whether it is right."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    parser.add_argument("--graph", choices=GRAPHS, action="append", help="default: all but hpo")
    parser.add_argument(
        "--questions", type=int, default=2000, help="most questions of a kind (default 2000)"
    )


def run(options: argparse.Namespace) -> Iterator[Measured]:
    """Measure, and yield what came out of each graph as soon as it is there."""
    questions = min(options.questions, 50) if options.quick else options.questions
    with tempfile.TemporaryDirectory() as folder:
        files = sources(Path(folder))
        for name in options.graph or USUAL:
            graph = ontodex.read(*files[name], on_error="skip")
            print(f"{graph!r} …", file=sys.stderr)
            yield Measured(
                name=f"calibration-{name}",
                title=f"Probabilities of answers from {name}",
                seed=options.seed,
                settings={
                    "graph": repr(dataclasses.replace(graph, source=name)),
                    "most questions of a kind": questions,
                    "split": "what is asked is taken out before the index is built; nothing is "
                    "chosen by it",
                },
                figures=_of_graph(graph, questions, options.seed),
                notes=NOTES,
            )


NOTES = [
    f"Taken out before the index is built: {HELD_OUT:.0%} of the triples, a fifth of the leaves of "
    "the hierarchy and of the entities between others, whose children go to their parents, and a "
    "synonym of at most half of the entities that have any; no more than the most questions.",
    "tails: of the held-out triples' heads and relations, the known ones left out; right are the "
    "held-out tails. missing: the best links; right are the held-out triples. parents, children: "
    "of the entities that were taken out, by their labels; right are the direct ones. further "
    "parents: of entities that have links, the asserted ones left out; right are the held-out "
    "triples. ground: the "
    "held-out synonyms, and labels of leaves, which no term means any more. entails: the labels "
    "of these leaves and of their parents, which is right, and the reverse and siblings, which "
    "are not.",
    "What the graph lacks counts as wrong, though it may be true: the probabilities are fitted to "
    "the graph's own links as well.",
    f"calibration error: mean difference of probability and share of right answers over {BANDS} "
    "bands of equal size. log loss of the share: of the share of right answers as the probability "
    "of each. The first ten answers to each question count. Fewer than a hundred answers have no "
    "figures.",
]


def _of_graph(whole: KnowledgeGraph, most: int, seed: int) -> dict[str, dict[str, float]]:
    """Return the figures of each kind of question."""
    order, draw = np.random.default_rng(seed), random.Random(seed)
    named, hidden = without_some(whole, most, draw)
    hierarchy = whole.hierarchy(on_cycle="ignore") if whole.hierarchy_relations else None
    leaves = inner = np.zeros(0, dtype=np.int64)
    if hierarchy is not None:
        children, parents = hierarchy.links.T
        leaves = order.permutation(np.setdiff1d(children, parents))
        leaves = leaves[: min(most, len(leaves) // 5)]
        inner = apart(hierarchy, order.permutation(np.intersect1d(children, parents)), most)
        named = without(named, hierarchy, inner)
    named = remove(named, [whole.ids[row] for row in leaves.tolist()])
    graph, held_out = _without_triples(named, most, order)
    ids, relations = graph.ids, graph.relation_ids
    right = {(ids[head], relations[by], ids[tail]) for head, by, tail in held_out.tolist()}
    with (
        tempfile.TemporaryDirectory() as folder,
        ontodex.build(graph, Path(folder) / "index.odx", quiet=True) as engine,
    ):
        judged = {
            "tails": _of_tails(engine, right),
            "missing": _of_missing(engine, right, most),
            "ground": _of_ground(engine, whole, hidden, leaves),
        }
        if hierarchy is not None and len(leaves):
            judged["parents"] = _of_terms(engine, "parents", whole, hierarchy, leaves)
            judged["further parents"] = _of_linked(engine, right, most, order)
            judged["children"] = _of_terms(engine, "children", whole, hierarchy.turned(), inner)
            judged["entails"] = _of_pairs(engine, whole, hierarchy, leaves)
        return {kind: _figures(found) for kind, found in judged.items() if len(found) >= LEAST}


def _without_triples(
    graph: KnowledgeGraph, most: int, order: np.random.Generator
) -> tuple[KnowledgeGraph, NDArray[np.int32]]:
    """Hold out some triples; entities and relations that have no other stay in the graph."""
    drawn = order.permutation(len(graph.triples))
    count = min(most, int(HELD_OUT * len(drawn)))
    kept = graph.triples[np.sort(drawn[count:])]
    return with_triples(graph, kept, graph.valid, graph.test), graph.triples[drawn[:count]]


def _of_tails(engine: ontodex.Engine, right: set[tuple[str, str, str]]) -> Judged:
    asked = sorted({(head, by) for head, by, _ in right})
    answers = engine.tails_batch(asked, TEN, known="exclude")
    return [
        (hit.probability, (head, by, hit.id) in right)
        for (head, by), hits in zip(asked, answers, strict=True)
        for hit in hits
    ]


def _of_missing(engine: ontodex.Engine, right: set[tuple[str, str, str]], most: int) -> Judged:
    return [
        (link.probability, (link.head, link.relation, link.tail) in right)
        for link in engine.missing(k=most)
    ]


def _of_terms(
    engine: ontodex.Engine,
    question: str,
    whole: KnowledgeGraph,
    hierarchy: Hierarchy,
    rows: NDArray[np.integer],
) -> Judged:
    """Ask for parents; for children, give the inverse hierarchy."""
    ask = engine.parents_batch if question == "parents" else engine.children_batch
    answers = ask([whole.labels[row] for row in rows.tolist()], TEN)
    direct = [{whole.ids[at] for at in hierarchy.parents(row)} for row in rows.tolist()]
    return [
        (hit.probability, hit.id in own)
        for own, hits in zip(direct, answers, strict=True)
        for hit in hits
    ]


def _of_linked(
    engine: ontodex.Engine,
    right: set[tuple[str, str, str]],
    most: int,
    order: np.random.Generator,
) -> Judged:
    """Ask for the parents, other than the asserted ones, of entities that have links."""
    graph = engine.graph
    upward = [graph.relation_ids[relation] for relation in graph.hierarchy_relations]
    members = order.permutation(graph.hierarchy(on_cycle="ignore").members)[:most]
    asked = [graph.ids[row] for row in members.tolist()]
    answers = engine.parents_batch(asked, TEN, known="exclude")
    return [
        (hit.probability, any((child, by, hit.id) in right for by in upward))
        for child, hits in zip(asked, answers, strict=True)
        for hit in hits
    ]


def _of_ground(
    engine: ontodex.Engine,
    whole: KnowledgeGraph,
    hidden: Sequence[tuple[str, int]],
    leaves: NDArray[np.integer],
) -> Judged:
    gone = set(leaves.tolist())
    asked = [(text, whole.ids[row]) for text, row in hidden if row not in gone]
    asked += [(whole.labels[row], "") for row in leaves[: len(asked)].tolist()]
    asked = [one for one in asked if engine.graph.find_all(one[0]) is None]
    found = engine.ground([text for text, _ in asked])
    return [
        (one.probability, one.term_id == meant)
        for one, (_, meant) in zip(found, asked, strict=True)
    ]


def _of_pairs(
    engine: ontodex.Engine,
    whole: KnowledgeGraph,
    hierarchy: Hierarchy,
    leaves: NDArray[np.integer],
) -> Judged:
    asked: list[tuple[str, str, bool]] = []
    for row in leaves.tolist():
        label, above = whole.labels[row], hierarchy.parents(row).tolist()
        beside = hierarchy.siblings(row).tolist()
        asked += [(label, whole.labels[above[0]], True), (whole.labels[above[0]], label, False)]
        asked += [(label, whole.labels[other], False) for other in beside[:1]]
    verdicts = engine.entails_batch([(one, other) for one, other, _ in asked])
    return [
        (verdict.probability, right) for verdict, (_, _, right) in zip(verdicts, asked, strict=True)
    ]


def _figures(judged: Judged) -> dict[str, float]:
    known = [(probability, right) for probability, right in judged if probability is not None]
    figures = {"answers": float(len(judged)), "with a probability": len(known) / len(judged)}
    return figures | (calibration_of(*zip(*known, strict=True)) if known else {})


def calibration_of(probabilities: Sequence[float], right: Sequence[bool]) -> dict[str, Any]:
    """Return how well probabilities distinguish right answers, and how well they are calibrated."""
    true, stated = np.array(right), np.array(probabilities)
    bands = np.array_split(np.argsort(stated), min(BANDS, len(stated)))
    both = 0 < true.mean() < 1
    return {
        "true": true.mean(),
        "log loss": log_loss(true, stated, labels=[False, True]),
        "log loss of the share that is true": log_loss(
            true, np.full(len(true), true.mean()), labels=[False, True]
        ),
        **({"area under the ROC curve": roc_auc_score(true, stated)} if both else {}),
        "calibration error, ten bands": np.mean(
            [abs(stated[band].mean() - true[band].mean()) for band in bands]
        ),
    }
