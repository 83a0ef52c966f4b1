"""Searching what entities say, where the answers are the entities: several items belong to each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, Scored, no_rows
from ontodex.engine.search.topk import Searcher

__all__ = ["best_of_each", "fetched"]


def fetched(
    searcher: Searcher,
    queries: NDArray[np.float32],
    owners: NDArray[np.int32],
    k: int,
    *,
    fetch: int,
    left_out: Sequence[Rows] | None = None,
) -> list[Scored]:
    """Return the best items for each query, so many that they belong to k owners, or all.

    Args:
        searcher: Searches the items.
        queries: One vector a row.
        owners: Owner of each item.
        k: How many owners are wanted.
        fetch: So many items are asked for first, and four times as many whenever they have too few owners.
        left_out: Items that may not be found, for each query.
    """
    found: list[Scored] = [(no_rows(), np.zeros(0))] * len(queries)
    open_ones = np.arange(len(queries))
    while len(open_ones):
        refused = None if left_out is None else [left_out[query] for query in open_ones.tolist()]
        for query, answer in zip(open_ones.tolist(), searcher.top(queries[open_ones], fetch, refused), strict=True):
            found[query] = answer
        short = [len(np.unique(owners[found[query][0]])) < k for query in open_ones.tolist()]
        open_ones = open_ones[np.array(short, dtype=bool)] if fetch < len(owners) else open_ones[:0]
        fetch *= 4
    return found


def best_of_each(rows: Rows, owners: NDArray[np.int32], k: int) -> Rows:
    """Return positions in ``rows``, which are in order of score: the first of each of the first k owners."""
    _, first = np.unique(owners[rows], return_index=True)
    return np.sort(first)[:k]
