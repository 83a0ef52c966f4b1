"""Correlation coefficients that are 0 if one of the columns is constant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

__all__ = ["pearson", "spearman"]

Floats = NDArray[np.floating]


def pearson(found: Floats, expected: Floats) -> float:
    """Return Pearson's correlation of two columns of shape (n,); 0 if one of them is constant.

    >>> round(pearson(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0])), 4)
    0.982
    """
    found, expected = (
        np.asarray(one, dtype=np.float64) - np.mean(one) for one in (found, expected)
    )
    size = float(np.linalg.norm(found) * np.linalg.norm(expected))
    return float(found @ expected) / size if size else 0.0


def spearman(found: Floats, expected: Floats) -> float:
    """Return Spearman's rank correlation of two columns of shape (n,); ties get their mean rank.

    >>> round(spearman(np.array([1.0, 10.0, 100.0]), np.array([1.0, 2.0, 3.0])), 6)
    1.0
    """
    return pearson(rankdata(found), rankdata(expected))
