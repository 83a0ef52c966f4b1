"""The likeliest links that a graph lacks, of all relations together: how many of them are true."""

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

import ontodex
from benchmarks.record import Measured, expect_data
from ontodex.demo_data import write_hpo
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.search.topk import Searcher
from ontodex.graph import KnowledgeGraph
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.calibration import BEST, BLOCK, answerable, leave_out

__all__ = ["add_options", "run"]

GRAPHS = {
    "wn18rr": "WN18RR",
    "fb15k-237": "FB15k-237",
    "hpo": "the Human Phenotype Ontology with diseases and genes",
}
FIRST = (100, 300, 1000, 3000, 10_000)
TAKEN_OUT = 0.1
"""Share of the known triples that is taken out of a graph that brings no test triples."""

Keys = NDArray[np.int64]
Scores = NDArray[np.float32]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    parser.add_argument(
        "--graph", choices=list(GRAPHS), action="append", help="default: all; may be repeated"
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Measure, and return what came out."""
    expect_data(options, "missing-links")
    return [_measured(options, name) for name in options.graph or list(GRAPHS)]


def _measured(options: argparse.Namespace, name: str) -> Measured:
    graph = _graph(options, name)
    print(f"{graph!r} …", file=sys.stderr)
    true, known = _keys(graph, graph.test), dataclasses.replace(graph, test=graph.test[:0])
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        training = ontodex.HyperCLTraining(steps=5) if options.quick else None
        structure = ontodex.ComplExTraining(steps=20) if options.quick else True
        settings: dict[str, Any] = {
            "training": training,
            "structure": structure,
            "hierarchy": False,
            "entailment": False,
        }
        ontodex.build(graph, Path(folder) / "missing.odx", **settings).close()
        with ontodex.open(Path(folder) / "missing.odx", known=[known]) as engine:
            for way, linked in (
                ("ontodex", True),
                ("ontodex, between what nothing links yet", False),
            ):
                start = time.perf_counter()
                found = engine.missing(k=max(FIRST), linked=linked)
                seconds = time.perf_counter() - start
                right = np.isin(_keys(graph, _rows(graph, found)), true)
                figures[way] = _shares(right)
                promised = np.array([link.probability or 0.0 for link in found])
                figures[way].update(
                    {
                        f"probability, mean of the first {n:,}": float(promised[:n].mean())
                        for n in FIRST
                    }
                )
                figures[way]["seconds"] = seconds
            for way, best in _by_scores(engine, KnownLinks(
                np.concatenate([graph.triples, graph.valid]), graph.n_entities, graph.n_relations
            )).items():  # fmt: skip
                figures[way] = _shares(np.isin(best, true))
    return Measured(
        name=f"missing-links-{name}",
        title=f"The likeliest missing links of {GRAPHS[name]}",
        seed=options.seed,
        settings={"graph": repr(graph)},
        figures=figures,
        notes=[
            "The share of test triples among the first answers of `missing`, all relations together; training and "
            "validation triples are known. What is true and in no split counts as wrong. All-MiniLM-L6-v2, frozen; the "
            "default build.",
            f"by the score of tails and heads; by ComplEx alone: the {BEST} best answers of every known head and relation, "
            "and relation and tail, ranked by that score, of an answer to both the higher one. The second is the way of "
            "PyKEEN's predict_all, among candidates that it does not have to find.",
            *(
                [f"{len(graph.test):,} known triples, a tenth, are held out to test on; the build holds out at most 5,000 "
                 "of the rest to fit on, so that probabilities are of so many missing links, not of so many more."]
                if name == "hpo" else []
            ),
        ],
    )  # fmt: skip


def _graph(options: argparse.Namespace, name: str) -> KnowledgeGraph:
    if name != "hpo":
        return dataclasses.replace(ontodex.read(options.data / name), source=name)
    with tempfile.TemporaryDirectory() as folder:
        whole = ontodex.read(*write_hpo(Path(folder)))
    out = np.random.default_rng(options.seed).random(whole.n_triples) < TAKEN_OUT
    kept = {side: getattr(whole, side)[~out] for side in ("heads", "relations", "tails")}
    return dataclasses.replace(
        whole, **kept, valid=whole.valid[:0], test=whole.triples[out], source=name
    )


def _keys(graph: KnowledgeGraph, triples: NDArray[np.integer]) -> Keys:
    heads, relations, tails = triples.astype(np.int64).T
    return np.asarray((relations * graph.n_entities + heads) * graph.n_entities + tails)


def _rows(graph: KnowledgeGraph, found: ontodex.MissingLinks) -> Keys:
    rows = {name: row for row, name in enumerate(graph.ids)}
    numbers = {name: number for number, name in enumerate(graph.relation_ids)}
    return np.array([(rows[link.head], numbers[link.relation], rows[link.tail]) for link in found])


def _shares(right: NDArray[np.bool_]) -> dict[str, float]:
    return {f"right of the first {n:,}": float(right[:n].mean()) for n in FIRST}


def _by_scores(engine: ontodex.Engine, links: KnownLinks) -> dict[str, Keys]:
    """Return the likeliest links by scores that rank the answers of one question."""
    index, link_queries = engine.index, LinkQueries(engine.resources)
    whole, structure = engine.searcher(link_queries.space), engine.resources.graph_features
    assert structure is not None
    alone, questions = Searcher(structure.kge_vectors()), answerable(links, structure.rules)

    def by_all(rows: Keys, numbers: Keys) -> Scores:
        return link_queries.add_offsets(
            rows, numbers, whole.products(link_queries.of_rows(rows, numbers))
        )

    def by_structure(rows: Keys, numbers: Keys) -> Scores:
        return alone.products(structure.kge_queries(rows, numbers))

    ways = {"by the score of tails and heads": by_all, "by ComplEx alone": by_structure}
    return {
        way: _best(links, questions, index.graph.reflexive, score) for way, score in ways.items()
    }


def _best(
    links: KnownLinks,
    questions: Keys,
    reflexive: frozenset[int],
    score: Callable[[Keys, Keys], Scores],
) -> Keys:
    """Return the links of the highest scores among the best answers of questions, best first."""
    count, size = links.n_relations // 2, links.n_entities
    keys, values = [], []
    for first in range(0, len(questions), BLOCK):
        entities, numbers = questions[first : first + BLOCK].T
        scores = score(entities, numbers)
        leave_out(scores, links, entities, numbers, reflexive)
        tails = np.argpartition(scores, -BEST, axis=1)[:, -BEST:]
        inverse = (numbers >= count)[:, None]
        heads, ends = (
            np.where(inverse, tails, entities[:, None]),
            np.where(inverse, entities[:, None], tails),
        )
        keys.append((((numbers % count)[:, None] * size + heads) * size + ends).ravel())
        values.append(np.take_along_axis(scores, tails, axis=1).ravel())
    order = np.argsort(-np.concatenate(values), kind="stable")
    best = np.concatenate(keys)[order]
    return best[np.sort(np.unique(best, return_index=True)[1])][: max(FIRST)]
