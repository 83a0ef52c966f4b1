"""Link prediction on the small graphs that PyKEEN's wheel carries, side by side with PyKEEN."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from pykeen.datasets import get_dataset
from pykeen.datasets.base import Dataset
from pykeen.pipeline import pipeline

import ontodex
from benchmarks.record import Goal, Measured
from ontodex.engine.projector import Projector
from ontodex.engine.ranking import evaluate_links

__all__ = ["add_options", "run"]

GRAPHS = ("nations", "kinships", "umls")
KEPT = ("mrr", "hits@1", "hits@10")
SHARE = "mrr, as a share of the best peer's"

PEERS: dict[str, dict[str, Any]] = {
    "PyKEEN, ComplEx": {
        "model": "ComplEx",
        "model_kwargs": {"embedding_dim": 128},
        "training_loop": "lcwa",
        "loss": "crossentropy",
        "optimizer": "Adagrad",
        "optimizer_kwargs": {"lr": 0.1},
        "dataset_kwargs": {"create_inverse_triples": True},
    },
    "PyKEEN, RotatE": {
        "model": "RotatE",
        "model_kwargs": {"embedding_dim": 128},
        "training_loop": "slcwa",
        "loss": "nssa",
        "loss_kwargs": {"margin": 9.0, "adversarial_temperature": 1.0},
        "negative_sampler_kwargs": {"num_negs_per_pos": 32},
        "optimizer": "Adam",
        "optimizer_kwargs": {"lr": 0.004},
    },
}
"""Models a user would take there, with the losses of their papers."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    parser.add_argument("--graph", choices=GRAPHS, action="append", help="default: all")
    parser.add_argument("--epochs", type=int, default=200, help="of PyKEEN, stopped early (default %(default)s)")


def run(options: argparse.Namespace) -> list[Measured]:
    """Measure, and return what came out."""
    figures: dict[str, Any] = {}
    for name in options.graph or GRAPHS:
        print(f"{name} …", file=sys.stderr)
        with tempfile.TemporaryDirectory() as scratch:
            figures[f"{name}, ontodex"] = _ours(options, name, Path(scratch))
        for peer in PEERS:
            figures[f"{name}, {peer}"] = _peer(options, name, peer)
        best = max(figures[f"{name}, {peer}"]["mrr"] for peer in PEERS)
        figures[f"{name}, ontodex"][SHARE] = figures[f"{name}, ontodex"]["mrr"] / best
    return [
        Measured(
            name="small-graphs",
            title="Link prediction on small graphs, beside PyKEEN",
            seed=options.seed,
            settings={"epochs of PyKEEN, at most": options.epochs, "peers": PEERS},
            figures=figures,
            goals={f"{name}, ontodex · {SHARE}": Goal(at_least=1.0) for name in options.graph or GRAPHS},
            notes=[
                "The graphs and their splits are those of PyKEEN's wheel; entities are called what they are called there: "
                "“person100”, “term6” in Kinships, which say nothing. Filtered ranks of both directions, mean rank of ties.",
                "ontodex: ontodex.build with default settings; its texts are the names. In its answers an entity is no "
                "candidate for itself, unless the graph links one to itself by the relation; with the peers' form it is.",
                "PyKEEN: its pipeline with the settings of the record, stopped when Hits@10 on validation have not risen "
                "for 10 looks, one every 10 epochs. Its settings were not searched.",
            ],
        )
    ]


def _ours(options: argparse.Namespace, name: str, folder: Path) -> dict[str, float]:
    for part, triples in _labelled(get_dataset(dataset=name)).items():
        np.savetxt(folder / f"{part}.txt", triples, fmt="%s", delimiter="\t", encoding="utf-8")
    graph = ontodex.read(folder)
    start = time.perf_counter()
    with ontodex.build(
        graph,
        folder / "index.odx",
        training=ontodex.HyperCLTraining(seed=options.seed, **({"steps": 20} if options.quick else {})),
        hierarchy=False,
        entailment=False,
        quiet=True,
    ) as engine:
        took = time.perf_counter() - start
        projector = Projector(engine.index)
        vectors, better = engine.index.vectors(projector.space), [projector.adjust]
        as_peers, as_answers = (
            evaluate_links(graph, vectors, projector.ask, adjust=better, itself=itself) for itself in (True, False)
        )
    return {**{key: as_peers[key] for key in KEPT}, "mrr as in its answers": as_answers["mrr"], "seconds": took}


def _labelled(dataset: Dataset) -> dict[str, Any]:
    """Return the triples of each split, as names."""
    found = {"train": dataset.training, "valid": dataset.validation, "test": dataset.testing}
    return {part: dataset.training.label_triples(factory.mapped_triples) for part, factory in found.items()}


def _peer(options: argparse.Namespace, name: str, peer: str) -> dict[str, float]:
    start = time.perf_counter()
    result = pipeline(
        dataset=name,
        **PEERS[peer],
        training_kwargs={"num_epochs": 2 if options.quick else options.epochs, "batch_size": 128, "use_tqdm": False},
        stopper="early",
        stopper_kwargs={"frequency": 10, "patience": 10, "relative_delta": 0.002},
        evaluator_kwargs={"filtered": True},
        evaluation_kwargs={"use_tqdm": False},
        random_seed=options.seed,
        device="cpu",
    )
    metrics = {"mrr": "inverse_harmonic_mean_rank", "hits@1": "hits_at_1", "hits@10": "hits_at_10"}
    found = {
        key: float(result.metric_results.get_metric(f"both.realistic.{theirs}")) for key, theirs in metrics.items()
    }
    return {**found, "seconds": time.perf_counter() - start}
