"""Cost of a training step of HiT: in-batch negatives against triplets of the public code."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.hierarchies import LOADERS, ROOTED
from benchmarks.public_hit import PublicHiT
from benchmarks.record import Goal, Measured, expect_data
from ontodex.encoders.device import choose_device, has_bfloat16
from ontodex.encoders.locate import DEFAULT_ENCODER, locate
from ontodex.encoders.sentence_transformer import load_sentence_transformer
from ontodex.geometry.poincare import curvature, pairwise
from ontodex.graph import draw_negatives
from ontodex.trainers.data.subsumptions import with_root
from ontodex.trainers.data.task_files import hierarchy_task
from ontodex.trainers.hierarchies.batches import (
    HierarchyBatch,
    HierarchyBatches,
    TextHierarchy,
    TripletBatches,
)
from ontodex.trainers.hierarchies.hit import HiTModel
from ontodex.trainers.hierarchies.loss import HierarchyLoss
from ontodex.trainers.hierarchies.settings import HiTTraining

__all__ = ["add_options", "run"]

USUAL = HiTTraining()
IN_BATCH, PUBLIC, PUBLIC_BF16 = "in-batch", "public triplets", "public triplets, bfloat16"
ONCE = "triplets, each text once"
WITHIN = "negatives within the margin a second"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument(
        "--graph", choices=list(LOADERS), default="wordnet", help="default %(default)s"
    )
    parser.add_argument(
        "--start", default=DEFAULT_ENCODER, help="encoder that the steps are taken from"
    )
    parser.add_argument(
        "--families",
        type=int,
        default=USUAL.families,
        help="families in our batch (default %(default)s)",
    )
    parser.add_argument(
        "--children",
        type=int,
        default=USUAL.children,
        help="most children per family (default %(default)s)",
    )
    parser.add_argument(
        "--triplets",
        type=int,
        default=USUAL.triplets,
        help="triplets per public batch (default %(default)s)",
    )
    parser.add_argument(
        "--rounds", type=int, default=10, help="rounds of all calls in turn (default %(default)s)"
    )
    parser.add_argument("--device", default="auto", help="default %(default)s")


class _Ours:
    """A training step as in ``ontodex train hit``: draw a batch, encode each text once, update."""

    def __init__(
        self, folder: Path, hierarchy: TextHierarchy, device: str, *, smooth: bool
    ) -> None:
        encoder = load_sentence_transformer(folder, device, unit=False)
        self._c = curvature(int(encoder.get_embedding_dimension() or 0))
        loss = HierarchyLoss(self._c, USUAL.cluster, USUAL.centripetal, smooth=smooth)
        self._model = HiTModel(encoder, hierarchy.texts, loss, USUAL.max_tokens).train()
        self._optimiser = torch.optim.AdamW(
            self._model.parameters(), lr=1e-5, weight_decay=0.0, fused=True
        )
        self._device, self._bfloat16 = device.split(":")[0], has_bfloat16(device)

    def step(self, batch: HierarchyBatch) -> None:
        with torch.autocast(self._device, torch.bfloat16, enabled=self._bfloat16):
            loss = self._model(batch)["loss"]
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        self._optimiser.step()
        self._optimiser.zero_grad()
        float(loss.detach())

    def within(self, batch: HierarchyBatch) -> int:
        """Count negatives that are nearer to the child than its parent plus the margin."""
        points = self._model.points(batch.texts, self._c)
        distances = pairwise(points[batch.children], points, self._c)
        nearest = distances[np.arange(len(batch.children)), batch.parents][:, None] + USUAL.cluster
        return int(((distances < nearest) & batch.negatives).sum())


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    expect_data(options, "hierarchy-cost")
    if options.quick:
        options.families, options.triplets, options.rounds = 4, 20, 2
    device, folder = choose_device(options.device), locate(options.start)
    graph = LOADERS[options.graph](options.data)
    graph = with_root(graph) if options.graph in ROOTED else graph
    task = hierarchy_task(graph, seed=options.seed)
    hierarchy = TextHierarchy(task, list(graph.labels))
    steps, seed = options.rounds + 1, options.seed
    families = HierarchyBatches(
        hierarchy, steps=steps, families=options.families, children=options.children, seed=seed
    )
    drawn = np.random.default_rng(seed).permutation(len(task.train))[: steps * options.triplets]
    pairs = draw_negatives(
        task.known, task.train[np.sort(drawn)], negatives=USUAL.negatives, seed=seed
    )
    triplets = TripletBatches(
        hierarchy, pairs, "random", steps=steps, triplets=options.triplets, seed=seed
    )
    ours, once = (_Ours(folder, hierarchy, device, smooth=smooth) for smooth in (True, False))
    public = {
        name: PublicHiT(
            folder, margins=(USUAL.cluster, USUAL.centripetal), bfloat16=bfloat16, device=device
        )
        for name, bfloat16 in ((PUBLIC, False), (PUBLIC_BF16, True))
    }
    calls: dict[str, Callable[[int], Any]] = {
        IN_BATCH: lambda step: ours.step(families[step]),
        ONCE: lambda step: once.step(triplets[step]),
        **{
            name: lambda step, peer=peer: peer.step(_triplets(hierarchy, triplets[step]))
            for name, peer in public.items()
        },
    }
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for step in range(steps):
        print(f"round {step} of {options.rounds} …", file=sys.stderr)
        for name, call in calls.items():
            start = time.perf_counter()
            call(step)
            seconds[name].append(time.perf_counter() - start)
    figures: dict[str, Any] = {}
    rates: dict[str, list[dict[str, float]]] = {}
    for name in calls:
        batches = [(families if name == IN_BATCH else triplets)[step] for step in range(1, steps)]
        rates[name] = [
            _rates(
                batch,
                ours if name == IN_BATCH else once,
                took,
                name in public,
                len(hierarchy.links),
            )
            for batch, took in zip(batches, seconds[name][1:], strict=True)
        ]
        figures[name] = {
            key: float(np.median([one[key] for one in rates[name]])) for key in rates[name][0]
        }
    for name in public:
        figures[f"{IN_BATCH} / {name}"] = {
            key: float(
                np.median(
                    [a[key] / b[key] for a, b in zip(rates[IN_BATCH], rates[name], strict=True)]
                )
            )
            for key in ("unique texts a second", "negatives a second", WITHIN, "links a second")
        }
    return [
        Measured(
            name=f"hierarchy-cost-{options.graph}",
            title=f"A training step of HiT on {options.graph}, in-batch and by triplets",
            seed=seed,
            settings={
                "start": Path(options.start).name,
                "device": device,
                "families": options.families,
                "children": options.children,
                "triplets": options.triplets,
                "rounds": options.rounds,
                "threads": torch.get_num_threads(),
            },
            figures=figures,
            goals={f"{IN_BATCH} / {PUBLIC} · {WITHIN}": Goal(at_least=10.0)},
            notes=NOTES,
        )
    ]


NOTES = [
    "A step: draw the batch, encode with gradients, loss, backward pass, clipping, AdamW. "
    "Medians over rounds in turn, each on a new batch; ratios are medians of the ratios of the "
    "rounds.",
    f"{IN_BATCH}: families of a parent and some children. Every text is encoded once and is a "
    "negative of every child that it is not an ancestor of. bfloat16 where the processor "
    "supports it.",
    f"{PUBLIC}: model and loss of hierarchy-transformers, on triplets with ten random negatives "
    "to a link. Child, parent and negative are encoded for each triplet, in float32, with "
    "dropout, without the trainer of the package. The other rows have the same triplets: under "
    "bfloat16 autocast, and in our implementation, which encodes each text once.",
    "Within the margin: negatives nearer to the child than its parent plus the margin, measured "
    "by the encoder after the steps; only they have a gradient. Negatives are close entities such "
    "as siblings in families, and random in triplets. The figure is a count, not the time to reach "
    "an equal F1.",
]


def _triplets(hierarchy: TextHierarchy, batch: HierarchyBatch) -> list[tuple[str, str, str]]:
    texts = [hierarchy.texts[text] for text in batch.texts]
    return [
        (texts[child], texts[parent], texts[negative])
        for child, parent, row in zip(batch.children, batch.parents, batch.negatives, strict=True)
        for negative in np.flatnonzero(row)
    ]


def _rates(
    batch: HierarchyBatch, model: _Ours, took: float, again: bool, links: int
) -> dict[str, float]:
    """Return the contents of a batch, absolute and by the second.

    Args:
        batch: The batch.
        model: The model, which counts the negatives within the margin.
        took: Seconds of the step.
        again: Whether the texts of every triplet are encoded again.
        links: Links of the whole hierarchy.
    """
    negatives = int(batch.negatives.sum())
    return {
        "step, ms": took * 1000,
        "links a step": len(batch.children),
        "texts encoded a step": 3 * negatives if again else len(batch.texts),
        "unique texts a second": len(batch.texts) / took,
        "negatives a second": negatives / took,
        WITHIN: model.within(batch) / took,
        "links a second": len(batch.children) / took,
        "minutes for as many links as there are": links / len(batch.children) * took / 60,
    }
