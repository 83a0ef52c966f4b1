"""Running times of the Hyper-CL paper on WN18RR: encoder calls, hit rates, time, cache sizes."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import ontodex
from benchmarks.clock import clock_name
from benchmarks.clock import seconds as _seconds
from benchmarks.record import Goal, Measured, expect_data
from ontodex.encoders.bi_encoder import BiEncoder
from ontodex.encoders.compositions import make_network
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.hypernetwork import LinkNetworkSettings
from ontodex.encoders.text import TextEncoder
from ontodex.geometry.conditioned import compact
from ontodex.geometry.cosine import score_pairs
from ontodex.graph import TextSettings, entity_texts, relation_texts
from ontodex.storage.condition_cache import ConditionCache

__all__ = ["Counts", "add_options", "count", "paper_bytes", "run"]

PAPER_DIM = 768
KEY_BYTES = 48
"""Bytes of a cache key, as the paper counts them."""

TRI = {
    "hadamard": ("hadamard", 0),
    "concat": ("concat", 0),
    "hyper, rank 64": ("hyper", 64),
    "hyper, full": ("hyper", 0),
}
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Counts:
    """Distinct elements of triples whose tails are the targets.

    Attributes:
        triples: Number of triples.
        pairs: Distinct (head, relation) pairs, which a bi-encoder encodes as one text.
        tails: Distinct tails.
        entities: Distinct heads and tails.
        relations: Distinct relations.
    """

    triples: int
    pairs: int
    tails: int
    entities: int
    relations: int

    @property
    def bi_calls(self) -> int:
        """Texts that a bi-encoder with a cache encodes: pairs, and tails by its second encoder."""
        return self.pairs + self.tails

    @property
    def tri_calls(self) -> int:
        """Texts that a tri-encoder with a cache encodes: entities and relations."""
        return self.entities + self.relations

    @property
    def bi_hit_rate(self) -> float:
        """Share of cache hits of a bi-encoder: two requests a triple, from an empty cache."""
        return 1 - self.bi_calls / (2 * self.triples)

    @property
    def tri_hit_rate(self) -> float:
        """Share of cache hits of a tri-encoder: three requests a triple, from an empty cache."""
        return 1 - self.tri_calls / (3 * self.triples)


def count(triples: Rows) -> Counts:
    """Count the distinct elements of triples of shape (triples, 3).

    Example:
        >>> found = count(np.array([[0, 0, 1], [0, 0, 2], [1, 0, 2]]))
        >>> found.bi_calls, found.tri_calls, round(found.tri_hit_rate, 3)
        (4, 4, 0.556)
    """
    return Counts(
        len(triples),
        len(np.unique(triples[:, :2], axis=0)),
        len(np.unique(triples[:, 2])),
        len(np.unique(triples[:, [0, 2]])),
        len(np.unique(triples[:, 1])),
    )


def paper_bytes(calls: int, dim: int, projections: int = 0) -> int:
    """Return the size of a cache as the paper counts it, in bytes.

    The cache holds float32 vectors with their keys, and full (dim, dim) float32 projections.

    >>> [round(paper_bytes(calls, 768) / 2**20, 2) for calls in (99_241, 40_954)]
    [295.29, 121.86]
    >>> round(paper_bytes(40_954, 768, 11) / 2**20, 2)
    146.61
    """
    return calls * (4 * dim + KEY_BYTES) + projections * 4 * dim * dim


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument(
        "--texts",
        type=int,
        default=0,
        help="texts of each kind to encode, drawn by seed; 0 for all (default %(default)s)",
    )
    parser.add_argument(
        "--triples",
        type=int,
        default=300,
        help="triples of the runs at batch 1; 0 for all (default %(default)s)",
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    expect_data(options, "caching")
    if options.quick:
        options.texts, options.triples = 64, 20
    graph = ontodex.read(options.data / "wn18rr")
    known = np.stack([graph.heads, graph.relations, graph.tails], axis=1)
    triples = np.concatenate([known, graph.valid, graph.test]).astype(np.int64)
    return [_measured(options, _Texts(graph), triples)]


class _Texts:
    """Texts of entities and relations, the input of the encoders."""

    def __init__(self, graph: ontodex.KnowledgeGraph) -> None:
        self.entities = entity_texts(graph, TextSettings())
        self.relations = relation_texts(graph)[: graph.n_relations]

    def query(self, head: int, relation: int) -> tuple[str, str]:
        return self.entities[head], self.relations[relation]


def _measured(options: argparse.Namespace, texts: _Texts, triples: Rows) -> Measured:
    torch.manual_seed(options.seed)
    text = TextEncoder.load()
    bi = BiEncoder(text)
    tri = {
        name: HyperCL(
            text, make_network(LinkNetworkSettings(text.dim, rank=rank, architecture=architecture))
        )
        for name, (architecture, rank) in TRI.items()
    }
    counts = count(triples)
    rng = np.random.default_rng((options.seed, 5))
    chosen = (
        triples
        if not options.triples
        else triples[rng.permutation(len(triples))[: options.triples]]
    )
    _say("batch 1 …")
    one = _one_by_one(text, bi, tri, texts, chosen)
    _say("batched …")
    many = _batched(options, text, bi, tri, texts, triples, rng)
    figures: dict[str, Any] = {
        "triples": counts.triples,
        "hit rate from an empty cache, bi-encoder": counts.bi_hit_rate,
        "hit rate from an empty cache, tri-encoders": counts.tri_hit_rate,
        "encoder calls, bi-encoder": counts.bi_calls,
        "encoder calls, tri-encoders": counts.tri_calls,
        "encoder calls saved by tri-encoders": 1 - counts.tri_calls / counts.bi_calls,
    }
    figures["batch 1"] = _totals(one, counts) | _questions(one)
    figures["batched, each text once"] = _totals(many, counts) | _questions(many)
    figures.update(_sizes(text.dim, tri, counts, texts))
    hyper = "bi-encoder / hyper, rank 64, a new question"
    return Measured(
        name="caching",
        title="Running time and caches on all of WN18RR, as in the Hyper-CL paper",
        seed=options.seed,
        settings={
            "encoder": "all-MiniLM-L6-v2",
            "texts encoded of each kind": options.texts or "all",
            "triples at batch 1": len(chosen),
            "threads": torch.get_num_threads(),
            "device": text.device,
            "clock": clock_name(),
        },
        figures=figures,
        goals={
            "hit rate from an empty cache, bi-encoder": Goal(0.46655, 0.46645),
            "hit rate from an empty cache, tri-encoders": Goal(0.85325, 0.85315),
            f"batch 1 · {hyper}": Goal(at_least=108),
            f"batched, each text once · {hyper}": Goal(at_least=108),
            "bytes of a condition, share of the paper's · low rank": Goal(at_most=0.25),
            "bytes of a condition, share of the paper's · full rank": Goal(at_most=0.25),
        },
        notes=_notes(options, len(chosen)),
    )


def _one_by_one(
    text: TextEncoder, bi: BiEncoder, tri: Mapping[str, HyperCL], texts: _Texts, triples: Rows
) -> dict[str, float]:
    """Return seconds at batch 1: encoding a text of each kind; composing and scoring a triple."""
    text.encode(["warm"])
    queries = [texts.query(head, relation) for head, relation, _ in triples.tolist()]
    tails = [texts.entities[tail] for tail in triples[:, 2].tolist()]
    known = (
        text.encode([texts.entities[head] for head in triples[:, 0].tolist()]),
        text.encode(tails),
    )
    found = {
        "query": _median(lambda one: bi.queries([one]), queries),
        "entity": _median(lambda one: text.encode([one]), tails),
        "bi": _median(
            lambda at: score_pairs(known[0][at][None], known[1][at][None, None]),
            range(len(triples)),
        ),
    }
    for name, encoder in tri.items():
        made, numbers = encoder.projections(texts.relations), triples[:, 1].tolist()
        found[f"relation, {name}"] = _median(
            lambda one, e=encoder: e.projections([one]), texts.relations
        )

        def compose(at: int, made: Any = made, numbers: list[int] = numbers) -> object:
            query = made.project(known[0][at][None], numbers[at])
            return score_pairs(query, known[1][at][None, None])

        found[name] = _median(compose, range(len(triples)))
    return found


def _batched(
    options: argparse.Namespace,
    text: TextEncoder,
    bi: BiEncoder,
    tri: Mapping[str, HyperCL],
    texts: _Texts,
    triples: Rows,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return the same seconds per item for batched encoding and composing."""
    pairs, entities = np.unique(triples[:, :2], axis=0), np.unique(triples[:, [0, 2]])
    if options.texts:
        pairs = pairs[rng.permutation(len(pairs))[: options.texts]]
        entities = entities[rng.permutation(len(entities))[: options.texts]]
    queries = [texts.query(head, relation) for head, relation in pairs.tolist()]
    named = [texts.entities[row] for row in entities.tolist()]
    found = {
        "query": _seconds(lambda: bi.queries(queries)) / len(queries),
        "entity": _seconds(lambda: text.encode(named)) / len(named),
    }
    # The time of composing does not depend on the values of the vectors.
    vectors = rng.standard_normal((len(texts.entities), text.dim), dtype=np.float32)
    heads, tails = vectors[triples[:, 0]], vectors[triples[:, 2]]
    found["bi"] = _seconds(lambda: score_pairs(heads, tails[:, None])) / len(triples)
    for name, encoder in tri.items():
        found[f"relation, {name}"] = _seconds(
            lambda e=encoder: e.projections(texts.relations)
        ) / len(texts.relations)
        made = encoder.projections(texts.relations)

        def compose(made: Any = made) -> object:
            return score_pairs(made.queries(heads, triples[:, 1]), tails[:, None])

        found[name] = min(_seconds(compose) for _ in range(3)) / len(triples)
    return found


