"""The search path: candidates by inner product, exact scores, filter, ties in entity order."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.resources import Resources
from ontodex.engine.search.score_offsets import ScoreOffsets
from ontodex.engine.search.spaces import CosineSpace, ProductSpace, QueryBatch, Space
from ontodex.geometry.matrix_threads import multiply
from ontodex.geometry.vectors import Vectors
from ontodex.graph.arrays import distinct, within
from ontodex.scoring.graph_features import Offsets

__all__ = ["Found", "Searcher", "Searchers"]

Rows = NDArray[np.int64]
Found = list[tuple[Rows, NDArray[np.float64]]]
"""Rows and scores of the best items of each query, best first."""

PRODUCTS = 1 << 21
"""Number of products in one block, which fits the processor's cache."""

BATCH = 512
"""Maximal number of queries in one pass over the vectors."""

ANSWERS = 1 << 20
"""Maximal number of answers in one pass; if k is large, a pass has fewer queries."""

PAIRS = 2048
"""Number of (query, row) pairs scored exactly in one block."""

MAX_PAIRS = 1 << 22
"""Maximal number of (query, row) pairs to score exactly in one pass. If ties lead to more pairs,
the pass is split."""

ON_DEVICE = 1 << 28
"""Maximal number of products in a device's memory; each product takes about twenty bytes."""

SAMPLE = 2048
"""Number of items sampled from the first block; the best k of them set the first threshold."""

SIZES = (32, 128, 512, 2048)
"""Numbers of candidates to request from a FAISS index. Queries that need more candidates are
searched exactly."""


