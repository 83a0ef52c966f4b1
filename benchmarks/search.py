"""Search for an entity by a synonym that the graph does not have, a misspelt or shuffled name, or its definition."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

import ontodex
from benchmarks.record import Measured, expect_data
from ontodex.engine.ranking import rank_metrics
from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.graph.text import in_words

__all__ = ["add_options", "run"]

GRAPHS = {
    "doid-2016": "ontologies/doid-2016-09-01.obo.gz",
    "schema-org": "ontologies/schemaorg-30.0.ttl",
    "wn18rr": "wn18rr",
}
K = 100
HIDDEN = 0.3
"""Share of the synonyms that the graph is without."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"

Questions = list[tuple[str, int]]
"""What is asked, and the row of the entity that is meant."""

Ranked = Callable[[list[str]], list[list[int]]]
"""Ranks entities for questions: rows, best first."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    parser.add_argument(
        "--questions", type=int, default=600, help="of each kind (default %(default)s)"
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Measure, and return what came out."""
    expect_data(options, "search")
    if options.quick:
        options.questions = 20
    figures: dict[str, float] = {}
    for name, source in GRAPHS.items():
        graph = ontodex.read(options.data / source, on_error="skip")
        print(f"{graph!r} …", file=sys.stderr)
        draw = random.Random(options.seed)
        fewer, hidden = _without_some(graph, draw)
        kinds = {
            "synonyms unknown": hidden,
            "misspelt": [
                (misspelt(label, draw), row)
                for row, label in enumerate(graph.labels)
                if len(label) > 4
            ],
            "one word less, shuffled": [
                (shuffled(label, draw), row)
                for row, label in enumerate(graph.labels)
                if len(label.split()) > 2
            ],
        }
        for kind, found in _figures(fewer, kinds, options.questions, draw).items():
            figures[f"{name} · {kind}"] = found
        definitions = [
            (text, row) for row, text in enumerate(graph.definitions) if len(text.split()) > 4
        ]
        named = _copy(graph, [list(names) for names in graph.synonyms], definitions=False)
        for kind, found in _figures(
            named, {"by its definition": definitions}, options.questions, draw
        ).items():
            figures[f"{name} · {kind}"] = found
    return [
        Measured(
            name="search",
            title="Search by other names, misspelt ones, and definitions",
            seed=options.seed,
            settings={"questions of each kind": options.questions},
            figures=figures,
            notes=[
                f"Mean reciprocal rank among all entities, and the share found among ten (at most {options.questions} "
                f"of a kind, no names of the graph, nor like ids; what is not among the first {K} counts as not found).",
                f"{HIDDEN:.0%} of the synonyms were taken out of the graph and asked for; a name misspelt has one letter "
                "left out, changed, or swapped with the next. By its definition: no definition was indexed.",
                "text alone: cosine of all-MiniLM-L6-v2 (what `similar` does for words). trigrams alone: TF-IDF of the "
                "trigrams of names by scikit-learn, the likest name of each entity, as tools that map terms do.",
                "search and text alone read the text encoder and the names of the graph. The encoders of the package that have "
                "seen WordNet are out of it: the index has no hierarchy encoder, and no question asks the relations' network.",
            ],
        )
    ]


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


def _copy(
    graph: KnowledgeGraph, synonyms: Sequence[Sequence[str]], *, definitions: bool = True
) -> KnowledgeGraph:
    """Return the entities of a graph, in its order, with other synonyms."""
    builder = GraphBuilder(graph.source)
    for row, identifier in enumerate(graph.ids):
        definition = graph.definitions[row] if definitions else ""
        builder.entity(identifier, graph.labels[row], synonyms[row], definition)
    return builder.build()


def _without_some(graph: KnowledgeGraph, draw: random.Random) -> tuple[KnowledgeGraph, Questions]:
    """Take out some synonyms, and ask for them."""
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
    return _copy(graph, kept), hidden


def _figures(
    graph: KnowledgeGraph, kinds: dict[str, Questions], most: int, draw: random.Random
) -> dict[str, float]:
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
            meant = [row_of[name] for name in graph.ids]
            ways: dict[str, Ranked] = {
                "search": lambda texts: [
                    [row_of[hit.id] for hit in hits] for hits in engine.search_batch(texts, K)
                ],
                "text alone": lambda texts: [
                    [row_of[hit.id] for hit in hits] for hits in engine.similar_batch(texts, K)
                ],
                "trigrams alone": _by_trigrams(engine.graph),
            }
            for kind, asked in kinds.items():
                new = [
                    (text, row)
                    for text, row in asked
                    if ":" not in text and engine.graph.find_all(text) is None
                ]
                if len(new) < min(20, most):
                    continue
                new = draw.sample(new, min(most, len(new)))
                for way, ranked in ways.items():
                    start = time.perf_counter()
                    answers = ranked([text for text, _ in new])
                    took = time.perf_counter() - start
                    ranks = [
                        rows.index(meant[row]) + 1 if meant[row] in rows else np.inf
                        for rows, (_, row) in zip(answers, new, strict=True)
                    ]
                    metrics = rank_metrics(np.array(ranks))
                    figures.update(
                        {
                            f"{kind} · {way} · {metric}": metrics[metric]
                            for metric in ("mrr", "hits@10")
                        }
                    )
                    figures[f"{kind} · {way} · ms for a question"] = 1000 * took / len(new)
    return figures


def _by_trigrams(graph: KnowledgeGraph) -> Ranked:
    """Rank entities by scikit-learn's TF-IDF of the trigrams of their names."""
    names = [
        [in_words(label), *synonyms]
        for label, synonyms in zip(graph.labels, graph.synonyms, strict=True)
    ]
    firsts = np.cumsum([0, *(len(own) for own in names[:-1])])
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), strip_accents="unicode")
    stored = vectorizer.fit_transform([name for own in names for name in own])

    def ranked(texts: list[str]) -> list[list[int]]:
        likeness = (vectorizer.transform(texts) @ stored.T).toarray()
        best = np.maximum.reduceat(likeness, firsts, axis=1)
        order: list[list[int]] = np.argsort(-best, axis=1, kind="stable")[:, :K].tolist()
        return order

    return ranked
