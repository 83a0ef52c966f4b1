"""Ranking by conditional similarity: entities that share tails of a relation should come first.

Query entities with known links and with held-out links are measured apart.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

import ontodex
from benchmarks.kgc import GRAPHS
from benchmarks.record import Measured, expect_data
from ontodex.graph import KnowledgeGraph
from ontodex.graph.subgraph import with_triples

__all__ = ["add_options", "run"]

K = 20
LEAST_TRIPLES, LEAST_HEADS = 100, 50
"""Fewest triples and fewest heads of a relation that is measured."""

HIDDEN = 0.2
"""Share of the entities whose links are held out."""

KINDS = ("links unknown", "links known")

Questions = list[tuple[int, str, csr_matrix]]
"""Tuples of query entity, condition, and the tails of all entities by the relation."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--graph", choices=list(GRAPHS), action="append", help="default: both")
    parser.add_argument(
        "--relations", type=int, default=50, help="most relations (default %(default)s)"
    )
    parser.add_argument(
        "--entities",
        type=int,
        default=15,
        help="query entities of each kind for a relation (default %(default)s)",
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    expect_data(options, "conditional-ranking")
    if options.quick:
        options.relations, options.entities = 3, 3
    return [_measured(options, name) for name in options.graph or list(GRAPHS)]


def _measured(options: argparse.Namespace, name: str) -> Measured:
    whole = dataclasses.replace(ontodex.read(options.data / name), source=name)
    rng = np.random.default_rng(options.seed)
    hidden = rng.random(whole.n_entities) < HIDDEN
    kept = ~(hidden[whole.heads] | hidden[whole.tails])
    graph = with_triples(whole, whole.triples[kept], whole.valid[:0], whole.test[:0])
    questions = _questions(whole, hidden, options, rng)
    print(f"{graph!r}: {len(questions):,} questions …", file=sys.stderr)
    training, conditions = (
        (ontodex.HyperCLTraining(steps=5), ontodex.ConditionTraining(epochs=1))
        if options.quick
        else (None, None)
    )
    settings = {
        "structure": False,
        "hierarchy": False,
        "entailment": False,
        "quiet": True,
        "training": training,
    }
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with ontodex.build(graph, folder / "box.odx", train=False, **settings) as engine:
            figures["similarity of texts"] = _figures(
                whole, hidden, questions, lambda few, _: engine.similar_batch(few, K)
            )
            figures["by the network in the box"] = _figures(
                whole, hidden, questions, _under(engine)
            )
        with ontodex.build(graph, folder / "trained.odx", **settings) as engine:
            figures["by projections trained on the graph"] = _figures(
                whole, hidden, questions, _under(engine)
            )
        ontodex.train_condition(graph, folder / "model", training=conditions, quiet=True)
        with ontodex.build(
            graph, folder / "conditions.odx", encoders=folder / "model", **settings
        ) as engine:
            figures["by a condition encoder and trained projections"] = _figures(
                whole, hidden, questions, _under(engine)
            )
            alone = engine.resources.encoders.condition
            texts = engine.index.vectors("condition")[np.arange(whole.n_entities)]
        figures["by a condition encoder alone"] = _figures(
            whole,
            hidden,
            questions,
            lambda few, condition: _by_encoder(whole, alone, texts, few, condition),
        )
    return Measured(
        name=f"conditional-ranking-{name}",
        title=f"Ranking by similarity under a relation, {GRAPHS[name]}",
        seed=options.seed,
        settings={"graph": repr(graph), "questions": len(questions)},
        figures=figures,
        notes=[
            f"nDCG@{K}, the mean over relations and their inverses. Relations have at least "
            f"{LEAST_TRIPLES} triples and {LEAST_HEADS} heads; at most {options.relations} are "
            "drawn. The gain of an answer is the Jaccard index of the sets of tails, |A ∩ B| / "
            "|A ∪ B|, in the full training graph.",
            f"links unknown: the query entity is one of the {HIDDEN:.0%} whose links were held "
            "out before training and indexing, like a new entity; the answers may be held out "
            "too. links known: the query entity is one of the others.",
            "similarity of texts: without the condition. A condition encoder alone: without the "
            "links of the entities. The other rows are the answers of ontodex for indexes with "
            "different parts. All-MiniLM-L6-v2, frozen.",
            "ms for a question: includes the first query of each condition, which projects all "
            "entities.",
        ],
    )


def _questions(
    graph: KnowledgeGraph,
    hidden: NDArray[np.bool_],
    options: argparse.Namespace,
    rng: np.random.Generator,
) -> Questions:
    found: Questions = []
    heads, relations, tails = graph.triples.T
    both = [(number, backward) for number in range(graph.n_relations) for backward in (False, True)]
    asked = 0
    for at in rng.permutation(len(both)).tolist():
        number, backward = both[at]
        here = relations == number
        ends = (tails[here], heads[here]) if backward else (heads[here], tails[here])
        shape = graph.n_entities, graph.n_entities
        links = csr_matrix((np.ones(len(ends[0])), ends), shape=shape)
        with_tails = np.flatnonzero(np.diff(links.indptr))
        if (
            len(ends[0]) < LEAST_TRIPLES
            or len(with_tails) < LEAST_HEADS
            or asked == options.relations
        ):
            continue
        asked += 1
        condition = "inverse " * backward + graph.relation_ids[number]
        for kind in (with_tails[hidden[with_tails]], with_tails[~hidden[with_tails]]):
            chosen = rng.permutation(kind)[: options.entities].tolist()
            found += [(row, condition, links) for row in chosen if _worth(links, row).any()]
    return found


def _worth(links: csr_matrix, row: int) -> NDArray[np.float64]:
    """Return the gain of each entity, the Jaccard index of the sets of tails; 0 for the query."""
    common = (links @ links[row].T).toarray().ravel()
    counts = np.diff(links.indptr)
    worth: NDArray[np.float64] = common / np.maximum(counts + counts[row] - common, 1)
    worth[row] = 0
    return worth


def _under(engine: ontodex.Engine) -> Callable[[list[str], str], list[Any]]:
    return lambda few, condition: engine.similar_batch(few, K, condition=condition)


def _by_encoder(
    graph: KnowledgeGraph, encoder: Any, texts: Any, few: list[str], condition: str
) -> list[list[str]]:
    backward = condition.startswith("inverse ")
    label = graph.relation_labels[graph.relation_ids.index(condition.removeprefix("inverse "))]
    (factor,) = encoder.factors(["inverse " * backward + label])
    entities = encoder.project(texts, factor)
    rows = [graph.ids.index(name) for name in few]
    scores = entities[rows] @ entities.T
    scores[np.arange(len(rows)), rows] = -np.inf
    return [
        [graph.ids[row] for row in order.tolist()]
        for order in np.argsort(-scores, kind="stable")[:, :K]
    ]


def _figures(
    graph: KnowledgeGraph,
    hidden: NDArray[np.bool_],
    questions: Questions,
    ask: Callable[[list[str], str], list[Any]],
) -> dict[str, float]:
    discount = 1 / np.log2(np.arange(K) + 2)
    rows_of = {name: row for row, name in enumerate(graph.ids)}
    gains: dict[str, dict[str, list[float]]] = {kind: {} for kind in KINDS}
    seconds = 0.0
    for condition in dict.fromkeys(condition for _, condition, _ in questions):
        asked = [(row, links) for row, of, links in questions if of == condition]
        start = time.perf_counter()
        answers = ask([graph.ids[row] for row, _ in asked], condition)
        seconds += time.perf_counter() - start
        for (row, links), hits in zip(asked, answers, strict=True):
            worth = _worth(links, row)
            found = worth[[rows_of[getattr(hit, "id", hit)] for hit in hits]]
            best = np.sort(worth)[::-1][:K]
            gain = float(
                (found * discount[: len(found)]).sum() / (best * discount[: len(best)]).sum()
            )
            gains[KINDS[0 if hidden[row] else 1]].setdefault(condition, []).append(gain)
    means = {
        kind: float(np.mean([np.mean(some) for some in of.values()]))
        for kind, of in gains.items()
        if of
    }
    return means | {"ms for a question": 1000 * seconds / len(questions)}
