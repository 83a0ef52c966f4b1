"""Formulas of GaussCSE, one by one, against direct implementations.

Yoda et al., "Sentence Representations via Gaussian Embedding", EACL 2024. Where ontodex deviates
from the paper, the test says so. A Gaussian is an array of d means and d logarithms of variances.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch

from ontodex.encoders.gaussian_heads import GaussianHeads
from ontodex.engine.search.gaussian_space import GaussianSpace
from ontodex.engine.search.topk import Searcher
from ontodex.geometry import gaussian
from ontodex.geometry.gaussian import LOG_VARIANCE, SIMILARITIES
from ontodex.geometry.vectors import Vectors
from ontodex.trainers.data.entailment_pairs import CONTRADICTION, ENTAILMENT, EntailmentPairs
from ontodex.trainers.entailment.batches import EntailmentBatches
from ontodex.trainers.entailment.loss import LOSSES, EntailmentLoss

DIM = 4
CLOSE = 1e-11
"""Relative error in float64 of divergences between 0.1 and 100 nats.

They are sums of some 20 terms of at most 100 with errors of 2.2e-16 each: 4e-13 in all, relative to
0.1 nats 4e-12.
"""


def gaussians(count, seed):
    """Draw Gaussians with means near 0, variances near 1, ``float64`` of shape (count, 2 DIM)."""
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.normal(size=(count, DIM)), 0.5 * rng.normal(size=(count, DIM))], axis=1
    )


def kl_terms(left, right):
    """Return KL(N_left‖N_right) = ½ (v/s + (μ - m)²/s - 1 - ln(v/s)) of each dimension."""
    found = []
    for k in range(len(left) // 2):
        mean, variance = left[k], math.exp(left[k + len(left) // 2])
        other, spread = right[k], math.exp(right[k + len(right) // 2])
        found.append(
            0.5
            * (variance / spread + (mean - other) ** 2 / spread - 1 - math.log(variance / spread))
        )
    return found


def similarity(left, right, form="paper"):
    """Equation 2 and its two variants, of one pair."""
    terms = kl_terms(left, right)
    if form == "per-dimension":
        return sum(1 / (1 + term) for term in terms) / len(terms)
    return 1 / (1 + sum(terms) / (len(terms) if form == "scaled" else 1))


def all_pairs(left, right, function):
    return np.array([[function(one, other) for other in right] for one in left])


def test_kl_divergence():
    """D_KL(N₁‖N₂) = ∫ N₁(x) ln(N₁(x) / N₂(x)) dx, the divergence that equation 2 is made of.

    The integral is computed numerically, dimension by dimension, as diagonal Gaussians factorise.
    """

    def integral(left, right):
        total = mpmath.mpf(0)
        for k in range(DIM):
            mean, deviation = left[k], math.exp(left[DIM + k] / 2)
            other, spread = right[k], math.exp(right[DIM + k] / 2)

            def integrand(x, one=(mean, deviation), two=(other, spread)):
                density = mpmath.npdf(x, *one)
                gap = ((x - two[0]) / two[1]) ** 2 - ((x - one[0]) / one[1]) ** 2
                return density * (gap / 2 + mpmath.log(two[1] / one[1]))

            # Beyond 10 standard deviations lie less than 1e-22 of the mass.
            ends = [mean + deviation * step for step in (-10, -3, 0, 3, 10)]
            total += mpmath.quad(integrand, ends)
        return float(total)

    left, right = gaussians(3, 0), gaussians(2, 1)
    wanted = all_pairs(left, right, integral)
    np.testing.assert_allclose(gaussian.kl(left[:, None], right), wanted, rtol=CLOSE)
    np.testing.assert_allclose(gaussian.kl_matrix(left, right), wanted, rtol=CLOSE)
    np.testing.assert_allclose(
        all_pairs(left, right, lambda *p: sum(kl_terms(*p))), wanted, rtol=CLOSE
    )


@pytest.mark.parametrize("form", SIMILARITIES)
def test_equation_2_similarity(form):
    """sim(s₁‖s₂) = 1 / (1 + D_KL(N₁‖N₂)) is the form ``"paper"``.

    ``"scaled"``, ontodex's default, divides the divergence by d; ``"per-dimension"`` is the mean of
    1 / (1 + KL_k) over the dimensions k, which is what the public code computes.
    """
    left, right = gaussians(6, 2), gaussians(4, 3)
    wanted = all_pairs(left, right, lambda *pair: similarity(*pair, form))
    np.testing.assert_allclose(gaussian.similarity(left[:, None], right, form), wanted, rtol=CLOSE)
    np.testing.assert_allclose(gaussian.similarity_matrix(left, right, form), wanted, rtol=CLOSE)
    if form != "per-dimension":
        ranks = np.argsort(all_pairs(left, right, similarity), axis=None)
        assert (np.diff(wanted.ravel()[ranks]) > 0).all()


@pytest.mark.parametrize("side", ["left", "right"])
def test_equation_2_as_searched(side):
    """sim(h‖p) ranks hypotheses of a premise p (KL's left side), or premises of a hypothesis h.

    The score of an answer is 1 / (1 + KL/d), with the order of equation 2.
    """
    stored, queries = gaussians(40, 4).astype(np.float32), gaussians(3, 5).astype(np.float32)
    space = GaussianSpace(Vectors([stored]), side)
    for query, (rows, scores) in zip(
        queries, Searcher(space.lifted, space=space).top(queries, 40), strict=True
    ):
        pairs = [
            (item, query) if side == "left" else (query, item) for item in stored.astype(np.float64)
        ]
        wanted = np.array([similarity(*pair) for pair in pairs])
        assert rows.tolist() == np.argsort(-wanted, kind="stable").tolist()
        scaled = [similarity(*pairs[row], "scaled") for row in rows]
        np.testing.assert_allclose(scores, scaled, rtol=CLOSE)


@pytest.mark.parametrize("activation", ["none", "tanh"])
def test_linear_layers_for_mean_and_variance(activation):
    """μ and σ² of a sentence are two linear layers of its pooled vector.

    The second layer gives ln σ², within ±10, as variances are positive; the public code does so as
    well, without bounds. With ``activation="tanh"`` the means pass tanh, as in the public code; the
    paper has no activation.
    """
    heads = GaussianHeads(DIM, activation).double()
    random = torch.Generator().manual_seed(0)
    for parameter in heads.parameters():
        torch.nn.init.normal_(parameter, std=3.0, generator=random)
    vectors = np.random.default_rng(1).normal(size=(20, DIM))
    found = heads(torch.from_numpy(vectors)).detach().numpy()

    def linear(layer, vector):
        weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
        return [bias[i] + sum(weight[i, j] * vector[j] for j in range(DIM)) for i in range(DIM)]

    bounded = 0
    for vector, row in zip(vectors, found, strict=True):
        means, logs = linear(heads.mean, vector), linear(heads.log_variance, vector)
        bounded += sum(not LOG_VARIANCE[0] < value < LOG_VARIANCE[1] for value in logs)
        if activation == "tanh":
            means = [math.tanh(value) for value in means]
        logs = [min(max(value, LOG_VARIANCE[0]), LOG_VARIANCE[1]) for value in logs]
        # Five terms of at most 30 each: 5 * 30 * 1.1e-16.
        np.testing.assert_allclose(row, [*means, *logs], rtol=0, atol=1e-13)
    assert bounded


def batch_of(rows):
    """Return one batch of all rows, its Gaussians, and the Gaussian of each text."""
    pairs = EntailmentPairs.of(rows)
    batch = EntailmentBatches(pairs, steps=1, batch=len(rows), seed=0)[0]
    drawn = gaussians(len(batch.texts), 6)
    by_name = {pairs.texts[text]: drawn[at] for at, text in enumerate(batch.texts.tolist())}
    return batch, torch.from_numpy(drawn), by_name


def cross_entropy(logits, target):
    return math.log(sum(math.exp(logit) for logit in logits)) - logits[target]


@pytest.mark.parametrize("temperature", [0.5, 0.05])
@pytest.mark.parametrize("form", SIMILARITIES)
@pytest.mark.parametrize("losses", LOSSES)
def test_section_2_4_contrastive_loss(losses, form, temperature):
    """L = Σ_i -ln(e^(sim(h_i‖p_i)/τ) / (V_E + V_C + V_R)), with premise p_i and hypothesis h_i.

    V_E = Σ_j e^(sim(h_j‖p_i)/τ) over entailed hypotheses; V_C = Σ_j e^(sim(c_j‖p_i)/τ) over
    contradictions c_j; V_R = Σ_j e^(sim(p_j‖h_i)/τ) over reversed pairs, j = i included. ``losses``
    says which sums there are. ontodex takes the mean over i instead of the sum, as the public code
    does, and its logistic loss has weight 0 here.
    """
    rows = [(f"p{i}", f"h{i}", ENTAILMENT) for i in range(4)]
    rows += [(f"p{i}", f"c{i}", CONTRADICTION) for i in range(4)]
    batch, drawn, named = batch_of(rows)
    found = EntailmentLoss(losses, form, temperature, pairs=0.0)(drawn, batch).item()
    total = 0.0
    for i in range(4):
        columns = [similarity(named[f"h{j}"], named[f"p{i}"], form) for j in range(4)]
        if "con" in losses:
            columns += [similarity(named[f"c{j}"], named[f"p{i}"], form) for j in range(4)]
        if "rev" in losses:
            columns += [similarity(named[f"p{j}"], named[f"h{i}"], form) for j in range(4)]
        total += cross_entropy([column / temperature for column in columns], i)
    assert found * 4 == pytest.approx(total, rel=1e-10)  # logits of at most 20: 20 * CLOSE


def test_known_entailments_that_the_loss_of_section_2_4_takes_as_negatives():
    """In the paper, h_j (j ≠ i) and the reversed pair are negatives even if known to be entailed.

    ontodex leaves known entailments out of V_E, V_C and V_R.
    """
    rows = [
        ("p", "h", ENTAILMENT),
        ("p", "g", ENTAILMENT),
        ("h", "p", ENTAILMENT),
        ("q", "x", ENTAILMENT),
    ]
    batch, drawn, named = batch_of(rows)
    found = EntailmentLoss("ent+rev", "paper", 0.5, pairs=0.0)(drawn, batch).item()
    known = {(premise, hypothesis) for premise, hypothesis, _ in rows}
    total = 0.0
    for premise, hypothesis, _ in rows:
        pairs = [(hypothesis, premise)]
        for other in ("h", "g", "p", "x"):  # V_E, with each distinct hypothesis once
            if other != premise and (premise, other) not in known:
                pairs.append((other, premise))
        for other in ("p", "h", "q"):  # V_R, with each distinct premise once
            if other != hypothesis and (hypothesis, other) not in known:
                pairs.append((other, hypothesis))
        columns = [similarity(named[one], named[two]) / 0.5 for one, two in pairs]
        total += cross_entropy(columns, 0)
    assert found * len(rows) == pytest.approx(total, rel=1e-10)
