"""Interface of spaces to the search: scores from inner products, with bounds of rounding errors."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.cosine import score_pairs
from ontodex.geometry.vectors import Vectors

__all__ = ["CosineSpace", "ProductSpace", "QueryBatch", "Rows", "Scores", "Space", "like_products"]

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]


class QueryBatch(Protocol):
    """A batch of queries, prepared for the search of a space.

    For a fixed query and item, the score increases with their inner product. The products of all
    queries with a range of items are ``float32`` of shape (queries, items): a numpy array, or a
    torch tensor if the items are on a device.

    Attributes:
        augmented: Queries in the form that is multiplied with the stored vectors, ``float32`` of
            shape (queries, dim).
        error_bound: Bound of the rounding error of each query's products, of shape (queries,).
    """

    augmented: NDArray[np.float32]
    error_bound: Scores

    def scores(self, products: Scores, queries: Rows, rows: Rows) -> Scores:
        """Return the scores of (query, row) pairs from their products; all of shape (pairs,)."""

    def estimates(self, products: Any, rows: slice) -> Any:
        """Return estimates of the scores of the items ``rows``; their errors are not bounded."""

    def may_exceed(self, products: Any, threshold: Scores, rows: slice) -> Any:
        """Return which of the items ``rows`` may score above the threshold of each query."""

    def exact(self, queries: Rows, rows: Rows) -> Scores:
        """Score (query, row) pairs in float64; the score of a pair does not depend on the batch."""


class Space(Protocol):
    """A score over stored vectors."""

    def prepare(self, queries: NDArray[np.float32]) -> QueryBatch:
        """Prepare queries; they have the form of the stored vectors."""


class CosineSpace:
    """Unit vectors, scored by their inner product.

    Args:
        vectors: Vectors of the items.
    """

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def prepare(self, queries: NDArray[np.float32]) -> ProductBatch:
        """Prepare queries.

        Args:
            queries: Unit vectors of shape (queries, dim).
        """
        return ProductBatch(self.vectors, queries, np.ones(len(queries)))


class ProductSpace:
    """Vectors of any norm, scored by their inner product.

    Args:
        vectors: Vectors of the items.

    Example:
        >>> from ontodex.engine.search.topk import Searcher
        >>> vectors = Vectors([np.array([[1.0, 0.0], [0.0, 3.0], [2.0, 2.0]], dtype=np.float32)])
        >>> searcher = Searcher(vectors, space=ProductSpace(vectors))
        >>> rows, scores = searcher.top(np.array([[1.0, 2.0]]), k=2)[0]
        >>> rows.tolist(), scores.tolist()
        ([1, 2], [6.0, 6.0])
    """

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    @cached_property
    def longest(self) -> float:
        """Largest norm of an item."""
        blocks = (
            np.einsum("nd,nd->n", block, block, dtype=np.float64)
            for _, block in self.vectors.blocks()
        )
        return float(np.sqrt(max((block.max(initial=0.0) for block in blocks), default=0.0)))

    def prepare(self, queries: NDArray[np.float32]) -> ProductBatch:
        """Prepare queries.

        Args:
            queries: Vectors of shape (queries, dim).
        """
        return ProductBatch(
            self.vectors, queries, self.longest * np.linalg.norm(queries.astype(np.float64), axis=1)
        )


class ProductBatch:
    """A batch of queries that score items by inner product; see :class:`QueryBatch`.

    Args:
        vectors: Vectors of the items.
        queries: The queries, of shape (queries, dim).
        most: Norm of each query times the largest norm of an item, of shape (queries,).
    """

    def __init__(self, vectors: Vectors, queries: NDArray[np.float32], most: Scores) -> None:
        self._vectors = vectors
        self.augmented = queries
        # |float32 product - true product| <= dim * 2**-24 * sum |q_i x_i|
        # <= dim * 2**-24 * |q| |x|,
        # in any order of the sum (Higham, "Accuracy and Stability of Numerical Algorithms", 3.1,
        # and Cauchy-Schwarz). The factor 1.5 covers the rounding of norms and bounds, the last
        # term underflow.
        self.error_bound = 1.5 * vectors.dim * (2.0**-24 * most + 2.0**-126)

    def scores(self, products: Scores, queries: Rows, rows: Rows) -> Scores:
        """Return the products."""
        return products

    def estimates(self, products: Any, rows: slice) -> Any:
        """Return the products."""
        return products

    def may_exceed(self, products: Any, threshold: Scores, rows: slice) -> Any:
        """Return which products are above the threshold minus the error bound."""
        return products > like_products((threshold - self.error_bound)[:, None], products)

    def exact(self, queries: Rows, rows: Rows) -> Scores:
        """Return the products in float64."""
        return score_pairs(self.augmented[queries], self._vectors[rows][:, None])[:, 0]


def like_products(array: NDArray[np.floating], products: Any) -> Any:
    """Return ``array`` in ``float32``; if ``products`` is a tensor, as a tensor on its device."""
    narrow = np.ascontiguousarray(array, dtype=np.float32)
    if isinstance(products, np.ndarray):
        return narrow
    import torch

    return torch.from_numpy(narrow).to(products.device)
