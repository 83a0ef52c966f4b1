"""Diagonal Gaussians as text embeddings, compared by the KL divergence, which is asymmetric.

GaussCSE (Yoda et al., "Sentence Representations via Gaussian Embedding", EACL 2024) embeds a
sentence as N(μ, diag(σ²)) and scores "premise p entails hypothesis h" by sim(h‖p) = 1 / (1 +
KL(h‖p)) (equation 2 of the paper). If one argument is fixed, KL is an inner product of vectors of
2d + 1 numbers plus a constant, so an exact search needs only matrix products.

A Gaussian of dimension d is an array of shape (..., 2d): d means, then d natural logarithms of
variances. Every function takes numpy arrays or torch tensors, all arguments of one kind, and
returns the same kind, with gradients. Computation is in float32 or float64 as given; half precision
is converted to float32. Divergences are in nats.
"""

from __future__ import annotations

from ontodex.errors import expect_choice
from ontodex.geometry.arrays import Array, all_products, floating, joined, library_of, widened

__all__ = [
    "LOG_VARIANCE",
    "SIMILARITIES",
    "containment",
    "entropy",
    "kl",
    "kl_matrix",
    "left_items",
    "left_queries",
    "moved",
    "right_items",
    "right_queries",
    "similarity",
    "similarity_matrix",
    "split",
    "symmetric_kl",
    "typical",
    "wasserstein",
]

LOG_VARIANCE = (-10.0, 10.0)
"""Bounds of the log-variances that an encoder makes, so that exponentials do not overflow."""

SIMILARITIES = ("scaled", "paper", "per-dimension")
"""Forms of the similarity.

``"paper"`` is 1 / (1 + KL). ``"scaled"`` is 1 / (1 + KL/d): the ranking is the same, and the
gradient does not vanish for large d. ``"per-dimension"`` is the mean of 1 / (1 + KL_k) over the
dimensions k, as in the authors' code; a search by inner products cannot rank by this form.
"""

LOG_2_PI_E = 2.8378770664093453
"""Twice the entropy of N(0, 1)."""

CHUNK = 1 << 24
"""Largest number of elements of a temporary array of shape (n, m, d).

Only the form ``"per-dimension"``, which is not a matrix product, needs such an array.
"""


def split(gaussians: Array) -> tuple[Array, Array]:
    """Return means and log-variances, each of shape (..., d)."""
    half = gaussians.shape[-1] // 2
    return gaussians[..., :half], gaussians[..., half:]


def kl(left: Array, right: Array) -> Array:
    """Return KL(left‖right) = ½ Σ [expm1(t) - t + (μ - m)² e^(-ln s)] with t = ln v - ln s.

    No term is negative, so terms do not cancel, and near-duplicates have full precision.

    Args:
        left: Gaussians of shape (..., 2d), with means μ and variances v.
        right: Gaussians of shape (..., 2d), with means m and variances s; leading dimensions
            broadcast.

    Returns:
        Divergences of shape (...).

    Example:
        >>> import numpy as np
        >>> right = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, np.log(4)]])
        >>> kl(np.array([0.0, 0.0]), right).round(6).tolist()
        [0.0, 2.0, 0.318147]
    """
    terms: Array = _terms(left, right).sum(-1)
    return terms


def kl_matrix(left: Array, right: Array) -> Array:
    """Return KL(left‖right) of all pairs by two matrix products, for training.

    The average of the left means is subtracted from all means first; this does not change the
    divergences. In float32, a divergence of d nats is correct to about six digits, and a divergence
    near zero has an error of about 1e-4.

    Args:
        left: Gaussians of shape (n, 2d).
        right: Gaussians of shape (m, 2d).

    Returns:
        Divergences of shape (n, m), at least 0.

    Example:
        >>> import numpy as np
        >>> kl_matrix(np.array([[0.0, 0.0]]), np.array([[0.0, 0.0], [2.0, 0.0]])).round(6).tolist()
        [[0.0, 2.0]]
    """
    (ours, our_logs), (theirs, their_logs) = split(floating(left)), split(floating(right))
    middle = ours.mean(0)
    ours, theirs = ours - middle, theirs - middle
    library = library_of(ours)
    variances, inverses = library.exp(our_logs), library.exp(-their_logs)
    squares = all_products(variances + ours * ours, inverses) - 2 * all_products(
        ours, theirs * inverses
    )
    alone = (
        (theirs * theirs * inverses + their_logs).sum(-1)
        - our_logs.sum(-1)[:, None]
        - ours.shape[-1]
    )
    found: Array = library.clip(0.5 * (squares + alone), 0, None)
    return found


