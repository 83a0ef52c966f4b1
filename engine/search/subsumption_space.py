"""The Poincaré ball: exact search by the subsumption score of HiT with inner products."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.search.spaces import Rows, Scores, like_products
from ontodex.errors import SettingsError
from ontodex.geometry import poincare
from ontodex.geometry.vectors import Vectors

__all__ = ["SubsumptionSpace"]

STEEPEST = 60.0
"""Largest exponent whose exponential is safe from overflow in float32."""


class SubsumptionSpace:
    """Ranks items as parents (or children) of queries by the subsumption score of HiT.

    The score is -(distance + weight * (norm(parent) - norm(child)) - tilt * norm(child)); He et al.
    (2024, equation 6) have no tilt. Let x be the query, y the item, b the contribution of the
    norms to the score, and u = |x-y|²/(1-c|y|²), which equals |x|² minus the inner product of the
    lifted points. An item scores above a threshold t if

        u < (1-c|x|²)/c * sinh²(√c (b - t) / 2)    and    b > t.

    The sinh is the inner product of two vectors of length 2, one of the query and one of the item.
    All items are therefore compared with a threshold without computing an arsinh, and only the few
    items that may exceed the threshold are scored.

    Args:
        vectors: Lifted points, of shape (n, d+1); see :func:`ontodex.geometry.poincare.lift_items`.
        curvature: c; the ball has curvature -c and radius 1/√c.
        weight: Weight of the difference of norms, at least 0.
        tilt: Additional weight of the child's norm, at least -``weight``.

    Attributes:
        norms: Hyperbolic norm of each item, ``float64`` of shape (n,).
        upward: Whether items are ranked as parents of the query; see :meth:`reversed`.

    Raises:
        SettingsError: If a weight is so large that powers overflow float32.

    Example:
        >>> from ontodex.engine.search.topk import Searcher
        >>> points = np.array([[0.0, 0.0], [0.5, 0.0], [0.9, 0.0]], dtype=np.float32)
        >>> vectors = Vectors([poincare.lift_items(points, c=1.0)])
        >>> above = Searcher(vectors, space=SubsumptionSpace(vectors, curvature=1.0, weight=1.0))
        >>> middle, itself = vectors[np.array([1])], [np.array([1])]
        >>> rows, scores = above.top(middle, k=2, exclude=itself)[0]
        >>> rows.tolist(), abs(scores).round(3).tolist()
        ([0, 2], [0.0, 3.692])
    """

    def __init__(
        self, vectors: Vectors, curvature: float, weight: float, tilt: float = 0.0
    ) -> None:
        self.vectors = vectors
        self.curvature = curvature
        self.weight = weight
        self.tilt = tilt
        self.child_weight = weight + tilt
        self.upward = True
        self.norms = np.empty(len(vectors))
        steepest = 0.0
        for start, block in vectors.blocks():
            last = block[:, -1].astype(np.float64)
            self.norms[start : start + len(block)] = _norms(last, curvature)
            steepest = max(steepest, float(last.max(initial=0.0)))
        self.steepest = steepest
        low, high = (
            float(end) for end in (self.norms.min(initial=np.inf), self.norms.max(initial=-np.inf))
        )
        self.middle = (low + high) / 2 if len(vectors) else 0.0
        self._set_powers()

    def reversed(self) -> SubsumptionSpace:
        """Return the space that ranks children if this one ranks parents, and vice versa."""
        other = copy.copy(self)
        other.upward = not self.upward
        other._set_powers()
        return other

    def _set_powers(self) -> None:
        """Compute the contribution of the items' norms to their scores."""
        self.slope = -self.weight if self.upward else self.child_weight
        exponents = np.sqrt(self.curvature) / 2 * self.slope * (self.norms - self.middle)
        steep = float(exponents.max(initial=0.0))
        if steep > STEEPEST:
            found, span = abs(self.slope), float(np.ptp(self.norms))
            raise SettingsError(
                f"weight of the norms: expected at most {found * STEEPEST / steep:.4g} where "
                f"norms span {span:.1f}, found {found:.4g}"
            )
        powers = np.empty((2, len(exponents)), dtype=np.float32)
        powers[0], powers[1] = np.exp(exponents), np.exp(-exponents)
        self.powers = powers
        """exp(√c b/2) and exp(-√c b/2) up to a common factor, ``float32`` of shape (2, n).

        b is the contribution of an item's norm to the score.
        """

    def prepare(self, queries: NDArray[np.float32]) -> SubsumptionBatch:
        """Prepare queries.

        Args:
            queries: Lifted points of shape (queries, d+1).
        """
        return SubsumptionBatch(self, queries)

    def pair_scores(self, children: NDArray[np.float32], parents: Rows) -> Scores:
        """Score (child, parent) pairs in float64, given lifted children and rows of parents.

        Args:
            children: Lifted points, of shape (pairs, d+1).
            parents: Rows, of shape (pairs,).
        """
        space = self if self.upward else self.reversed()
        batch = space.prepare(children)
        return batch.exact(np.arange(len(parents)), parents)


