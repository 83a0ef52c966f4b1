"""Exact top-10 against a bare ``faiss.IndexFlatIP`` and PyKEEN.

Also: opening, memory, size on disk, and candidate search on large indexes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

import ontodex
from benchmarks.memory import in_process
from benchmarks.record import Goal, Measured
from benchmarks.rounds import in_turn
from benchmarks.synthetic import DIM, MOST_TAILS, RELATIONS, Synthetic
from ontodex.engine.search.topk import Searcher

__all__ = ["add_options", "run"]

K = 10
PEER = "bare IndexFlatIP, ms"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument(
        "--entities",
        type=int,
        nargs="+",
        default=[100_000, 1_000_000],
        help="default 100000 1000000",
    )
    parser.add_argument(
        "--batches",
        type=int,
        nargs="+",
        default=[1, 64, 512],
        help="queries at once, default 1 64 512",
    )
    parser.add_argument(
        "--rounds", type=int, default=7, help="rounds of all calls in turn (default %(default)s)"
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Measure each size and return the records."""
    if options.quick:
        options.entities, options.batches, options.rounds = [5000], [1, 64], 3
    return [_measure(count, options) for count in options.entities]


def _measure(count: int, options: argparse.Namespace) -> Measured:
    size = count * DIM * 4
    arguments = ("--entities", str(count), "--seed", str(options.seed))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.odx"
        _say(f"{count:,} entities: building …")
        built = in_process("benchmarks.serving", "build", str(path), *arguments)
        disk = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        _say("opening and serving …")
        ask = ("--ask", f"ex:{count // 2:07d}", RELATIONS[0])
        first = [in_process("benchmarks.serving", "open", str(path), *ask) for _ in range(5)]
        served = in_process("benchmarks.serving", "serve", str(path), *arguments)
        made = Synthetic(count, options.seed)
        vectors = made.whole()
        figures: dict[str, Any] = _searches(made, vectors, path, options)
        _say("PyKEEN …")
        figures["single query, filtered"] = _pykeen(made, vectors, path)
    figures["open and first answer, ms"] = float(np.median([one["ms"] for one in first]))
    figures["of that, open, ms"] = float(np.median([one["open"] for one in first]))
    figures["peak memory of building / vectors"] = built["peak"] / size
    figures["peak memory of serving / vectors"] = served["exact"] / size
    figures["peak memory of serving with candidates / vectors"] = served["default"] / size
    figures["size on disk / vectors"] = disk / size
    figures["building, s"] = built["seconds"]
    return Measured(
        name=f"retrieval-{count}",
        title=f"Retrieval, {count:,} entities x {DIM}",
        seed=options.seed,
        settings={
            "entities": count,
            "dim": DIM,
            "k": K,
            "batches": options.batches,
            "rounds": options.rounds,
        },
        figures=figures,
        goals=_goals(figures, count),
        notes=NOTES,
    )


NOTES = [
    "Unit vectors in clusters of about a hundred; each query is near an entity. Medians over "
    "rounds in turn; a ratio is the median of the ratios of the rounds, time of ontodex / time "
    "of the peer.",
    f"Filters: known tails of each query are left out, 0 to {MOST_TAILS}, heavy-tailed, all of "
    "the query's cluster. FAISS searches without filters throughout. ontodex re-scores in "
    "float64, with ties in row order.",
    "engine.tails_batch resolves ids, looks up known tails, projects, searches, and returns "
    "hits with labels.",
    "PyKEEN: predict_target of a DistMult with the same vectors, filter_triples, the first ten. "
    "Its scores equal those of ontodex up to a constant factor. It scores and sorts all "
    "entities in a data frame.",
    "Opening: fresh processes, the index in the page cache, imports done. Memory: peak resident "
    "set of fresh processes, including mapped files, above that of the imports. Building "
    "includes the graph, but no text encoder.",
    "Recall: share of the exact ten that the default path returns where it uses FAISS candidates.",
]


def _goals(figures: dict[str, Any], count: int) -> dict[str, Goal]:
    goals = {
        f"batch {name} · {what}, ratio": Goal(at_most=1.15)
        for name in (
            group.removeprefix("batch ") for group in figures if group.startswith("batch ")
        )
        for what in ("exact top-10", "filtered", "engine.tails_batch")
        if f"{what}, ratio" in figures[f"batch {name}"]
    }
    goals |= {
        f"single query, filtered · {what}, times as fast": Goal(at_least=10.0)
        for what in ("search", "engine.tails")
        if f"{what}, times as fast" in figures["single query, filtered"]
    }
    if count <= 100_000:
        goals["open and first answer, ms"] = Goal(at_most=100.0)
    for what in ("building", "serving"):
        goals[f"peak memory of {what} / vectors"] = Goal(at_most=1.5)
    return goals


