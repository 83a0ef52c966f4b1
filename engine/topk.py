"""The one search path: candidates by inner product, re-scored exactly, filtered, ties in entity order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.cosine import score_pairs
from ontodex.indexers.vectors import Vectors

__all__ = ["Found", "Searcher"]

Rows = NDArray[np.int64]
Found = list[tuple[Rows, NDArray[np.float64]]]
"""Rows and scores of the best items of each query, best first."""

SPARE = 16
"""Candidates beyond k: float32 may order near neighbours wrongly, the exact scores put them right."""

SIZES = (32, 128, 512, 2048)
"""Queries are searched together with those that need as many candidates."""

BATCH = 256
"""Queries whose candidates are re-scored at once."""


class Searcher:
    """Searches the vectors of one space.

    Every answer equals that of a float64 pass over all vectors: candidates come from float32 products, are scored in
    float64, and are taken only if no other item can be better by the bound on float32 rounding. With ``approximate`` only
    the candidates of a FAISS structure are looked at.

    Args:
        vectors: Unit vectors.
        device: ``"cpu"``, or a torch device that then holds the vectors.
        approximate: A FAISS structure over the vectors, to look at its candidates alone.
    """

    OVERFETCH = 10

    def __init__(self, vectors: Vectors, device: str = "cpu", approximate: Any | None = None) -> None:
        self.vectors = vectors
        self.approximate = approximate
        # |float32 product - true product| of unit vectors is at most dim * 2**-24, however the sum is ordered.
        self._doubt = vectors.dim * 2.0**-24
        self._on_device = None
        if device != "cpu":
            import torch

            self._on_device = torch.cat([torch.from_numpy(np.array(part)) for part in vectors.shards]).to(device)

    def top(self, queries: NDArray[np.float32], k: int, exclude: Sequence[Rows] | None = None) -> Found:
        """Return the ``k`` best items of each query.

        Args:
            queries: Unit vectors of shape (queries, dim).
            k: How many; fewer are returned where there are not as many.
            exclude: Rows that each query must not return.
        """
        left_out = exclude if exclude is not None else [np.zeros(0, dtype=np.int64)] * len(queries)
        over = self.OVERFETCH * k if self.approximate is not None else k + SPARE
        needed = np.array([over + len(rows) for rows in left_out])
        found: Found = [(np.zeros(0, dtype=np.int64), np.zeros(0))] * len(queries)
        floor = 0
        for size in SIZES:
            group = np.flatnonzero((needed > floor) & (needed <= size))
            for start in range(0, len(group), BATCH):
                self._from_candidates(queries, group[start : start + BATCH], size, k, left_out, found)
            floor = size
        for query in np.flatnonzero(needed > floor):
            found[query] = self._from_all(queries[query], k, left_out[query])
        return found

    def among(self, query: NDArray[np.float32], rows: Rows, k: int) -> tuple[Rows, NDArray[np.float64]]:
        """Return the ``k`` best of the given rows."""
        scores = score_pairs(query[None], self.vectors[rows][None])[0] if len(rows) else np.zeros(0)
        return _best(np.asarray(rows, dtype=np.int64), scores, k)

    def _from_candidates(
        self, queries: NDArray[np.float32], group: Rows, size: int, k: int, exclude: Sequence[Rows], found: Found
    ) -> None:
        fetch = min(size, len(self.vectors))
        rows, scores = self._candidates(np.ascontiguousarray(queries[group]), fetch)
        for at, query in enumerate(group):
            if len(exclude[query]):
                scores[at, np.isin(rows[at], exclude[query])] = -np.inf
        scores[rows < 0] = -np.inf
        keep = min(k + SPARE, fetch) if self.approximate is None else fetch
        order = np.argsort(-scores, axis=1, kind="stable")[:, :keep]
        rows, rough = np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)
        exact = score_pairs(queries[group], self.vectors[np.maximum(rows, 0)])
        exact[np.isneginf(rough)] = -np.inf
        whole = fetch == len(self.vectors)
        for at, query in enumerate(group):
            best_rows, best_scores = _best(rows[at], exact[at], k)
            # Whatever was not fetched scores at most the last candidate's rough score plus the doubt.
            sure = whole and keep == fetch
            sure = sure or (len(best_scores) == k and best_scores[-1] > rough[at, -1] + 2 * self._doubt)
            if self.approximate is None and not sure:
                best_rows, best_scores = self._from_all(queries[query], k, exclude[query])
            found[query] = (best_rows, best_scores)

    def _candidates(self, queries: NDArray[np.float32], fetch: int) -> tuple[Rows, NDArray[np.float32]]:
        if self.approximate is not None:
            scores, rows = self.approximate.search(queries, fetch)
            return rows, scores
        if self._on_device is not None:
            import torch

            top = torch.topk(torch.from_numpy(queries).to(self._on_device) @ self._on_device.T, fetch)
            return top.indices.cpu().numpy(), top.values.cpu().numpy()
        parts = [
            (found, ids + start)
            for start, block in self.vectors.blocks()
            for found, ids in [faiss.knn(queries, block, min(fetch, len(block)), metric=faiss.METRIC_INNER_PRODUCT)]
        ]
        scores, rows = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
        if len(parts) > 1:
            best = np.argpartition(-scores, fetch - 1, axis=1)[:, :fetch]
            scores, rows = np.take_along_axis(scores, best, axis=1), np.take_along_axis(rows, best, axis=1)
        return rows, scores

    def _from_all(self, query: NDArray[np.float32], k: int, exclude: Rows) -> tuple[Rows, NDArray[np.float64]]:
        """Score every item; look exactly at all that may be among the best."""
        rough = self.products(query[None])[0]
        rough[exclude] = -np.inf
        k = min(k, len(rough) - len(np.unique(exclude)))
        if k <= 0:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        limit = np.partition(rough, len(rough) - k)[len(rough) - k] - 2 * self._doubt
        return self.among(query, np.flatnonzero(rough >= limit), k)

    def products(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the inner products of queries with all items, ``float32`` of shape (queries, items)."""
        if self._on_device is not None:
            import torch

            return (torch.from_numpy(queries).to(self._on_device) @ self._on_device.T).cpu().numpy()
        return np.concatenate([queries @ block.T for _, block in self.vectors.blocks()], axis=1)


def _best(rows: Rows, scores: NDArray[np.float64], k: int) -> tuple[Rows, NDArray[np.float64]]:
    """Return the k best, equal scores in row order, excluded ones left out."""
    order = np.lexsort((rows, -scores))[:k]
    order = order[~np.isneginf(scores[order])]
    return rows[order].astype(np.int64), scores[order]
