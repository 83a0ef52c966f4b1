"""The Poincaré ball: general entities lie near its origin, specific ones near its boundary.

HiT (He et al., NeurIPS 2024) takes embeddings of dimension d as points of the ball of curvature -c
with c = 1/d and radius 1/√c. Below, ``b(x) = 1 - c|x|²``. All distances are computed in one form
without clamping or cancellation (see :func:`distance`). With lifted vectors, the item nearest to a
query is the item with the largest inner product.

Every function takes numpy arrays or torch tensors, all arguments of one kind, and returns the same
kind, on the same device and with gradients. Computation is in float32 or float64 as given; half
precision is converted to float32. Points have the shape (..., dim). Distances and norms are
hyperbolic lengths for curvature -c. Points must be inside the ball; :func:`clip` ensures this.
For a point on or beyond the boundary, ``b(x)`` is replaced by the epsilon of the dtype, so that
distances and gradients are finite.
"""

from __future__ import annotations

import math

import numpy as np

from ontodex.geometry.arrays import Array, all_products, floating, joined, library_of, widened

__all__ = [
    "clip",
    "curvature",
    "distance",
    "distance_of_products",
    "exp_origin",
    "item_norms",
    "lift_items",
    "lift_queries",
    "log_origin",
    "norm",
    "pairwise",
    "unlift",
]


def curvature(dim: int) -> float:
    """Return HiT's c = 1/dim, for curvature -c and radius √dim (He et al., section 3).

    >>> curvature(384) * 384
    1.0
    """
    return 1.0 / dim


def clip(points: Array, c: float, margin: float = 1e-5) -> Array:
    """Scale points that are longer than (1 - margin)/√c down to this length.

    The gradient treats the scale as a constant, so that a loss can draw points outside the ball
    inwards. (If the scale were differentiated, the gradient would have no radial component.)

    Args:
        points: Vectors of shape (..., dim).
        c: The curvature is -c.
        margin: Share of the radius between the points and the boundary.

    Returns:
        Points of the same shape, inside the ball.

    Example:
        >>> clip(np.array([[3.0, 4.0], [0.3, 0.4]]), c=1.0, margin=0.1).round(9).tolist()
        [[0.54, 0.72], [0.3, 0.4]]
    """
    points = floating(points)
    limit = (1 - margin) / math.sqrt(c)
    scale = limit / library_of(points).clip(_length(points), limit, None)
    clipped: Array = (
        points * (scale if isinstance(points, np.ndarray) else scale.detach())[..., None]
    )
    return clipped


def distance(left: Array, right: Array, c: float) -> Array:
    """Return ``d(x, y) = (2/√c) arsinh(√c|x - y| / √(b(x) b(y)))``.

    The value equals ``(2/√c) artanh(√c|(-x) ⊕ y|)`` of geoopt and the paper, but is also exact for
    near-duplicates and near the boundary. The gradient at equal points is zero.

    Args:
        left: Points of shape (..., dim).
        right: Points of shape (..., dim); leading dimensions broadcast against ``left``.
        c: The curvature is -c.

    Returns:
        Hyperbolic distances of shape (...).

    Example:
        >>> right = np.array([[0.0, 0.0], [0.6, 0.0]])
        >>> distance(np.array([0.0, 0.0]), right, c=1.0).round(6).tolist()
        [0.0, 1.386294]
    """
    left, right = floating(left), floating(right)
    return _arsinh(_length(left - right) / (_room(left, c) * _room(right, c)) ** 0.5, c)


def pairwise(left: Array, right: Array, c: float) -> Array:
    """Return the distances of all pairs by one matrix product, for training.

    ``|x - y|²`` is computed as ``|x|² + |y|² - 2⟨x, y⟩``. In float32, distances as large as HiT's
    are correct to about seven digits; distances near zero have an error of about 0.05. The gradient
    is finite everywhere. The product has full precision under autocast.

    Args:
        left: Points of shape (n, dim).
        right: Points of shape (m, dim).
        c: The curvature is -c.

    Returns:
        Hyperbolic distances of shape (n, m).

    Example:
        >>> right = np.array([[0.0, 0.0], [0.6, 0.0]])
        >>> pairwise(np.array([[0.0, 0.0]]), right, c=1.0).round(6).tolist()
        [[0.0, 1.386294]]
    """
    left, right = floating(left), floating(right)
    squares: Array = (
        (left * left).sum(-1)[:, None] + (right * right).sum(-1) - 2 * all_products(left, right)
    )
    gaps: Array = _root(library_of(left).clip(squares, 0, None))
    lengths: Array = gaps / (_room(left, c)[:, None] * _room(right, c)) ** 0.5
    return _arsinh(lengths, c)


def norm(points: Array, c: float) -> Array:
    """Return the hyperbolic norm, the distance to the origin: ``(2/√c) artanh(√c|x|)``.

    Args:
        points: Points of shape (..., dim).
        c: The curvature is -c.

    Returns:
        Hyperbolic norms of shape (...).

    Example:
        >>> norm(np.array([[0.6, 0.0]]), c=1.0).round(6).tolist()
        [1.386294]
    """
    points = floating(points)
    return _arsinh(_length(points) / _room(points, c) ** 0.5, c)


def exp_origin(vectors: Array, c: float) -> Array:
    """Map tangent vectors at the origin into the ball: ``tanh(√c|v|) v/(√c|v|)``.

    The hyperbolic norm of the point is ``2|v|``.

    Args:
        vectors: Tangent vectors of shape (..., dim).
        c: The curvature is -c.

    Returns:
        Points of the same shape; on the boundary if tanh rounds to one (``√c|v|`` above 9 in
        float32).

    Example:
        >>> exp_origin(np.array([[0.0, 0.0], [math.log(2), 0.0]]), c=1.0).round(6).tolist()
        [[0.0, 0.0], [0.6, 0.0]]
    """
    vectors = floating(vectors)
    size = math.sqrt(c) * _length(vectors)
    mapped: Array = vectors * _share(library_of(vectors).tanh(size), size)[..., None]
    return mapped


