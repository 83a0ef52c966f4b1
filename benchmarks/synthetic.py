"""A synthetic index of any size: clustered vectors, local links, and a look-up encoder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.hypernetwork import HyperNetwork, LinkNetworkSettings
from ontodex.encoders.text import TextEncoder
from ontodex.graph import KnowledgeGraph
from ontodex.graph.builder import unique_triples
from ontodex.graph.columns import NestedTextColumn, TextColumn

__all__ = ["MOST_TAILS", "RELATIONS", "Synthetic", "SyntheticEncoder", "encoders", "graph_of"]

DIM = 384
BLOCK = 4096
PER_CLUSTER = 100
SPREAD = 0.7
MOST_TAILS = 50
RELATIONS = ("ex:treats", "ex:partOf", "ex:causes", "ex:near")

Floats = NDArray[np.float32]


class Synthetic:
    """Unit vectors in clusters of about a hundred, made block by block, reproducible by seed.

    Args:
        count: Number of vectors.
        seed: Random seed.
    """

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.seed = count, seed
        rng = np.random.default_rng(seed)
        self.clusters = rng.integers(0, max(1, count // PER_CLUSTER), count)
        self._centres = rng.standard_normal((max(1, count // PER_CLUSTER), DIM), dtype=np.float32)

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield (first row, vectors)."""
        for start in range(0, self.count, BLOCK):
            yield start, self._block(start)

    def whole(self) -> Floats:
        """Return all vectors, of shape (count, dim)."""
        return np.concatenate([block for _, block in self.blocks()])

    def queries(self, vectors: Floats, count: int) -> tuple[NDArray[np.int64], Floats]:
        """Return rows, and unit vectors near the vectors of these rows, as projected heads are."""
        rng = np.random.default_rng((self.seed, 1))
        rows = rng.choice(self.count, count, replace=False)
        moved = vectors[rows] + 0.03 * rng.standard_normal((count, DIM), dtype=np.float32)
        return rows, moved / np.linalg.norm(moved, axis=1, keepdims=True)

    def _block(self, start: int) -> Floats:
        owners = self.clusters[start : start + BLOCK]
        noise = np.random.default_rng((self.seed, 2, start)).standard_normal(
            (len(owners), DIM), dtype=np.float32
        )
        found = self._centres[owners] + np.float32(SPREAD) * noise
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def graph_of(made: Synthetic) -> KnowledgeGraph:
    """Return a graph of these entities, with links within clusters.

    Each head has 0 to 50 tails of its own cluster by one relation; most heads have few.
    """
    rng = np.random.default_rng((made.seed, 3))
    counts = np.minimum(MOST_TAILS, rng.pareto(1.0, made.count).astype(np.int64))
    heads = np.repeat(np.arange(made.count), counts)
    relations = np.repeat(rng.integers(0, len(RELATIONS), made.count), counts)
    order = np.argsort(made.clusters, kind="stable")
    starts = np.searchsorted(made.clusters[order], np.arange(made.clusters.max() + 2))
    own = made.clusters[heads]
    tails = order[
        starts[own] + rng.integers(0, 1 << 40, len(heads)) % (starts[own + 1] - starts[own])
    ]
    triples = unique_triples(np.stack([heads, relations, tails], axis=1).astype(np.int32))
    return KnowledgeGraph(
        ids=TextColumn.of(f"ex:{row:07d}" for row in range(made.count)),
        labels=TextColumn.of(f"entity number {row}" for row in range(made.count)),
        synonyms=NestedTextColumn.of(() for _ in range(made.count)),
        definitions=TextColumn.of("" for _ in range(made.count)),
        alternative_ids=NestedTextColumn.of(() for _ in range(made.count)),
        relation_ids=TextColumn.of(RELATIONS),
        relation_labels=TextColumn.of(name.partition(":")[2] for name in RELATIONS),
        heads=np.ascontiguousarray(triples[:, 0]),
        relations=np.ascontiguousarray(triples[:, 1]),
        tails=np.ascontiguousarray(triples[:, 2]),
        source="synthetic",
    )


class SyntheticEncoder(TextEncoder):
    """A text encoder with synthetic entity vectors, looked up by row instead of encoded.

    Args:
        made: The vectors.
        folder: Folder of the files that an index copies.
    """

    def __init__(self, made: Synthetic, folder: Path) -> None:
        self.folder, self.device, self.dim = folder, "cpu", DIM
        self._made = made
        (folder / "config.json").write_text(
            json.dumps({"synthetic": made.count, "seed": made.seed})
        )

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return a unit vector of each text, seeded by its hash."""
        seeds = [
            int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
            for text in texts
        ]
        found = np.stack(
            [np.random.default_rng(seed).standard_normal(DIM, dtype=np.float32) for seed in seeds]
        )
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def stream(
        self, texts: Sequence[str], done: int = 0
    ) -> Iterator[tuple[NDArray[np.int64], Floats]]:
        """Yield (rows, vectors) of all entities in row order, given the texts of all entities."""
        assert len(texts) == self._made.count
        for number, (start, block) in enumerate(self._made.blocks()):
            if number >= done:
                yield np.arange(start, start + len(block)), block


def encoders(made: Synthetic, folder: Path) -> tuple[SyntheticEncoder, HyperCL]:
    """Return a text encoder, and a Hyper-CL encoder with untrained projections of rank 32."""
    torch.manual_seed(made.seed)
    text = SyntheticEncoder(made, folder)
    return text, HyperCL(text, HyperNetwork(LinkNetworkSettings(dim=DIM)))
