"""The Gaussian space: exact search by KL divergence with one matrix product per batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.search.spaces import Rows, Scores, like_products
from ontodex.geometry.gaussian import (
    left_items,
    left_queries,
    moved,
    right_items,
    right_queries,
    similarity,
    typical,
)
from ontodex.geometry.vectors import Vectors

__all__ = ["GaussianSpace"]

SAMPLE = 4096
"""Maximal number of items in the sample whose mean centres lifted vectors, and in one block."""


class GaussianSpace:
    """Gaussians, scored by 1 / (1 + KL/d), which ranks as GaussCSE's similarity 1 / (1 + KL) does.

    Items and queries are lifted: mapped to vectors whose inner product gives the KL divergence.
    Items are lifted in float64 and kept in float32. Two steps keep rounding errors and their bound
    small. The mean is subtracted from lifted items and from lifted queries, which only adds
    constants to the products. Columns are scaled so that items and queries have similar magnitudes.

    Args:
        stored: Means and log-variances, of shape (n, 2d), in any precision.
        items: Which argument of KL the items are: ``"left"`` for hypotheses of a premise,
            ``"right"`` for premises of a hypothesis.

    Attributes:
        lifted: Vectors to search, ``float32`` of shape (n, 2d + 1).

    Example:
        >>> from ontodex.engine.search.topk import Searcher
        >>> stored = Vectors([np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 2.0]], dtype=np.float32)])
        >>> space = GaussianSpace(stored, "left")
        >>> rows, scores = Searcher(space.lifted, space=space).top(np.array([[0.0, 2.0]]), k=2)[0]
        >>> rows.tolist(), scores.round(3).tolist()
        ([2, 0], [1.0, 0.638])
    """

    def __init__(self, stored: Vectors, items: str) -> None:
        self.stored = stored
        self.left = items == "left"
        self.dim = stored.dim // 2
        sample = stored[
            np.linspace(0, len(stored) - 1, min(SAMPLE, len(stored))).astype(np.int64)
        ].astype(np.float64)
        self._shift, self._scale = typical(sample)
        sample = self._moved(sample)
        items_of, queries_of = self._lift(sample), self._lift_queries(sample)[0]
        self._item, self._query = items_of.mean(axis=0), queries_of.mean(axis=0)
        item_size, query_size = (
            _root_mean_square(items_of - self._item),
            _root_mean_square(queries_of - self._query),
        )
        query_size[-1] = 1.0  # every lifted query ends with 1
        self._balance = np.exp2(
            np.round(np.log2(np.maximum(item_size, 1e-6) / np.maximum(query_size, 1e-6)) / 2)
        )
        self.lifted = Vectors([self._lifted(shard) for shard in stored.shards])
        self.longest = max(
            float(np.linalg.norm(block, axis=1).max(initial=0.0))
            for _, block in self.lifted.blocks()
        )

    def prepare(self, queries: NDArray[np.float32]) -> GaussianBatch:
        """Prepare queries.

        Args:
            queries: Means and log-variances, of shape (queries, 2d).
        """
        return GaussianBatch(self, queries)

    def lift_queries(self, queries: NDArray[np.float32]) -> tuple[NDArray[np.float32], Scores]:
        """Return lifted queries and their constants c; a query times an item is c - 2 KL."""
        lifted, constant = self._lift_queries(self._moved(queries.astype(np.float64)))
        constant = constant + lifted @ self._item
        lifted = lifted - self._query
        lifted[:, -1] = 1.0
        return np.ascontiguousarray(-lifted * self._balance, dtype=np.float32), constant

    def _lifted(self, stored: NDArray[np.floating]) -> NDArray[np.float32]:
        made = np.empty((len(stored), 2 * self.dim + 1), dtype=np.float32)
        for start in range(0, len(stored), SAMPLE):
            part = (
                self._lift(self._moved(stored[start : start + SAMPLE].astype(np.float64)))
                - self._item
            )
            part[:, -1] += part[:, :-1] @ self._query[:-1]
            made[start : start + SAMPLE] = part / self._balance
        return made

    def _moved(self, gaussians: Scores) -> Scores:
        return moved(gaussians, self._shift, self._scale)

    def _lift(self, gaussians: Scores) -> Scores:
        return left_items(gaussians) if self.left else right_items(gaussians)

    def _lift_queries(self, gaussians: Scores) -> tuple[Scores, Scores]:
        return right_queries(gaussians) if self.left else left_queries(gaussians)


class GaussianBatch:
    """A batch of Gaussians; see :class:`~ontodex.engine.search.spaces.QueryBatch`."""

    def __init__(self, space: GaussianSpace, queries: NDArray[np.float32]) -> None:
        self._space = space
        self._queries = queries.astype(np.float64)
        self.augmented, self._constant = space.lift_queries(queries)
        lengths = np.linalg.norm(self.augmented.astype(np.float64), axis=1)
        # A float32 sum of 2d + 1 products of rounded factors has an error of at most
        # (2d + 4) 2^-24 |q| |x| in any order; the threshold it is compared with is rounded too.
        largest = lengths * space.longest
        self.error_bound = (
            2.0**-24 * ((2 * space.dim + 5) * largest + 8 * np.abs(self._constant)) + 2.0**-100
        )

    def scores(self, products: Scores, queries: Rows, rows: Rows) -> Scores:
        """Return the similarities of (query, row) pairs from their products."""
        return self._similarities(self._constant[queries] - products)

    def estimates(self, products: Any, rows: slice) -> Any:
        """Return the products, which have the same order as the similarities of a query."""
        return products

    def may_exceed(self, products: Any, threshold: Scores, rows: slice) -> Any:
        """Return which products are above the product at the threshold minus the error bound."""
        with np.errstate(divide="ignore"):
            least = self._constant - 2 * self._space.dim * (1 / np.maximum(threshold, 0.0) - 1)
        return products > like_products((least - self.error_bound)[:, None], products)

    def exact(self, queries: Rows, rows: Rows) -> Scores:
        """Score pairs by the numerically stable form of KL."""
        items = self._space.stored[rows].astype(np.float64)
        sides = (
            (items, self._queries[queries]) if self._space.left else (self._queries[queries], items)
        )
        return similarity(*sides)

    def _similarities(self, twice_kl: Scores) -> Scores:
        return np.asarray(1 / (1 + np.maximum(twice_kl, 0.0) / (2 * self._space.dim)))


def _root_mean_square(rows: Scores) -> Scores:
    return np.asarray(np.sqrt(np.mean(np.square(rows), axis=0)))
