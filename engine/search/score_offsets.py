"""Queries some of whose items have something added to the score that the space gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.search.spaces import Asked, Rows, Scores
from ontodex.scoring.graph_features import Offsets

__all__ = ["ScoreOffsets", "no_offsets"]


def no_offsets() -> Offsets:
    """Return a bonus of nothing."""
    return np.zeros(0, dtype=np.int64), np.zeros(0)


class ScoreOffsets:
    """A batch of queries, some of whose items have a bonus; see :class:`~ontodex.engine.search.spaces.Asked`.

    Args:
        asked: The queries as the space asks them.
        offsets: Rows, ascending, and what is added to the score of each, for every query.

    Attributes:
        owners: Query of each bonus.
        rows: Row of each, ascending.
    """

    def __init__(self, asked: Asked, offsets: Sequence[Offsets]) -> None:
        self._asked = asked
        self.augmented, self.error_bound = asked.augmented, asked.error_bound
        owners = np.repeat(np.arange(len(offsets)), [len(rows) for rows, _ in offsets])
        rows = np.concatenate([rows for rows, _ in offsets])
        self._more = np.concatenate([more for _, more in offsets])
        self._count = int(rows.max(initial=-1)) + 1
        self._keys = owners * self._count + rows
        order = np.argsort(rows, kind="stable")
        self.owners, self.rows = owners[order], rows[order]

    def scores(self, products: Scores, queries: Rows, rows: Rows) -> Scores:
        """Return the score of each pair if its product is as given."""
        return self._asked.scores(products, queries, rows) + self._offset(queries, rows)

    def rough(self, products: Any, rows: slice) -> Any:
        """Return about the scores, without what is added."""
        return self._asked.rough(products, rows)

    def may_exceed(self, products: Any, threshold: Scores, rows: slice) -> Any:
        """Tell which items may score above the floor: whatever has a bonus may."""
        near = self._asked.may_exceed(products, threshold, rows)
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
        """Score each pair in float64."""
        return self._asked.exact(queries, rows) + self._offset(queries, rows)

    def _offset(self, queries: Rows, rows: Rows) -> NDArray[np.float64]:
        if not self._count:
            return np.zeros(len(rows))
        wanted = queries * self._count + rows
        places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(
            (self._keys[places] == wanted) & (rows < self._count), self._more[places], 0.0
        )
