"""Link prediction from texts alone: every architecture at one budget (Hyper-CL, table 2)."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import ontodex
from benchmarks.kgc import GRAPHS
from benchmarks.link_ablation import CANDIDATE, NOT_LINKED, REVERSED, both_protocols, strata
from benchmarks.record import Measured, expect_data
from ontodex.encoders.link_architectures import query_function
from ontodex.encoders.text import TextEncoder
from ontodex.engine.ranking import link_ranks
from ontodex.geometry.vectors import Vectors
from ontodex.graph import entity_texts, relation_texts
from ontodex.scoring.graph_features import QueryFunction
from ontodex.trainers.links.hyper_cl import train_hyper_cl

__all__ = ["add_options", "run"]

_PAPER, _SHIFTED = {"projection": "paper"}, {"projection": "paper", "shift": True}
_RESIDUAL = {"projection": "residual", "shift": False}
ROWS: dict[str, dict[str, Any]] = {
    "hadamard": {"architecture": "hadamard", **_PAPER},
    "hadamard + shift": {"architecture": "hadamard", **_SHIFTED},
    "hadamard, residual": {"architecture": "hadamard", **_RESIDUAL},
    "hadamard + shift, residual": {"architecture": "hadamard"},
    "concat": {"architecture": "concat", **_PAPER},
    "concat, dropout .1": {"architecture": "concat", **_PAPER, "dropout": 0.1},
    "concat, residual": {"architecture": "concat"},
    "hyper, low rank": _PAPER,
    "hyper, low rank + shift": _SHIFTED,
    "hyper, low rank, residual": _RESIDUAL,
    "hyper, low rank + shift, residual": {},
    "hyper, full rank": {"rank": 0, **_PAPER},
    "hyper, full rank + shift": {"rank": 0, **_SHIFTED},
    "hyper, full rank, residual": {"rank": 0, **_RESIDUAL},
    "hyper, full rank + shift, residual": {"rank": 0},
    "bi-encoder": {"architecture": "bi-encoder"},
}
"""Settings of each row of the table. Without a word, a row is the paper's: the score is
cos(W_r h, t). ``residual`` has cos(h + W_r h, t); ``+ shift`` adds a linear map of the relation,
which a concatenation has in any case."""

PAPER = {
    "wn18rr": "MRR on WN18RR in the paper (fine-tuned BERT-base, 110 M parameters): Hadamard .164, "
    "concat .335, low rank .548, full rank .616, bi-encoder .666.",
    "fb15k-237": "MRR on FB15k-237 in the paper (fine-tuned BERT-base, 110 M parameters): Hadamard "
    ".153, concat .271, low rank .305, full rank .318, bi-encoder .336.",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--graph", choices=list(GRAPHS), action="append", help="default: both")
    parser.add_argument(
        "--tune", choices=("frozen", "full"), default="frozen", help="default %(default)s"
    )
    parser.add_argument(
        "--row", choices=list(ROWS), action="append", help="default: all that --tune allows"
    )
    parser.add_argument(
        "--steps", type=int, default=600, help="batches of each row (default %(default)s)"
    )
    parser.add_argument(
        "--entities",
        type=int,
        default=512,
        help="entities per batch, with --tune full (default %(default)s)",
    )
    parser.add_argument(
        "--neighbours", type=int, default=0, help="linked entities named in a text (default none)"
    )
    parser.add_argument("--keep", type=Path, help="folder to keep the trained encoders in")


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    expect_data(options, "architectures")
    return [_measured(options, name) for name in options.graph or list(GRAPHS)]


def _measured(options: argparse.Namespace, name: str) -> Measured:
    graph = dataclasses.replace(ontodex.read(options.data / name), source=name)
    texts = ontodex.TextSettings(neighbours=options.neighbours)
    rows = options.row or [row for row in ROWS if options.tune == "full" or row != "bi-encoder"]
    names, text = entity_texts(graph, texts), TextEncoder.load()
    embeddings = text.encode(names)
    figures: dict[str, Any] = {}
    for row in rows:
        print(f"{graph!r}: {row} …", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            kept = (
                Path(folder)
                if options.keep is None
                else options.keep / f"{name} {row}".replace(",", "").replace(" ", "-")
            )
            start = time.perf_counter()
            made = train_hyper_cl(
                graph,
                kept,
                encoder=text,
                settings=_training(options, row),
                texts=texts,
                embeddings=embeddings,
                quiet=True,
            )
            took = time.perf_counter() - start
            encoded = embeddings if options.tune == "frozen" else made.text.encode(names)
            vectors = Vectors([made.entities(encoded)])
            relations = relation_texts(graph)
            ask = query_function(made.bind(relations), vectors, names, relations)
            figures[row] = _ranked(graph, vectors, ask, text.device)
            figures[row]["seconds of training"] = took
            print(f"{row}: {figures[row]}", file=sys.stderr)
    form = options.tune + (f"-neighbours-{options.neighbours}" if options.neighbours else "")
    return Measured(
        name=f"architectures-{name}-{form}",
        title=f"Architectures on {GRAPHS[name]}, texts alone, {options.tune} text encoder"
        + (f", {options.neighbours} neighbours named" if options.neighbours else ""),
        seed=options.seed,
        settings={
            "graph": repr(graph),
            "training": dataclasses.asdict(_training(options, "hyper, low rank")),
            "texts": dataclasses.asdict(texts),
        },
        figures=figures,
        goals={},
        notes=[
            "Encoder: all-MiniLM-L6-v2 (23 M parameters). Every row was trained on "
            + (
                f"the same {options.steps} batches of 1,024 queries, with a frozen text encoder."
                if options.tune == "frozen"
                else f"{options.steps} batches of {options.entities} entities together with its "
                "text encoder; tri-encoders first take 300 batches on fixed embeddings."
            ),
            "The initial entity embeddings are computed once for all rows; the seconds do not "
            "include them.",
            "Rows without a word are the paper's form: the score is cos(W_r h, t). “residual” has "
            "cos(h + W_r h, t); “+ shift” adds a linear map of the relation to W_r h, which a "
            "concatenation has in any case.",
            "Ranks of tails and heads, filtered by train, valid and test; ties get their mean "
            f"rank. “{CANDIDATE}” is the papers' protocol. Without these words: the query entity "
            "is no candidate, unless train has a triple that links an entity to itself by the "
            "relation.",
            PAPER[name],
        ],
    )


def _training(options: argparse.Namespace, row: str) -> ontodex.HyperCLTraining:
    steps, start = (20, 20) if options.quick else (options.steps, 300)
    return ontodex.HyperCLTraining(
        **ROWS[row],
        tune=options.tune,
        steps=steps,
        start=start,
        entities=options.entities,
        pretrained=False,  # the other architectures have no pretrained network
        seed=options.seed,
    )


def _ranked(
    graph: ontodex.KnowledgeGraph, vectors: Vectors, query: QueryFunction, device: str
) -> dict[str, float]:
    """Return test metrics in both protocols, the papers' first, and the MRR of two strata."""
    figures, ranks = both_protocols(partial(link_ranks, graph, vectors, query, device=device))
    for name, stratum in strata(graph, ranks).items():
        if name in (NOT_LINKED, REVERSED):
            figures[f"mrr, {name}"] = stratum["mrr"]
    return figures
