"""Formulas of HiT, one by one, against direct implementations.

He et al., "Language Models as Hierarchy Encoders", NeurIPS 2024. The equations have the numbers of
the proceedings: 1 and 2 in section 2.2, 3 to 6 in section 3. Where ontodex deviates from the paper,
the test says so.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from ontodex.encoders import text as text_module
from ontodex.encoders.hit import HiT
from ontodex.encoders.text import TextEncoder
from ontodex.engine.search.subsumption_space import SubsumptionSpace
from ontodex.engine.search.topk import Searcher
from ontodex.geometry import poincare
from ontodex.geometry.subsumption import Subsumption, differences, fit
from ontodex.geometry.vectors import Vectors
from ontodex.trainers.hierarchies.loss import HierarchyLoss

DIM = 8
C = 1 / DIM
NO_CENTRIPETAL = -1e9
"""Margin β at which every term of the centripetal loss is 0."""

CLOSE = 1e-10
"""Relative error of distances in float64.

|x - y|² is a difference of numbers of at most 4/c = 32 and is itself at least 0.01 here: its
relative error is at most a few times 32 / 0.01 * 2.2e-16 = 7e-13. 1 - c|x|² is at least 0.19, with
a relative error of 1.2e-15. Sums of some ten such terms follow.
"""


def points_in_ball(count, seed, *, low=0.1, high=0.9):
    """Draw points at √c|x| between ``low`` and ``high``, ``float64`` of shape (count, DIM)."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(count, DIM))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * rng.uniform(low, high, (count, 1)) / math.sqrt(C)


def mobius_addition(u, v, c):
    """Equation 2: ((1 + 2c⟨u, v⟩ + c‖v‖²) u + (1 - c‖u‖²) v) / (1 + 2c⟨u, v⟩ + c²‖u‖²‖v‖²)."""
    product, first, second = (
        mpmath.fsum(a * b for a, b in zip(one, other, strict=True))
        for one, other in ((u, v), (u, u), (v, v))
    )
    denominator = 1 + 2 * c * product + c**2 * first * second
    return [
        ((1 + 2 * c * product + c * second) * a + (1 - c * first) * b) / denominator
        for a, b in zip(u, v, strict=True)
    ]


def distance(u, v, c=C):
    """Equation 1: d_c(u, v) = 2/√c tanh⁻¹(√c ‖-u ⊕_c v‖), with 40 digits."""
    with mpmath.workdps(40):
        c = mpmath.mpf(c)
        left, right = ([mpmath.mpf(float(x)) for x in point] for point in (u, v))
        moved = mobius_addition([-x for x in left], right, c)
        length = mpmath.sqrt(mpmath.fsum(x * x for x in moved))
        return float(2 / mpmath.sqrt(c) * mpmath.atanh(mpmath.sqrt(c) * length))


def norm(point):
    """‖x‖_c = d_c(x, 0), below equation 4."""
    return distance(point, np.zeros(len(point)))


@pytest.mark.parametrize("c", [C, 1.0, 1 / 384])
def test_equations_1_and_2_hyperbolic_distance(c):
    """d_c(u, v) = 2/√c tanh⁻¹(√c ‖-u ⊕_c v‖) with the Möbius addition ⊕_c of equation 2.

    All four ways in which ontodex computes it: pair by pair, all pairs by a matrix product
    (training), and from inner products of lifted points (search).
    """
    left, right = (points_in_ball(5, seed) * math.sqrt(C / c) for seed in (0, 1))
    wanted = np.array([[distance(u, v, c) for v in right] for u in left])
    found = {
        "distance": poincare.distance(left[:, None], right[None], c),
        "pairwise": poincare.pairwise(left, right, c),
        "pairwise in torch": poincare.pairwise(torch.from_numpy(left), torch.from_numpy(right), c),
        "search": poincare.distance_of_products(
            poincare.lift_queries(left, c) @ poincare.lift_items(right, c).T,
            (left * left).sum(axis=1, keepdims=True),
            c,
        ),
    }
    for name, values in found.items():
        np.testing.assert_allclose(values, wanted, rtol=CLOSE, err_msg=name)


def test_hyperbolic_norm():
    """‖x‖_c = d_c(x, 0) (section 3, below equation 4)."""
    points = points_in_ball(6, 2)
    wanted = [norm(point) for point in points]
    np.testing.assert_allclose(poincare.norm(points, C), wanted, rtol=CLOSE)
    items = poincare.lift_items(points, C)
    np.testing.assert_allclose(poincare.item_norms(items, C), wanted, rtol=CLOSE)


