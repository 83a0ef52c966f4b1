"""Parents and children of concepts that a hierarchy does not have.

Some of its own concepts are taken out, and asked for by their labels.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import ontodex
from benchmarks.baselines import (
    VOTERS,
    Trigrams,
    TrigramVotes,
    first_right,
    ranker,
    ranks_better,
    string_matching,
)
from benchmarks.calibration import calibration_of
from benchmarks.record import Measured
from benchmarks.untrained import add_graphs, apart, built, hit_alone, of_each_graph, without
from ontodex.engine.results.hits import Hit
from ontodex.graph import Hierarchy, KnowledgeGraph, remove
from ontodex.graph.columns import NestedTextColumn, TextColumn
from ontodex.graph.text import in_words
from ontodex.scoring.neighbour_voting import NeighbourVoting

__all__ = ["add_options", "probabilities", "reciprocal_ranks", "run"]

DEPTHS = (1, 2, 3, 4)
"""Links from a concept to an ancestor; the last counts for more as well."""

K = 100
MASK = "concept"
"""Word that stands for the name of a concept that was taken out."""

VOTE = "vote of neighbours by trigrams"
MATCHING = "children, string matching"
BASELINES = {
    "parents": (VOTE, "search", "text alone"),
    "children": (MATCHING, "children, trigrams", "children, search", "children, text alone"),
}
"""Baselines of each question."""

Answers = Sequence[Sequence[Hit]]
"""Answers to each query, the best first."""


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


def _measured(options: argparse.Namespace, name: str, whole: KnowledgeGraph) -> Measured:
    hierarchy = whole.hierarchy(on_cycle="warn")
    most = 50 if options.quick else options.concepts
    order = np.random.default_rng(options.seed)
    leaves = np.setdiff1d(hierarchy.links[:, 0], hierarchy.links[:, 1])
    taken = order.permutation(leaves)[: min(most, len(leaves) // 5)]
    inner = apart(
        hierarchy,
        order.permutation(np.intersect1d(hierarchy.links[:, 0], hierarchy.links[:, 1])),
        most,
    )
    print(f"{whole!r}: {len(taken)} leaves taken out …", file=sys.stderr)
    graph = remove(whole, [whole.ids[row] for row in taken])
    with tempfile.TemporaryDirectory() as folder, built(graph, folder) as engine:
        figures = _figures_of_parents(whole, hierarchy, taken, engine)
        rules = NeighbourVoting.read(engine.index.manifest.neighbour_voting, name)
        figures["seconds to fit rules"] = engine.index.manifest.seconds["fit hierarchy"]
    print(f"{whole!r}: {len(inner)} others taken out …", file=sys.stderr)
    masked = _masked(
        without(whole, hierarchy, inner), [whole.labels[row] for row in inner.tolist()]
    )
    with tempfile.TemporaryDirectory() as folder, built(masked, folder) as engine:
        figures |= _figures_of_children(whole, hierarchy, inner, engine)
    return Measured(
        name=f"new-concepts-{name}",
        title=f"Parents and children of concepts that {name} does not have",
        seed=options.seed,
        settings={
            "graph": repr(graph),
            "leaves": len(taken),
            "others": len(inner),
            "named in the definition of a direct child": _named_below(whole, hierarchy, inner),
            "split": "the rules are fitted to the links that remain; nothing is chosen by these",
            "encoder trained on WordNet": "HiT: yes; all-MiniLM-L6-v2: no",
            "neighbour voting": {
                question: dataclasses.asdict(rule) for question, rule in rules.items()
            },
        },
        figures=figures,
        notes=[*NOTES, *_lost(figures)],
    )


NOTES = [
    "Leaves of the hierarchy are taken out before the index is built, with all their links, and "
    "their parents asked for by the label alone. HiT is the encoder that ontodex ships, trained "
    "on WordNet's nouns; it is not trained here. One draw of concepts (seed as above).",
    "parents: HiT's score with votes of neighbours and evidence of names, as ontodex answers; HiT "
    "alone: without the votes.",
    f"{VOTE}, a baseline without an encoder: the parents of the {VOTERS} nearest neighbours of "
    "the label, by the cosine of TF-IDF of character trigrams of names, each with that cosine as "
    "weight. Entities that are no parent of a neighbour are not ranked.",
    "search: entities found by names and text, without WordNet's synonyms; text alone: of the "
    "most similar text (all-MiniLM-L6-v2).",
    "Recall of the ancestors so many links away among the best 10 and 100.",
    "children: this score for children, its ranking merged with that of search. Concepts between "
    "others are taken out, no two of them linked; their children go "
    "to their parents. Their children are asked for by the label alone; recall is that of at "
    "most 10, or 100, of each. The definition of a child often names its parent (the share is "
    f'in the settings), so that each removed label was replaced by the word "{MASK}" in all '
    "definitions, and synonyms that hold one were left out, before the index was built. Labels "
    "of children may still hold it.",
    "string matching: 1 if all words of the removed label are in the candidate's label, plus "
    "the Jaccard index of their words. trigrams: cosine of trigrams of names.",
    "probability: of the first ten answers to each, what share is a direct parent, or child, and "
    "how well their probabilities distinguish these; the calibration error is the mean difference "
    "between both over ten bands.",
]


def _lost(figures: dict[str, Any]) -> list[str]:
    """Return notes on the questions in which a baseline has a higher MRR."""
    notes = []
    for ours, what in (("parents", "parent"), ("children", "child")):
        figure = f"MRR of the best direct {what}"
        better = ranks_better(figures, ours, figure, BASELINES[ours])
        if better:
            notes.append(f"{figure}: a baseline is better: {better}.")
    return notes


def _figures_of_parents(
    whole: KnowledgeGraph, hierarchy: Hierarchy, taken: Any, engine: ontodex.Engine
) -> dict[str, Any]:
    """Ask for the parents of concepts by names that the engine's graph does not have."""
    labels = [whole.labels[row] for row in taken.tolist()]
    start = time.perf_counter()
    found = engine.parents_batch(labels, K)
    took = time.perf_counter() - start
    graph = engine.graph
    left = graph.hierarchy(on_cycle="warn")
    votes = TrigramVotes(graph, left).ranked(labels)
    ways: dict[str, Answers] = {
        "parents": found,
        "HiT alone": hit_alone(engine).ranked("parents", labels, K, "include"),
        VOTE: _hits(graph, votes),
        "search": engine.search_batch(labels, K, lexicon=False),
        "text alone": engine.similar_batch(labels, K),
    }
    figures: dict[str, Any] = {
        way: _figures(whole, hierarchy, taken, answers) for way, answers in ways.items()
    }
    figures["parents"]["milliseconds a concept"] = 1000 * took / len(taken)
    placed = [
        [_is_parent(whole, hierarchy, row, place.parent.id) for place in answer]
        for row, answer in zip(taken.tolist(), engine.place_batch(labels, 5), strict=True)
    ]
    figures["place"] = {
        "a direct parent first": np.mean([answer[:1] == [True] for answer in placed]),
        "a direct parent among 5": np.mean([any(answer) for answer in placed]),
    }
    figures["probability of parents"] = probabilities(whole, hierarchy, taken, found)
    return figures


