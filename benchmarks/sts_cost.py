"""Cost of Self-StrAE: a training step against the public algorithm, its memory, and encoding."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.memory import in_process, peak_bytes
from benchmarks.public_trees import PublicTrees
from benchmarks.record import Goal, Measured, expect_data
from benchmarks.rounds import in_turn
from ontodex.encoders.forest import compose, decompose, grow, planes
from ontodex.encoders.locate import DEFAULT_ENCODER
from ontodex.encoders.self_strae import SelfStrAE
from ontodex.encoders.text import TextEncoder
from ontodex.trainers.data.corpus import read_corpus
from ontodex.trainers.data.sts import read_sts
from ontodex.trainers.run import keep_freed_memory
from ontodex.trainers.trees.batches import (
    SentenceBatch,
    SentenceBatches,
    TokenisedSentences,
    train_tokenizer,
)
from ontodex.trainers.trees.objectives import OBJECTIVES, TreeModel
from ontodex.trainers.trees.settings import SelfStrAETraining
from ontodex.trainers.trees.token_counts import counted_vectors

__all__ = ["add_options", "run"]

CHANNELS, SIZE = 128, 2
PUBLIC = "public, all nodes contrasted, ms"
PUBLIC_TREES = "public, trees alone, ms"
TEXTS = 2000
NODES = SelfStrAETraining().nodes
"""Nodes of a batch that are compared by default."""


NOTES = [
    "Ratios are medians over rounds of time / the time of the first row, all calls in turn. The "
    "public algorithm is in benchmarks/public_trees.py: all cosines at every merge, gradients "
    "through every merge, every node contrasted with every other in one matrix. Ours, context, "
    "is the default of ontodex train self-strae.",
    "The batch has the median length. Encoding: the sentences of STS-B, one process, tokenising "
    "included.",
    "Memory: peak of a separate process that takes a step on the batch with the most tokens. "
    "Before the step the process has imported, tokenised and counted 50,000 sentences.",
]
MEMORY = "peak of any objective as trained, GB"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument(
        "--rounds", type=int, default=5, help="rounds of all calls in turn (default %(default)s)"
    )
    parser.add_argument(
        "--batch", type=int, default=512, help="sentences of a batch (default %(default)s)"
    )
    parser.add_argument("--threads", type=int, default=1, help="default %(default)s")


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    expect_data(options, "sts-cost")
    torch.set_num_threads(options.threads)
    if options.quick:
        options.rounds, options.batch = 1, 64
    keep_freed_memory()
    tokenizer, sentences, batches = _sentences(options)
    batch = batches[len(batches) // 2]
    torch.manual_seed(options.seed)
    public = PublicTrees(tokenizer.get_vocab_size(), CHANNELS, SIZE)
    step = _stepper(tokenizer, sentences, options.seed)
    whole = {
        PUBLIC: lambda: public.step(batch.tokens, batch.lengths),
        "ours, context": step(batch, "context", NODES),
        "ours, contrastive of 2,048 nodes": step(batch, "contrastive", NODES),
        "ours, contrastive of all nodes": step(batch, "contrastive", 0),
    }
    trees = {
        PUBLIC_TREES: lambda: public.step(batch.tokens, batch.lengths, loss=False),
        "ours, trees alone": _trees_alone(tokenizer, batch),
    }
    figures: dict[str, Any] = {
        "training step": in_turn(whole, PUBLIC, options.rounds),
        "trees, up and down, with gradients": in_turn(trees, PUBLIC_TREES, options.rounds),
        "encoding": _encoding(tokenizer, options),
        "memory": _memory(options),
    }
    step_ms = figures["training step"]["ours, context, ms"]
    figures["training step"]["ours, context, sentences a second"] = (
        1000 * len(batch.lengths) / step_ms
    )
    figures["training step"]["public, sentences a second"] = (
        1000 * len(batch.lengths) / figures["training step"][PUBLIC]
    )
    return [
        Measured(
            name="sts-cost",
            title=f"Self-StrAE: cost of a step and of encoding, {options.threads} thread(s)",
            seed=options.seed,
            settings={
                "batch": len(batch.lengths),
                "tokens": len(batch.tokens),
                "channels": CHANNELS,
                "size": SIZE,
                "rounds": options.rounds,
                "texts": TEXTS,
            },
            figures=figures,
            goals={
                "training step · ours, context, ratio": Goal(at_most=0.1),
                "encoding · ours, ratio": Goal(at_most=0.05),
                f"memory · {MEMORY}": Goal(at_most=4.0),
            },
            notes=NOTES,
        )
    ]


def _sentences(options: argparse.Namespace) -> tuple[Any, TokenisedSentences, list[SentenceBatch]]:
    """Return a tokenizer, sentences, and some of their batches, those of few tokens first."""
    texts = read_corpus(options.data / "corpus" / "english-9m-words.txt.gz")[:50_000]
    tokenizer = train_tokenizer(texts)
    sentences = TokenisedSentences.of(texts, tokenizer, 200)
    batches = SentenceBatches(sentences, epochs=1, batch=options.batch, seed=options.seed)
    some = [batches[number] for number in range(min(60, batches.per_epoch))]
    return tokenizer, sentences, sorted(some, key=lambda batch: len(batch.tokens))


def _stepper(
    tokenizer: Any, sentences: TokenisedSentences, seed: int
) -> Callable[[SentenceBatch, str, int], Callable[[], None]]:
    """Return a function from (batch, objective, nodes) to a function that takes a training step."""
    vocabulary = tokenizer.get_vocab_size()
    shares = torch.from_numpy(sentences.shares(vocabulary)).float()
    counted = counted_vectors(sentences, vocabulary, CHANNELS * SIZE, seed)

    def step(batch: SentenceBatch, objective: str, nodes: int) -> Callable[[], None]:
        encoder = SelfStrAE(tokenizer, CHANNELS, SIZE)
        model = TreeModel(encoder, shares, objective=objective, counted=counted, nodes=nodes)
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0, fused=True)

        def take() -> None:
            model(batch)["loss"].backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()

        return take

    return step


def _memory(options: argparse.Namespace) -> dict[str, float]:
    """Return the peak memory of a process by objective, in gigabytes."""
    found: dict[str, float] = {}
    asked = [(name, NODES) for name in OBJECTIVES] + [("contrastive", 0)]
    for objective, nodes in asked:
        name = f"{objective} of {f'{nodes:,}' if nodes else 'all'} nodes"
        print(f"memory: {name} …", file=sys.stderr)
        told = [
            *("--data", str(options.data)),
            *("--batch", str(options.batch)),
            *("--seed", str(options.seed)),
        ]
        peaks = in_process(
            "benchmarks.sts_cost", *told, *("--objective", objective), *("--nodes", str(nodes))
        )
        found.update({"before the step, GB": peaks["before"], f"{name}, GB": peaks["peak"]})
    found[MEMORY] = max(found[f"{name} of {NODES:,} nodes, GB"] for name in OBJECTIVES)
    return found


def _peaks(options: argparse.Namespace) -> dict[str, float]:
    """Step on the batch with the most tokens; return gigabytes before the step and at the peak."""
    keep_freed_memory()
    tokenizer, sentences, batches = _sentences(options)
    take = _stepper(tokenizer, sentences, options.seed)(
        batches[-1], options.objective, options.nodes
    )
    before = peak_bytes()
    take()
    return {"before": before / 1e9, "peak": peak_bytes() / 1e9}


def _trees_alone(tokenizer: Any, batch: SentenceBatch) -> Any:
    """Return a function that computes trees and their nodes, up and down, with gradients."""
    table = torch.nn.Embedding(tokenizer.get_vocab_size(), CHANNELS * SIZE)
    up, down = torch.nn.Linear(2 * SIZE, SIZE), torch.nn.Linear(SIZE, 2 * SIZE)
    tokens, lengths = torch.from_numpy(batch.tokens), torch.from_numpy(batch.lengths)
    optimiser = torch.optim.AdamW(
        [*table.parameters(), *up.parameters(), *down.parameters()], lr=1e-3, fused=True
    )

    def take() -> None:
        leaves = planes(table(tokens), SIZE)
        forest, _ = grow(leaves, lengths, up.weight, up.bias)
        nodes = compose(leaves, up.weight, up.bias, forest)
        found = decompose(nodes.index_select(1, forest.roots), down.weight, down.bias, forest)
        ((nodes.sum() + found.sum()) / len(forest.places)).backward()
        optimiser.step()
        optimiser.zero_grad()

    return take


def _encoding(tokenizer: Any, options: argparse.Namespace) -> dict[str, float]:
    pairs = read_sts(options.data / "sts" / "stsb_test.tsv")
    texts = list(dict.fromkeys([*pairs.ones, *pairs.others]))[: 200 if options.quick else TEXTS]
    encoder = SelfStrAE(tokenizer, CHANNELS, SIZE)
    torch.nn.init.normal_(encoder.table)
    torch.nn.init.normal_(encoder.network.weight)
    with tempfile.TemporaryDirectory() as scratch:
        encoder.write(Path(scratch))
        ours, theirs = TextEncoder(Path(scratch)), TextEncoder.load(DEFAULT_ENCODER)
        peer = "all-MiniLM-L6-v2, ms"
        figures = in_turn(
            {peer: lambda: theirs.encode(texts), "ours": lambda: ours.encode(texts)},
            peer,
            options.rounds,
        )
    figures["ours, sentences a second"] = 1000 * len(texts) / figures["ours, ms"]
    figures["all-MiniLM-L6-v2, sentences a second"] = 1000 * len(texts) / figures[peer]
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--objective", choices=OBJECTIVES, required=True)
    parser.add_argument("--nodes", type=int, required=True)
    add_options(parser)
    print(json.dumps(_peaks(parser.parse_args())))
