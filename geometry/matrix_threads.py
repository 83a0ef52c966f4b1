"""Number of threads of NumPy's matrix products.

Most products of a question are so small that one thread is nearly as fast as two. On a busy machine
each of them would wait until the second thread gets a turn: a search by text took fifteen times as
long, beside one other process on two cores.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

__all__ = ["multiply", "one_thread"]

LARGE = 1 << 28
"""Number of multiplications from which a product uses all threads: some milliseconds of one."""

FEW = 4
"""Number of queries below which OpenBLAS, made for matrices, takes longer than a query at a time.

With 100,000 items of 384 dimensions, one, two and four queries take it 12, 35 and 37 milliseconds;
a query at a time takes 7, 14 and 27.
"""


def one_thread() -> Any:
    """Return a context in which matrix products use one thread, but for :func:`multiply`.

    Of several Python threads, the first one decides until it leaves the context.
    """
    _threads()  # noted before the first limit
    return _library().limit(limits=1)


def multiply(
    queries: NDArray[np.float32], items: NDArray[np.float32], out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Return the inner products of queries and items, of shape (queries, items).

    Args:
        queries: Of shape (queries, dim).
        items: Of shape (items, dim).
        out: Where the products are written; ``None`` for a new array.

    >>> multiply(np.ones((1, 2), dtype=np.float32), np.ones((3, 2), dtype=np.float32)).tolist()
    [[2.0, 2.0, 2.0]]
    """
    if len(queries) < FEW:
        found = np.empty((len(queries), len(items)), np.float32) if out is None else out
        for query, products in zip(queries, found, strict=True):
            np.einsum("d,nd->n", query, items, out=products)
        return found
    if len(queries) * items.size < LARGE:
        return np.matmul(queries, items.T, out=out)
    with _library().limit(limits=_threads()):
        return np.matmul(queries, items.T, out=out)


@cache
def _library() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@cache
def _threads() -> int:
    """Return the number of threads of products, as it was before any limit."""
    return max((one["num_threads"] for one in _library().info()), default=1)
