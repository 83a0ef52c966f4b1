"""What a search needs to know of a space: how products become scores, and how far rounding can take them."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.cosine import score_pairs
from ontodex.geometry.vectors import Vectors

__all__ = ["Asked", "CosineSpace", "ProductSpace", "Rows", "Scores", "Space", "beside"]

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]


class Asked(Protocol):
    """A batch of queries, as a space asks them.

    For a fixed query and item the score rises with their product. Where products of many items are handled at once they
    are ``float32`` of shape (queries, items), a numpy array, or a torch tensor where the items are on a device.

    Attributes:
        augmented: What is multiplied with the stored vectors, ``float32`` of shape (queries, dim).
        error_bound: Bound on the rounding of a product of each query, of shape (queries,).
    """

    augmented: NDArray[np.float32]
    error_bound: Scores

    def scores(self, products: Scores, queries: Rows, rows: Rows) -> Scores:
        """Return the score of each (query, row) pair if its product is as given; all of shape (pairs,)."""

    def rough(self, products: Any, rows: slice) -> Any:
        """Return about the scores of the items of ``rows``: good for a guess, nothing is proven of their rounding."""

    def may_exceed(self, products: Any, threshold: Scores, rows: slice) -> Any:
        """Tell which items of ``rows`` may score above the ``floor`` of their query, rounding at its worst."""

    def exact(self, queries: Rows, rows: Rows) -> Scores:
        """Score each (query, row) pair in float64: the same pair has the same score in every batch."""


class Space(Protocol):
    """A score over stored vectors."""

    def ask(self, queries: NDArray[np.float32]) -> Asked:
        """Return queries, given in the form of stored vectors, as this space asks them."""


class CosineSpace:
    """Unit vectors, scored by their product.

    Args:
        vectors: The items.
    """

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def ask(self, queries: NDArray[np.float32]) -> AskedProducts:
        """Return queries as this space asks them.

        Args:
            queries: Unit vectors of shape (queries, dim).
        """
        return AskedProducts(self.vectors, queries, np.ones(len(queries)))


class ProductSpace:
    """Vectors of any length, scored by their product.

    Args:
        vectors: The items.

    Example:
        >>> from ontodex.engine.search.topk import Searcher
        >>> vectors = Vectors([np.array([[1.0, 0.0], [0.0, 3.0], [2.0, 2.0]], dtype=np.float32)])
        >>> rows, scores = Searcher(vectors, space=ProductSpace(vectors)).top(np.array([[1.0, 2.0]]), k=2)[0]
        >>> rows.tolist(), scores.tolist()
        ([1, 2], [6.0, 6.0])
    """

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    @cached_property
    def longest(self) -> float:
        """Length of the longest item."""
        blocks = (
            np.einsum("nd,nd->n", block, block, dtype=np.float64)
            for _, block in self.vectors.blocks()
        )
        return float(np.sqrt(max((block.max(initial=0.0) for block in blocks), default=0.0)))

    def ask(self, queries: NDArray[np.float32]) -> AskedProducts:
        """Return queries as this space asks them.

        Args:
            queries: Vectors of shape (queries, dim).
        """
        return AskedProducts(
            self.vectors, queries, self.longest * np.linalg.norm(queries.astype(np.float64), axis=1)
        )


class AskedProducts:
    """A batch of queries whose product with an item is their score; see :class:`Asked`.

    Args:
        vectors: The items.
        queries: The queries, of shape (queries, dim).
        most: Length of each query times that of the longest item, of shape (queries,).
    """

    def __init__(self, vectors: Vectors, queries: NDArray[np.float32], most: Scores) -> None:
        self._vectors = vectors
        self.augmented = queries
        # |float32 product - true product| is at most dim * 2**-24 * sum |q_i x_i| <= dim * 2**-24 * |q| |x|, however the
        # sum is ordered (Higham, "Accuracy and Stability of Numerical Algorithms", 3.1, and Cauchy-Schwarz); the half more
        # is for the rounding of lengths and bounds, the last term for products too small for float32.
        self.error_bound = 1.5 * vectors.dim * (2.0**-24 * most + 2.0**-126)

    def scores(self, products: Scores, queries: Rows, rows: Rows) -> Scores:
        """Return the products."""
        return products

    def rough(self, products: Any, rows: slice) -> Any:
        """Return the products."""
        return products

    def may_exceed(self, products: Any, threshold: Scores, rows: slice) -> Any:
        """Tell which products are above the floor, or below it by no more than the doubt."""
        return products > beside((threshold - self.error_bound)[:, None], products)

    def exact(self, queries: Rows, rows: Rows) -> Scores:
        """Return the products in float64."""
        return score_pairs(self.augmented[queries], self._vectors[rows][:, None])[:, 0]


def beside(array: NDArray[np.floating], products: Any) -> Any:
    """Return ``array`` in ``float32`` and, if ``products`` is a torch tensor, on its device."""
    narrow = np.ascontiguousarray(array, dtype=np.float32)
    if isinstance(products, np.ndarray):
        return narrow
    import torch

    return torch.from_numpy(narrow).to(products.device)
