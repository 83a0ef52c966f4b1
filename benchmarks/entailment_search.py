"""Exact top-10 by KL, in both directions, against three peers.

The peers are elementwise passes, a user-defined metric of USearch, and a bare FAISS product.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import faiss
import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.record import Goal, Measured
from benchmarks.rounds import in_turn
from benchmarks.synthetic import BLOCK, DIM, Synthetic
from ontodex.engine.search.gaussian_space import GaussianSpace
from ontodex.engine.search.topk import Searcher
from ontodex.geometry.gaussian import kl, similarity
from ontodex.geometry.vectors import Vectors

__all__ = ["add_options", "run"]

K = 10
PEER = "bare IndexFlatIP, ms"
NUMPY, TORCH = "numpy pass, one query", "torch pass, one query"
SIDES = {"entailed by": "left", "entailing": "right"}
"""Query functions, and the side of KL on which the items stand."""

RECALL_QUERIES = 512
"""Queries of the recall, ten answers each: enough to show a recall of .999."""

COVERAGE = (10, 50, 100, 200)
"""Numbers of candidates by total KL that are re-ranked by the mean over dimensions."""

Gaussians = NDArray[np.float32]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--entities", type=int, default=100_000, help="default %(default)s")
    parser.add_argument(
        "--batches", type=int, nargs="+", default=[1, 64], help="queries at once, default 1 64"
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="rounds of all calls in turn (default %(default)s)"
    )
    parser.add_argument(
        "--usearch",
        type=int,
        default=20_000,
        help="items in the index of USearch; 0 for none (default %(default)s)",
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    if options.quick:
        options.entities, options.batches, options.rounds, options.usearch = 3000, [1, 64], 2, 0
    count = options.entities
    made = Synthetic(count, options.seed)
    units = made.whole()
    asked_by_batch = {
        batch: _gaussians(made.queries(units, batch)[1], np.random.default_rng((options.seed, 6)))
        for batch in options.batches
    }
    asked_for_recall = _gaussians(
        made.queries(units, RECALL_QUERIES)[1], np.random.default_rng((options.seed, 7))
    )
    items = _gaussians(units, np.random.default_rng((options.seed, 5)))
    del units  # frees memory: a million items and all peers must fit into 24 GB
    figures: dict[str, Any] = {}
    for question in SIDES:
        figures |= _measured(question, items, asked_by_batch, asked_for_recall, options)
    if options.usearch:
        figures["USearch's user metric"] = _usearch(
            items[: options.usearch], asked_by_batch[max(options.batches)], options
        )
    figures["bytes an item, half precision"] = 2 * items.shape[1]
    return [
        Measured(
            name=f"entailment-search-{count}",
            title=f"Search by KL, {count:,} Gaussians of {DIM} dimensions",
            seed=options.seed,
            settings={
                "entities": count,
                "dim": DIM,
                "k": K,
                "batches": options.batches,
                "rounds": options.rounds,
                "threads": torch.get_num_threads(),
            },
            figures=figures,
            goals=_goals(options, figures),
            notes=NOTES,
        )
    ]


def _measured(
    question: str,
    items: Gaussians,
    asked_by_batch: dict[int, Gaussians],
    asked_for_recall: Gaussians,
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Return the figures of one query function; its memory is released on return."""
    count, side = len(items), SIDES[question]
    start = time.perf_counter()
    space = GaussianSpace(Vectors([items]), side)
    figures: dict[str, Any] = {f"{question}, lifting once, s": time.perf_counter() - start}
    searcher = Searcher(space.lifted, space=space)
    figures[f"{question}, recall from half precision"] = _recall_from_half(
        searcher, items, asked_for_recall, side
    )
    bare = faiss.IndexFlatIP(2 * DIM + 1)
    bare.add(space.lifted.shards[0])
    variances = np.exp(items[:, DIM:])
    for batch, asked in asked_by_batch.items():
        print(f"{count:,} Gaussians, {question}, batches of {batch} …", file=sys.stderr)
        lifted = space.prepare(asked).augmented
        calls: dict[str, Callable[[], Any]] = {
            PEER: lambda lifted=lifted: bare.search(lifted, K),
            "exact top-10": lambda asked=asked: searcher.top(asked, K),
            NUMPY: _numpy_pass(items, variances, asked[0], side),
            TORCH: _torch_pass(items, variances, asked[0], side),
        }
        found = in_turn(calls, PEER, options.rounds)
        passes = min(found.pop(f"{NUMPY}, ratio"), found.pop(f"{TORCH}, ratio"))
        found["times as fast as the better pass, a query"] = (
            batch * passes / found["exact top-10, ratio"]
        )
        found["equal to float64's, share"] = _equal(searcher.top(asked, K), items, asked, side)
        figures[f"{question}, batch {batch}"] = found
    print("the mean over dimensions …", file=sys.stderr)
    figures[f"{question}, the best by the mean over dimensions among so many by KL"] = _coverage(
        searcher, items, asked[:16], side
    )
    return figures


