"""Geodesics of the Poincaré disk as curves to draw."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["geodesics", "samples"]

Floats = NDArray[np.float64]


def geodesics(start: Floats, end: Floats) -> Floats:
    """Return the geodesic from each point to another: a cubic Bézier curve.

    A geodesic is an arc of a circle at right angles to the rim. The centre c of that circle has 2<c, p> = 1 + |p|^2
    for both ends p, as inversion at the rim maps the circle to itself. Where the line through both ends goes through
    the origin, the arc is straight.

    Args:
        start: Points in the open unit disk, of shape (n, 2).
        end: Likewise.

    Returns:
        The four control points of each curve, of shape (n, 4, 2).
    """
    cross = _cross(start, end)
    straight = np.abs(cross) < 1e-6
    scale = np.where(straight, 1.0, cross)
    near, far = (1 + (start**2).sum(axis=1)) / 2, (1 + (end**2).sum(axis=1)) / 2
    centre = np.stack([near * end[:, 1] - far * start[:, 1], far * start[:, 0] - near * end[:, 0]], axis=1)
    first, last = start - centre / scale[:, None], end - centre / scale[:, None]
    turn = np.arctan2(_cross(first, last), (first * last).sum(axis=1))
    handle = (4 / 3 * np.tan(turn / 4))[:, None]
    one = start + handle * np.stack([-first[:, 1], first[:, 0]], axis=1)
    two = end - handle * np.stack([-last[:, 1], last[:, 0]], axis=1)
    one = np.where(straight[:, None], start + (end - start) / 3, one)
    two = np.where(straight[:, None], end - (end - start) / 3, two)
    return np.stack([start, one, two, end], axis=1)


def samples(curves: Floats, steps: int = 60) -> Floats:
    """Return points along cubic Bézier curves (n, 4, 2), of shape (n * steps, 2)."""
    at = np.linspace(0, 1, steps)
    shares = np.stack([(1 - at) ** 3, 3 * at * (1 - at) ** 2, 3 * at**2 * (1 - at), at**3])
    return np.asarray(np.einsum("pt,npc->ntc", shares, curves).reshape(-1, 2))


def _cross(left: Floats, right: Floats) -> Floats:
    return left[:, 0] * right[:, 1] - left[:, 1] * right[:, 0]
