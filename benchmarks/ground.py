"""Grounding: texts to terms or to none, by held-out synonyms, misspelt labels and other terms."""

from __future__ import annotations

import argparse
import dataclasses
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process, utils

import ontodex
from benchmarks.everyday_data import sources
from benchmarks.record import Measured, expect_data
from benchmarks.search import misspelt
from ontodex.graph import KnowledgeGraph
from ontodex.graph.columns import NestedTextColumn
from ontodex.graph.text import in_words
from ontodex.storage.space_names import NAME

__all__ = ["add_options", "run", "without_some"]

DOID = "ontologies/doid-2016-09-01.obo.gz"
GRAPHS = {
    "doid-2016": ("schema-org", "brick", "edam"),
    "hpo": ("schema-org", "brick", "edam"),
    "edam": ("doid-2016", "schema-org", "brick"),
}
"""The graphs, and for each those whose labels are the texts that mean no term of it."""

PRECISION, MATCHED = 0.98, 0.02
"""What the thresholds of the baselines are chosen for, on the validation half."""

OURS = "ground"
Texts = list[tuple[str, int]]
"""Texts, each with the row of the entity that is meant; -1 for none."""

Found = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Row and score of the best entity of each text."""

Best = Callable[[list[str]], Found]
Figures = dict[str, dict[str, float]]


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
    expect_data(options, "ground")
    if options.quick:
        options.questions = min(options.questions, 60)
    with tempfile.TemporaryDirectory() as folder:
        files = sources(Path(folder))
        for name in options.graph or list(GRAPHS):
            graph = _read(name, files, options.data)
            print(f"{graph!r} …", file=sys.stderr)
            others = [_read(other, files, options.data) for other in GRAPHS[name]]
            yield Measured(
                name=f"ground-{name}",
                title=f"Texts to terms of {name}, or to none",
                seed=options.seed,
                settings={
                    "texts of each kind": options.questions,
                    "split": "half of each kind to choose the thresholds of the baselines by",
                    "text encoder": "all-MiniLM-L6-v2",
                },
                figures=_of_graph(graph, others, options),
                notes=_notes(options.questions, GRAPHS[name]),
            )


def _notes(questions: int, others: Sequence[str]) -> list[str]:
    return [
        f"At most {questions} texts of each kind, one draw (seed as above); the figures are of one "
        "half. Synonyms: one of each drawn entity, taken out of the graph before the index is "
        "built. Misspelt: labels with one letter left out, changed, or swapped with the next. "
        f"Others: labels of {', '.join(others)}. No text is a name of the graph.",
        "matched: share of the texts of a kind that have a match. right: share of these matches "
        "that are the entity that is meant. first right: share of the texts whose best entity, "
        "match or not, is the one that is meant.",
        "ground: the rule and the threshold of the index, which were fitted to further synonyms of "
        "the graph when it was built; the other half is not used. Baselines: the best entity by "
        "score, a match from a threshold on: the smallest at which 98 % of the matches of synonyms "
        "and misspelt labels are right, and 2 % of the others matched, on the other half. Where "
        "no threshold does, nothing is matched.",
        "rapidfuzz: fuzz.token_sort_ratio of lower-case names. cosine of names: all-MiniLM-L6-v2, "
        "the best of labels, synonyms and parts of labels. text2term is not compared.",
    ]


def _read(name: str, files: dict[str, list[Path]], data: Path) -> KnowledgeGraph:
    if name == "doid-2016":
        return ontodex.read(data / DOID, on_error="skip")
    chosen = [path for path in files[name] if name != "hpo" or path.suffix == ".obo"]
    return ontodex.read(*(chosen or files[name]), on_error="skip")


def _of_graph(
    graph: KnowledgeGraph, others: Sequence[KnowledgeGraph], options: argparse.Namespace
) -> dict[str, Figures]:
    draw = random.Random(options.seed)
    fewer, hidden = without_some(graph, options.questions, draw)
    settings = {"train": False, "structure": False, "hierarchy": False, "entailment": False}
    with (
        tempfile.TemporaryDirectory() as folder,
        ontodex.build(fewer, Path(folder) / "ground.odx", quiet=True, **settings) as engine,
    ):
        labels = [(label, -1) for other in others for label in map(in_words, other.labels)]
        rows = [row for row, label in enumerate(graph.labels) if len(label) > 4]
        wrong = [(misspelt(graph.labels[row], draw), row) for row in rows]
        kinds = {
            kind: _some(
                [one for one in texts if engine.graph.find_all(one[0]) is None], options, draw
            )
            for kind, texts in (("synonyms", hidden), ("misspelt", wrong), ("others", labels))
        }
        return _figures(engine, kinds)


def _some(texts: Texts, options: argparse.Namespace, draw: random.Random) -> Texts:
    return draw.sample(texts, min(options.questions, len(texts)))


def without_some(
    graph: KnowledgeGraph, questions: int, draw: random.Random
) -> tuple[KnowledgeGraph, Texts]:
    """Take out one synonym of some entities, at most of half of those that have one."""
    rows = [row for row, names in enumerate(graph.synonyms) if names]
    chosen = draw.sample(rows, min(questions, len(rows) // 2))
    hidden = [(draw.choice(graph.synonyms[row]), row) for row in chosen]
    gone = set(hidden)
    kept = [
        [name for name in names if (name, row) not in gone]
        for row, names in enumerate(graph.synonyms)
    ]
    return dataclasses.replace(graph, synonyms=NestedTextColumn.of(kept)), hidden


def _figures(engine: ontodex.Engine, kinds: dict[str, Texts]) -> dict[str, Figures]:
    """Return the figures of each kind of text and system, on the second half of the texts."""
    threshold = engine.ground(["-"]).threshold
    systems: dict[str, Best] = {
        OURS: lambda texts: _grounded(engine, texts),
        "rapidfuzz": _fuzzy(engine.graph),
        "cosine of names": lambda texts: _cosine(engine, texts),
    }
    figures: dict[str, Figures] = {kind: {} for kind in kinds}
    for system, best in systems.items():
        halves: list[list[tuple[str, Texts, Found, float]]] = [[], []]
        for kind, texts in kinds.items():
            for half, part in enumerate((texts[::2], texts[1::2])):
                start = time.perf_counter()
                found = best([text for text, _ in part])
                spent = time.perf_counter() - start
                halves[half].append((kind, part, found, 1000 * spent / max(1, len(part))))
        least = threshold if system == OURS else _threshold(halves[0])
        for kind, part, (rows, scores), took in halves[1]:
            meant = np.array([row for _, row in part])
            matched, right = scores >= least, rows == meant
            figures[kind][system] = {
                "matched": float(matched.mean()),
                **(
                    {}
                    if kind == "others"
                    else {
                        "right": float(right[matched].mean()) if matched.any() else 1.0,
                        "first right": float(right.mean()),
                    }
                ),
                "ms for a text": took,
            }
    return figures


def _threshold(half: Sequence[tuple[str, Texts, Found, float]]) -> float:
    """Return the smallest score with the wanted shares; infinity if there is none."""
    meant = np.array([row for _, texts, _, _ in half for _, row in texts])
    rows = np.concatenate([found[0] for _, _, found, _ in half])
    scores = np.concatenate([found[1] for _, _, found, _ in half])
    known = meant >= 0
    for least in np.unique(scores).tolist():
        matched = scores >= least
        is_right = (rows == meant)[matched & known]
        if len(is_right) and is_right.mean() >= PRECISION and matched[~known].mean() <= MATCHED:
            return float(least)
    return float("inf")


def _grounded(engine: ontodex.Engine, texts: list[str]) -> Found:
    row_of = {name: row for row, name in enumerate(engine.graph.ids)}
    found = engine.ground(texts)
    rows = [-2 if one.term_id is None else row_of[one.term_id] for one in found]
    return np.array(rows), np.array([one.probability or 0.0 for one in found])


def _fuzzy(graph: KnowledgeGraph) -> Best:
    names = [
        (utils.default_process(in_words(name)), row)
        for row, own in enumerate(zip(graph.labels, graph.synonyms, strict=True))
        for name in (own[0], *own[1])
    ]
    choices, owners = [name for name, _ in names], np.array([row for _, row in names])

    def best(texts: list[str]) -> Found:
        ratios = process.cdist(
            [utils.default_process(text) for text in texts],
            choices,
            scorer=fuzz.token_sort_ratio,
            dtype=np.float32,
        )
        return owners[ratios.argmax(axis=1)], ratios.max(axis=1).astype(np.float64)

    return best


def _cosine(engine: ontodex.Engine, texts: list[str]) -> Found:
    vectors = engine.resources.encoders.text.encode([in_words(text) for text in texts])
    best = np.full(len(texts), -np.inf)
    places = np.zeros(len(texts), dtype=np.int64)
    for first, block in engine.index.vectors(NAME).blocks():
        cosines = vectors @ block.astype(np.float32).T
        here = cosines.argmax(axis=1)
        values = cosines.max(axis=1)
        places = np.where(values > best, first + here, places)
        best = np.maximum(best, values)
    owners = engine.index.sentences(NAME).owners
    return owners[places].astype(np.int64), best.astype(np.float64)