NOTES = [
    "Means in clusters of about a hundred. Log-variances around zero with a spread of 0.5, as "
    "after training; the items of a cluster share a part of it. Medians over rounds in turn; a "
    "ratio is the median of the ratios of the rounds.",
    "bare IndexFlatIP: the inner product of the same lifted vectors alone. Passes: KL of one "
    "query and all items, elementwise in float32 with cached variances and logarithms, as in "
    "the public code, and the top ten. Passes are compared with one query of a batch.",
    "float64: KL over all items in float64 with a full sort, for at most 16 queries. Recall "
    f"from half precision: against the top ten of the items in float32, {RECALL_QUERIES} "
    "queries.",
    "USearch: HNSW with a compiled metric for KL(query‖item) over fewer items, default "
    "settings. The times of USearch and ontodex are for the same number of items.",
]


def _goals(options: argparse.Namespace, figures: dict[str, Any]) -> dict[str, Goal]:
    goals: dict[str, Goal] = {}
    for question in SIDES:
        goals[f"{question}, recall from half precision"] = Goal(at_least=0.999)
        for batch in options.batches:
            goals[f"{question}, batch {batch} · equal to float64's, share"] = Goal(at_least=1.0)
        if 64 in options.batches:
            goals[f"{question}, batch 64 · times as fast as the better pass, a query"] = Goal(
                at_least=50.0
            )
            goals[f"{question}, batch 64 · exact top-10, ratio"] = Goal(at_most=1.3)
    if "times as fast as USearch" in figures.get("USearch's user metric", {}):
        goals["USearch's user metric · times as fast as USearch"] = Goal(at_least=1.0)
    return goals


def _gaussians(units: NDArray[np.float32], rng: np.random.Generator) -> Gaussians:
    """Give unit vectors lengths and variances, correlated with the direction as after training."""
    means = units * np.float32(np.sqrt(DIM))
    logs = 0.35 * np.roll(units, 1, axis=1) * np.sqrt(DIM) + 0.35 * rng.standard_normal(units.shape)
    return np.concatenate([means, np.clip(logs, -10, 10)], axis=1).astype(np.float32)


def _pass(items: Any, variances: Any, query: Any, variance: Any, side: str) -> Callable[[], Any]:
    """Return a function that scores all items as the public code does: twice KL, ascending."""
    means, logs = items[:, :DIM], items[:, DIM:]
    mean, log = query[:DIM], query[DIM:]
    if side == "left":
        return lambda: (variances / variance + (means - mean) ** 2 / variance - 1 + log - logs).sum(
            1
        )
    return lambda: (variance / variances + (means - mean) ** 2 / variances - 1 + logs - log).sum(1)


def _numpy_pass(
    items: Gaussians, variances: Gaussians, query: Gaussians, side: str
) -> Callable[[], Any]:
    scores = _pass(items, variances, query, np.exp(query[DIM:]), side)
    return lambda: np.argpartition(scores(), K)[:K]


def _torch_pass(
    items: Gaussians, variances: Gaussians, query: Gaussians, side: str
) -> Callable[[], Any]:
    scores = _pass(*map(torch.from_numpy, (items, variances, query, np.exp(query[DIM:]))), side)
    return lambda: torch.topk(-scores(), K)


