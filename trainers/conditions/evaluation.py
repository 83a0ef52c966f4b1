"""Evaluation of condition encoders on C-STS, and analysis of their projections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.condition import ConditionEncoder
from ontodex.geometry.conditioned import second_factor
from ontodex.trainers.correlation import pearson, spearman
from ontodex.trainers.data.csts_rows import CstsRows

__all__ = ["cluster_entropy", "evaluate_conditions", "in_text_space", "norm_variance"]

Floats = NDArray[np.floating]

GROUPS, GROUP_SIZE, DRAWS = 3, 20, 20
"""Conditions, texts per condition, and number of draws of the cluster analysis.

The paper takes three conditions with twenty texts each.
"""

BLOCK = 128


def evaluate_conditions(
    encoder: ConditionEncoder, rows: CstsRows, seed: int = 0
) -> dict[str, float]:
    """Compare the cosines of an encoder with labels.

    Args:
        encoder: The encoder.
        rows: Test rows; they need not be paired.
        seed: Seed of the sample of texts that are clustered.

    Returns:
        ``rows``, ``spearman``, ``pearson`` and ``mse`` (against labels scaled to 0 to 1) of all
        rows. If some but not all conditions were in the training data, the same figures of rows
        with training conditions (prefix ``seen.``) and of the other rows (prefix ``unseen.``).
        ``pairs.accuracy``: of the pairs of rows with different labels, the share in which the row
        with the higher label has the higher cosine. ``entropy.before`` and ``entropy.after``
        projection, see :func:`cluster_entropy`, if three conditions have twenty texts each; the
        projected vectors are W_c h in the text space, see :func:`in_text_space`.
        ``norm_variance``, see :func:`norm_variance`, if the architecture has projections.
    """
    first, second = (
        [rows.texts[row] for row in side.tolist()] for side in (rows.first, rows.second)
    )
    vectors = encoder.encode_pairs(first + second, rows.conditions, np.tile(rows.which, 2)).astype(
        np.float64
    )
    cosines = np.einsum("nd,nd->n", vectors[: len(rows)], vectors[len(rows) :])
    found = _agreement(cosines, rows.targets)
    trained = set(encoder.conditions)
    known = np.isin(rows.which, [at for at, name in enumerate(rows.conditions) if name in trained])
    if known.any() and not known.all():
        for name, part in (("seen", known), ("unseen", ~known)):
            found.update(
                {
                    f"{name}.{key}": value
                    for key, value in _agreement(cosines[part], rows.targets[part]).items()
                }
            )
    found.update(_pair_accuracy(cosines, rows))
    found.update(_entropies(encoder, rows, vectors, seed))
    if encoder.architecture != "bi-encoder":
        found["norm_variance"] = norm_variance(encoder, rows.conditions)
    return found


def _agreement(cosines: Floats, targets: Floats) -> dict[str, float]:
    return {
        "rows": len(targets),
        "spearman": spearman(cosines, targets),
        "pearson": pearson(cosines, targets),
        "mse": float(np.mean((cosines - targets) ** 2)),
    }


def _pair_accuracy(cosines: Floats, rows: CstsRows) -> dict[str, float]:
    pairs: dict[tuple[int, int], list[int]] = {}
    for at, texts in enumerate(zip(rows.first.tolist(), rows.second.tolist(), strict=True)):
        pairs.setdefault(texts, []).append(at)
    two = np.array([pair for pair in pairs.values() if len(pair) == 2], dtype=np.int64).reshape(
        -1, 2
    )
    order = np.sign(rows.labels[two[:, 0]] - rows.labels[two[:, 1]])
    right = (order * (cosines[two[:, 0]] - cosines[two[:, 1]]) > 0)[order != 0]
    return {"pairs.accuracy": float(right.mean())} if len(right) else {}


def _entropies(
    encoder: ConditionEncoder, rows: CstsRows, vectors: NDArray[np.float64], seed: int
) -> dict[str, float]:
    """Return the mean entropies over draws of three conditions with twenty texts each."""
    texts = np.concatenate([rows.first, rows.second])
    which = np.tile(rows.which, 2)
    places = [np.flatnonzero(which == at) for at in range(len(rows.conditions))]
    # Take each text once per condition.
    places = [place[np.unique(texts[place], return_index=True)[1]] for place in places]
    large = [place for place in places if len(place) >= GROUP_SIZE]
    if len(large) < GROUPS:
        return {}
    rng = np.random.default_rng(seed)
    draws = [
        np.concatenate(
            [
                rng.choice(large[at], GROUP_SIZE, replace=False)
                for at in rng.choice(len(large), GROUPS, replace=False)
            ]
        )
        for _ in range(DRAWS)
    ]
    used = np.unique(np.concatenate(draws))
    plain = np.empty((len(vectors), encoder.dim))
    plain[used] = encoder.text.encode([rows.texts[row] for row in texts[used].tolist()])
    groups = np.repeat(np.arange(GROUPS), GROUP_SIZE)
    projected = np.empty((len(vectors), encoder.dim))
    projected[used] = in_text_space(encoder, rows.conditions, which[used], vectors[used])
    return {
        name: float(np.mean([cluster_entropy(of[draw], groups, seed=seed) for draw in draws]))
        for name, of in (("entropy.before", plain), ("entropy.after", projected))
    }


def in_text_space(
    encoder: ConditionEncoder,
    conditions: Sequence[str],
    which: NDArray[np.integer],
    vectors: Floats,
) -> NDArray[np.float64]:
    """Return vectors under conditions in the text space, where different conditions compare.

    A hypernetwork of low rank gives W_c h = P·S with the second factor S
    (:func:`~ontodex.geometry.conditioned.second_factor`), and no other architecture needs one: its
    vectors have the dimension of the texts.

    Args:
        encoder: The encoder that made the vectors.
        conditions: Distinct conditions.
        which: Condition of each vector, an index into ``conditions``, of shape (n,).
        vectors: Unit vectors under the conditions, of shape (n, rank).

    Returns:
        Unit vectors of shape (n, dim), with the same cosines under each condition.
    """
    if encoder.architecture != "hyper" or encoder.rank == encoder.dim:
        return np.asarray(vectors, dtype=np.float64)
    used = np.unique(which)
    found = np.empty((len(vectors), encoder.dim))
    for start in range(0, len(used), BLOCK):
        block = used[start : start + BLOCK].tolist()
        factors = encoder.factors([conditions[at] for at in block])
        for at, factor in zip(block, factors, strict=True):
            rows = np.flatnonzero(which == at)
            found[rows] = vectors[rows] @ second_factor(factor)
    return found


def cluster_entropy(vectors: Floats, groups: NDArray[np.integer], seed: int = 0) -> float:
    """Cluster vectors by k-means and return the entropy of the clusters within the groups.

    The number of clusters is the number of groups. Yoo et al., "Hyper-CL", ACL 2024, section 5: the
    entropy (natural logarithm) of the cluster labels in each group, weighted by the size of the
    group; 0 if every group lies within one cluster.

    Args:
        vectors: Unit vectors of shape (n, dim).
        groups: Group of each vector, of shape (n,).
        seed: Seed of the initial centres.
    """
    import faiss

    names, sizes = np.unique(groups, return_counts=True)
    data = np.ascontiguousarray(vectors, dtype=np.float32)
    means = faiss.Kmeans(
        data.shape[1], len(names), niter=50, nredo=5, seed=seed + 1, min_points_per_centroid=1
    )
    means.train(data)
    labels = means.index.search(data, 1)[1][:, 0]
    total = 0.0
    for name, size in zip(names.tolist(), sizes.tolist(), strict=True):
        shares = np.bincount(labels[groups == name]) / size
        shares = shares[shares > 0]
        total -= size / len(data) * float(np.sum(shares * np.log(shares)))
    return max(total, 0.0)


def norm_variance(encoder: ConditionEncoder, conditions: Sequence[str]) -> float:
    """Return the variance, over conditions, of the size of the projection W_c.

    The size is the Frobenius norm divided by the square root of the number of elements (Yoo et al.,
    "Hyper-CL", ACL 2024, section 5). A low-rank W_c of shape (dim, dim) is stored as one factor of
    shape (dim, rank), which has the same norm.
    """
    sizes = []
    for start in range(0, len(conditions), BLOCK):
        factors = encoder.factors(conditions[start : start + BLOCK]).astype(np.float64)
        elements = encoder.dim**2 if factors.ndim == 3 else factors.shape[1]
        squares = np.square(factors).reshape(len(factors), -1).sum(axis=1)
        sizes.append(np.sqrt(squares / elements))
    return float(np.var(np.concatenate(sizes)))