class SubsumptionBatch:
    """A batch of points of the ball; see :class:`~ontodex.engine.search.spaces.QueryBatch`."""

    def __init__(self, space: SubsumptionSpace, queries: NDArray[np.float32]) -> None:
        self._space = space
        c = space.curvature
        self._points = poincare.unlift(queries.astype(np.float64), c)
        self.norms = _norms(queries[:, -1].astype(np.float64), c)
        share = space.child_weight if space.upward else -space.weight
        self._constant = share * self.norms + space.slope * space.middle
        self._squares = np.einsum("qd,qd->q", self._points, self._points)
        self._scale = (1 - c * self._squares) / c
        self.augmented = np.ascontiguousarray(
            poincare.lift_queries(self._points, c), dtype=np.float32
        )
        self.error_bound = self._bound_error()

    def _bound_error(self) -> Scores:
        """Bound the error of u = |x|² - product in float32, and of scale * sinh², its counterpart.

        A float32 sum of d+1 products, with one rounded factor each, has an error of at most (d+3)
        2^-24 times the largest |query| |item| in any order. The d+1 numbers of a stored item are
        rounded, which changes 1-c|y|² by a relative error of at most 2^-22 (1+cs), where s is the
        last number of the item. Where scale * sinh² equals u, its error is at most 2^-22 (3u +
        scale + |product|).
        """
        space, c = self._space, self._space.curvature
        last = space.steepest
        item = np.sqrt(last * (1 + c * last)) * (1 + 1e-6)  # largest |y| / (1-c|y|²)
        largest = 2 * np.sqrt(self._squares) * item + (1 + c * self._squares) * last
        products = (space.vectors.dim + 4) * 2.0**-24 * largest
        stored = 2.0**-22 * (1 + c * last) * (largest + self._squares)
        compared = 2.0**-22 * (4 * largest + 3 * self._squares + self._scale)
        return np.asarray(products + stored + compared)

    def scores(self, products: Scores, queries: Rows, rows: Rows) -> Scores:
        """Return the scores of (query, row) pairs from their products."""
        distance = poincare.distance_of_products(
            products, self._squares[queries], self._space.curvature
        )
        return self._with_norms(distance, queries, rows)

    def estimates(self, products: Any, rows: slice) -> Any:
        """Return the scores, computed in float32."""
        space = self._space
        squares = like_products(self._squares[:, None], products)
        distance = poincare.distance_of_products(products, squares, space.curvature)
        return like_products(space.slope * (space.norms[rows] - space.middle), products) - distance

    def may_exceed(self, products: Any, threshold: Scores, rows: slice) -> Any:
        """Return which items may score above the threshold, without computing an arsinh."""
        space = self._space
        half = np.sqrt(space.curvature) / 2 * (threshold - self._constant)
        with np.errstate(over="ignore", invalid="ignore"):  # a threshold of -inf gives inf
            root = np.sqrt(self._scale) / 2
            ours = like_products(
                np.stack([root * np.exp(-half), -root * np.exp(half)], axis=1), products
            )
            reach = ours @ like_products(space.powers[:, rows], products)
            reach = (
                np.maximum(reach, 0, out=reach)
                if isinstance(reach, np.ndarray)
                else reach.clamp_(min=0)
            )
            reach *= reach
            reach += products
        return reach > like_products((self._squares - self.error_bound)[:, None], products)

    def exact(self, queries: Rows, rows: Rows) -> Scores:
        """Score pairs by the numerically stable form of the distance."""
        space = self._space
        points = poincare.unlift(space.vectors[rows].astype(np.float64), space.curvature)
        distance = poincare.distance(self._points[queries], points, space.curvature)
        return self._with_norms(distance, queries, rows)

    def _with_norms(self, distance: Scores, queries: Rows, rows: Rows) -> Scores:
        space, own, found = self._space, self.norms[queries], self._space.norms[rows]
        parents, children = (found, own) if space.upward else (own, found)
        return 0.0 - (distance + space.weight * (parents - children) - space.tilt * children)


def _norms(last: Scores, curvature: float) -> Scores:
    """Return hyperbolic norms of lifted points, given their last numbers."""
    return np.asarray(poincare.item_norms(last[:, None], curvature))