@pytest.mark.parametrize("dim", [2, 32, 384, 768])
def test_section_3_curvature_adapted_to_the_dimension(dim):
    """c = 1/d: the boundary, of radius √d = 1/√c, circumscribes the hyper-cube [-1, 1]^d.

    The vertices of the cube lie on the boundary (footnote 3). ontodex moves points at or beyond it
    to (1 - 1e-5) of the radius, which the paper does not; points inside stay.
    """
    c = poincare.curvature(dim)
    assert c * dim == pytest.approx(1, rel=1e-15)
    vertex = np.random.default_rng(0).choice([-1.0, 1.0], size=dim)
    assert np.linalg.norm(vertex) == pytest.approx(1 / math.sqrt(c), rel=1e-14)
    inside = 0.99 * vertex
    assert np.array_equal(poincare.clip(inside, c), inside)
    # The scale and the length of the clipped vertex each have a rounding error of dim * 1.1e-16.
    assert np.linalg.norm(poincare.clip(vertex, c)) * math.sqrt(c) == pytest.approx(
        1 - 1e-5, rel=1e-12
    )


def test_section_3_mean_pooling_without_normalisation(tiny_encoder, monkeypatch):
    """e = mean of the token embeddings of the last layer, not normalised, read as a point.

    Texts of different lengths share a batch, so that padding would show.
    """
    monkeypatch.setattr(text_module, "has_bfloat16", lambda device: False)
    texts = ["a wild dog that lives in the forest", "dog", "an animal"]
    points = HiT(TextEncoder(tiny_encoder, "cpu", unit=False), None, {}).points(texts)
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
    model = AutoModel.from_pretrained(tiny_encoder, dtype=torch.float64).eval()
    for text, point in zip(texts, points, strict=True):
        with torch.inference_mode():
            states = model(**tokenizer([text], return_tensors="pt")).last_hidden_state[0].numpy()
        # Two layers in float32, about 100 additions deep: 100 * 6e-8 of states of about 1.
        np.testing.assert_allclose(point, sum(states) / len(states), atol=1e-5)
        assert abs(np.linalg.norm(point) - 1) > 0.1


@pytest.fixture
def batch():
    """Twelve points, and five (child, parent) links with two negatives each."""
    vectors = torch.from_numpy(points_in_ball(12, 3, high=0.6))
    children, parents = torch.tensor([0, 1, 2, 3, 3]), torch.tensor([4, 4, 5, 5, 0])
    negatives = torch.zeros(5, 12, dtype=torch.bool)
    for link, texts in enumerate(((5, 6), (2, 7), (8, 9), (10, 11), (1, 4))):
        negatives[link, list(texts)] = True
    return vectors, children, parents, negatives


def triplets(batch):
    """Return D, the set of (e, e⁺, e⁻): a link with m negatives has m triplets."""
    vectors, children, parents, negatives = batch
    points = vectors.numpy()
    return [
        (points[child], points[parent], points[text])
        for child, parent, row in zip(
            children.tolist(), parents.tolist(), negatives.tolist(), strict=True
        )
        for text, chosen in enumerate(row)
        if chosen
    ]


def clustering_terms(batch, margin):
    return [
        max(distance(child, parent) - distance(child, negative) + margin, 0.0)
        for child, parent, negative in triplets(batch)
    ]


def centripetal_terms(batch, margin):
    return [max(norm(parent) - norm(child) + margin, 0.0) for child, parent, _ in triplets(batch)]


@pytest.mark.parametrize("margin", [5.0, 0.3, 0.0])
def test_equation_3_hyperbolic_clustering_loss(batch, margin):
    """L_cluster = Σ_{(e, e⁺, e⁻) ∈ D} max(d_c(e, e⁺) - d_c(e, e⁻) + α, 0).

    ontodex takes the mean over D instead of the sum, as the public code does.
    """
    found = HierarchyLoss(C, margin, NO_CENTRIPETAL, smooth=False)(*batch).item()
    terms = clustering_terms(batch, margin)
    assert sum(terms) > 0
    assert found * len(terms) == pytest.approx(sum(terms), rel=CLOSE)


@pytest.mark.parametrize("margin", [1.0, 0.1, 0.0])
def test_equation_4_hyperbolic_centripetal_loss(batch, margin):
    """L_centri = Σ_{(e, e⁺, e⁻) ∈ D} max(‖e⁺‖_c - ‖e‖_c + β, 0).

    e⁻ plays no part. ontodex takes the mean over links instead of the sum over D; the two are
    proportional if every link has equally many negatives, as in the paper (10). A batch without
    negatives has this loss alone.
    """
    vectors, children, parents, negatives = batch
    nothing = torch.zeros_like(negatives)
    terms = centripetal_terms(batch, margin)
    assert sum(terms) > 0
    for smooth in (False, True):
        loss = HierarchyLoss(C, 5.0, margin, smooth=smooth)
        found = loss(vectors, children, parents, nothing).item()
        assert found * len(terms) == pytest.approx(sum(terms), rel=CLOSE)


def test_equation_5_sum_of_both_losses(batch):
    """L_HiT = L_cluster + L_centri, with α = 5 and β = 0.1 as in the paper.

    ontodex takes both as means, and may add a contraction term that the paper does not have
    (weight 0 here).
    """
    found = HierarchyLoss(C, 5.0, 0.1, smooth=False)(*batch).item()
    total = sum(clustering_terms(batch, 5.0)) + sum(centripetal_terms(batch, 0.1))
    assert found * len(triplets(batch)) == pytest.approx(total, rel=CLOSE)