def similarity(left: Array, right: Array, form: str = "scaled") -> Array:
    """Return the similarity of Gaussians by KL(left‖right), a number in (0, 1].

    Args:
        left: Gaussians of shape (..., 2d).
        right: Gaussians of shape (..., 2d); leading dimensions broadcast.
        form: One of :data:`SIMILARITIES`.

    Returns:
        Similarities of shape (...).

    Raises:
        SettingsError: If ``form`` has another value.

    Example:
        >>> import numpy as np
        >>> left, right = np.array([2.0, 0.0, 0.0, 0.0]), np.zeros(4)
        >>> [float(similarity(left, right, form).round(6)) for form in SIMILARITIES]
        [0.5, 0.333333, 0.666667]
    """
    expect_choice("similarity", form, SIMILARITIES)
    terms = _terms(left, right)
    if form == "per-dimension":
        mean: Array = (1 / (1 + terms)).mean(-1)
        return mean
    found: Array = _of_kl(terms.sum(-1), terms.shape[-1], form)
    return found


def similarity_matrix(left: Array, right: Array, form: str = "scaled") -> Array:
    """Return the similarity of all pairs of left and right Gaussians, for training.

    Two matrix products are computed. The form ``"per-dimension"`` is computed for a few left
    Gaussians at a time.

    Args:
        left: Gaussians of shape (n, 2d).
        right: Gaussians of shape (m, 2d).
        form: One of :data:`SIMILARITIES`.

    Returns:
        Similarities of shape (n, m).

    Raises:
        SettingsError: If ``form`` has another value.
    """
    expect_choice("similarity", form, SIMILARITIES)
    if form != "per-dimension":
        return _of_kl(kl_matrix(left, right), left.shape[-1] // 2, form)
    rows = max(1, CHUNK // max(1, right.shape[0] * right.shape[1]))
    parts = [
        similarity(left[at : at + rows, None], right[None], form)
        for at in range(0, left.shape[0], rows)
    ]
    found: Array = library_of(left).concatenate(parts, 0)
    return found


def symmetric_kl(left: Array, right: Array) -> Array:
    """Return the Jeffreys divergence KL(left‖right) + KL(right‖left); shapes as in :func:`kl`.

    >>> import numpy as np
    >>> float(symmetric_kl(np.array([0.0, 0.0]), np.array([2.0, 0.0])))
    4.0
    """
    found: Array = kl(left, right) + kl(right, left)
    return found


def wasserstein(left: Array, right: Array) -> Array:
    """Return the 2-Wasserstein distance √(Σ (μ - m)² + (σ - τ)²); shapes as in :func:`kl`.

    μ and σ are means and standard deviations of the left Gaussian, m and τ of the right Gaussian.

    >>> import numpy as np
    >>> float(wasserstein(np.array([0.0, 0.0]), np.array([3.0, 2 * np.log(5)])).round(6))
    5.0
    """
    (ours, our_logs), (theirs, their_logs) = split(floating(left)), split(floating(right))
    exp = library_of(ours).exp
    spread = exp(our_logs / 2) - exp(their_logs / 2)
    found: Array = ((ours - theirs) ** 2 + spread * spread).sum(-1) ** 0.5
    return found


def containment(inner: Array, outer: Array) -> Array:
    """Return how far the inner Gaussian extends beyond the outer one: (1/d) Σ (v + (μ - m)²) / s.

    This is the mean squared distance of points of the inner Gaussian from the outer mean, in
    standard deviations of the outer Gaussian. The value is at most 1 if the inner Gaussian lies
    within the outer one. Unlike KL, the value does not grow as the inner variance shrinks.

    Args:
        inner: Gaussians of shape (..., 2d), with means μ and variances v.
        outer: Gaussians of shape (..., 2d), with means m and variances s; leading dimensions
            broadcast.

    Returns:
        Values of shape (...); a smaller value means better containment.

    Example:
        >>> import numpy as np
        >>> wide, narrow = np.array([0.0, np.log(4)]), np.array([0.0, 0.0])
        >>> containment(narrow, wide).round(6).item()
        0.25
        >>> containment(wide, narrow).round(6).item()
        4.0
    """
    (ours, our_logs), (theirs, their_logs) = split(floating(inner)), split(floating(outer))
    exp = library_of(ours).exp
    found: Array = (exp(our_logs - their_logs) + (ours - theirs) ** 2 * exp(-their_logs)).mean(-1)
    return found


def entropy(gaussians: Array) -> Array:
    """Return the differential entropy ½ Σ (ln 2πe + ln v) in nats, where v are the variances.

    The shape (..., 2d) becomes (...).

    >>> import numpy as np
    >>> float(entropy(np.array([5.0, 0.0])).round(6))
    1.418939
    """
    _, logs = split(floating(gaussians))
    found: Array = 0.5 * (logs + LOG_2_PI_E).sum(-1)
    return found


def moved(gaussians: Array, shift: Array, scale: Array) -> Array:
    """Return the Gaussians after shifting and scaling their space.

    A point x is moved to (x - shift) / scale. Divergences between moved Gaussians are the same as
    before. Lifts of Gaussians that are standardised in this way lose fewer digits.

    Args:
        gaussians: Gaussians of shape (..., 2d).
        shift: Shift of each dimension, of shape (d,).
        scale: Scale of each dimension, of shape (d,); positive.
    """
    means, logs = split(floating(gaussians))
    found: Array = joined(
        (means - shift) / scale, logs - 2 * library_of(scale).log(scale), like=gaussians
    )
    return found


def typical(gaussians: Array) -> tuple[Array, Array]:
    """Return the shift and scale with which :func:`moved` centres means and log-variances at zero.

    Args:
        gaussians: Gaussians of shape (n, 2d), n at least 1.

    Returns:
        Shift and scale, each of shape (d,).
    """
    means, logs = split(floating(gaussians))
    return means.mean(0), library_of(logs).exp(logs.mean(0) / 2)


def left_items(gaussians: Array) -> Array:
    """Lift items that are the first argument of KL(item‖query): (v + μ², μ, -Σ ln v).

    2 KL(item‖query) is the inner product of the lifted item and the lifted query
    (:func:`right_queries`), plus a constant of the query.

    Args:
        gaussians: Gaussians with means μ and variances v, of shape (..., 2d).

    Returns:
        Vectors of shape (..., 2d + 1), computed in float64; returned in float64 if the Gaussians
        are, otherwise in float32.

    Example:
        >>> import numpy as np
        >>> item, query = np.array([[1.0, 0.5]]), np.array([[2.0, -0.5]])
        >>> lifted, constant = right_queries(query)
        >>> product = (lifted @ left_items(item).T)[0, 0]
        >>> bool(abs((product + constant[0]) / 2 - kl(item, query)[0]) < 1e-12)
        True
    """
    means, logs = split(widened(gaussians))
    exp = library_of(means).exp
    lifted: Array = joined(
        exp(logs) + means * means, means, -logs.sum(-1)[..., None], like=gaussians
    )
    return lifted


def right_queries(gaussians: Array) -> tuple[Array, Array]:
    """Lift queries that are the second argument of KL(item‖query); see :func:`left_items`.

    Args:
        gaussians: Gaussians with means m and variances s, of shape (..., 2d).

    Returns:
        Vectors (1/s, -2m/s, 1) of shape (..., 2d + 1), and constants Σ (m²/s + ln s) - d of shape
        (...).
    """
    means, logs = split(widened(gaussians))
    inverses = library_of(means).exp(-logs)
    lifted = joined(inverses, -2 * means * inverses, 0 * means[..., :1] + 1, like=gaussians)
    constant: Array = (means * means * inverses + logs).sum(-1) - means.shape[-1]
    return lifted, constant


def right_items(gaussians: Array) -> Array:
    """Lift items that are the second argument of KL(query‖item): (1/s, m/s, Σ (m²/s + ln s)).

    2 KL(query‖item) is the inner product of the lifted query (:func:`left_queries`) and the lifted
    item, plus a constant of the query.

    Args:
        gaussians: Gaussians with means m and variances s, of shape (..., 2d).

    Returns:
        Vectors of shape (..., 2d + 1), with the dtype as in :func:`left_items`.
    """
    means, logs = split(widened(gaussians))
    inverses = library_of(means).exp(-logs)
    alone = (means * means * inverses + logs).sum(-1)[..., None]
    lifted: Array = joined(inverses, means * inverses, alone, like=gaussians)
    return lifted


def left_queries(gaussians: Array) -> tuple[Array, Array]:
    """Lift queries that are the first argument of KL(query‖item); see :func:`right_items`.

    Args:
        gaussians: Gaussians with means μ and variances v, of shape (..., 2d).

    Returns:
        Vectors (v + μ², -2μ, 1) of shape (..., 2d + 1), and constants -Σ ln v - d of shape (...).
    """
    means, logs = split(widened(gaussians))
    lifted = joined(
        library_of(means).exp(logs) + means * means,
        -2 * means,
        0 * means[..., :1] + 1,
        like=gaussians,
    )
    constant: Array = -logs.sum(-1) - means.shape[-1]
    return lifted, constant


def _terms(left: Array, right: Array) -> Array:
    """Return the KL divergence in each dimension, of shape (..., d)."""
    (ours, our_logs), (theirs, their_logs) = split(floating(left)), split(floating(right))
    library, ratio = library_of(ours), our_logs - their_logs
    terms: Array = 0.5 * (
        library.expm1(ratio) - ratio + (ours - theirs) ** 2 * library.exp(-their_logs)
    )
    return terms


def _of_kl(divergence: Array, dim: int, form: str) -> Array:
    found: Array = 1 / (1 + (divergence / dim if form == "scaled" else divergence))
    return found
