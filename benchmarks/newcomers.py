"""Files that nobody prepared, asked as a newcomer would: ontodex beside simple baselines.

The files, their questions and hidden links in ``benchmarks/newcomers`` were written before any
system was asked. The weights of links, of hypernyms, and in searches of what links say, were then
chosen on the first five, the last of these after the last two files had been asked as well; on the
last two nothing was chosen.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import ontodex
from benchmarks.baselines import NOTES, first_right
from benchmarks.everyday import NAMED, PLACE, K, answers_of, metrics_of
from benchmarks.everyday_data import Question
from benchmarks.record import Measured
from ontodex.graph import KnowledgeGraph

__all__ = ["FILES", "LinkBaselines", "add_options", "hidden_links", "questions_about", "run"]

FOLDER = Path(__file__).with_name("newcomers")

FILES = {
    "retail": "retail.csv",
    "plants": "plants.obo",
    "jobs": "jobs.ttl",
    "kitchen": "kitchen.tsv",
    "geo": "geo.csv",
    "museum": "museum.ttl",
    "zoo": "zoo.tsv",
}
"""Products of a department store, parts and diseases of plants, hazards at work, food, places;
objects of museums, and animals."""

UNSEEN = ("museum", "zoo")
"""Files on which nothing was chosen."""

NEW_TAIL = "newtail"
"""Kind of questions that ask for the tails of an entity that the graph does not have."""

DOUBT = 2.0
"""Number added to the number of entities with an attribute, in the confidence of a rule."""

HEADS = 20
"""Number of similar heads that vote."""

Triple = tuple[str, str, str]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--graph", choices=FILES, action="append", help="default: all")


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its record."""
    figures: dict[str, Any] = {}
    ranks: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.graph or FILES:
            graph = ontodex.read(FOLDER / FILES[name])
            print(f"{graph!r} …", file=sys.stderr)
            asked = questions_about(name, graph)
            named = [one for one in asked if one.kind in (*NAMED, PLACE)]
            found = answers_of(graph, named, Path(folder) / f"{name}.odx", None)
            if hidden := hidden_links(name):
                new = [one for one in asked if one.kind == NEW_TAIL]
                found |= _of_links(graph, name, hidden, new, Path(folder) / f"{name}-links.odx")
            for kind, ways in found.items():
                figures[f"{name} · {kind}"] = {way: metrics_of(own) for way, own in ways.items()}
                for way, own in ways.items():
                    ranks["unseen" if name in UNSEEN else "chosen on", kind, way] += own
    summed: dict[str, Any] = {}
    for (files, kind, way), own in ranks.items():
        summed.setdefault(f"{files} · {kind}", {})[way] = metrics_of(own)
    return [
        Measured(
            "newcomers",
            "Files that nobody prepared",
            options.seed,
            {
                "graphs": options.graph or list(FILES),
                "split": "files and questions written before any was asked; the prior of link "
                "weights, the weights of hypernyms and of links in searches, and the words that "
                f"count as known were chosen on those that are not unseen ({', '.join(UNSEEN)})",
            },
            {**summed, **figures},
            notes=[
                "Rank of the first right answer; what is not among the first "
                f"{K} counts as not found.",
                "lay, british, misspelt, described, foreign, place: as of everyday questions.",
                "hidden links: tails of triples that were taken out of the file; other true tails "
                "are left out where they are listed. newtail: tails of an entity that the graph "
                "does not have.",
                "frequency: how often an entity is a tail of the relation. similar heads: the "
                f"{HEADS} entities that share most links, by inverse frequency. attribute rules: "
                "noisy-or, over the links of the head, of the share of the entities with such a "
                "link that "
                f"have the tail, {DOUBT:g} entities more in the denominator.",
                *NOTES,
            ],
        )
    ]


def questions_about(name: str, graph: KnowledgeGraph) -> list[Question]:
    """Return the questions about a file; their gold are the ids of the labels that are listed."""
    ids = defaultdict(list)
    for label, one in zip(graph.labels, graph.ids, strict=True):
        ids[label].append(one)
    return [
        Question(
            name,
            PLACE if kind == "parent" else kind,
            "development",
            text,
            tuple(one for label in gold.split("|") for one in ids[label]),
            "",
        )
        for kind, text, gold in _rows(f"{name}.questions.tsv")
    ]


def hidden_links(name: str) -> list[Triple]:
    """Return the triples that were taken out of a file; none of a file without such."""
    return list(_rows(f"{name}.hidden.tsv")) if (FOLDER / f"{name}.hidden.tsv").exists() else []


