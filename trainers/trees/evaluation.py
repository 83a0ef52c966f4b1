"""Evaluation of text encoders: cosines on similarity data, spread of vectors, and trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.self_strae import Tree
from ontodex.encoders.text import TextEncoder
from ontodex.trainers.correlation import pearson, spearman
from ontodex.trainers.data.sts import ScoredPairs

__all__ = ["evaluate_encoder", "evaluate_pairs", "tree_agreement"]

POSITIVE = 0.8
"""Pairs with a score above this fraction of the scale count as positive pairs, for alignment."""

MOST_SPREAD = 2000
"""Largest number of texts for uniformity, which compares all pairs of texts."""

TREES = 2000
"""Largest number of texts whose trees are compared with regular trees."""


def evaluate_encoder(encoder: TextEncoder, pairs: ScoredPairs) -> dict[str, float]:
    """Compare the cosines of a text encoder with scores, and its trees with regular trees.

    Args:
        encoder: Any text encoder.
        pairs: Texts and scores.

    Returns:
        The figures of :func:`evaluate_pairs`. If the encoder builds trees, also the figures of
        :func:`tree_agreement` for the first text of each pair (``tree.right``, ``tree.left``,
        ``tree.balanced``).
    """
    found = evaluate_pairs(encoder.encode, pairs)
    if encoder.structured is not None:
        agreed = tree_agreement(encoder.structured.trees(list(pairs.ones)[:TREES]))
        found.update({f"tree.{kind}": value for kind, value in agreed.items()})
    return found


def evaluate_pairs(
    encode: Callable[[Sequence[str]], NDArray[np.float32]], pairs: ScoredPairs
) -> dict[str, float]:
    """Compare cosines with scores.

    Args:
        encode: Function from texts to unit vectors.
        pairs: Texts and scores.

    Returns:
        ``pairs``, the number of pairs; ``spearman`` and ``pearson``, the correlations of cosines
        and scores, unless all cosines or all scores are equal; ``alignment``, the mean squared
        distance of positive pairs; and ``uniformity``, the logarithm of the mean of
        exp(-2 · squared distance) over all pairs of texts. Lower alignment and uniformity are
        better (Wang and Isola, ICML 2020).
    """
    texts = list(dict.fromkeys([*pairs.ones, *pairs.others]))
    rows = {text: row for row, text in enumerate(texts)}
    vectors = encode(texts).astype(np.float64)
    ones, others = (vectors[[rows[text] for text in side]] for side in (pairs.ones, pairs.others))
    cosines = (ones * others).sum(axis=1)
    same = pairs.scores >= pairs.scores.min() + POSITIVE * np.ptp(pairs.scores)
    some = vectors[
        np.linspace(0, len(vectors) - 1, min(MOST_SPREAD, len(vectors))).astype(np.int64)
    ]
    distances = (2 - 2 * some @ some.T)[np.triu_indices(len(some), 1)]
    found = {"pairs": float(len(pairs)), "alignment": float((2 - 2 * cosines[same]).mean())}
    if len(distances):
        found["uniformity"] = float(np.log(np.exp(-2 * distances).mean()))
    if np.ptp(cosines) and np.ptp(pairs.scores):
        found["spearman"] = spearman(cosines, pairs.scores)
        found["pearson"] = pearson(cosines, pairs.scores)
    return found


def tree_agreement(trees: Iterable[Tree]) -> dict[str, float]:
    """Return the share of phrases that trees have in common with regular trees of the same tokens.

    A phrase is a node with more than one token, except the root. Texts of two tokens have no
    phrases.

    Returns:
        The mean share over texts, for ``right``-branching, ``left``-branching and ``balanced``
        trees (recursive halves); empty if no text has a phrase.
    """
    found: dict[str, list[float]] = {"right": [], "left": [], "balanced": []}
    for tree in trees:
        phrases, tokens = _phrases(tree)
        if phrases:
            plain = {
                "right": {(start, tokens) for start in range(1, tokens - 1)},
                "left": {(0, end) for end in range(2, tokens)},
                "balanced": _halves(0, tokens) - {(0, tokens)},
            }
            for name, others in plain.items():
                found[name].append(len(phrases & others) / len(phrases))
    return {name: float(np.mean(values)) for name, values in found.items() if values}


def _phrases(tree: Tree) -> tuple[set[tuple[int, int]], int]:
    """Return the phrases of a tree as token spans, and the number of tokens."""
    spans: list[tuple[int, int]] = []
    tokens = sum(node.left is None for node in tree.nodes)
    for number, node in enumerate(tree.nodes):
        if node.left is None or node.right is None:
            spans.append((number, number + 1))
        else:
            spans.append((spans[node.left][0], spans[node.right][1]))
    return set(spans[tokens:-1]), tokens


def _halves(start: int, end: int) -> set[tuple[int, int]]:
    if end - start < 2:
        return set()
    middle = (start + end + 1) // 2
    return {(start, end)} | _halves(start, middle) | _halves(middle, end)
