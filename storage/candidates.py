"""Candidates of a large space: a FAISS index over its vectors, and its measured recall."""

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

__all__ = ["EXACT_UP_TO", "load_candidates", "make_candidates", "measure_recall", "move_to_device"]

EXACT_UP_TO = 200_000
"""In spaces of at most this many vectors, every vector is scored, without candidates."""

SAMPLE = 100_000
"""Maximal number of vectors that cells and codes are trained on."""

PROBES = 48
"""Number of cells that a search visits."""

QUERIES, NEAREST, CANDIDATES = 200, 10, 100
"""Numbers with which recall is measured, see :func:`measure_recall`.

``QUERIES`` is the number of queries, ``NEAREST`` the number of exact nearest neighbours of each
query, and ``CANDIDATES`` the number of candidates of each query.
"""


def make_candidates(vectors: Vectors) -> Any:
    """Make an inverted file of 8-bit codes (IVF-SQ8), of a quarter of the vectors' size.

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
    """Return the recall of candidates, with some of the index's own vectors as queries.

    Recall is the share of the 10 exact nearest neighbours that are among the 100 candidates.
    """
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
    """Load a FAISS index; make a new index if the file is missing or damaged.

    The new index replaces the file if the folder can be written and the new file has the checksum
    in the manifest.

    Args:
        file: File of the FAISS index.
        stated: The manifest's entry for the file, if there is one.
        vectors: The vectors that the index is built over.
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


def move_to_device(index: Any, device: str) -> Any:
    """Return a FAISS index on a device; the index is unchanged if faiss-gpu is not installed.

    Args:
        index: An index in main memory.
        device: ``"cuda"`` for all GPUs, ``"cuda:1"`` for one GPU. With any other device, the index
            stays in main memory.
    """
    kind, _, number = device.partition(":")
    if kind != "cuda" or not faiss.get_num_gpus():
        return index
    return faiss.index_cpu_to_gpus_list(index, gpus=[int(number)] if number else None)
