"""What Self-StrAE costs: a training step against a direct reading of the public code, and encoding against MiniLM."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import torch

from benchmarks.public_trees import PublicTrees
from benchmarks.record import Goal, Measured, expect_data
from benchmarks.rounds import in_turn
from ontodex.encoders.forest import compose, decompose, grow, planes
from ontodex.encoders.locate import DEFAULT_ENCODER
from ontodex.encoders.self_strae import SelfStrAE
from ontodex.encoders.text import TextEncoder
from ontodex.graph import read_corpus, read_sts
from ontodex.trainers.run import keep_freed_memory
from ontodex.trainers.sentence_batches import SentenceBatch, SentenceBatches, TokenisedSentences, train_tokenizer
from ontodex.trainers.token_counts import counted_vectors
from ontodex.trainers.tree_objectives import TreeModel

__all__ = ["add_options", "run"]

CHANNELS, SIZE = 128, 2
PUBLIC = "public, all nodes contrasted, ms"
PUBLIC_TREES = "public, trees alone, ms"
TEXTS = 2000


NOTES = [
    "Ratios are medians over rounds of time / the first row's time, all taken in turn. The public code is read directly "
    "(benchmarks/public_trees.py): all cosines at every merge, gradients through every merge, every node contrasted with "
    "every other in one matrix. Ours, context, is what ontodex train self-strae does by default.",
    "The batch is one of median length. Encoding: the sentences of STS-B, one process, tokenising included.",
]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    parser.add_argument("--rounds", type=int, default=5, help="rounds, all in turn in each (default %(default)s)")
    parser.add_argument("--batch", type=int, default=512, help="sentences of a batch (default %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="default %(default)s")


def run(options: argparse.Namespace) -> list[Measured]:
    """Measure, and return what came out."""
    expect_data(options, "sts-cost")
    torch.set_num_threads(options.threads)
    if options.quick:
        options.rounds, options.batch = 1, 64
    keep_freed_memory()
    texts = read_corpus(options.data / "corpus" / "english-9m-words.txt.gz")[:50_000]
    tokenizer = train_tokenizer(texts)
    sentences = TokenisedSentences.of(texts, tokenizer, 200)
    batch = _typical(SentenceBatches(sentences, epochs=1, batch=options.batch, seed=options.seed))
    shares = sentences.shares(tokenizer.get_vocab_size())
    counted = counted_vectors(sentences, tokenizer.get_vocab_size(), CHANNELS * SIZE, options.seed)
    torch.manual_seed(options.seed)
    public = PublicTrees(tokenizer.get_vocab_size(), CHANNELS, SIZE)

    def step(nodes: int, objective: str) -> Any:
        encoder = SelfStrAE(tokenizer, CHANNELS, SIZE)
        model = TreeModel(encoder, torch.from_numpy(shares).float(), objective=objective, counted=counted, nodes=nodes)
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0, fused=True)

        def take() -> None:
            model(batch)["loss"].backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()

        return take

    whole = {
        PUBLIC: lambda: public.step(batch.tokens, batch.lengths),
        "ours, context": step(2048, "context"),
        "ours, contrastive of 2,048 nodes": step(2048, "contrastive"),
        "ours, contrastive of all nodes": step(0, "contrastive"),
    }
    trees = {
        PUBLIC_TREES: lambda: public.step(batch.tokens, batch.lengths, loss=False),
        "ours, trees alone": _trees_alone(tokenizer, batch),
    }
    figures: dict[str, Any] = {
        "training step": in_turn(whole, PUBLIC, options.rounds),
        "trees, up and down, with gradients": in_turn(trees, PUBLIC_TREES, options.rounds),
        "encoding": _encoding(tokenizer, options),
    }
    step_ms = figures["training step"]["ours, context, ms"]
    figures["training step"]["ours, context, sentences a second"] = 1000 * len(batch.lengths) / step_ms
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
            },
            notes=NOTES,
        )
    ]


def _typical(batches: SentenceBatches) -> SentenceBatch:
    """Return the batch with the median number of tokens."""
    some = [batches[number] for number in range(min(60, batches.per_epoch))]
    return sorted(some, key=lambda batch: len(batch.tokens))[len(some) // 2]


def _trees_alone(tokenizer: Any, batch: SentenceBatch) -> Any:
    """Return what finds trees, and computes their nodes up and down, forwards and backwards."""
    table = torch.nn.Embedding(tokenizer.get_vocab_size(), CHANNELS * SIZE)
    up, down = torch.nn.Linear(2 * SIZE, SIZE), torch.nn.Linear(SIZE, 2 * SIZE)
    tokens, lengths = torch.from_numpy(batch.tokens), torch.from_numpy(batch.lengths)
    optimiser = torch.optim.AdamW([*table.parameters(), *up.parameters(), *down.parameters()], lr=1e-3, fused=True)

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
            {peer: lambda: theirs.encode(texts), "ours": lambda: ours.encode(texts)}, peer, options.rounds
        )
    figures["ours, sentences a second"] = 1000 * len(texts) / figures["ours, ms"]
    figures["all-MiniLM-L6-v2, sentences a second"] = 1000 * len(texts) / figures[peer]
    return figures
