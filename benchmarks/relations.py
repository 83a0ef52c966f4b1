"""Relation prediction among all relations, for known entities and for new ones."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import ontodex
from benchmarks.kgc import GRAPHS
from benchmarks.record import Measured, expect_data
from ontodex.engine.ranking import rank_metrics
from ontodex.geometry.cosine import score_pairs
from ontodex.graph import KnowledgeGraph
from ontodex.graph.subgraph import with_triples

__all__ = ["add_options", "run"]

K = 50
"""Number of answers; a relation beyond them gets the mean of the remaining ranks."""

HIDDEN = 0.1
"""Share of the entities whose links are held out."""

OURS, TEXTS, COUNTS = "ontodex", "texts alone", "relations of either alone"
KNOWN, ONE_NEW, BOTH_NEW = "both known", "one without links", "both without links"
"""Kinds of questions."""

PUBLISHED = {
    "wn18rr": {"PathCon": 0.954, "QuatE": 0.767, "RotatE": 0.735},
    "fb15k-237": {"PathCon": 0.964, "QuatE": 0.958, "RotatE": 0.951},
}
"""Hits@1 of test triples, other true relations left out, all as :data:`SOURCE` reports them."""

SOURCE = (
    "Wang, Ren, Leskovec, “Relational Message Passing for Knowledge Graph Completion” (KDD 2021), "
    "mean hits@1 of relation prediction, also in the README of github.com/hwwang55/PathCon"
)

Scores = dict[str, NDArray[np.float64]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--graph", choices=list(GRAPHS), action="append", help="default: both")
    parser.add_argument(
        "--questions", type=int, default=1000, help="of each kind (default %(default)s)"
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    expect_data(options, "relations")
    if options.quick:
        options.questions = 20
    return [_measured(options, name) for name in options.graph or list(GRAPHS)]


def _measured(options: argparse.Namespace, name: str) -> Measured:
    whole = dataclasses.replace(ontodex.read(options.data / name), source=name)
    rng = np.random.default_rng(options.seed)
    hidden = rng.random(whole.n_entities) < HIDDEN
    ends = hidden[whole.heads].astype(int) + hidden[whole.tails]
    valid = whole.valid[~hidden[whole.valid[:, [0, 2]]].any(axis=1)]
    fewer = with_triples(whole, whole.triples[ends == 0], valid, whole.test[:0])
    taken = [rng.permutation(whole.triples[ends == count]) for count in (1, 2)]
    figures = _published(name)
    for graph, kinds in (
        (whole, {KNOWN: rng.permutation(whole.test)}),
        (fewer, {ONE_NEW: taken[0], BOTH_NEW: taken[1]}),
    ):
        print(f"{graph!r} …", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            training = ontodex.HyperCLTraining(steps=5) if options.quick else None
            structure = ontodex.ComplExTraining(steps=20) if options.quick else True
            settings = {
                "training": training,
                "structure": structure,
                "hierarchy": False,
                "entailment": False,
            }
            with ontodex.build(graph, Path(folder) / "relations.odx", **settings) as engine:
                for kind, triples in kinds.items():
                    figures.update(_figures(engine, whole, triples[: options.questions], kind))
    return Measured(
        name=f"relations-{name}",
        title=f"The relation of two entities, {GRAPHS[name]}",
        seed=options.seed,
        settings={
            "graph": repr(whole),
            "questions of each kind": options.questions,
            "split": {
                "weights of ontodex": "valid",
                KNOWN: "test",
                f"{ONE_NEW}, {BOTH_NEW}": "train",
            },
            "source of what is published": SOURCE,
        },
        figures=figures,
        notes=_notes(figures),
    )


def _published(name: str) -> dict[str, float]:
    """Return the published figures of a graph, named like those that are measured."""
    return {f"{KNOWN} · {way}, published · hits@1": value for way, value in PUBLISHED[name].items()}


def _notes(figures: Mapping[str, float]) -> list[str]:
    return [
        "The relation of a triple is ranked among all relations; other true relations of the two "
        "entities are left out, and equal scores share their mean rank. The text "
        "encoder is All-MiniLM-L6-v2, frozen; the index is built with default settings, the "
        "weights of its scores are fitted on validation.",
        f"published: {SOURCE}. All test triples there, a sample of them here.",
        f"{KNOWN}: test triples. {ONE_NEW}, {BOTH_NEW}: training triples of a tenth of the "
        "entities. The index was built without any link of these entities, as if they were new.",
        f"{TEXTS}: the mean of two cosines, that of the predicted tail with the tail and that of "
        f"the predicted head with the head, without links. {COUNTS}: the product of the shares of "
        "the relation among the links of the head and of the tail and of entities with like texts, "
        "without scores of answers.",
        *_ahead(figures),
        "probability of the first, less its share of right ones: the mean; it is above zero if the "
        "probabilities are too high.",
    ]


def _ahead(figures: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence for each kind of questions and baseline with a better MRR than ours."""
    for kind in (KNOWN, ONE_NEW, BOTH_NEW):
        for way in (TEXTS, COUNTS):
            ours, other = (figures[f"{kind} · {one} · mrr"] for one in (OURS, way))
            if other > ours:
                yield (
                    f"{kind}: the baseline “{way}” has a better MRR than ontodex, {other:.3f} "
                    f"against {ours:.3f}."
                )


