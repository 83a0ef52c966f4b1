"""Search under conditions, warm and cold, against projections in plain torch.

By default 100,000 entities under 50 conditions.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import ontodex
from benchmarks.clock import clock_name
from benchmarks.clock import seconds as _seconds
from benchmarks.record import Goal, Measured
from benchmarks.synthetic import DIM, Synthetic, graph_of
from ontodex.encoders.condition import ConditionEncoder
from ontodex.encoders.condition_network import ConditionNetwork, ConditionNetworkSettings
from ontodex.encoders.index_encoders import Encoders
from ontodex.encoders.locate import DEFAULT_ENCODER, locate
from ontodex.encoders.text import TextEncoder
from ontodex.engine.conditions import DISK
from ontodex.geometry.conditioned import compact, expanded, under_condition
from ontodex.indexers.build import build_index
from ontodex.storage.condition_cache import FILE, ConditionCache

__all__ = ["add_options", "run"]

K = 10
RANK = 64
WORDS = (
    "colour",
    "size",
    "place",
    "purpose",
    "origin",
    "material",
    "shape",
    "age",
    "maker",
    "danger",
)
Found = tuple[list[str], list[float]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--entities", type=int, default=100_000, help="default %(default)s")
    parser.add_argument("--conditions", type=int, default=50, help="default %(default)s")
    parser.add_argument(
        "--batch", type=int, default=512, help="queries at once, under mixed conditions"
    )
    parser.add_argument(
        "--single", type=int, default=200, help="single queries (default %(default)s)"
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    if options.quick:
        options.entities, options.conditions, options.batch, options.single = 3000, 4, 16, 8
    with tempfile.TemporaryDirectory() as folder:
        return [_measured(options, Path(folder) / "made.odx")]


class _Entities(TextEncoder):
    """The real text encoder for conditions; the vectors of the entities are synthetic."""

    def __init__(self, made: Synthetic) -> None:
        super().__init__(locate(DEFAULT_ENCODER), "cpu")
        self._made = made

    def stream(
        self, texts: Sequence[Any], done: int = 0
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Yield synthetic vectors for the texts of all entities, encoded ones for other texts."""
        if len(texts) != self._made.count:
            yield from super().stream(texts, done)
            return
        for start, block in self._made.blocks():
            yield np.arange(start, start + len(block)), block