class Searcher:
    """Searches the vectors of one space.

    Every answer equals the answer of a float64 pass over all vectors. Products in float32, with a
    bound of their rounding errors, select the few items that may be among the best. These items are
    then scored in float64. With ``approximate``, only the candidates of a FAISS index are scored.

    Args:
        vectors: Vectors of the items.
        device: ``"cpu"``, or a torch device, which then holds the vectors in its memory.
        approximate: A FAISS index of the vectors, for approximate search.
        space: The space that scores items; by default the cosine of unit vectors.
    """

    OVERFETCH = 10

    def __init__(
        self,
        vectors: Vectors,
        device: str = "cpu",
        approximate: Any | None = None,
        space: Space | None = None,
    ) -> None:
        self.vectors = vectors
        self.approximate = approximate
        self.space: Space = CosineSpace(vectors) if space is None else space
        self._never = _NO
        self._on_device = None
        if device != "cpu":
            import torch

            self._on_device = torch.cat(
                [torch.from_numpy(np.array(part)) for part in vectors.shards]
            ).to(device)

    def scored_by(self, space: Space) -> Searcher:
        """Return a searcher of the same vectors by the score of ``space``; vectors are shared."""
        other = copy.copy(self)
        other.space = space
        return other

    def without(self, rows: NDArray[np.integer]) -> Searcher:
        """Return a searcher of the same vectors whose :meth:`top` never returns some items."""
        other = copy.copy(self)
        other._never = distinct(rows.astype(np.int64))
        return other

    def top(
        self,
        queries: NDArray[np.float32],
        k: int,
        exclude: Sequence[Rows] | None = None,
        offsets: Sequence[Offsets] | None = None,
    ) -> Found:
        """Return the ``k`` best items of each query.

        Args:
            queries: Vectors in the form of the stored ones, of shape (queries, dim).
            k: Number of items; if there are fewer items, all are returned.
            exclude: Rows that each query must not return.
            offsets: Score offsets of each query.
        """
        left_out = (
            list(exclude) if exclude is not None else [np.zeros(0, dtype=np.int64)] * len(queries)
        )
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        found: Found = [(np.zeros(0, dtype=np.int64), np.zeros(0))] * len(queries)
        threshold = 0
        needed = np.array([self.OVERFETCH * k + len(rows) for rows in left_out])
        for size in SIZES if self.approximate is not None else ():
            group = np.flatnonzero((needed > threshold) & (needed <= size))
            for part in _parts(group, BATCH):
                self._answer(queries, part, k, left_out, offsets, found, fetch=size)
            threshold = size
        k = min(k, len(self.vectors))
        if k < 1:
            return found
        most = min(BATCH, ANSWERS // k)
        if self._on_device is not None:
            most = min(most, ON_DEVICE // len(self.vectors))
        for part in _parts(np.flatnonzero(needed > threshold), max(1, most)):
            self._answer(queries, part, k, left_out, offsets, found)
        return found

    def among(
        self, query: NDArray[np.float32], rows: Rows, k: int, offsets: Offsets | None = None
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Return the ``k`` best of the given rows, and their scores with offsets."""
        wanted = np.asarray(rows, dtype=np.int64)
        owners = np.zeros_like(wanted)
        batch = self._batch(
            np.ascontiguousarray(query[None], dtype=np.float32),
            None if offsets is None else [offsets],
        )
        return _top_per_owner(wanted, _exact(batch, owners, wanted), owners, 1, k)[0]

    def products(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return inner products of queries and all items, ``float32`` of shape (queries, items)."""
        if self._on_device is not None:
            import torch

            return (torch.from_numpy(queries).to(self._on_device) @ self._on_device.T).cpu().numpy()
        blocks = [multiply(queries, block) for _, block in self.vectors.blocks()]
        return np.concatenate(blocks, axis=1)

    def _batch(self, queries: NDArray[np.float32], offsets: Sequence[Offsets] | None) -> QueryBatch:
        batch = self.space.prepare(queries)
        return batch if offsets is None else ScoreOffsets(batch, offsets)

    def _answer(
        self,
        queries: NDArray[np.float32],
        group: Rows,
        k: int,
        exclude: Sequence[Rows],
        offsets: Sequence[Offsets] | None,
        found: Found,
        fetch: int = 0,
    ) -> None:
        """Find the best items of a group of queries, and put them into ``found``.

        ``fetch`` is the number of candidates from the FAISS index; 0 searches exactly.
        """
        batch = self._batch(
            queries[group], None if offsets is None else [offsets[query] for query in group]
        )
        owners = np.repeat(np.arange(len(group)), [len(exclude[query]) for query in group])
        rows = np.concatenate([np.asarray(exclude[query], dtype=np.int64) for query in group])
        pairs: tuple[Rows, Rows] | None
        if fetch:
            pairs = self._approximate_candidates(batch, fetch, owners, rows)
        elif self._on_device is not None:
            pairs = self._candidates_on_device(batch, k, owners, rows)
        else:
            pairs = self._candidates(batch, k, owners, rows)
        if pairs is None:
            for half in np.array_split(group, 2):
                self._answer(queries, half, k, exclude, offsets, found)
            return
        owners, rows = pairs
        best = _top_per_owner(rows, _exact(batch, owners, rows), owners, len(group), k)
        for query, answer in zip(group.tolist(), best, strict=True):
            found[query] = answer

    def _candidates(
        self, batch: QueryBatch, k: int, owners: Rows, rows: Rows
    ) -> tuple[Rows, Rows] | None:
        """Return the (query, row) pairs that may be among the best k.

        Args:
            batch: The queries.
            k: Number of items.
            owners: Query of each excluded pair.
            rows: Row of each excluded pair.

        Returns:
            Queries and rows of the pairs; ``None`` if there are more than :data:`MAX_PAIRS` pairs
            and several queries.
        """
        order = np.argsort(rows, kind="stable")
        owners, rows = owners[order], rows[order]
        count = len(batch.augmented)
        best = np.full((count, k), -np.inf)
        threshold = np.full(count, -np.inf)
        likely: list[tuple[Rows, Rows, NDArray[np.float64]]] = []
        for start, products in self._blocks_of_products(batch.augmented):
            width = products.shape[1]
            here = slice(*np.searchsorted(rows, (start, start + width)))
            products[owners[here], rows[here] - start] = -np.inf
            never = slice(*np.searchsorted(self._never, (start, start + width)))
            products[:, self._never[never] - start] = -np.inf
            if width > k and np.isneginf(threshold).any():
                threshold = np.maximum(threshold, _first_threshold(batch, products, start, k))
            places = np.flatnonzero(
                batch.may_exceed(products, threshold, slice(start, start + width))
            )
            if not len(places):
                continue
            query = places // width
            row = places - query * width + start
            found = products.reshape(-1)[places].astype(np.float64)
            highest = batch.scores(found + batch.error_bound[query], query, row)
            high = highest >= threshold[query]
            query, row, found, highest = query[high], row[high], found[high], highest[high]
            _merge_best(best, query, batch.scores(found - batch.error_bound[query], query, row))
            threshold = np.maximum(threshold, best.min(axis=1))
            high = highest >= threshold[query]
            likely.append((query[high], row[high], highest[high]))
            if count > 1 and sum(len(part[0]) for part in likely) > MAX_PAIRS:
                return None
        if not likely:
            return _NO, _NO
        query, row, highest = (np.concatenate(part) for part in zip(*likely, strict=True))
        kept = highest >= threshold[query]
        return query[kept], row[kept]

    def _blocks_of_products(
        self, queries: NDArray[np.float32]
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield the first row and the products of each block; the next block overwrites them."""
        step = max(1024, PRODUCTS // len(queries))
        room = np.empty(len(queries) * min(step, len(self.vectors)), dtype=np.float32)
        for first, block in self.vectors.blocks():
            for start in range(0, len(block), step):
                piece = block[start : start + step]
                products = room[: len(queries) * len(piece)].reshape(len(queries), len(piece))
                multiply(queries, piece, out=products)
                yield first + start, products

    def _candidates_on_device(
        self, batch: QueryBatch, k: int, owners: Rows, rows: Rows
    ) -> tuple[Rows, Rows]:
        import torch

        assert self._on_device is not None
        device = self._on_device.device
        products = torch.from_numpy(batch.augmented).to(device) @ self._on_device.T
        products[
            torch.from_numpy(owners).to(device), torch.from_numpy(rows).to(device)
        ] = -torch.inf
        products[:, torch.from_numpy(self._never).to(device)] = -torch.inf
        whole = slice(0, len(self.vectors))
        near = torch.topk(batch.estimates(products, whole), k).indices
        threshold = _lowest_score(batch, products.gather(1, near).cpu().numpy(), near.cpu().numpy())
        query, row = torch.nonzero(batch.may_exceed(products, threshold, whole), as_tuple=True)
        return query.cpu().numpy(), row.cpu().numpy()

    def _approximate_candidates(
        self, batch: QueryBatch, fetch: int, owners: Rows, rows: Rows
    ) -> tuple[Rows, Rows]:
        """Return the (query, row) pairs of FAISS candidates and of items with a score offset.

        Args:
            batch: The queries.
            fetch: Number of candidates of each query.
            owners: Query of each excluded pair.
            rows: Row of each excluded pair.
        """
        assert self.approximate is not None
        _, found = self.approximate.search(batch.augmented, min(fetch, len(self.vectors)))
        query, column = np.nonzero((found >= 0) & ~within(self._never, found))
        row = found[query, column]
        count = len(self.vectors)
        pairs = query * count + row
        if isinstance(batch, ScoreOffsets):
            pairs = distinct(np.concatenate([pairs, batch.owners * count + batch.rows]))
        return np.divmod(pairs[~np.isin(pairs, owners * count + rows)], count)


_NO = np.zeros(0, dtype=np.int64)


def _parts(group: Rows, size: int) -> Iterator[Rows]:
    for start in range(0, len(group), size):
        yield group[start : start + size]


def _exact(batch: QueryBatch, owners: Rows, rows: Rows) -> NDArray[np.float64]:
    """Score (query, row) pairs exactly, in blocks."""
    scores = np.empty(len(rows))
    for start in range(0, len(rows), PAIRS):
        part = slice(start, start + PAIRS)
        scores[part] = batch.exact(owners[part], rows[part])
    return scores


def _first_threshold(
    batch: QueryBatch, products: NDArray[np.float32], start: int, k: int
) -> NDArray[np.float64]:
    """Return a lower bound of the k-th best score of each query, from a sample of a block."""
    width = products.shape[1]
    stride = max(1, width // max(SAMPLE, 2 * k))
    sample = products[:, ::stride]
    guess = batch.estimates(sample, slice(start, start + width, stride))
    near = np.argpartition(guess, guess.shape[1] - k, axis=1)[:, -k:]
    return _lowest_score(batch, np.take_along_axis(sample, near, axis=1), start + stride * near)


def _lowest_score(
    batch: QueryBatch, products: NDArray[np.float32], rows: Rows
) -> NDArray[np.float64]:
    """Return, for each query, a lower bound of the scores of its k items.

    Args:
        batch: The queries.
        products: Product of each query and item, of shape (queries, k).
        rows: Row of each item, of shape (queries, k).
    """
    count, k = products.shape
    query = np.repeat(np.arange(count), k)
    scores = batch.scores(products.reshape(-1) - batch.error_bound[query], query, rows.reshape(-1))
    return np.asarray(scores.reshape(count, k).min(axis=1))


def _merge_best(best: NDArray[np.float64], query: Rows, scores: NDArray[np.float64]) -> None:
    """Merge new scores into the best k scores of each query, in place.

    Args:
        best: Best scores of each query, of shape (queries, k).
        query: Query of each new score, ascending.
        scores: New scores.
    """
    k = best.shape[1]
    order = np.lexsort((-scores, query))
    rank = np.arange(len(query)) - np.searchsorted(query, query)
    touched, at = np.unique(query, return_inverse=True)
    fresh = np.full((len(touched), k), -np.inf)
    good = rank < k
    fresh[at[good], rank[good]] = scores[order][good]
    best[touched] = np.partition(np.concatenate([best[touched], fresh], axis=1), k, axis=1)[:, k:]


def _top_per_owner(
    rows: Rows, scores: NDArray[np.float64], owners: Rows, queries: int, k: int
) -> Found:
    """Return the k best rows of each query; rows with equal scores are in ascending order.

    Args:
        rows: Row of each (query, row) pair.
        scores: Score of each pair.
        owners: Query of each pair.
        queries: Number of queries.
        k: Number of rows per query.
    """
    order = np.lexsort((rows, -scores, owners))
    rows, scores = rows[order], scores[order]
    bounds = np.searchsorted(owners[order], np.arange(queries + 1)).tolist()
    return [
        (rows[start : min(end, start + k)], scores[start : min(end, start + k)])
        for start, end in itertools.pairwise(bounds)
    ]


class Searchers:
    """Makes the searcher of each space whose ranking is by inner products.

    Args:
        resources: Encoders and scorers of an opened index.
        exact: Search exactly, even if the index has a FAISS index of the space.
    """

    def __init__(self, resources: Resources, exact: bool) -> None:
        self._resources, self._exact = resources, exact
        self._made: dict[str, Searcher] = {}

    def __call__(self, space: str) -> Searcher:
        """Return the searcher of a space.

        Raises:
            IndexMismatch: If the index does not have the space.
        """
        if space not in self._made:
            approximate = None if self._exact else self._resources.candidates(space)
            index = self._resources.index
            vectors = index.vectors(space)
            has_products = index.space_info(space).geometry == "product"
            product = ProductSpace(vectors) if has_products else None
            self._made[space] = Searcher(vectors, self._resources.device, approximate, product)
        return self._made[space]