def _searches(
    made: Synthetic, vectors: NDArray[np.float32], path: Path, options: argparse.Namespace
) -> dict[str, dict[str, float]]:
    """Time batches of FAISS, the search, the engine, and candidate search if it is in use."""
    peer = faiss.IndexFlatIP(DIM)
    peer.add(vectors)
    groups: dict[str, dict[str, float]] = {}
    with (
        ontodex.open(path, device="cpu", exact=True) as engine,
        ontodex.open(path, device="cpu") as default,
    ):
        graph, searcher, large = engine.graph, engine.searcher("link"), default.searcher("link")
        for batch in options.batches:
            _say(f"batches of {batch} …")
            rows, queries = made.queries(vectors, batch)
            relations = [_relation(graph, row) for row in rows.tolist()]
            known = [
                graph.tails_of(row, number).astype(np.int64)
                for row, number in zip(rows, relations, strict=True)
            ]
            asked = [
                (graph.ids[row], RELATIONS[number])
                for row, number in zip(rows, relations, strict=True)
            ]
            calls: dict[str, Callable[[], Any]] = {
                PEER: lambda queries=queries: peer.search(queries, K),
                "exact top-10": lambda queries=queries: searcher.top(queries, K),
                "filtered": lambda queries=queries, known=known: searcher.top(queries, K, known),
                "engine.tails_batch": lambda asked=asked: engine.tails_batch(asked, K),
            }
            if large.approximate is not None:
                calls["candidates"] = lambda queries=queries, known=known: large.top(
                    queries, K, known
                )
            figures = in_turn(calls, PEER, options.rounds)
            figures["known tails left out, mean"] = float(np.mean([len(tails) for tails in known]))
            _, same = peer.search(queries, K)
            exact = searcher.top(queries, K)
            figures["rows equal to FAISS's, share"] = _share(exact, same)
            if large.approximate is not None:
                figures["candidates, recall"] = _recall(searcher, large, queries, known)
            groups[f"batch {batch}"] = figures
    return groups


def _relation(graph: ontodex.KnowledgeGraph, row: int) -> int:
    relations = graph.outgoing(row)[0]
    return int(relations[0]) if len(relations) else 0


def _share(found: Any, rows: NDArray[np.int64]) -> float:
    return float(
        np.mean([np.mean(one[0] == other) for one, other in zip(found, rows, strict=True)])
    )


def _recall(
    exact: Searcher, large: Searcher, queries: NDArray[np.float32], known: list[NDArray[np.int64]]
) -> float:
    pairs = zip(exact.top(queries, K, known), large.top(queries, K, known), strict=True)
    return float(np.mean([np.isin(one[0], other[0]).mean() for one, other in pairs]))


def _pykeen(
    made: Synthetic, vectors: NDArray[np.float32], path: Path, queries: int = 7
) -> dict[str, float]:
    """Time single queries with filters against PyKEEN, if it is installed."""
    try:
        from benchmarks.peers import DistMultPeer
    except ImportError as error:
        _say(f"left out: {error}")
        return {}
    rows, _ = made.queries(vectors, queries)
    with ontodex.open(path, device="cpu", exact=True) as engine:
        graph, searcher = engine.graph, engine.searcher("link")
        peer = DistMultPeer(vectors, graph, made.seed)
        each: list[dict[str, float]] = []
        for row in rows.tolist():
            number = _relation(graph, row)
            known, head, relation = (
                graph.tails_of(row, number).astype(np.int64),
                graph.ids[row],
                RELATIONS[number],
            )
            query = peer.query(row, number)
            calls: dict[str, Callable[[], Any]] = {
                "PyKEEN, ms": lambda head=head, relation=relation: peer.tails(head, relation, K),
                "search": lambda query=query, known=known: searcher.top(query, K, [known]),
                "engine.tails": lambda head=head, relation=relation: engine.tails(
                    head, relation, K
                ),
            }
            figures = in_turn(calls, "PyKEEN, ms", 3)
            same = [graph.ids[one] for one in searcher.top(query, K, [known])[0][0].tolist()]
            figures["answers equal to PyKEEN's, share"] = float(
                np.mean([a == b for a, b in zip(same, calls["PyKEEN, ms"](), strict=True)])
            )
            each.append(figures)
    means = {name: float(np.median([figures[name] for figures in each])) for name in each[0]}
    return {
        name.replace(", ratio", ", times as fast"): 1 / value if name.endswith(", ratio") else value
        for name, value in means.items()
    }


def _say(words: str) -> None:
    print(words, file=sys.stderr)