def log_origin(points: Array, c: float) -> Array:
    """Map points to tangent vectors at the origin: ``artanh(√c|x|) x/(√c|x|)``.

    This is the inverse of :func:`exp_origin`.

    Args:
        points: Points of shape (..., dim).
        c: The curvature is -c.

    Returns:
        Tangent vectors of the same shape; their length is half the hyperbolic norm of the points.

    Example:
        >>> log_origin(np.array([[0.6, 0.0]]), c=1.0).round(6).tolist()
        [[0.693147, 0.0]]
    """
    points = floating(points)
    size = math.sqrt(c) * _length(points)
    mapped: Array = points * _share(norm(points, c) * (math.sqrt(c) / 2), size)[..., None]
    return mapped


def lift_items(points: Array, c: float) -> Array:
    """Lift the items y of a search: ``(y/b, |y|²/b)`` with ``b = 1 - c|y|²``.

    The inner product with a lifted query x is ``|x|² - |x - y|²/b(y)``. For a fixed query, it
    decreases as the distance grows.

    Args:
        points: Points of shape (..., dim).
        c: The curvature is -c.

    Returns:
        Vectors of shape (..., dim + 1), computed in float64; returned in float64 if the points are,
        otherwise in float32.

    Example:
        >>> items = lift_items(np.array([[0.6, 0.0]]), c=1.0)
        >>> items.round(6).tolist()
        [[0.9375, 0.0, 0.5625]]
        >>> queries = lift_queries(np.array([[0.0, 0.5]]), c=1.0)
        >>> (queries @ items.T).round(6).tolist()  # 0.25 - 0.61/0.64
        [[-0.703125]]
    """
    wide = widened(points)
    room = _room(wide, c)[..., None]
    return joined(wide / room, (wide * wide).sum(-1)[..., None] / room, like=points)


def lift_queries(points: Array, c: float) -> Array:
    """Lift the queries x of a search: ``(2x, -(1 + c|x|²))``; see :func:`lift_items`.

    Args:
        points: Points of shape (..., dim).
        c: The curvature is -c.

    Returns:
        Vectors of shape (..., dim + 1), computed in float64; returned in float64 if the points are,
        otherwise in float32.
    """
    wide = widened(points)
    return joined(2 * wide, -1 - c * (wide * wide).sum(-1)[..., None], like=points)


def unlift(items: Array, c: float) -> Array:
    """Return the points of lifted items, from shape (..., dim + 1) to (..., dim).

    >>> unlift(lift_items(np.array([[0.6, 0.0]]), c=1.0), c=1.0).round(6).tolist()
    [[0.6, 0.0]]
    """
    items = floating(items)
    return items[..., :-1] / (1 + c * items[..., -1:])


def item_norms(items: Array, c: float) -> Array:
    """Return the hyperbolic norms of lifted items, from shape (..., dim + 1) to (...).

    The last number of an item determines its norm.

    >>> item_norms(lift_items(np.array([[0.6, 0.0]]), c=1.0), c=1.0).round(6).tolist()
    [1.386294]
    """
    last = floating(items)[..., -1]
    lengths: Array = _root(library_of(last).clip(last, 0, None))
    return _arsinh(lengths, c)


def distance_of_products(products: Array, square: Array, c: float) -> Array:
    """Convert inner products of lifted queries and lifted items to hyperbolic distances.

    For one query, distances ascend as products descend.

    Args:
        products: Inner products ⟨lifted query, lifted item⟩, of any shape.
        square: ``|x|²`` of the queries, of a shape that broadcasts against ``products``.
        c: The curvature is -c.

    Returns:
        Hyperbolic distances of the shape of ``products``. From products in float32, a distance
        below about 0.05 may be returned as zero; :func:`distance` is exact for near-duplicates.

    Example:
        >>> distance_of_products(np.array([-0.5625]), np.array([0.0]), c=1.0).round(6).tolist()
        [1.386294]
    """
    products, square = floating(products), floating(square)
    library = library_of(products)
    room = library.clip(1 - c * square, float(library.finfo(square.dtype).eps), None)
    lengths: Array = _root(library.clip(square - products, 0, None) / room)
    return _arsinh(lengths, c)


def _root(squares: Array) -> Array:
    """Return the square root; its gradient at zero is zero."""
    zero = squares == 0
    root: Array = library_of(squares).sqrt(squares + zero) * ~zero
    return root


def _share(part: Array, whole: Array) -> Array:
    """Return ``part / whole``; 1 where both are zero."""
    zero = whole == 0
    share: Array = (part + zero) / (whole + zero)
    return share


def _length(points: Array) -> Array:
    return _root((points * points).sum(-1))


def _room(points: Array, c: float) -> Array:
    """Return ``b(x) = 1 - c|x|²``, at least the epsilon of the dtype."""
    library, size = library_of(points), math.sqrt(c) * _length(points)
    room: Array = library.clip(
        (1 - size) * (1 + size), float(library.finfo(points.dtype).eps), None
    )
    return room


def _arsinh(lengths: Array, c: float) -> Array:
    """Return ``(2/√c) arsinh(√c length)``."""
    root = math.sqrt(c)
    distances: Array = (2 / root) * library_of(lengths).arcsinh(root * lengths)
    return distances