def _by_block(
    score: Callable[[Any, Any], Any],
    items: Gaussians,
    query: Any,
    side: str,
    kind: type[np.floating],
) -> NDArray[np.float64]:
    """Return the scores of all items on the given side of KL, computed block by block."""
    query, found = query.astype(kind), []
    for start in range(0, len(items), BLOCK):
        block = items[start : start + BLOCK].astype(kind)
        found.append(score(block, query) if side == "left" else score(query, block))
    return np.concatenate(found)


def _equal(found: Any, items: Gaussians, asked: Gaussians, side: str) -> float:
    same = []
    for query, (rows, _) in list(zip(asked, found, strict=True))[:16]:
        wanted = np.argsort(_by_block(kl, items, query, side, np.float64), kind="stable")[:K]
        same.append(np.mean(rows == wanted))
    return float(np.mean(same))


def _recall_from_half(searcher: Searcher, items: Gaussians, asked: Gaussians, side: str) -> float:
    space = GaussianSpace(Vectors([items.astype(np.float16)]), side)
    both = zip(
        searcher.top(asked, K), Searcher(space.lifted, space=space).top(asked, K), strict=True
    )
    return float(np.mean([np.isin(exact[0], found[0]).mean() for exact, found in both]))


def _coverage(
    searcher: Searcher, items: Gaussians, asked: Gaussians, side: str
) -> dict[str, float]:
    """Return the recall of the top ten by the public similarity among candidates by total KL."""
    shares: dict[str, list[float]] = {str(count): [] for count in COVERAGE}
    by_mean = partial(similarity, form="per-dimension")
    for query, (rows, _) in zip(asked, searcher.top(asked, max(COVERAGE)), strict=True):
        best = np.argsort(-_by_block(by_mean, items, query, side, np.float32), kind="stable")[:K]
        for count in COVERAGE:
            shares[str(count)].append(float(np.isin(best, rows[:count]).mean()))
    return {count: float(np.mean(found)) for count, found in shares.items()}


def _usearch(items: Gaussians, asked: Gaussians, options: argparse.Namespace) -> dict[str, float]:
    """Time USearch with a compiled metric against exact search of as many items, if installed."""
    try:
        from numba import carray, cfunc, types
        from usearch.index import CompiledMetric, Index, MetricKind, MetricSignature
    except ImportError as error:
        print(f"left out: {error}", file=sys.stderr)
        return {}
    width = 2 * DIM

    @cfunc(
        types.float32(types.CPointer(types.float32), types.CPointer(types.float32)), fastmath=True
    )
    def divergence(a, b):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        one, other = carray(a, width), carray(b, width)
        total = types.float32(0)
        for at in range(DIM):
            ratio = one[DIM + at] - other[DIM + at]
            gap = one[at] - other[at]
            total += np.exp(ratio) - ratio - 1 + gap * gap * np.exp(-other[DIM + at])
        return total

    metric = CompiledMetric(
        pointer=divergence.address, kind=MetricKind.Unknown, signature=MetricSignature.ArrayArray
    )
    index = Index(ndim=width, metric=metric, dtype="f32")
    start = time.perf_counter()
    index.add(np.arange(len(items)), items)
    building = time.perf_counter() - start
    space = GaussianSpace(Vectors([items]), "right")
    searcher = Searcher(space.lifted, space=space)
    calls = {
        "USearch, ms": lambda: index.search(asked, K, threads=torch.get_num_threads()),
        "exact top-10": lambda: searcher.top(asked, K),
    }
    found = in_turn(calls, "USearch, ms", options.rounds)
    exact = searcher.top(asked, K)
    keys = np.asarray(index.search(asked, K).keys)
    found["USearch, recall"] = float(
        np.mean([np.isin(rows, own).mean() for (rows, _), own in zip(exact, keys, strict=True)])
    )
    found["USearch, building, s"] = building
    found["times as fast as USearch"] = 1 / found.pop("exact top-10, ratio")
    return found | {"items": len(items), "queries": len(asked)}
