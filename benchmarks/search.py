"""Search by a synonym that the graph does not have, a misspelt or shuffled name, a definition."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import ontodex
from benchmarks.baselines import (
    FUSION,
    NOTES,
    Ranker,
    first_right,
    fused,
    label_paths,
    rankers,
    ranks_better,
)
from benchmarks.record import Measured, expect_data
from ontodex.engine.ranking import rank_metrics
from ontodex.graph import KnowledgeGraph
from ontodex.graph.columns import NestedTextColumn, TextColumn

__all__ = ["add_options", "run"]

GRAPHS = {
    "doid-2016": "ontologies/doid-2016-09-01.obo.gz",
    "schema-org": "ontologies/schemaorg-30.0.ttl",
    "wn18rr": "wn18rr",
}
K = 100
HIDDEN = 0.3
"""Share of the synonyms that are taken out of the graph."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"
OURS = ("search", "text alone")

Questions = list[tuple[str, int]]
"""Queries, each with the row of the entity that is meant."""

Figures = dict[str, dict[str, float]]
"""Figures of each ranker."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    parser.add_argument(
        "--graph", choices=list(GRAPHS), action="append", help="default: all; may be repeated"
    )
    parser.add_argument(
        "--questions", type=int, default=600, help="of each kind (default %(default)s)"
    )


def run(options: argparse.Namespace) -> Iterator[Measured]:
    """Measure, and yield what came out of each graph as soon as it is there."""
    expect_data(options, "search")
    if options.quick:
        options.questions = 20
    for name in options.graph or list(GRAPHS):
        graph = ontodex.read(options.data / GRAPHS[name], on_error="skip")
        print(f"{graph!r} …", file=sys.stderr)
        figures = _of_graph(graph, options, lexicon=name != "wn18rr")
        yield Measured(
            name=f"search-{name}",
            title=f"Search in {name} by other names, misspelt ones, and definitions",
            seed=options.seed,
            settings={
                "questions of each kind": options.questions,
                "split": "none: nothing is fitted or chosen in this run",
                "text encoder": "all-MiniLM-L6-v2",
                "encoder trained on WordNet": "no",
                "lexicon of WordNet's synonyms": "no" if name == "wn18rr" else "yes",
            },
            figures=figures,
            notes=[*_notes(options.questions), *_lost(figures)],
        )


def _notes(questions: int) -> list[str]:
    return [
        "Mean reciprocal rank among all entities, and the share found among ten, of at most "
        f"{questions} queries of a kind, one draw (seed as above). A query that is a name of the "
        "graph or looks like an id is left out; an entity that is not among the first "
        f"{K} counts as not found.",
        f"{HIDDEN:.0%} of the synonyms were taken out of the graph and asked for. A misspelt "
        "label has one letter left out, changed, or swapped with the next. By its definition: "
        "the index has no definitions.",
        "search: as ontodex answers, by the cosine with the best name, the whole text and labels "
        "of linked entities, the trigram similarity of names, and the words that names and links "
        "say; with corrected spelling, and with words replaced by WordNet's synonyms unless the "
        "graph is of WordNet's words; text alone: the cosine with label, synonyms and definition "
        "(what `similar` does for words).",
        "What the encoder has seen: all-MiniLM-L6-v2 as its authors published it. It was not "
        "trained on WordNet's names; the encoders that ontodex ships and that were (hit-wordnet, "
        "hyper-cl-names) are not used here.",
        *NOTES,
    ]


def _lost(figures: dict[str, Figures]) -> list[str]:
    """Return a note that names every table in which a baseline has a higher MRR than search."""
    found = {
        table: ranks_better(rows, "search", "mrr", [name for name in rows if name not in OURS])
        for table, rows in figures.items()
    }
    lost = "; ".join(f"{table}: {better}" for table, better in found.items() if better)
    return [f"A baseline has a higher MRR than search in {lost}."] if lost else []


def _of_graph(
    graph: KnowledgeGraph, options: argparse.Namespace, *, lexicon: bool
) -> dict[str, Figures]:
    """Return the figures of each kind of query, with or without WordNet's synonyms."""
    draw = random.Random(options.seed)
    fewer, hidden = _without_some(graph, draw)
    kinds = {
        "synonyms unknown": hidden,
        "misspelt": [
            (misspelt(label, draw), row) for row, label in enumerate(graph.labels) if len(label) > 4
        ],
        "one word less, shuffled": [
            (shuffled(label, draw), row)
            for row, label in enumerate(graph.labels)
            if len(label.split()) > 2
        ],
    }
    definitions = [
        (text, row) for row, text in enumerate(graph.definitions) if len(text.split()) > 4
    ]
    named = dataclasses.replace(graph, definitions=TextColumn.of("" for _ in graph.ids))
    paths = dict(
        zip(graph.ids, label_paths(graph, graph.hierarchy(on_cycle="ignore")), strict=True)
    )
    known: dict[str, NDArray[np.float32]] = {}
    figures: dict[str, Figures] = {}
    for copy, asked in ((fewer, kinds), (named, {"by its definition": definitions})):
        figures |= _figures(graph, copy, paths, asked, options.questions, draw, known, lexicon)
    return figures


