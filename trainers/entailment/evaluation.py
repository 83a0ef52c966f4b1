"""Evaluation of entailment: accuracy, area under the precision-recall curve, and direction."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.gauss_cse import GaussCSE
from ontodex.geometry.entailment import accuracy, area_under_precision_recall, fit_entailment
from ontodex.geometry.gaussian import entropy, similarity
from ontodex.trainers.data.entailment_pairs import LABELS, EntailmentPairs

__all__ = [
    "Judged",
    "evaluate_encoder",
    "evaluate_judged",
    "judge",
    "length_baselines",
    "mcnemar",
    "valid_threshold",
]

DRAWS = 1000
"""Bootstrap samples."""

INTERVAL = (2.5, 97.5)
"""Percentiles of the bootstrap samples that an interval spans."""

RATIOS = (0.0, 0.5, 1.0, np.inf)
"""Bounds of the length ratio (words of hypothesis / words of premise) that group accuracies."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Scores that a model gives to pairs; every array has the shape (pairs,).

    Attributes:
        forward: Similarity of the hypothesis to the premise: the entailment score.
        backward: Similarity of the premise to the hypothesis: the score of the reversed pair.
        wider: Whether the premise has the greater total variance; ``None`` for a model without
            variances.
    """

    forward: NDArray[np.float64]
    backward: NDArray[np.float64]
    wider: NDArray[np.bool_] | None = None


def evaluate_encoder(
    encoder: GaussCSE,
    pairs: EntailmentPairs,
    *,
    valid: EntailmentPairs | None = None,
    against: GaussCSE | None = None,
    seed: int = 0,
) -> dict[str, float]:
    """Compare the judgements of an encoder with labels, and with those of a second encoder.

    Args:
        encoder: The encoder.
        pairs: The labelled pairs.
        valid: Pairs that select the threshold; ``None`` for the encoder's own threshold.
        against: The second encoder, or ``None``.
        seed: Seed of the bootstrap.

    Returns:
        The figures of :func:`evaluate_judged`; with a second encoder also its accuracy
        (``against.accuracy``) and the figures of :func:`mcnemar` (``mcnemar.better``, ...).

    Raises:
        SettingsError: If all pairs of ``valid`` are entailed, or none.
    """
    found, right = _judged_right(encoder, pairs, valid, seed)
    if against is not None:
        other, other_right = _judged_right(against, pairs, valid, seed)
        found["against.accuracy"] = other["accuracy"]
        compared = mcnemar(right, other_right)
        found.update({f"mcnemar.{key}": value for key, value in compared.items()})
    return found


def _judged_right(
    encoder: GaussCSE, pairs: EntailmentPairs, valid: EntailmentPairs | None, seed: int
) -> tuple[dict[str, float], NDArray[np.bool_]]:
    """Return the figures of an encoder, and whether each pair is classified correctly, (pairs,)."""
    threshold = (
        encoder.rule.threshold if valid is None else valid_threshold(judge(encoder, valid), valid)
    )
    judged = judge(encoder, pairs)
    figures = evaluate_judged(judged, pairs, threshold, seed)
    return figures, (judged.forward > threshold) == pairs.entailed


def judge(encoder: GaussCSE, pairs: EntailmentPairs) -> Judged:
    """Score pairs in both directions; each text is encoded once."""
    gaussians = encoder.encode(pairs.texts).astype(np.float64)
    premises, hypotheses = gaussians[pairs.premises], gaussians[pairs.hypotheses]
    return Judged(
        np.asarray(similarity(hypotheses, premises, encoder.similarity)),
        np.asarray(similarity(premises, hypotheses, encoder.similarity)),
        np.asarray(entropy(premises) > entropy(hypotheses)),
    )


def valid_threshold(judged: Judged, pairs: EntailmentPairs) -> float:
    """Return the threshold with the best accuracy on validation pairs.

    Raises:
        SettingsError: If all pairs are entailed, or none.
    """
    return fit_entailment(judged.forward, pairs.entailed).threshold


def evaluate_judged(
    judged: Judged, pairs: EntailmentPairs, threshold: float, seed: int = 0
) -> dict[str, float]:
    """Compare the judgements of a model with labels.

    Direction is measured on entailed pairs that are not entailed both ways (Yoda et al., EACL 2024,
    section 3.2); equal similarities count as wrong.

    Args:
        judged: Scores of the model.
        pairs: The pairs.
        threshold: Pairs with a greater similarity are classified as entailed; chosen on other
            pairs.
        seed: Seed of the bootstrap.

    Returns:
        ``pairs``, ``accuracy``, ``auprc`` and ``threshold``; ``direction.pairs``, and the share of
        these pairs whose direction is correct by similarity (``direction.accuracy``), by total
        variance (``direction.variance``) and by the length baselines of :func:`length_baselines`
        (``direction.characters``, ``direction.words``); accuracies by label (``label.neutral``) and
        by length ratio of hypothesis and premise (``ratio.0.5-1``); the ends of 95 % bootstrap
        intervals of accuracy and direction accuracy (``accuracy.low``, ``accuracy.high``). Figures
        without any pairs are left out.
    """
    truth = pairs.entailed
    right = (judged.forward > threshold) == truth
    found = {
        "pairs": len(pairs),
        "accuracy": accuracy(judged.forward, truth, threshold),
        "threshold": threshold,
    }
    if truth.any() and not truth.all():
        found["auprc"] = area_under_precision_recall(judged.forward, truth)
    rng = np.random.default_rng((seed, 15))
    found.update(_interval("accuracy", right, rng))
    for number, name in enumerate(LABELS):
        if (pairs.labels == number).any():
            found[f"label.{name}"] = float(right[pairs.labels == number].mean())
    words = np.array([len(text.split()) for text in pairs.texts])
    premises, hypotheses = words[pairs.premises], words[pairs.hypotheses]
    ratios = hypotheses / np.maximum(premises, 1)
    for low, high in itertools.pairwise(RATIOS):
        here = (ratios > low) & (ratios <= high)
        if here.any():
            found[f"ratio.{low:g}-{high:g}"] = float(right[here].mean())
    one_way = truth & ~pairs.two_way
    if one_way.any():
        directed = (judged.forward > judged.backward)[one_way]
        found["direction.pairs"] = int(one_way.sum())
        found["direction.accuracy"] = float(directed.mean())
        found.update(_interval("direction.accuracy", directed, rng))
        if judged.wider is not None:
            found["direction.variance"] = float(judged.wider[one_way].mean())
    return {**found, **length_baselines(pairs)}


def length_baselines(pairs: EntailmentPairs) -> dict[str, float]:
    """Return how often the longer text of an entailed pair is its premise.

    This is the baseline of direction in Yoda et al. (EACL 2024, section 3.2). It reads no meaning.

    Args:
        pairs: The pairs; those that are entailed both ways are left out.

    Returns:
        ``direction.characters``: the share of the pairs whose premise has more characters than the
        hypothesis, equal numbers counted as wrong, which gives the paper's figures of SNLI and
        SICK. ``direction.words``: the same by words, equal numbers counted as one half, because
        many pairs of SICK have equal numbers of words. Nothing without such pairs.

    Example:
        >>> rows = [("A dog ran.", "A dog ran", 0), ("One old dog", "Some animal", 0)]
        >>> length_baselines(EntailmentPairs.of(rows))
        {'direction.characters': 0.5, 'direction.words': 0.75}
    """
    one_way = pairs.entailed & ~pairs.two_way
    if not one_way.any():
        return {}
    premises, hypotheses = pairs.premises[one_way], pairs.hypotheses[one_way]
    characters = np.array([len(text) for text in pairs.texts])
    words = np.array([len(text.split()) for text in pairs.texts])
    more, equal = words[premises] > words[hypotheses], words[premises] == words[hypotheses]
    return {
        "direction.characters": float((characters[premises] > characters[hypotheses]).mean()),
        "direction.words": float((more + 0.5 * equal).mean()),
    }


def mcnemar(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> dict[str, float]:
    """Test whether two models are right equally often (McNemar's exact test, two-sided).

    Args:
        one: Whether the first model is right, for each pair.
        other: Whether the second model is right, for the same pairs.

    Returns:
        ``better``: pairs that only the first model classifies correctly; ``worse``: pairs that only
        the second does; and the p-value ``p``.

    Example:
        >>> mcnemar(np.array([True] * 9 + [False]), np.array([False] * 10))
        {'better': 9, 'worse': 0, 'p': 0.00390625}
    """
    from scipy.stats import binomtest

    better, worse = int((one & ~other).sum()), int((other & ~one).sum())
    p = float(binomtest(min(better, worse), better + worse).pvalue) if better + worse else 1.0
    return {"better": better, "worse": worse, "p": p}


def _interval(name: str, right: NDArray[np.bool_], rng: np.random.Generator) -> dict[str, float]:
    """Return the ends of a bootstrap interval of a share.

    Samples with replacement from 0/1 values are binomial draws.
    """
    low, high = np.percentile(rng.binomial(len(right), right.mean(), DRAWS) / len(right), INTERVAL)
    return {f"{name}.low": float(low), f"{name}.high": float(high)}