def _measured(options: argparse.Namespace, path: Path) -> Measured:
    made = Synthetic(options.entities, options.seed)
    torch.manual_seed(options.seed)
    text = _Entities(made)
    network = ConditionNetwork(ConditionNetworkSettings(DIM, rank=RANK))
    # The part of each condition gets the scale of the part that all conditions share.
    torch.nn.init.normal_(network.make.weight, std=1 / DIM**0.5)
    _say(f"{options.entities:,} entities: building …")
    build_index(
        graph_of(made), path, Encoders(text, condition=ConditionEncoder(text, network)), quiet=True
    )
    conditions = [
        f"{word} {number}"
        for number in range(options.conditions)
        for word in (WORDS[number % len(WORDS)],)
    ]
    rng = np.random.default_rng((options.seed, 4))
    rows = rng.integers(0, options.entities, options.batch)
    which = rng.integers(0, options.conditions, options.batch)
    memory = options.conditions * options.entities * RANK * 4

    def opened() -> ontodex.Engine:
        engine = ontodex.open(path, device="cpu", condition_memory=memory)
        # Load the encoder before the clock starts.
        engine.resources.encoders.condition.text.encode(["warm"])
        return engine

    _say("cold, factors on disk, warm …")
    figures: dict[str, Any] = {}
    cold = _per_condition(opened(), conditions, rows)
    engine = opened()
    disk = _per_condition(engine, conditions, rows)
    with _Torch(made, engine, conditions) as peer:
        projecting = [
            _seconds(lambda at=at: peer.cold(int(rows[at]), at)) for at in range(len(conditions))
        ]
        figures["first question under a condition"] = {
            "ms, new condition": _ms(cold),
            "ms, its factor on the disk": _ms(disk),
            "ms, plain torch, its factor at hand": _ms(projecting),
            "torch / ontodex, factor on the disk": float(np.median(projecting) / np.median(disk)),
        }
        figures["warm, single questions"] = _single(
            engine, peer, conditions, rows, which, options.single
        )
        figures[f"warm, batch {options.batch} of mixed conditions"] = _batched(
            engine, peer, conditions, rows, which
        )
        figures.update(_equality(engine, peer, conditions, rows, which))
    cache = ConditionCache(path, DISK)
    figures["bytes on the disk per condition"] = cache.bytes / len(cache)
    figures["of the paper's two float32 factors"] = cache.bytes / len(cache) / (2 * DIM * RANK * 4)
    figures["size of the cache's file, MB"] = (path / FILE).stat().st_size / 1e6
    figures["memory for all projected entities, MB"] = memory / 1e6
    return Measured(
        name="conditional-search",
        title=f"Search under a condition, {options.entities:,} entities x {DIM}, "
        f"{options.conditions} conditions",
        seed=options.seed,
        settings={
            "entities": options.entities,
            "conditions": options.conditions,
            "dim": DIM,
            "rank": RANK,
            "k": K,
            "batch": options.batch,
            "single": options.single,
            "threads": torch.get_num_threads(),
            "clock": clock_name(),
        },
        figures=figures,
        goals={
            "recall of the exact ten": Goal(at_least=1.0),
            "recall of the ten by float32 factors": Goal(at_least=0.99),
            "of the paper's two float32 factors": Goal(at_most=0.25),
            "warm, single questions · plain torch that projects / ontodex": Goal(at_least=1.0),
        },
        notes=[
            "Entities: unit vectors in clusters of about a hundred. Conditions: texts, encoded "
            f"by all-MiniLM-L6-v2; an untrained hypernetwork makes projections to {RANK} "
            "dimensions, half of which are specific to the condition. A trained network has the "
            "same cost.",
            "Cold: encode the text of the condition, make its factor and write it to disk, "
            "project all entities in float64, answer one query. The encoder is already loaded. "
            "Medians over the conditions. CPU time, where it is the clock, excludes some "
            "milliseconds of waiting for the disk.",
            "Plain torch: float32, unit vectors, topk. “that projects” projects all entities "
            "again for each query, or once per condition of a batch, as code without a cache "
            "does. Plain torch returns row numbers, ontodex returns hits.",
            "Recall of the exact ten: against numpy in float64 over the projected entities. By "
            "float32 factors: against factors that are not rounded to half precision.",
        ],
    )


class _Torch:
    """Peer: the same search in plain torch, without ontodex."""

    def __init__(self, made: Synthetic, engine: ontodex.Engine, conditions: Sequence[str]) -> None:
        self.vectors = torch.from_numpy(made.whole())
        self.factors = torch.from_numpy(engine.resources.encoders.condition.factors(conditions))
        self.kept: dict[int, torch.Tensor] = {}

    def __enter__(self) -> _Torch:
        return self

    def __exit__(self, *_: object) -> None:
        self.kept.clear()

    def project(self, condition: int) -> torch.Tensor:
        return torch.nn.functional.normalize(self.vectors @ self.factors[condition], dim=1)

    def cold(self, row: int, condition: int) -> torch.Tensor:
        projected = self.project(condition)
        return torch.topk(projected @ projected[row], K + 1).indices

    def cold_batch(self, rows: NDArray[np.int64], which: NDArray[np.int64]) -> None:
        for condition in np.unique(which).tolist():
            projected = self.project(condition)
            torch.topk(projected[rows[which == condition]] @ projected.T, K + 1)

    def warm(self, row: int, condition: int) -> torch.Tensor:
        if condition not in self.kept:
            self.kept[condition] = self.project(condition)
        projected = self.kept[condition]
        return torch.topk(projected @ projected[row], K + 1).indices


