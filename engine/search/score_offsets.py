"""Queries with a score offset on some of their items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.search.spaces import QueryBatch, Rows, Scores
from ontodex.scoring.graph_features import Offsets

__all__ = ["ScoreOffsets", "no_offsets"]


def no_offsets() -> Offsets:
    """Return score offsets without any items."""
    return np.zeros(0, dtype=np.int64), np.zeros(0)


class ScoreOffsets:
    """A batch of queries with score offsets; see :class:`~ontodex.engine.search.spaces.QueryBatch`.

    Args:
        batch: The queries, prepared by their space.
        offsets: For each query, rows of items, ascending, and the score offset of each item.

    Attributes:
        owners: Query of each score offset.
        rows: Item of each score offset, ascending.
    """

    def __init__(self, batch: QueryBatch, offsets: Sequence[Offsets]) -> None:
        self._batch = batch
        self.augmented, self.error_bound = batch.augmented, batch.error_bound
        owners = np.repeat(np.arange(len(offsets)), [len(rows) for rows, _ in offsets])
        rows = np.concatenate([rows for rows, _ in offsets])
        self._values = np.concatenate([values for _, values in offsets])
        self._count = int(rows.max(initial=-1)) + 1
        self._keys = owners * self._count + rows
        order = np.argsort(rows, kind="stable")
        self.owners, self.rows = owners[order], rows[order]

    def scores(self, products: Scores, queries: Rows, rows: Rows) -> Scores:
        """Return the scores of (query, row) pairs from their products, with offsets."""
        return self._batch.scores(products, queries, rows) + self._offset(queries, rows)

    def estimates(self, products: Any, rows: slice) -> Any:
        """Return estimates of the scores; offsets are ignored."""
        return self._batch.estimates(products, rows)

    def may_exceed(self, products: Any, threshold: Scores, rows: slice) -> Any:
        """Return which items may score above the threshold; items with an offset always may."""
        near = self._batch.may_exceed(products, threshold, rows)
        here = slice(*np.searchsorted(self.rows, (rows.start, rows.stop)))
        owners: Any = self.owners[here]
        places: Any = self.rows[here] - rows.start
        if not isinstance(products, np.ndarray):
            import torch

            owners, places = (
                torch.from_numpy(part).to(products.device) for part in (owners, places)
            )
        near[owners, places] = products[owners, places] > -np.inf
        return near

    def exact(self, queries: Rows, rows: Rows) -> Scores:
        """Score (query, row) pairs in float64, with offsets."""
        return self._batch.exact(queries, rows) + self._offset(queries, rows)

    def _offset(self, queries: Rows, rows: Rows) -> NDArray[np.float64]:
        if not self._count:
            return np.zeros(len(rows))
        wanted = queries * self._count + rows
        places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(
            (self._keys[places] == wanted) & (rows < self._count), self._values[places], 0.0
        )