@pytest.mark.parametrize("margin", [5.0, 0.3, 0.0])
def test_smooth_clustering_loss_that_replaces_equation_3(batch, margin):
    """Mean over links of log(1 + Σ_{e⁻} exp(d_c(e, e⁺) - d_c(e, e⁻) + α)); not in the paper.

    ontodex trains with it on batches of families, whose negatives are mostly far away.
    """
    found = HierarchyLoss(C, margin, NO_CENTRIPETAL, smooth=True)(*batch).item()
    vectors, children, parents, negatives = batch
    points = vectors.numpy()
    links = []
    for child, parent, row in zip(
        children.tolist(), parents.tolist(), negatives.tolist(), strict=True
    ):
        near = distance(points[child], points[parent])
        gaps = [
            near - distance(points[child], points[text]) + margin
            for text, chosen in enumerate(row)
            if chosen
        ]
        links.append(math.log(1 + sum(math.exp(gap) for gap in gaps)))
    assert found == pytest.approx(sum(links) / len(links), rel=CLOSE)


def subsumption_score(child, parent, weight):
    """Equation 6: s(e₁ ⊑ e₂) = -(d_c(e₁, e₂) + λ (‖e₂‖_c - ‖e₁‖_c))."""
    return -(distance(child, parent) + weight * (norm(parent) - norm(child)))


@pytest.mark.parametrize("weight", [0.0, 0.7, 2.5])
def test_equation_6_subsumption_score(weight):
    """s(e₁ ⊑ e₂) = -(d_c(e₁, e₂) + λ (‖e₂‖_c - ‖e₁‖_c)): ontodex's rule with tilt 0.

    Pairs with one λ for both norms are fitted with ``weights=(λ, λ)``.
    """
    points = points_in_ball(7, 5)
    children, parents = np.array([0, 1, 2, 3, 3, 6]), np.array([4, 4, 5, 0, 2, 6])
    wanted = [
        subsumption_score(points[child], points[parent], weight)
        for child, parent in zip(children, parents, strict=True)
    ]
    parts = differences(points, children, parents, C)
    rule = Subsumption(weight=weight, threshold=-5.0, slope=1.0, offset=0.0)
    np.testing.assert_allclose(rule.score(*parts), wanted, rtol=CLOSE, atol=CLOSE)
    fitted = fit(*parts, labels=[True, True, False, False, True, False], weights=(weight, weight))
    assert (fitted.weight, fitted.tilt) == (weight, 0.0)
    np.testing.assert_allclose(fitted.score(*parts), wanted, rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize("upward", [True, False])
@pytest.mark.parametrize("weight", [0.0, 1.5])
def test_equation_6_as_searched(weight, upward):
    """s(e₁ ⊑ e₂) ranks all entities as parents e₂ of a query e₁, or as its children."""
    points = points_in_ball(30, 6, high=0.6)
    vectors = Vectors([poincare.lift_items(points, C).astype(np.float32)])
    # What is searched are the float32 lifts, so the reference reads its points from them.
    stored = np.array(
        [row[:-1] / (1 + C * row[-1]) for row in vectors[np.arange(30)].astype(np.float64)]
    )
    space = SubsumptionSpace(vectors, C, weight)
    searcher = Searcher(vectors, space=space if upward else space.reversed())
    for query in (0, 7):
        ((rows, scores),) = searcher.top(vectors[np.array([query])], k=30)
        wanted = [
            subsumption_score(
                *((stored[query], other) if upward else (other, stored[query])), weight
            )
            for other in stored
        ]
        # The last number of a lift is rounded by itself (6e-8 of |y|²/b, at most 4.5), and differs
        # by that much from the one that the others give: distances of at least 1 differ by 1e-6.
        others = rows != query
        np.testing.assert_allclose(scores[others], np.array(wanted)[rows[others]], atol=1e-5)
        assert len(set(rows.tolist())) == 30


def test_tilt_that_is_added_to_equation_6():
    """s(e₁ ⊑ e₂) + δ ‖e₁‖_c: ontodex's rule of two weights, λ for ‖e₂‖_c and λ + δ for ‖e₁‖_c.

    The paper has one weight: δ = 0.
    """
    points = points_in_ball(4, 7)
    parts = differences(points, np.array([0, 1]), np.array([2, 3]), C)
    rule = Subsumption(weight=1.5, threshold=0.0, slope=1.0, offset=0.0, tilt=-0.5)
    wanted = [
        subsumption_score(points[child], points[parent], 1.5) - 0.5 * norm(points[child])
        for child, parent in ((0, 2), (1, 3))
    ]
    np.testing.assert_allclose(rule.score(*parts), wanted, rtol=CLOSE)
    assert rule.child_weight == 1.0