def _per_condition(
    engine: ontodex.Engine, conditions: Sequence[str], rows: NDArray[np.int64]
) -> list[float]:
    return [
        _seconds(
            lambda row=row, condition=condition: engine.similar(
                f"ex:{row:07d}", K, condition=condition
            )
        )
        for row, condition in zip(
            np.resize(rows, len(conditions)).tolist(), conditions, strict=True
        )
    ]


def _single(
    engine: ontodex.Engine,
    peer: _Torch,
    conditions: Sequence[str],
    rows: NDArray[np.int64],
    which: NDArray[np.int64],
    count: int,
) -> dict[str, float]:
    ours, kept, anew = [], [], []
    for at in np.unique(which).tolist():
        peer.warm(0, at)
    for row, at in zip(
        np.resize(rows, count).tolist(), np.resize(which, count).tolist(), strict=True
    ):
        ours.append(
            _seconds(
                lambda row=row, at=at: engine.similar(f"ex:{row:07d}", K, condition=conditions[at])
            )
        )
        kept.append(_seconds(lambda row=row, at=at: peer.warm(row, at)))
        if len(anew) < 50:
            anew.append(_seconds(lambda row=row, at=at: peer.cold(row, at)))
    return {
        "questions per second": 1 / float(np.median(ours)),
        "ms": _ms(ours),
        "ms, plain torch, projections kept": _ms(kept),
        "ms, plain torch that projects": _ms(anew),
        "plain torch that projects / ontodex": float(np.median(anew) / np.median(ours)),
    }


def _batched(
    engine: ontodex.Engine,
    peer: _Torch,
    conditions: Sequence[str],
    rows: NDArray[np.int64],
    which: NDArray[np.int64],
) -> dict[str, float]:
    texts, under = (
        [f"ex:{row:07d}" for row in rows.tolist()],
        [conditions[at] for at in which.tolist()],
    )
    ours, anew = [], []
    for _ in range(3):
        ours.append(_seconds(lambda: engine.similar_batch(texts, K, condition=under)))
        anew.append(_seconds(lambda: peer.cold_batch(rows, which)))
    return {
        "questions per second": len(rows) / float(np.median(ours)),
        "questions per second, plain torch that projects": len(rows) / float(np.median(anew)),
        "plain torch that projects / ontodex": float(np.median(anew) / np.median(ours)),
    }


def _equality(
    engine: ontodex.Engine,
    peer: _Torch,
    conditions: Sequence[str],
    rows: NDArray[np.int64],
    which: NDArray[np.int64],
    count: int = 20,
) -> dict[str, float]:
    """Compare answers with numpy in float64, by the rounded factor and by the float32 factor."""
    vectors = peer.vectors.numpy()
    exact, whole, errors = [], [], []
    for row, at in zip(rows[:count].tolist(), which[:count].tolist(), strict=True):
        hits = engine.similar(f"ex:{row:07d}", K, condition=conditions[at])
        found = [int(hit.id.partition(":")[2]) for hit in hits]
        factor = peer.factors[at].numpy()
        for used, recall in ((expanded(compact(factor), DIM, RANK), exact), (factor, whole)):
            projected = under_condition(vectors, used).astype(np.float64)
            scores = projected @ projected[row]
            scores[row] = -2
            best = np.lexsort((np.arange(len(scores)), -scores))[:K]
            recall.append(len(set(best.tolist()) & set(found)) / K)
        errors.append(np.abs(np.array([hit.score for hit in hits]) - scores[found]).max())
    return {
        "recall of the exact ten": float(np.mean(exact)),
        "recall of the ten by float32 factors": float(np.mean(whole)),
        "largest error of a score by half precision": float(np.max(errors)),
    }


def _ms(seconds: Sequence[float]) -> float:
    return float(np.median(seconds)) * 1000


def _say(what: str) -> None:
    print(what, file=sys.stderr)