def _hits(graph: KnowledgeGraph, rankings: list[list[int]]) -> Answers:
    """Return rankings of a graph's rows as answers, without scores."""
    return [
        [Hit(graph.ids[row], graph.labels[row], 0.0, False) for row in rows[:K]]
        for rows in rankings
    ]


def _masked(graph: KnowledgeGraph, labels: list[str]) -> KnowledgeGraph:
    """Mask labels in all definitions, and leave out the synonyms that hold one.

    Case is ignored, a plural s is masked as well, and a label in camel case is masked in words too.
    """
    names = sorted({name for label in labels for name in (label, in_words(label))}, key=len)
    searched = [
        (name.lower(), re.compile(rf"(?<!\w){re.escape(name)}s?(?!\w)", re.IGNORECASE))
        for name in reversed(names)
    ]

    def masked(text: str) -> str:
        for lower, pattern in searched:
            if lower in text.lower():
                text = pattern.sub(MASK, text)
        return text

    return dataclasses.replace(
        graph,
        definitions=TextColumn.of(masked(text) for text in graph.definitions),
        synonyms=NestedTextColumn.of(
            [name for name in own if masked(name) == name] for own in graph.synonyms
        ),
    )


def _named_below(graph: KnowledgeGraph, hierarchy: Hierarchy, rows: Any) -> float:
    """Return the share of concepts whose label is in the definition of a direct child."""
    named = [
        any(
            name.lower() in graph.definitions[child].lower()
            for child in hierarchy.children(row).tolist()
            for name in (graph.labels[row], in_words(graph.labels[row]))
        )
        for row in rows.tolist()
    ]
    return float(np.mean(named))


def _is_parent(graph: KnowledgeGraph, hierarchy: Hierarchy, row: int, other: str) -> bool:
    return other in {graph.ids[parent] for parent in hierarchy.parents(row).tolist()}


def reciprocal_ranks(
    graph: KnowledgeGraph, hierarchy: Hierarchy, asked: Any, answers: Answers
) -> Any:
    """Return one over the rank of the best direct parent of each entity.

    For children, give the inverse hierarchy.
    """
    first = []
    for row, hits in zip(asked.tolist(), answers, strict=True):
        direct = {graph.ids[parent] for parent in hierarchy.parents(row).tolist()}
        first.append(first_right((hit.id for hit in hits), direct))
    return 1 / np.array(first)


def _figures(
    graph: KnowledgeGraph, hierarchy: Hierarchy, taken: Any, answers: Answers
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
    graph: KnowledgeGraph, hierarchy: Hierarchy, rows: Any, engine: ontodex.Engine
) -> dict[str, dict[str, float]]:
    """Ask for the children of concepts by names that the engine's graph does not have."""
    names = [graph.labels[row] for row in rows.tolist()]
    found, left = engine.children_batch(names, K), engine.graph
    ways: dict[str, Answers] = {
        "children": found,
        "children, HiT alone": hit_alone(engine).ranked("children", names, K, "include"),
        MATCHING: _hits(left, ranker(string_matching(left.labels), K)(names)),
        "children, trigrams": _hits(left, ranker(Trigrams.of(left).scores, K)(names)),
        "children, search": engine.search_batch(names, K, lexicon=False),
        "children, text alone": engine.similar_batch(names, K),
    }
    figures = {
        way: _found_children(graph, hierarchy, rows, answers) for way, answers in ways.items()
    }
    figures["probability of children"] = probabilities(graph, hierarchy.turned(), rows, found)
    return figures


def probabilities(
    graph: KnowledgeGraph, hierarchy: Hierarchy, taken: Any, answers: Answers
) -> dict[str, float]:
    """Compare the probabilities of the first ten answers with how many are direct parents.

    For children, give the inverse hierarchy. There is nothing to compare without probabilities.
    """
    listed = [
        (_is_parent(graph, hierarchy, row, hit.id), hit.probability)
        for row, hits in zip(taken.tolist(), answers, strict=True)
        for hit in hits[:10]
        if hit.probability is not None
    ]
    if not listed:
        return {}
    true, probabilities = zip(*listed, strict=True)
    return calibration_of(probabilities, true)


def _found_children(
    graph: KnowledgeGraph, hierarchy: Hierarchy, taken: Any, answers: Answers
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
