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


def one_thread() -> Any:
    """Return a context in which matrix products use one thread, but for :func:`multiply`.

    Of several Python threads, the first one decides until it leaves the context.
    """
    _threads()  # noted before the first limit
    return _library().limit(limits=1)


def multiply(
    left: NDArray[np.float32], right: NDArray[np.float32], out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Return the product of two matrices; a large one is computed by all threads.

    >>> multiply(np.ones((1, 2), dtype=np.float32), np.ones((2, 1), dtype=np.float32)).tolist()
    [[2.0]]
    """
    if len(left) * right.size < LARGE:
        return np.matmul(left, right, out=out)
    with _library().limit(limits=_threads()):
        return np.matmul(left, right, out=out)


@cache
def _library() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@cache
def _threads() -> int:
    """Return the number of threads of products, as it was before any limit."""
    return max((one["num_threads"] for one in _library().info()), default=1)
