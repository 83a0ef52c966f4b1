"""Initial token vectors from co-occurrence counts: counted, weighted and factorised."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from sklearn.utils.extmath import randomized_svd
from torch import Tensor, nn

from ontodex.trainers.trees.batches import TokenisedSentences

__all__ = ["counted_vectors", "without_common"]

WINDOW = 10
"""Number of tokens on either side of a token that count as its neighbours."""

OFTEN = 2.5
"""Frequency threshold of subsampling, as a multiple of the mean frequency.

More frequent tokens are counted less often, by the square root of their frequency (Mikolov et al.,
NeurIPS 2013). The remaining, rarer tokens of a sentence move closer together.
"""

SMOOTHING = 0.75
"""Exponent of the neighbours' frequencies.

It reduces the weight of rare neighbours (Levy et al., TACL 2015).
"""

MOST_TOKENS = 20_000_000
"""Largest number of tokens that are counted; longer texts are sampled by sentences."""

NOISE = 1e-3
"""Standard deviation of the random part of a vector."""

TOKENS_EACH = 4
"""Smallest number of tokens per direction.

With as many directions as tokens, all tokens would be dissimilar to each other.
"""

PASSES = 3
"""Power iterations of the factorisation (Halko et al., SIAM Review 2011)."""

COMMON = 40
"""One in this many directions is treated as common to all tokens, and is removed."""


def counted_vectors(
    sentences: TokenisedSentences, vocabulary: int, dimension: int, seed: int
) -> Tensor:
    """Factorise the positive pointwise mutual information of tokens and their neighbours.

    The vectors are the left singular vectors, with rows of length 1 (Levy, Goldberg and Dagan,
    "Improving distributional similarity with lessons learned from word embeddings", TACL 2015).

    Args:
        sentences: Sentences that are counted; neighbours are in the same sentence.
        vocabulary: Number of tokens.
        dimension: Dimension of the vectors. Dimensions beyond the factorisation, and tokens without
            neighbours, are filled with random numbers.
        seed: Seed of all draws.

    Returns:
        ``float32`` of shape (vocabulary, dimension).
    """
    random = np.random.default_rng((seed, 23))
    counts = _near(sentences, vocabulary, random)
    made = random.normal(0, NOISE, (vocabulary, dimension))
    if counts.nnz:
        directions = max(1, min(dimension, vocabulary // TOKENS_EACH))
        left, _, _ = randomized_svd(
            _information(counts), directions, n_iter=PASSES, random_state=seed
        )
        made[:, :directions] += left * vocabulary**0.5
    vectors = torch.from_numpy(made.astype(np.float32))
    return nn.functional.normalize(vectors, dim=1)


def without_common(vectors: Tensor, weights: Tensor) -> Tensor:
    """Subtract the mean of the vectors, and the directions with the greatest weighted variance.

    These directions encode frequency and text type more than meaning (Mu and Viswanath,
    "All-but-the-top", ICLR 2018).

    Args:
        vectors: Vectors of shape (n, dim); one in 40 directions is removed.
        weights: Weight of each vector, of shape (n,).

    Returns:
        Vectors of length 1, of shape (n, dim).
    """
    weights = (weights / weights.sum())[:, None]
    units = nn.functional.normalize(vectors, dim=1)
    units = units - (weights * units).sum(0)
    _, _, directions = torch.linalg.svd(units * weights.sqrt(), full_matrices=False)
    common = directions[: vectors.shape[1] // COMMON]
    turned: Tensor = nn.functional.normalize(units - units @ common.T @ common, dim=1)
    return turned


def _near(
    sentences: TokenisedSentences, vocabulary: int, random: np.random.Generator
) -> sparse.csr_array:
    """Count pairs of neighbouring tokens."""
    order = random.permutation(len(sentences))
    rows = order[: max(1, int(np.searchsorted(sentences.lengths[order].cumsum(), MOST_TOKENS)))]
    tokens, owners = (
        sentences.tokens_of(rows),
        np.repeat(np.arange(len(rows)), sentences.lengths[rows]),
    )
    shares = np.bincount(tokens, minlength=vocabulary) / max(len(tokens), 1)
    sampled = random.random(len(tokens)) ** 2 * shares[tokens] < OFTEN / vocabulary
    tokens, owners = tokens[sampled], owners[sampled]
    found = sparse.csr_array((vocabulary, vocabulary), dtype=np.float32)
    for step in range(1, WINDOW + 1):
        together = owners[:-step] == owners[step:]
        pairs = tokens[:-step][together], tokens[step:][together]
        found += sparse.coo_array(
            (np.ones(len(pairs[0]), np.float32), pairs), shape=found.shape
        ).tocsr()
    return sparse.csr_array(found + found.T)


def _information(counts: sparse.csr_array) -> sparse.csr_array:
    """Return the positive pointwise mutual information of counts."""
    pairs, totals = counts.tocoo(), counts.sum(axis=1)
    rows, columns = pairs.coords
    probabilities = totals**SMOOTHING / (totals**SMOOTHING).sum()
    found = np.log(pairs.data / (totals[rows] * probabilities[columns]))
    above = found > 0
    return sparse.csr_array(
        (found[above].astype(np.float32), (rows[above], columns[above])), shape=counts.shape
    )
