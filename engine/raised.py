"""The best answers where some entities have something added to what the search of a space scores them by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, Scored, no_rows
from ontodex.engine.topk import Searcher
from ontodex.indexers.structure import Bonus

__all__ = ["no_bonus", "raised_among", "raised_top"]


def no_bonus() -> Bonus:
    """Return a bonus of nothing."""
    return no_rows(), np.zeros(0)


def raised_top(
    searcher: Searcher, queries: NDArray[np.float32], bonuses: Sequence[Bonus], k: int, left_out: Sequence[Rows]
) -> list[Scored]:
    """Return the k best of all items but those left out, as :meth:`~ontodex.engine.topk.Searcher.top` does.

    Whatever has a bonus, which may be negative, is scored apart.
    """
    apart = [np.union1d(out, reached) for out, (reached, _) in zip(left_out, bonuses, strict=True)]
    among = [
        np.concatenate([rows, np.setdiff1d(reached, out)])
        for (rows, _), (reached, _), out in zip(searcher.top(queries, k, apart), bonuses, left_out, strict=True)
    ]
    return raised_among(searcher, queries, bonuses, k, among)


def raised_among(
    searcher: Searcher, queries: NDArray[np.float32], bonuses: Iterable[Bonus], k: int, among: Sequence[Rows]
) -> list[Scored]:
    """Return the k best of given items."""
    found = []
    for query, (reached, more), rows in zip(queries, bonuses, among, strict=True):
        rows, scores = searcher.among(query, rows, len(rows))
        there = np.isin(rows, reached)
        scores[there] += more[np.searchsorted(reached, rows[there])]
        order = np.lexsort((rows, -scores))[:k]
        found.append((rows[order], scores[order]))
    return found