def misspelt(name: str, draw: random.Random) -> str:
    """Leave out, change or swap one letter inside a name."""
    at, kind = draw.randrange(1, len(name) - 1), draw.randrange(3)
    if kind == 0:
        return name[:at] + name[at + 1 :]
    if kind == 1:
        return name[:at] + draw.choice(LETTERS) + name[at + 1 :]
    return name[:at] + name[at + 1] + name[at] + name[at + 2 :]


def shuffled(name: str, draw: random.Random) -> str:
    """Leave out one word of a name, and shuffle the others."""
    words = name.split()
    words.pop(draw.randrange(len(words)))
    draw.shuffle(words)
    return " ".join(words)


def _without_some(graph: KnowledgeGraph, draw: random.Random) -> tuple[KnowledgeGraph, Questions]:
    """Take out some synonyms, which are asked for."""
    hidden = [
        (name, row)
        for row, names in enumerate(graph.synonyms)
        for name in names
        if draw.random() < HIDDEN
    ]
    gone = set(hidden)
    kept = [
        [name for name in names if (name, row) not in gone]
        for row, names in enumerate(graph.synonyms)
    ]
    return dataclasses.replace(graph, synonyms=NestedTextColumn.of(kept)), hidden


def _figures(
    whole: KnowledgeGraph,
    graph: KnowledgeGraph,
    paths: dict[str, str],
    kinds: dict[str, Questions],
    most: int,
    draw: random.Random,
    known: dict[str, NDArray[np.float32]],
    lexicon: bool,
) -> dict[str, Figures]:
    """Index a graph and return the figures of each kind of query and ranker.

    Args:
        whole: The graph whose rows the queries name.
        graph: The graph to index.
        paths: Label and path of each entity, by id.
        kinds: Queries of each kind.
        most: Number of queries of a kind, at most.
        draw: Draws the queries.
        known: Vectors of texts that are encoded already; more are added.
        lexicon: Whether words of the queries may be replaced by WordNet's synonyms.
    """
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "train": False,
            "structure": False,
            "hierarchy": False,
            "entailment": False,
            "quiet": True,
        }
        with ontodex.build(graph, Path(folder) / "search.odx", **settings) as engine:
            row_of = {name: row for row, name in enumerate(engine.graph.ids)}
            asking = (
                functools.partial(engine.search_batch, lexicon=lexicon),
                engine.similar_batch,
            )
            ours: dict[str, Ranker] = {
                way: lambda texts, ask=ask: [
                    [row_of[hit.id] for hit in hits] for hits in ask(texts, K)
                ]
                for way, ask in zip(OURS, asking, strict=True)
            }
            baselines = rankers(
                engine.graph,
                [paths[name] for name in engine.graph.ids],
                _remembered(engine.resources.encoders.text.encode, known),
                K,
            )
            for kind, asked in kinds.items():
                new = [
                    (text, row_of[whole.ids[row]])
                    for text, row in asked
                    if ":" not in text and engine.graph.find_all(text) is None
                ]
                if len(new) < min(20, most):
                    continue
                figures[kind] = _of_rankers(ours, baselines, draw.sample(new, min(most, len(new))))
    return figures


def _remembered(
    encode: Callable[[list[str]], NDArray[np.float32]], known: dict[str, NDArray[np.float32]]
) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """Return an encoder of names that encodes each of them once; queries are not remembered."""

    def encoded(texts: Sequence[str]) -> NDArray[np.float32]:
        if len(texts) <= K:
            return encode(list(texts))
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, encode(new), strict=True))
        return np.stack([known[text] for text in texts])

    return encoded


def _of_rankers(ours: dict[str, Ranker], baselines: dict[str, Ranker], asked: Questions) -> Figures:
    """Return the figures of each ranker, and of the fusion of the baselines."""
    texts, meant = [text for text, _ in asked], [row for _, row in asked]
    figures: Figures = {}
    answers, spent = {}, 0.0
    for way, ranked in {**ours, **baselines}.items():
        start = time.perf_counter()
        answers[way] = ranked(texts)
        took = time.perf_counter() - start
        spent += took if way in baselines else 0.0
        figures[way] = _metrics(answers[way], meant, took)
    start = time.perf_counter()
    both = fused([answers[way] for way in baselines], K)
    figures[FUSION] = _metrics(both, meant, spent + time.perf_counter() - start)
    return figures


def _metrics(answers: list[list[int]], meant: list[int], seconds: float) -> dict[str, float]:
    ranks = [first_right(rows, {row}) for rows, row in zip(answers, meant, strict=True)]
    metrics = rank_metrics(np.array(ranks))
    return {
        **{metric: metrics[metric] for metric in ("mrr", "hits@10")},
        "ms for a question": 1000 * seconds / len(meant),
    }
