"""Candidates for graphs too large to score whole: a FAISS structure over the vectors, with its recall measured."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.vectors import Vectors, release
from ontodex.storage.manifest import FileInfo, file_info

__all__ = ["EXACT_UP_TO", "load_candidates", "make_candidates", "measure_recall", "place"]

EXACT_UP_TO = 200_000
"""Up to this many entities every one is scored: that is bound by memory alone and needs no tuning."""

SAMPLE = 100_000
PROBES = 48

QUERIES, NEAREST, CANDIDATES = 200, 10, 100
"""By so many of an index's own vectors recall is measured: which of their nearest are among the candidates."""


def make_candidates(vectors: Vectors) -> Any:
    """Make an inverted file with 8-bit codes (IVF-SQ8), a quarter of the vectors' size.

    Args:
        vectors: Unit vectors.
    """
    cells = min(len(vectors), int(2 * len(vectors) ** 0.5))
    sample = np.random.default_rng(0).choice(len(vectors), min(SAMPLE, len(vectors)), replace=False)
    quantizer = faiss.IndexFlatIP(vectors.dim)
    index = faiss.IndexIVFScalarQuantizer(
        quantizer, vectors.dim, cells, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
    )
    index.cp.niter = 10
    index.cp.seed = 0
    index.cp.min_points_per_centroid = 1
    points = vectors[np.sort(sample)]
    for shard in vectors.shards:
        release(shard)
    index.train(points)
    del points
    for _, block in vectors.blocks():
        index.add(np.ascontiguousarray(block))
    index.nprobe = min(PROBES, cells)
    return index


def measure_recall(index: Any, vectors: Vectors) -> float:
    """Return the share of the exact :data:`NEAREST` that :data:`CANDIDATES` hold, for some of the index's own vectors."""
    rows = np.linspace(0, len(vectors) - 1, min(QUERIES, len(vectors))).astype(np.int64)
    sample = vectors[rows]
    best: list[NDArray[np.int64]] = []
    scores: list[NDArray[np.float32]] = []
    for start, block in vectors.blocks():
        found, ids = faiss.knn(
            sample,
            np.ascontiguousarray(block),
            min(NEAREST, len(block)),
            metric=faiss.METRIC_INNER_PRODUCT,
        )
        best.append(ids + start)
        scores.append(found)
    all_ids, all_scores = np.concatenate(best, axis=1), np.concatenate(scores, axis=1)
    exact = np.take_along_axis(
        all_ids, np.argsort(-all_scores, axis=1, kind="stable")[:, :NEAREST], axis=1
    )
    _, candidates = index.search(sample, CANDIDATES)
    return float(
        np.mean(
            [np.isin(wanted, got).mean() for wanted, got in zip(exact, candidates, strict=True)]
        )
    )


def load_candidates(file: Path, stated: FileInfo | None, vectors: Vectors) -> Any:
    """Load a FAISS structure; make it anew where its file is missing or not what the manifest says.

    What was made anew takes the file's place if that can be written, and if it is the same to the last byte.

    Args:
        file: The file.
        stated: What the manifest says of it.
        vectors: What the structure is over.
    """
    if stated is not None and file.is_file() and file_info(file) == stated:
        with suppress(RuntimeError):
            return faiss.read_index(str(file))
    index = make_candidates(vectors)
    made = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    with suppress(OSError, RuntimeError):
        faiss.write_index(index, str(made))
        if file_info(made) == stated:
            os.replace(made, file)
    with suppress(OSError):
        made.unlink()
    return index


def place(index: Any, device: str) -> Any:
    """Move a FAISS structure to where vectors are searched, if faiss-gpu is installed; else return it as it is.

    Args:
        index: A structure in main memory.
        device: ``"cpu"``; ``"cuda"`` for all GPUs, ``"cuda:1"`` for that one; other devices have no FAISS.
    """
    kind, _, number = device.partition(":")
    if kind != "cuda" or not faiss.get_num_gpus():
        return index
    return faiss.index_cpu_to_gpus_list(index, gpus=[int(number)] if number else None)