def _rows(name: str) -> Iterator[Triple]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        yield from ((first, second, third) for first, second, third in rows)


def _of_links(
    graph: KnowledgeGraph,
    name: str,
    hidden: Sequence[Triple],
    new: Sequence[Question],
    path: Path,
) -> dict[str, dict[str, list[float]]]:
    """Return the ranks of hidden tails, and of the tails of new entities, by ranker."""
    true = defaultdict(set)
    for head, relation, tail in (*hidden, *_rows(f"{name}.alsotrue.tsv")):
        true[head, relation].add(tail)

    def rank(answers: Sequence[str], triple: Triple) -> float:
        others = true[triple[:2]] - {triple[2]}
        return first_right([one for one in answers if one not in others][:K], {triple[2]})

    with ontodex.build(graph, path, hierarchy=False, entailment=False, quiet=True) as engine:
        answers = engine.tails_batch([triple[:2] for triple in hidden], 2 * K, known="exclude")
        found = {
            "tails": [
                rank([hit.label for hit in hits], triple)
                for triple, hits in zip(hidden, answers, strict=True)
            ]
        }
        asked = [one.text.split(" => ") for one in new]
        of_new = engine.tails_batch([(head, relation) for head, relation in asked], K)
        ranks = [
            first_right([hit.id for hit in hits], one.gold)
            for one, hits in zip(new, of_new, strict=True)
        ]
    baselines = LinkBaselines(graph)
    for triple in hidden:
        for way, ranked in baselines.ranked(triple[0], triple[1]).items():
            found.setdefault(way, []).append(rank(ranked, triple))
    return {"hidden links": found, NEW_TAIL: {"tails": ranks}}


class LinkBaselines:
    """Ranks the unknown tails of a head and a relation by the links alone, in three simple ways.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._links: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for first, by, last in graph.triples.tolist():
            ends = graph.labels[first], graph.labels[last]
            self._links[ends[0]].add((graph.relation_labels[by], ends[1]))
            self._links[ends[1]].add((f"inverse {graph.relation_labels[by]}", ends[0]))
        self._having = Counter(link for own in self._links.values() for link in own)

    def ranked(self, head: str, relation: str) -> dict[str, list[str]]:
        """Return the labels of the tails by each way, the best first.

        Args:
            head: Label of the head.
            relation: Label of the relation.
        """
        own = self._links[head]
        having = sorted(self._having.items())  # ties have one order
        frequency = {tail: count for (by, tail), count in having if by == relation}
        by_heads, doubt = self._by_heads(head, relation), self._doubt(own, relation)
        scores = {
            "frequency": {tail: (0.0, count) for tail, count in frequency.items()},
            "similar heads": {tail: (by_heads[tail], count) for tail, count in frequency.items()},
            "attribute rules": {tail: (-doubt[tail], count) for tail, count in frequency.items()},
        }
        return {
            way: [
                tail
                for tail in sorted(of_way, key=lambda one: of_way[one], reverse=True)
                if (relation, tail) not in own
            ]
            for way, of_way in scores.items()
        }

    def _by_heads(self, head: str, relation: str) -> dict[str, float]:
        """Return the votes of the most similar entities for each tail."""
        own = self._links[head]
        similarity = {
            other: self._weight(own & its)
            / (math.sqrt(self._weight(own) * self._weight(its)) or 1.0)
            for other, its in self._links.items()
            if other != head
        }
        votes: dict[str, float] = defaultdict(float)
        for other in sorted(similarity, key=lambda one: -similarity[one])[:HEADS]:
            for by, tail in self._links[other]:
                votes[tail] += (by == relation) * similarity[other] ** 2
        return votes

    def _doubt(self, own: set[tuple[str, str]], relation: str) -> dict[str, float]:
        """Return the product, over some links, of the doubts that a tail goes with the link."""
        doubt: dict[str, float] = defaultdict(lambda: 1.0)
        for link in sorted(own):
            together = Counter(
                tail
                for its in self._links.values()
                if link in its
                for by, tail in its
                if by == relation
            )
            for tail, count in together.items():
                doubt[tail] *= 1 - count / (self._having[link] + DOUBT)
        return doubt

    def _weight(self, links: set[tuple[str, str]]) -> float:
        """Return the sum of the inverse entity frequencies of some links."""
        return math.fsum(math.log(len(self._links) / self._having[link]) for link in links)