def _figures(
    engine: ontodex.Engine, whole: KnowledgeGraph, triples: NDArray[np.integer], kind: str
) -> dict[str, float]:
    """Rank the relation of each triple by ontodex and by the baselines."""
    true: dict[tuple[int, int], set[int]] = defaultdict(set)
    for head, relation, tail in np.concatenate([whole.triples, whole.valid, whole.test]).tolist():
        true[head, tail].add(relation)
    numbers = {name: number for number, name in enumerate(whole.relation_ids)}
    pairs = [(whole.ids[head], whole.ids[tail]) for head, _, tail in triples.tolist()]
    start = time.perf_counter()
    answers = engine.relations_batch(pairs, k=K)
    seconds = time.perf_counter() - start
    ranks: dict[str, list[float]] = defaultdict(list)
    promised = []
    for (head, relation, tail), hits in zip(triples.tolist(), answers, strict=True):
        others = list(true[head, tail] - {relation})
        ours = np.full(whole.n_relations, -np.inf)
        ours[[numbers[hit.id] for hit in hits]] = [hit.score for hit in hits]
        promised.append((hits[0].probability or 0.0) - (numbers[hits[0].id] in true[head, tail]))
        for way, scores in {OURS: ours, **_baselines(engine, head, tail)}.items():
            scores[others] = -np.inf
            better, same = (scores > scores[relation]).sum(), (scores == scores[relation]).sum()
            ranks[way].append(better + (1 + same) / 2)
    found: dict[str, float] = {}
    for way, own in ranks.items():
        metrics = rank_metrics(np.array(own))
        found.update(
            {
                f"{kind} · {way} · {metric}": metrics[metric]
                for metric in ("mrr", "hits@1", "hits@3")
            }
        )
    found[f"{kind} · probability of the first, less its share of right ones"] = float(
        np.mean(promised)
    )
    found[f"{kind} · ms for a question"] = 1000 * seconds / len(pairs)
    return found


def _baselines(engine: ontodex.Engine, head: int, tail: int) -> Scores:
    """Score relations by texts alone, and by the relations of either entity alone."""
    from ontodex.engine.resolve import resolve_entity

    index, count = engine.index, engine.graph.n_relations
    likely = engine._links._relation_prediction
    one, other = (resolve_entity(engine.graph, engine.graph.ids[row]) for row in (head, tail))
    vectors = index.vectors("link")[np.array([head, tail])]
    cosines = sum(
        score_pairs(
            vectors[[1 - side]],
            index.projections.by_each(vectors[side], slice(count * side, count * (1 + side)))[None],
        )[0]
        for side in (0, 1)
    )
    return {
        TEXTS: np.asarray(cosines),
        COUNTS: np.log(likely._shares((one, vectors[0]), False))
        + np.log(likely._shares((other, vectors[1]), True)),
    }
