"""The one search path: candidates by inner product, re-scored exactly, filtered, ties in entity order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.cosine import score_pairs
from ontodex.indexers.vectors import Vectors

__all__ = ["Found", "Searcher"]

Rows = NDArray[np.int64]
Found = list[tuple[Rows, NDArray[np.float64]]]
"""Rows and scores of the best items of each query, best first."""

PRODUCTS = 1 << 21
"""Products that are computed at once: they stay in the processor's cache until they have been looked through."""

BATCH = 512
"""Queries that share one pass over the vectors."""

ANSWERS = 1 << 20
"""Answers that are collected at once: queries that ask for very many share their pass with fewer others."""

PAIRS = 2048
"""Pairs that are scored exactly at once."""

CROWD = 1 << 22
"""Pairs to be scored exactly, for all queries of a pass, above which they share it no more: where very many items tie."""

SIZES = (32, 128, 512, 2048)
"""Numbers of candidates to ask a FAISS structure for; whoever needs more has every item looked at."""


class Searcher:
    """Searches the vectors of one space.

    Every answer equals that of a float64 pass over all vectors: float32 products, with the bound on their rounding, tell
    which few items can be among the best, and these are scored in float64. With ``approximate`` only the candidates of a
    FAISS structure are looked at.

    Args:
        vectors: Unit vectors.
        device: ``"cpu"``, or a torch device that then holds the vectors.
        approximate: A FAISS structure over the vectors, to look at its candidates alone.
    """

    OVERFETCH = 10

    def __init__(self, vectors: Vectors, device: str = "cpu", approximate: Any | None = None) -> None:
        self.vectors = vectors
        self.approximate = approximate
        # |float32 product - true product| of unit vectors is at most dim * 2**-24, however the sum is ordered. An item is
        # passed over if it is below the k-th best by two of these, and one more for the rounding of lengths and bounds.
        self._doubt = np.float32(3 * vectors.dim * 2.0**-24)
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
        left_out = list(exclude) if exclude is not None else [np.zeros(0, dtype=np.int64)] * len(queries)
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        found: Found = [(np.zeros(0, dtype=np.int64), np.zeros(0))] * len(queries)
        floor = 0
        needed = np.array([self.OVERFETCH * k + len(rows) for rows in left_out])
        for size in SIZES if self.approximate is not None else ():
            group = np.flatnonzero((needed > floor) & (needed <= size))
            for part in _parts(group, BATCH):
                self._answer(queries, part, k, left_out, found, fetch=size)
            floor = size
        k = min(k, len(self.vectors))
        if k < 1:
            return found
        for part in _parts(np.flatnonzero(needed > floor), max(1, min(BATCH, ANSWERS // k))):
            self._answer(queries, part, k, left_out, found)
        return found

    def among(self, query: NDArray[np.float32], rows: Rows, k: int) -> tuple[Rows, NDArray[np.float64]]:
        """Return the ``k`` best of the given rows."""
        wanted = np.asarray(rows, dtype=np.int64)
        return _best_of_each(
            wanted, self._exact(query[None], np.zeros_like(wanted), wanted), np.zeros_like(wanted), 1, k
        )[0]

    def products(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the inner products of queries with all items, ``float32`` of shape (queries, items)."""
        if self._on_device is not None:
            import torch

            return (torch.from_numpy(queries).to(self._on_device) @ self._on_device.T).cpu().numpy()
        return np.concatenate([queries @ block.T for _, block in self.vectors.blocks()], axis=1)

    def _answer(
        self, queries: NDArray[np.float32], group: Rows, k: int, exclude: Sequence[Rows], found: Found, fetch: int = 0
    ) -> None:
        """Answer some of the queries."""
        asked = queries[group]
        owners = np.repeat(np.arange(len(group)), [len(exclude[query]) for query in group])
        rows = np.concatenate([np.asarray(exclude[query], dtype=np.int64) for query in group])
        pairs: tuple[Rows, Rows] | None
        if fetch:
            pairs = self._looked_up(asked, fetch, owners, rows)
        elif self._on_device is not None:
            pairs = self._likely_on_device(asked, k, owners, rows)
        else:
            pairs = self._likely(asked, k, owners, rows)
        if pairs is None:
            for half in np.array_split(group, 2):
                self._answer(queries, half, k, exclude, found)
            return
        owners, rows = pairs
        best = _best_of_each(rows, self._exact(asked, owners, rows), owners, len(group), k)
        for query, answer in zip(group.tolist(), best, strict=True):
            found[query] = answer

    def _likely(self, queries: NDArray[np.float32], k: int, owners: Rows, rows: Rows) -> tuple[Rows, Rows] | None:
        """Return (query, row) of every item that may be among the best, the given pairs left out; ``None`` for a crowd."""
        order = np.argsort(rows, kind="stable")
        owners, rows = owners[order], rows[order]
        best = np.full((len(queries), k), -np.inf, dtype=np.float32)
        floor = np.full(len(queries), -np.inf, dtype=np.float32)
        likely: list[tuple[Rows, Rows, NDArray[np.float32]]] = []
        for start, products in self._blocks_of_products(queries):
            width = products.shape[1]
            here = slice(*np.searchsorted(rows, (start, start + width)))
            products[owners[here], rows[here] - start] = -np.inf
            new = np.flatnonzero(np.isneginf(floor))
            if len(new) and width > k:
                floor[new] = np.partition(products[new], width - k, axis=1)[:, width - k] - self._doubt
            places = np.flatnonzero(products > floor[:, None])
            if not len(places):
                continue
            query = places // width
            scores = products.reshape(-1)[places]
            likely.append((query, places - query * width + start, scores))
            _raise(best, query, scores)
            floor = np.maximum(floor, best.min(axis=1) - self._doubt)
            if len(queries) > 1 and sum(len(part[0]) for part in likely) > CROWD:
                return None
        if not likely:
            return _NO, _NO
        queries_of, rows_of, scores_of = zip(*likely, strict=True)
        query, row = np.concatenate(queries_of), np.concatenate(rows_of)
        kept = np.concatenate(scores_of) > floor[query]
        return query[kept], row[kept]

    def _blocks_of_products(self, queries: NDArray[np.float32]) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield (first row, products), in memory that is used again for the next."""
        step = max(1024, PRODUCTS // len(queries))
        room = np.empty(len(queries) * min(step, len(self.vectors)), dtype=np.float32)
        for first, block in self.vectors.blocks():
            for start in range(0, len(block), step):
                piece = block[start : start + step]
                products = room[: len(queries) * len(piece)].reshape(len(queries), len(piece))
                yield first + start, np.matmul(queries, piece.T, out=products)

    def _likely_on_device(self, queries: NDArray[np.float32], k: int, owners: Rows, rows: Rows) -> tuple[Rows, Rows]:
        import torch

        assert self._on_device is not None
        device = self._on_device.device
        products = torch.from_numpy(queries).to(device) @ self._on_device.T
        products[torch.from_numpy(owners).to(device), torch.from_numpy(rows).to(device)] = -torch.inf
        floor = torch.topk(products, k).values[:, -1:] - float(self._doubt)
        query, row = torch.nonzero(products > floor, as_tuple=True)
        return query.cpu().numpy(), row.cpu().numpy()

    def _looked_up(self, queries: NDArray[np.float32], fetch: int, owners: Rows, rows: Rows) -> tuple[Rows, Rows]:
        """Return (query, row) of the candidates of the FAISS structure, the given pairs left out."""
        assert self.approximate is not None
        _, found = self.approximate.search(queries, min(fetch, len(self.vectors)))
        query, column = np.nonzero(found >= 0)
        row = found[query, column]
        count = len(self.vectors)
        kept = ~np.isin(query * count + row, owners * count + rows)
        return query[kept], row[kept]

    def _exact(self, queries: NDArray[np.float32], owners: Rows, rows: Rows) -> NDArray[np.float64]:
        scores = np.empty(len(rows))
        for start in range(0, len(rows), PAIRS):
            part = slice(start, start + PAIRS)
            scores[part] = score_pairs(queries[owners[part]], self.vectors[rows[part]][:, None])[:, 0]
        return scores


_NO = np.zeros(0, dtype=np.int64)


def _parts(group: Rows, size: int) -> Iterator[Rows]:
    for start in range(0, len(group), size):
        yield group[start : start + size]


def _raise(best: NDArray[np.float32], query: Rows, scores: NDArray[np.float32]) -> None:
    """Let further scores of queries, in ascending order of the query, into the best k scores of each."""
    k = best.shape[1]
    order = np.lexsort((-scores, query))
    rank = np.arange(len(query)) - np.searchsorted(query, query)
    touched, at = np.unique(query, return_inverse=True)
    fresh = np.full((len(touched), k), -np.inf, dtype=np.float32)
    good = rank < k
    fresh[at[good], rank[good]] = scores[order][good]
    best[touched] = np.partition(np.concatenate([best[touched], fresh], axis=1), k, axis=1)[:, k:]


def _best_of_each(rows: Rows, scores: NDArray[np.float64], owners: Rows, queries: int, k: int) -> Found:
    """Return the k best of each query, equal scores in row order."""
    order = np.lexsort((rows, -scores, owners))
    rows, scores = rows[order], scores[order]
    bounds = np.searchsorted(owners[order], np.arange(queries + 1)).tolist()
    return [
        (rows[start : min(end, start + k)], scores[start : min(end, start + k)])
        for start, end in itertools.pairwise(bounds)
    ]
