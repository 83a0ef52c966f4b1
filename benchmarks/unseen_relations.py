"""Link prediction by relations without training triples.

Projections are learnt from the other relations.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import ontodex
from benchmarks.record import Measured, expect_data
from benchmarks.zero_shot import KEPT, asking_together
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.link_architectures import query_function
from ontodex.encoders.text import TextEncoder
from ontodex.engine.ranking import evaluate_links
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph, entity_texts, relation_texts
from ontodex.graph.subgraph import with_triples
from ontodex.scoring.graph_features import QueryFunction
from ontodex.trainers.data.conditional_pairs import TOO_COMMON
from ontodex.trainers.links.hyper_cl import train_hyper_cl
from ontodex.trainers.links.settings import HyperCLTraining

__all__ = ["add_options", "left_out", "run"]

SHARE = 0.15
"""Share of the relations that are left out of training."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument(
        "--draws",
        type=int,
        default=3,
        help="draws of relations, with seeds from --seed on (default 3)",
    )
    parser.add_argument(
        "--questions",
        type=int,
        default=3000,
        help="triples to rank per draw (default %(default)s)",
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    expect_data(options, "unseen-relations")
    if options.quick:
        options.draws, options.questions = 1, 50
    graph = dataclasses.replace(ontodex.read(options.data / "fb15k-237"), source="fb15k-237")
    text = TextEncoder.load()
    names = entity_texts(graph, ontodex.TextSettings())
    embeddings = text.encode(names)
    found: dict[str, list[dict[str, float]]] = {}
    counts = []
    for seed in range(options.seed, options.seed + options.draws):
        known, asked = left_out(graph, options.questions, seed)
        counts.append(graph.n_triples - known.n_triples)
        print(f"{known!r}, seed {seed} …", file=sys.stderr)
        for way, ask in _ways(options, known, text, embeddings, names, seed):
            figures = evaluate_links(asked, Vectors([embeddings]), ask)
            found.setdefault(way, []).append({key: figures[key] for key in KEPT})
    figures = {
        way: {key: float(np.mean([one[key] for one in of])) for key in KEPT}
        for way, of in found.items()
    }
    for way, of in found.items():
        figures[way]["mrr, largest - smallest"] = float(np.ptp([one["mrr"] for one in of]))
    return [
        Measured(
            name="unseen-relations-fb15k-237",
            title="Link prediction by relations left out of training, FB15k-237",
            seed=options.seed,
            settings={
                "graph": repr(graph),
                "relations left out of each draw": max(1, int(SHARE * graph.n_relations)),
                "triples left out": counts,
                "triples asked": options.questions,
            },
            figures=figures,
            notes=[
                f"Mean of {options.draws} draws. Relations with more than a quarter of the "
                "triples are not drawn. Ranks of tails and heads, filtered by all triples; ties "
                "get their mean rank. Texts alone, without the links of entities.",
                "trained on the others: projections by the default training, which starts from "
                "the bundled network, with a frozen text encoder; the left-out relations are "
                "queried by name. plain encoder: encodes “head relation” as one text.",
            ],
        )
    ]


def left_out(
    graph: KnowledgeGraph, questions: int, seed: int
) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    """Split off the triples of some relations.

    Returns:
        The graph without the triples, and the full graph with some of them as test triples.
    """
    rng = np.random.default_rng((seed, 3))
    counts = np.bincount(graph.triples[:, 1], minlength=graph.n_relations)
    rare = rng.permutation(np.flatnonzero((counts > 0) & (counts <= TOO_COMMON * graph.n_triples)))
    gone = np.isin(graph.triples[:, 1], rare[: max(1, int(SHARE * graph.n_relations))])
    none = graph.triples[:0]
    known = with_triples(graph, graph.triples[~gone], none, none)
    asked = rng.permutation(graph.triples[gone])[:questions]
    everything = np.concatenate([graph.valid, graph.test])  # known triples, for the filter
    return known, with_triples(graph, graph.triples, everything, asked)


def _ways(
    options: argparse.Namespace,
    known: KnowledgeGraph,
    text: TextEncoder,
    embeddings: NDArray[np.float32],
    names: list[str],
    seed: int,
) -> Iterator[tuple[str, QueryFunction]]:
    vectors, relations = Vectors([embeddings]), relation_texts(known)
    yield "the text “head relation”, plain encoder", asking_together(known, text)
    box = HyperCL.in_the_box(text)
    if box is not None:
        yield (
            "the network in the box",
            query_function(box.bind(relations), vectors, names, relations),
        )
    settings = HyperCLTraining(seed=seed, steps=20 if options.quick else 0)
    with tempfile.TemporaryDirectory() as folder:
        made = train_hyper_cl(
            known,
            Path(folder) / "model",
            encoder=text,
            settings=settings,
            embeddings=embeddings,
            quiet=True,
        )
        yield (
            "trained on the others",
            query_function(made.bind(relations), vectors, names, relations),
        )