def _totals(seconds: Mapping[str, float], counts: Counts) -> dict[str, float]:
    """Return the seconds of all triples, from empty caches and from warm ones."""
    bi = counts.pairs * seconds["query"] + counts.tails * seconds["entity"]
    found = {"s, empty, bi-encoder": bi + counts.triples * seconds["bi"]}
    for name in TRI:
        encoding = (
            counts.entities * seconds["entity"] + counts.relations * seconds[f"relation, {name}"]
        )
        found[f"s, empty, {name}"] = encoding + counts.triples * seconds[name]
    found["s, warm, bi-encoder"] = counts.triples * seconds["bi"]
    found.update({f"s, warm, {name}": counts.triples * seconds[name] for name in TRI})
    return found


def _questions(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the cost of a query whose head and relation were seen, but not together.

    The vectors of the tails are cached.
    """
    found = {"ms, a new question, bi-encoder": 1000 * (seconds["query"] + seconds["bi"])}
    found.update({f"ms, a new question, {name}": 1000 * seconds[name] for name in TRI})
    for name in TRI:
        found[f"bi-encoder / {name}, a new question"] = (
            seconds["query"] + seconds["bi"]
        ) / seconds[name]
    return found


def _sizes(dim: int, tri: Mapping[str, HyperCL], counts: Counts, texts: _Texts) -> dict[str, Any]:
    """Return cache sizes: as the paper counts them, and as an index stores them."""
    sizes = {
        "bi-encoder, as the paper counts at 768": paper_bytes(counts.bi_calls, PAPER_DIM),
        "tri-encoders, as the paper counts at 768": paper_bytes(counts.tri_calls, PAPER_DIM),
        "hyper, full, as the paper counts at 768": paper_bytes(
            counts.tri_calls, PAPER_DIM, counts.relations
        ),
        f"bi-encoder, vectors of {dim}": counts.bi_calls * dim * 4,
    }
    for name, encoder in tri.items():
        relations = sum(
            part.nbytes for part in encoder.projections(texts.relations).parts().values()
        )
        sizes[f"{name}, vectors of {dim} and projections"] = counts.entities * dim * 4 + relations
    return {
        "cache, MiB": {name: size / 2**20 for name, size in sizes.items()},
        "bytes of a condition, share of the paper's": {
            "low rank": _condition_bytes(64) / (2 * PAPER_DIM * 64 * 4),
            "full rank": _condition_bytes(PAPER_DIM) / (PAPER_DIM * PAPER_DIM * 4),
        },
    }


def _condition_bytes(rank: int) -> float:
    """Return the bytes of a (768, rank) factor in the condition cache, with its checksum."""
    factor = np.random.default_rng(0).standard_normal((PAPER_DIM, rank))
    with tempfile.TemporaryDirectory() as folder:
        cache = ConditionCache(Path(folder), 64 << 20)
        cache.put("encoder", {"condition": compact(factor)})
        return cache.bytes


def _notes(options: argparse.Namespace, triples: int) -> list[str]:
    sampled = (
        f"{options.texts:,} pairs of texts and {options.texts:,} entities" if options.texts else ""
    )
    return [
        "Encoder: all-MiniLM-L6-v2. The networks on top are untrained, which does not change "
        "their running time. Encoding includes the tokeniser, which the paper's times exclude. "
        "Results are numpy arrays in host memory, so that a device has finished when the clock "
        "stops. Scoring is the cosine with the single tail of the triple.",
        f"Batch 1: medians over {triples:,} triples drawn by seed, multiplied by the numbers of "
        "calls and triples. This is an extrapolation, not a run over all triples. Cache "
        "look-ups are excluded on both sides.",
        "Batched: each text is encoded once, grouped by length; "
        + (
            f"seconds of {sampled}, drawn by seed, are multiplied by the number of each, which "
            "is an extrapolation, not a run over all. "
            if sampled
            else "every text is encoded, once for all architectures that use it. "
        )
        + "Composing is measured over all triples.",
        "Empty: the protocol of the paper's second version; every text is encoded once and "
        "cached. Warm: everything is cached, also the pairs of the bi-encoder, which therefore "
        "only scores.",
        "A new question: head and relation were seen, but not together, and the vectors of all "
        "tails are cached. The bi-encoder encodes the pair, a tri-encoder composes. This is the "
        "saving by caching, and the fair form of the factor 108 of the paper's first version, "
        "in which the bi-encoder also encodes tail and head.",
        "Bytes of a condition: factors of conditional similarity of rank 64 and of full rank at "
        "768 dimensions, in half precision, compressed, with a checksum. The factors are "
        "Gaussian noise, which compresses as trained mantissas do. The paper stores two float32 "
        "factors (0.375 MiB) or one float32 matrix (2.25 MiB). The record conditional-search "
        "has the effect of half precision on the scores.",
    ]


def _median(what: Callable[[Any], object], items: Sequence[Any]) -> float:
    what(items[0])
    return float(np.median([_seconds(lambda item=item: what(item)) for item in items]))


def _say(what: str) -> None:
    print(what, file=sys.stderr)
