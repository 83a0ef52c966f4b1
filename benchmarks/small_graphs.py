"""Link prediction on the small graphs that PyKEEN's wheel carries, side by side with PyKEEN."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pykeen.datasets import get_dataset
from pykeen.datasets.base import Dataset
from pykeen.models import Model
from pykeen.pipeline import pipeline

import ontodex
from benchmarks.record import Goal, Measured
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.ranking import evaluate_links, rank_metrics

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
        "optimizer": "Adam",
        "optimizer_kwargs": {"lr": 0.01},
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
    parser.add_argument(
        "--epochs", type=int, default=200, help="of PyKEEN, stopped early (default %(default)s)"
    )


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
            goals={
                f"{name}, ontodex · {SHARE}": Goal(at_least=1.0) for name in options.graph or GRAPHS
            },
            notes=[
                "The graphs and their splits are those of PyKEEN's wheel; entities are called what they are called there: "
                "“person100”, “term6” in Kinships, which say nothing. Filtered ranks of both directions, mean rank of ties.",
                "In all rows the entity that is asked about is no candidate, unless the graph links one to itself by the "
                "relation: so ontodex answers, and its weights are fitted to that. With it as a candidate, which is "
                "PyKEEN's own figure and the form of papers, ontodex has nothing that rules it out.",
                "ontodex: ontodex.build with default settings; its texts are the names.",
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
        training=ontodex.HyperCLTraining(
            seed=options.seed, **({"steps": 20} if options.quick else {})
        ),
        hierarchy=False,
        entailment=False,
        quiet=True,
    ) as engine:
        took = time.perf_counter() - start
        link_queries = LinkQueries(engine.resources)
        vectors, better = engine.index.vectors(link_queries.space), [link_queries.add_offsets]
        found, as_papers = (
            evaluate_links(graph, vectors, link_queries.of_rows, adjust=better, itself=itself)
            for itself in (False, True)
        )
    return {**{key: found[key] for key in KEPT}, **_in_form(as_papers), "seconds": took}


def _labelled(dataset: Dataset) -> dict[str, Any]:
    """Return the triples of each split, as names."""
    found = {"train": dataset.training, "valid": dataset.validation, "test": dataset.testing}
    return {
        part: dataset.training.label_triples(factory.mapped_triples)
        for part, factory in found.items()
    }


def _peer(options: argparse.Namespace, name: str, peer: str) -> dict[str, float]:
    start = time.perf_counter()
    result = pipeline(
        dataset=name,
        **PEERS[peer],
        training_kwargs={
            "num_epochs": 2 if options.quick else options.epochs,
            "batch_size": 128,
            "use_tqdm": False,
        },
        stopper="early",
        stopper_kwargs={"frequency": 10, "patience": 10, "relative_delta": 0.002},
        evaluator_kwargs={"filtered": True},
        evaluation_kwargs={"use_tqdm": False},
        random_seed=options.seed,
        device="cpu",
    )
    names = {"mrr": "inverse_harmonic_mean_rank", "hits@1": "hits_at_1", "hits@10": "hits_at_10"}
    own = {
        key: float(result.metric_results.get_metric(f"both.realistic.{theirs}"))
        for key, theirs in names.items()
    }
    took = time.perf_counter() - start
    return {
        **_without_asked(result.model, get_dataset(dataset=name)),
        **_in_form(own),
        "seconds": took,
    }


def _without_asked(model: Model, dataset: Dataset) -> dict[str, float]:
    """Rank as ontodex answers: other true answers left out, and the entity that is asked about."""
    true = torch.cat(
        [part.mapped_triples for part in (dataset.training, dataset.validation, dataset.testing)]
    )
    asked, ranks = dataset.testing.mapped_triples, []
    known = dataset.training.mapped_triples
    reflexive = known[known[:, 0] == known[:, 2], 1].unique()
    for given, wanted, scored in (
        (0, 2, model.predict_t(asked[:, [0, 1]])),
        (2, 0, model.predict_h(asked[:, [1, 2]])),
    ):
        for triple, row in zip(asked, scored.detach(), strict=True):
            scores, score = row.clone(), row[triple[wanted]]
            same = (true[:, given] == triple[given]) & (true[:, 1] == triple[1])
            scores[true[same, wanted]] = -torch.inf
            if triple[1] not in reflexive:
                scores[triple[given]] = -torch.inf
            ranks.append(1 + int((scores > score).sum()) + int((scores == score).sum()) / 2)
    return {key: value for key, value in rank_metrics(np.array(ranks)).items() if key in KEPT}


def _in_form(metrics: dict[str, float]) -> dict[str, float]:
    return {f"{key}, the asked entity a candidate": metrics[key] for key in KEPT}
