"""Vectors of tokens from what stands near them: counted, weighed and factorised, before a step is trained."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from sklearn.utils.extmath import randomized_svd
from torch import Tensor, nn

from ontodex.trainers.trees.batches import TokenisedSentences

__all__ = ["counted_vectors", "without_common"]

WINDOW = 10
"""Tokens to either side that count as near."""

OFTEN = 2.5
"""Tokens of more than so many times the mean share are counted less often, by the square root (Mikolov et al., NeurIPS
2013): what is left of a sentence, its rarer tokens, moves together."""

SMOOTHING = 0.75
"""Power of the neighbours' shares, so that rare neighbours do not rule (Levy et al., TACL 2015)."""

MOST_TOKENS = 20_000_000
"""Tokens that are counted at most: of a longer text some sentences, drawn by seed."""

NOISE = 1e-3
"""Size of what is random in a vector."""

TOKENS_EACH = 4
"""Tokens to a direction, at least: with as many directions as tokens no two tokens would be alike."""

PASSES = 3
"""Power iterations of the factorisation (Halko et al., SIAM Review 2011)."""

COMMON = 40
"""One direction of so many is common to all tokens rather than telling them apart."""


def counted_vectors(
    sentences: TokenisedSentences, vocabulary: int, dimension: int, seed: int
) -> Tensor:
    """Factorise how much more often than by chance tokens stand near each other.

    The left singular vectors of the positive pointwise mutual information of tokens and neighbours, each row of length 1
    (Levy, Goldberg and Dagan, "Improving distributional similarity with lessons learned from word embeddings", TACL 2015).

    Args:
        sentences: What is counted; neighbours are of the same sentence.
        vocabulary: Number of tokens.
        dimension: Numbers of a vector; what the text does not fill, and tokens without neighbours, are small and random.
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
    """Turn vectors away from their mean, and from the directions in which most of the text's tokens vary together.

    These say how frequent a token is, and of what kind of text, more than what it means (Mu and Viswanath,
    "All-but-the-top", ICLR 2018).

    Args:
        vectors: Of shape (n, dim); one direction of every 40 is taken away.
        weights: How much each counts, of shape (n,).

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
    """Count pairs of tokens that are near each other."""
    order = random.permutation(len(sentences))
    rows = order[: max(1, int(np.searchsorted(sentences.lengths[order].cumsum(), MOST_TOKENS)))]
    tokens, owners = (
        sentences.tokens_of(rows),
        np.repeat(np.arange(len(rows)), sentences.lengths[rows]),
    )
    shares = np.bincount(tokens, minlength=vocabulary) / max(len(tokens), 1)
    kept = random.random(len(tokens)) ** 2 * shares[tokens] < OFTEN / vocabulary
    tokens, owners = tokens[kept], owners[kept]
    found = sparse.csr_array((vocabulary, vocabulary), dtype=np.float32)
    for step in range(1, WINDOW + 1):
        together = owners[:-step] == owners[step:]
        pairs = tokens[:-step][together], tokens[step:][together]
        found += sparse.coo_array(
            (np.ones(len(pairs[0]), np.float32), pairs), shape=found.shape
        ).tocsr()
    return sparse.csr_array(found + found.T)


def _information(counts: sparse.csr_array) -> sparse.csr_array:
    """Return the positive pointwise mutual information."""
    pairs, totals = counts.tocoo(), counts.sum(axis=1)
    rows, columns = pairs.coords
    probabilities = totals**SMOOTHING / (totals**SMOOTHING).sum()
    found = np.log(pairs.data / (totals[rows] * probabilities[columns]))
    above = found > 0
    return sparse.csr_array(
        (found[above].astype(np.float32), (rows[above], columns[above])), shape=counts.shape
    )
