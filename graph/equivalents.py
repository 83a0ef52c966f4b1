"""Links of a hierarchy that follow from equivalent entities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["through_equivalents"]

Links = NDArray[np.int32]
"""Pairs of entities, of shape (links, 2)."""

MOST_TIMES, FREE = 20, 100_000
"""Maximal number of all links: ``MOST_TIMES`` times the given links, plus ``FREE``."""


def through_equivalents(links: Links, equivalent: Links, size: int) -> Links:
    """Return the links of a hierarchy, and the links that follow from equivalent entities.

    Equivalent entities share their parents and children: for each link, every equivalent of the
    child is linked to every equivalent of the parent. Equivalents are not linked to each other.
    Entities whose equivalence would close a cycle are not merged. The given links alone are
    returned if all links would outnumber 20 times the given links plus 100,000.

    Args:
        links: Child and parent of each link, ``int32`` of shape (links, 2).
        equivalent: Pairs of equivalent entities, ``int32`` of shape (pairs, 2).
        size: Number of entities.

    Returns:
        Links, ``int32`` of shape (n, 2), starting with the given links.

    >>> car, automobile, vehicle, convertible = range(4)
    >>> links = np.array([[automobile, vehicle], [convertible, car]], dtype=np.int32)
    >>> through_equivalents(links, np.array([[car, automobile]], dtype=np.int32), 4)[2:].tolist()
    [[0, 2], [3, 1]]
    """
    if not (len(links) and len(equivalent)):
        return links
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    def matrix(pairs: Links, among: int) -> csr_matrix:
        return csr_matrix((np.ones(len(pairs), dtype=bool), tuple(pairs.T)), shape=(among, among))

    count, groups = connected_components(matrix(equivalent, size), directed=False)
    _, circles = connected_components(matrix(groups[links], count), connection="strong")
    in_circle = (np.bincount(circles) > 1)[circles]
    apart = in_circle[groups]
    groups = np.where(apart, count + np.arange(size), groups)
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(count + size + 1))
    sizes = np.diff(starts)
    between = np.unique(groups[links], axis=0)
    products = sizes[between].prod(axis=1)
    between = between[(between[:, 0] != between[:, 1]) & (products > 1)]
    if products.sum() > MOST_TIMES * len(links) + FREE:
        return links
    found = [
        [child, parent]
        for lower, upper in between.tolist()
        for child in order[starts[lower] : starts[lower + 1]].tolist()
        for parent in order[starts[upper] : starts[upper + 1]].tolist()
    ]
    every = np.concatenate([links, np.array(found, dtype=np.int32).reshape(-1, 2)])
    _, first = np.unique(every, axis=0, return_index=True)
    unique: Links = every[np.sort(first)]
    return unique
