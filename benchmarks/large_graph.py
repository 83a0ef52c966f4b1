"""A synthetic graph of many entities, from a file of triples to answers.

Measures the time of each stage, and memory.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ontodex
from benchmarks.encode import labels
from benchmarks.memory import in_process, peak_bytes
from benchmarks.record import Measured

__all__ = ["add_options", "run"]

GROUPS = 200
"""Groups of entities; the links of a relation go from a group to three groups."""

MOST_WORDS = 3
"""Most words in the name of an entity."""

SINGLE, BATCH = 50, 512
"""Queries asked one by one, and queries in one batch."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--entities", type=int, default=120_000, help="default %(default)s")
    parser.add_argument("--triples", type=int, default=1_500_000, help="default %(default)s")
    parser.add_argument("--relations", type=int, default=40, help="default %(default)s")


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    entities, triples = (2000, 10_000) if options.quick else (options.entities, options.triples)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "made.tsv"
        words = sorted({word for label in labels(None)[1] for word in label.split()})
        write_triples(source, words, entities, triples, options.relations, options.seed)
        size = source.stat().st_size
        built = in_process("benchmarks.large_graph", "build", folder)
        asked = in_process("benchmarks.large_graph", "ask", folder)
        disk = sum(
            file.stat().st_size for file in Path(folder, "made.odx").rglob("*") if file.is_file()
        )
    return [
        Measured(
            name=f"large-graph-{entities}",
            title=f"From a file to answers, {built['entities']:,} entities, "
            f"{built['triples']:,} triples",
            seed=options.seed,
            settings={"entities": entities, "triples": triples, "relations": options.relations},
            figures={
                **built,
                **asked,
                "size of the file, MB": size / 1e6,
                "size on disk, MB": disk / 1e6,
            },
            notes=[
                f"Names of one to {MOST_WORDS} words of the Human Phenotype Ontology. {GROUPS} "
                "groups of entities, each linked to some others; degrees have a long tail. The "
                "graph shows costs, not quality.",
                "ontodex.build with its defaults: projections and ComplEx are trained, weights "
                "fitted, and every text is encoded for links and for entailment. Stages as "
                "recorded in the index.",
                "Memory: peak resident set of a fresh process, including mapped files.",
                f"Questions: entity and relation of {BATCH} triples, known tails filtered, ten "
                f"answers. The first {SINGLE} are asked one by one (median), then all in one "
                "batch. The first question includes loading the encoder and the graph features.",
            ],
        )
    ]


def write_triples(
    file: Path, words: list[str], entities: int, triples: int, relations: int, seed: int
) -> None:
    """Write a table of triples; relations and entities of a group have long-tailed frequencies.

    Args:
        file: Path of the table.
        words: Words of the entity names.
        entities: Number of entities, at most the number of names of one to three words.
        triples: Number of triples that are drawn; duplicates are dropped.
        relations: Number of relations.
        seed: Random seed.
    """
    random = np.random.default_rng(seed)
    one_of = np.array(words)
    names: dict[str, None] = {}
    while len(names) < entities:
        names[" ".join(random.choice(one_of, int(random.integers(1, MOST_WORDS + 1))))] = None
    by_name = np.array([*names])
    group = random.integers(0, GROUPS, entities)
    order, starts = (
        np.argsort(group, kind="stable"),
        np.searchsorted(np.sort(group), np.arange(GROUPS + 1)),
    )
    shares = 1 / np.arange(1, relations + 1)
    kinds = random.choice(relations, triples, p=shares / shares.sum())
    of_heads = random.integers(0, GROUPS, triples)
    of_tails = (7 * of_heads + 13 * kinds + random.integers(0, 3, triples)) % GROUPS

    def members(groups: NDArray[np.int64]) -> NDArray[np.int64]:
        sizes = starts[groups + 1] - starts[groups]
        found: NDArray[np.int64] = order[
            starts[groups] + (sizes * random.random(triples) ** 3).astype(np.int64)
        ]
        return found

    rows = np.unique(np.stack([members(of_heads), kinds, members(of_tails)], axis=1), axis=0)
    with file.open("w", encoding="utf-8") as stream:
        for head, kind, tail in random.permutation(rows).tolist():
            stream.write(f"{by_name[head]}\trelation {kind}\t{by_name[tail]}\n")


def _build(folder: Path) -> dict[str, Any]:
    start = time.perf_counter()
    graph = ontodex.read(folder / "made.tsv")
    read = time.perf_counter() - start
    with ontodex.build(graph, folder / "made.odx") as engine:
        whole = time.perf_counter() - start
        seconds, structure = engine.index.manifest.seconds, engine.resources.graph_features
    return {
        "entities": graph.n_entities,
        "triples": graph.n_triples,
        "seconds": {"read": read, **seconds, "from the file to the index": whole},
        "peak memory of building, MB": peak_bytes() / 1e6,
        "links are learnt": structure is not None,
        "chances are fitted": structure is not None and structure.calibration is not None,
    }


def _ask(folder: Path) -> dict[str, Any]:
    start = time.perf_counter()
    with ontodex.open(folder / "made.odx") as engine:
        graph, opened = engine.graph, time.perf_counter() - start
        drawn = np.random.default_rng(0).choice(
            graph.n_triples, min(BATCH, graph.n_triples), replace=False
        )
        questions = [
            (graph.ids[head], graph.relation_ids[relation])
            for head, relation in graph.triples[np.sort(drawn), :2].tolist()
        ]
        took = []
        for question in questions[:SINGLE]:
            start = time.perf_counter()
            engine.tails(*question)
            took.append(time.perf_counter() - start)
        start = time.perf_counter()
        engine.tails_batch(questions)
        batch = time.perf_counter() - start
    return {
        "opening, ms": 1e3 * opened,
        "first question, ms": 1e3 * took[0],
        "question, ms": 1e3 * float(np.median(took[1:])),
        "question in a batch, ms": 1e3 * batch / len(questions),
        "peak memory of asking, MB": peak_bytes() / 1e6,
    }


if __name__ == "__main__":
    print(json.dumps({"build": _build, "ask": _ask}[sys.argv[1]](Path(sys.argv[2]))))
