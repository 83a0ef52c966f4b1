"""Everyday questions answered by ``search``, ``parents`` and ``tails``, beside simple baselines."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import ontodex
from benchmarks.baselines import (
    FUSION,
    NOTES,
    Ranker,
    TrigramVotes,
    first_right,
    fused,
    label_paths,
    rankers,
)
from benchmarks.everyday_data import (
    GRAPHS,
    HALVES,
    Question,
    accepted,
    asked_relation,
    questions,
    sources,
)
from benchmarks.record import Measured
from ontodex.engine.ranking import rank_metrics
from ontodex.graph import KnowledgeGraph

__all__ = ["NAMED", "PLACE", "K", "add_options", "answers_of", "metrics_of", "run"]

NAMED = ("lay", "british", "misspelt", "described", "foreign")
"""Kinds of questions that ask which entity a text means."""

PLACE = "place"
"""Kind of questions that ask for the parents of a new term."""

KIND = "kind"
"""Kind of questions that ask for the tails or heads of a new entity."""

K = 100
TEN = 10


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--graph", choices=GRAPHS, action="append", help="default: all")
    parser.add_argument(
        "--half",
        choices=HALVES,
        default=HALVES[0],
        help="questions to ask; the test half is for the end (default %(default)s)",
    )
    parser.add_argument(
        "--kind", choices=(*NAMED, PLACE, KIND), action="append", help="default: all"
    )
    parser.add_argument(
        "--encoder", help="name of the text encoder of the index; default: all-MiniLM-L6-v2"
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its record."""
    chosen, kinds = options.graph or list(GRAPHS), options.kind or [*NAMED, PLACE, KIND]
    asked = [one for one in questions(options.half) if one.graph in chosen and one.kind in kinds]
    figures: dict[str, Any] = {}
    ranks: dict[tuple[str, str], list[float]] = {}
    shares: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, files in sources(Path(folder) / "sources").items():
            own = [one for one in asked if one.graph == name]
            if not own:
                continue
            graph = ontodex.read(*files, on_error="skip")
            print(f"{graph!r}: {len(own)} questions …", file=sys.stderr)
            asked_kinds = [one for one in own if one.kind == KIND]
            if asked_kinds:
                shares[name] = _shares(graph, asked_kinds, Path(folder) / f"{name}-links.odx")
                figures[f"{name} · kind"] = {"tails, heads": _of_kind(shares[name])}
            index = Path(folder) / f"{name}.odx"
            for kind, found in answers_of(graph, own, index, options.encoder).items():
                figures[f"{name} · {kind}"] = {way: metrics_of(one) for way, one in found.items()}
                for way, one in found.items():
                    ranks.setdefault((kind, way), []).extend(one)
    summed: dict[str, Any] = {}
    for (kind, way), all_ranks in ranks.items():
        summed.setdefault(f"all graphs · {kind}", {})[way] = metrics_of(all_ranks)
    if shares:
        every = [share for own in shares.values() for share in own]
        summed["all graphs · kind"] = {"tails, heads": _of_kind(every)}
    return [
        Measured(
            name=f"everyday-{options.half}" + (f"-{options.encoder}" if options.encoder else ""),
            title=f"Everyday questions, {options.half} half"
            + (f", {options.encoder} encoder" if options.encoder else ""),
            seed=options.seed,
            settings={
                "graphs": chosen,
                "kinds": kinds,
                "questions": len(asked),
                "split": f"the {options.half} half of questions written before any was asked",
            },
            figures={**summed, **figures},
            notes=[
                "Rank of the first right answer; what is not among the first "
                f"{K} counts as not found. Answers that are right are listed with each question.",
                "lay: everyday words. british: British spelling or words (American where the graph "
                "is British). misspelt. described: without the words of the label. foreign: other "
                "languages. place: the direct parents of a term that the graph does not have.",
                "kind: tails or heads of an entity that the graph does not have; the share of the "
                f"first {TEN} that are of the kind that the relation has.",
                *NOTES,
            ],
        )
    ]


def answers_of(
    graph: KnowledgeGraph, asked: Sequence[Question], path: Path, encoder: str | None
) -> dict[str, dict[str, list[float]]]:
    """Return the ranks of the right answers, by kind of question and ranker.

    Args:
        graph: The graph that is asked.
        asked: The questions; those of other kinds than :data:`NAMED` and :data:`PLACE` are ignored.
        path: Where the index is built.
        encoder: Name of the text encoder of the index; ``None`` for the default.
    """
    kinds: dict[str, dict[str, list[float]]] = {}
    placed = [one for one in asked if one.kind == PLACE]
    with ontodex.build(
        graph,
        path,
        encoders=encoder or (),
        train=False,
        structure=False,
        hierarchy=bool(placed),
        entailment=False,
        quiet=True,
    ) as engine:
        row_of = {name: row for row, name in enumerate(engine.graph.ids)}
        hierarchy = graph.hierarchy(on_cycle="ignore") if graph.hierarchy_relations else None
        encode = engine.resources.encoders.text.encode

        def ours(ask: Callable[..., list[ontodex.Hits]]) -> Ranker:
            return lambda texts: [[row_of[hit.id] for hit in hits] for hits in ask(texts, K)]

        baselines = rankers(engine.graph, label_paths(engine.graph, hierarchy), encode, K)
        ways = {"search": ours(engine.search_batch), **baselines}
        for kind in NAMED:
            own = [one for one in asked if one.kind == kind]
            if own:
                found = {way: ranked([one.text for one in own]) for way, ranked in ways.items()}
                found[FUSION] = fused([found[way] for way in baselines], K)
                kinds[kind] = _ranks(engine.graph, own, found)
        if placed and hierarchy is not None:
            texts = [one.text for one in placed]
            votes = TrigramVotes(engine.graph, hierarchy)
            found = {
                "parents": ours(engine.parents_batch)(texts),
                "trigram votes": votes.ranked(texts),
            }
            kinds[PLACE] = _ranks(engine.graph, placed, found)
    return kinds


def _shares(graph: KnowledgeGraph, asked: Sequence[Question], path: Path) -> list[float]:
    """Return, for each question of the kind ``kind``, the share of the first ten that match."""
    with ontodex.build(graph, path, hierarchy=False, entailment=False, quiet=True) as engine:
        found = []
        for one in asked:
            text, relation, of_tails = asked_relation(one)
            ask = engine.tails if of_tails else (lambda tail, by, k: engine.heads(by, tail, k))
            gold = {engine.graph.ids[row] for row in accepted(one, engine.graph)}
            found.append(float(np.mean([hit.id in gold for hit in ask(text, relation, TEN)])))
    return found


def _of_kind(shares: Sequence[float]) -> dict[str, float]:
    return {"questions": float(len(shares)), f"share of the first {TEN}": float(np.mean(shares))}


def _ranks(
    graph: KnowledgeGraph, asked: Sequence[Question], found: dict[str, list[list[int]]]
) -> dict[str, list[float]]:
    """Return the rank of the first right answer to each question, infinite if there is none."""
    right = [accepted(one, graph) for one in asked]
    return {
        way: [first_right(rows, gold) for rows, gold in zip(answers, right, strict=True)]
        for way, answers in found.items()
    }


def metrics_of(ranks: Sequence[float]) -> dict[str, float]:
    """Return the figures of ranks of first right answers."""
    metrics = rank_metrics(np.array(ranks))
    return {
        "questions": float(len(ranks)),
        "first right": metrics["hits@1"],
        "among the first 3": metrics["hits@3"],
        "among the first 10": metrics["hits@10"],
        "mrr": metrics["mrr"],
    }
