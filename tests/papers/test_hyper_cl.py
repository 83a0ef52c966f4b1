"""Formulas of Hyper-CL, one by one, against direct implementations.

Yoo et al., "Hyper-CL: Conditioning Sentence Representations with Hypernetworks", ACL 2024. The
paper multiplies columns, W h; ontodex multiplies rows, h · G with G = Wᵀ. Where ontodex deviates
from the paper, the test says so.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans

from ontodex.encoders.compositions import make_network
from ontodex.encoders.condition import ConditionEncoder
from ontodex.encoders.condition_network import ConditionNetwork, ConditionNetworkSettings
from ontodex.encoders.hypernetwork import LinkNetworkSettings
from ontodex.encoders.text import TextEncoder
from ontodex.geometry.conditioned import under_condition
from ontodex.geometry.projection import Projections
from ontodex.trainers.conditions.batches import ConditionBatch
from ontodex.trainers.conditions.evaluation import cluster_entropy, norm_variance
from ontodex.trainers.conditions.loss import ConditionLoss
from ontodex.trainers.conditions.models import FrozenConditionModel

DIM, RANK, CONDITION = 6, 3, 4
WHICH = [1, 0, 2, 1, 1]
"""Condition, or relation, of each of five vectors."""

CLOSE = 1e-12
"""Error in float64 of sums of at most 6 * 6 * 4 products of numbers of about 1: 144 * 2.2e-16."""

ROUNDED = 2.0**-24 * (1 + math.sqrt(DIM))
"""Error of the inner product of a unit vector with one whose numbers are rounded to float32.

Numbers of at most 1 are off by at most 2^-25, a vector of d of them by √d times as much. Both
vectors are rounded, and some computations end with a last rounding to float32.
"""


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def randomised(network, seed=0):
    """Draw all weights of a network away from its start, and compute in float64."""
    random = torch.Generator().manual_seed(seed)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.6, generator=random)
    return network.double().eval()


def condition_network(architecture, rank=RANK):
    return randomised(
        ConditionNetwork(ConditionNetworkSettings(DIM, architecture, rank, CONDITION))
    )


def link_network(architecture, projection, rank=RANK, shift=False):
    settings = LinkNetworkSettings(
        DIM, CONDITION, rank, shift, projection=projection, architecture=architecture
    )
    return randomised(make_network(settings))


def linear(layer, vector):
    """Return weight · vector + bias of a linear layer, by loops."""
    weight = layer.weight.detach().numpy()
    bias = np.zeros(len(weight)) if layer.bias is None else layer.bias.detach().numpy()
    return [
        bias[i] + sum(weight[i, j] * vector[j] for j in range(len(vector)))
        for i in range(len(weight))
    ]


def product(matrix, vector):
    """Return W h, by loops."""
    return [sum(matrix[i][j] * vector[j] for j in range(len(vector))) for i in range(len(matrix))]


def matrix_of(numbers, width):
    """Return W of the row-major numbers of G = Wᵀ, whose rows have ``width`` numbers."""
    rows = [numbers[at : at + width] for at in range(0, len(numbers), width)]
    return [[row[i] for row in rows] for i in range(width)]


def cosine(one, other):
    lengths = (math.sqrt(sum(x * x for x in side)) for side in (one, other))
    return sum(a * b for a, b in zip(one, other, strict=True)) / math.prod(lengths)


def projected(network, texts, conditions):
    """Return what a condition network makes of each text under its condition, as in training."""
    with torch.no_grad():
        factors = network(torch.from_numpy(conditions))
        return network.project(torch.from_numpy(texts), factors, torch.tensor(WHICH)).numpy()


def queries(network, heads, relations):
    """Return the query of each (head, relation) pair, as in training."""
    with torch.no_grad():
        found = network.queries(
            torch.from_numpy(heads), torch.from_numpy(relations), torch.tensor(WHICH)
        )
    return found.numpy()


def served(network, relations):
    """Return the projections of relations as an index stores them, in float32."""
    with torch.no_grad():
        parts = network(torch.from_numpy(relations))
    arrays = {name: part.detach().numpy().astype(np.float32) for name, part in parts.items()}
    return Projections(residual=network.settings.projection == "residual", **arrays)


def test_section_3_2_projection_of_a_sentence_under_a_condition(rng):
    """W_c = H(h_c) and h_sc = W_c h_s, with the hypernetwork H linear and W_c of shape (d, d).

    ontodex reduces h_c by a linear layer first, to fewer numbers. The public code has this layer
    as well, of d numbers; the paper has none. Two linear layers make a linear map again.
    """
    network = condition_network("hyper", rank=0)
    texts, conditions = rng.normal(size=(5, DIM)), rng.normal(size=(3, DIM))
    wanted = []
    for text, which in zip(texts, WHICH, strict=True):
        numbers = linear(network.make, linear(network.reduce, conditions[which]))
        wanted.append(product(matrix_of(numbers, DIM), text))
    np.testing.assert_allclose(
        projected(network, texts, conditions), wanted, rtol=CLOSE, atol=100 * CLOSE
    )


def test_section_3_2_similarity_under_a_condition(rng):
    """sim(s₁, s₂ | c) = cos(W_c h_1, W_c h_2), in training and in search."""
    network = condition_network("hyper", rank=0)
    texts, conditions = (rng.normal(size=(n, DIM)).astype(np.float32) for n in (4, 2))
    sides, which = np.array([[0, 1, 2], [2, 3, 1]]), np.array([1, 0, 1])
    with torch.no_grad():
        factors = network(torch.from_numpy(conditions).double()).numpy()
    wanted = []
    for first, second, condition in zip(*sides, which, strict=True):
        matrix = factors[condition].T
        wanted.append(cosine(product(matrix, texts[first]), product(matrix, texts[second])))
        vectors = under_condition(texts[[first, second]], factors[condition]).astype(np.float64)
        assert vectors[0] @ vectors[1] == pytest.approx(wanted[-1], abs=ROUNDED)
    batch = ConditionBatch(np.arange(4), np.arange(2), sides, which, np.zeros(3, np.float32))
    model = FrozenConditionModel(network.float(), ConditionLoss(), texts, conditions)
    with torch.no_grad():
        found = model.cosines(batch).numpy()
    # Training computes in float32: sums of 144 products, relative to vectors of a length near 1.
    np.testing.assert_allclose(found, wanted, atol=144 * 2.0**-24)


@pytest.mark.parametrize("rank", [0, RANK])
def test_section_3_2_score_of_a_triple(rng, rank):
    """φ(h, r, t) = cos(W_r h_h, h_t); low rank (section 3.4): W_r = W_1 W_2ᵀ of two factors.

    The tail is not projected. In training, the projection ``"public"`` has the query W_r h_h
    without normalisation, as in the public code; in search, queries always have length 1.
    """
    network = link_network("hyper", "public", rank)
    heads, relations, tails = (rng.normal(size=(n, DIM)) for n in (5, 3, 5))
    trained, projections = queries(network, heads, relations), served(network, relations)
    searched = projections.queries(heads, np.array(WHICH))
    for at, which in enumerate(WHICH):
        reduced = linear(network.condition, relations[which])
        if rank:
            left = matrix_of(linear(network.left, reduced), rank)
            right = matrix_of(linear(network.right, reduced), DIM)
            query = product(right, product(left, heads[at]))
        else:
            query = product(matrix_of(linear(network.left, reduced), DIM), heads[at])
        np.testing.assert_allclose(trained[at], query, rtol=CLOSE, atol=100 * CLOSE)
        tail = tails[at] / np.linalg.norm(tails[at])
        # The factors are stored in float32: an error of 2^-24 of each number, and of the sums of
        # (DIM + rank) products, which are at most ten times as long as the query.
        score = searched[at].astype(np.float64) @ tail
        assert score == pytest.approx(cosine(query, tails[at]), abs=10 * 12 * 2.0**-24)


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("architecture", ["hyper", "hadamard", "concat"])
def test_section_3_2_trained_score_is_the_cosine(rng, architecture, shift):
    """φ(h, r, t) = cos(W_r h_h, h_t) in training too, with the projection ``"paper"``.

    The optional shift, V h_r + b, is ontodex's; a concatenation has it in any case.
    """
    public = link_network(architecture, "public", shift=shift)
    heads, relations = rng.normal(size=(5, DIM)), rng.normal(size=(3, DIM))
    moved = queries(public, heads, relations)
    if shift and architecture != "concat":
        plain = link_network(architecture, "public")
        plain.load_state_dict(public.state_dict(), strict=False)
        shifts = [linear(public.shift, relations[which]) for which in WHICH]
        np.testing.assert_allclose(
            moved, queries(plain, heads, relations) + np.array(shifts), atol=100 * CLOSE
        )
    wanted = moved / np.sqrt(np.sum(moved * moved, axis=1, keepdims=True))
    paper = link_network(architecture, "paper", shift=shift)
    np.testing.assert_allclose(queries(paper, heads, relations), wanted, atol=CLOSE)
    searched = served(paper, relations).queries(heads, np.array(WHICH))
    np.testing.assert_allclose(searched, wanted, atol=10 * 12 * 2.0**-24)  # as above


@pytest.mark.parametrize("architecture", ["hyper", "hadamard", "concat"])
def test_residual_projection_that_replaces_that_of_section_3_2(rng, architecture):
    """φ(h, r, t) = cos(h_h + W_r h_h, h_t): ontodex's default, which starts near the plain encoder.

    It replaces cos(W_r h_h, h_t) for every way to combine head and relation.
    """
    residual = link_network(architecture, "residual")
    public = link_network(architecture, "public")
    heads, relations = rng.normal(size=(5, DIM)), rng.normal(size=(3, DIM))
    moved = queries(public, heads, relations)
    wanted = heads + moved
    wanted /= np.sqrt(np.sum(wanted * wanted, axis=1, keepdims=True))
    np.testing.assert_allclose(queries(residual, heads, relations), wanted, atol=CLOSE)
    searched = served(residual, relations).queries(heads, np.array(WHICH))
    np.testing.assert_allclose(searched, wanted, atol=10 * 12 * 2.0**-24)  # as above


def test_section_3_4_one_factor_has_the_cosines_of_two(rng):
    """cos(W_c a, W_c b) with W_c = W_1 W_2ᵀ is cos(z(a), z(b)) with z(x) = R W_2ᵀ x, W_1 = Q R.

    For similarity under a condition, ontodex's network makes the one factor R W_2ᵀ, of shape
    (rank, d), where the paper has two.
    """
    first, second = rng.normal(size=(DIM, RANK)), rng.normal(size=(DIM, RANK))
    texts = rng.normal(size=(20, DIM))
    factor = np.linalg.qr(first).R @ second.T
    vectors = under_condition(texts, factor.T).astype(np.float64)
    assert vectors.shape == (20, RANK)
    whole = [product(first, product(second.T, text)) for text in texts]
    wanted = [[cosine(one, other) for other in whole] for one in whole]
    np.testing.assert_allclose(vectors @ vectors.T, wanted, atol=ROUNDED)
    network = condition_network("hyper", RANK)
    conditions = rng.normal(size=(3, DIM))
    numbers = [linear(network.make, linear(network.reduce, one)) for one in conditions]
    one_factor = [
        product(matrix_of(numbers[which], RANK), text)
        for text, which in zip(texts, WHICH, strict=False)
    ]
    np.testing.assert_allclose(
        projected(network, texts[:5], conditions), one_factor, rtol=CLOSE, atol=100 * CLOSE
    )


@pytest.fixture
def rows():
    """Cosines and labels of twenty pairs of rows; rows 2i and 2i + 1 have the same two texts."""
    rng = np.random.default_rng(1)
    cosines, labels = rng.uniform(-1, 1, 40), rng.integers(0, 5, 40) / 4
    labels[:2] = 0.5
    return cosines, labels


def loss(parts, cosines, labels, temperature=1.5):
    made = ConditionLoss(parts, temperature)
    return made(torch.from_numpy(cosines), torch.from_numpy(labels)).item()


def squared_error(cosines, labels):
    return sum((a - b) ** 2 for a, b in zip(cosines, labels, strict=True)) / len(cosines)


def contrastive_error(cosines, labels, temperature):
    terms = []
    for pair in range(0, len(cosines), 2):
        high, low = sorted((pair, pair + 1), key=lambda row: -labels[row])
        if labels[high] > labels[low]:
            powers = [math.exp(cosines[row] / temperature) for row in (high, low)]
            terms.append(-math.log(powers[0] / sum(powers)))
    return sum(terms) / len(terms)


def test_section_3_3_squared_error(rows):
    """L_MSE = mean (cos(h_1c, h_2c) - y)² over all rows, with labels y scaled to 0 to 1."""
    assert loss("mse", *rows) == pytest.approx(squared_error(*rows), rel=CLOSE)


@pytest.mark.parametrize("temperature", [1.0, 1.5, 1.9])
def test_section_3_3_contrastive_loss(rows, temperature):
    """L_CL = mean -ln(e^(cos_high/τ) / (e^(cos_high/τ) + e^(cos_low/τ))) over pairs of rows.

    The two rows of a pair have the same texts and two conditions, of which c_high has the higher
    label. Pairs with equal labels, of which neither is c_high, are left out in ontodex.
    """
    wanted = contrastive_error(*rows, temperature)
    assert loss("contrastive", *rows, temperature) == pytest.approx(wanted, rel=CLOSE)
    assert loss("contrastive", np.ones(2), np.ones(2)) == 0


def test_section_3_3_sum_of_both_losses(rows):
    """L = L_MSE + L_CL, with equal weights."""
    wanted = squared_error(*rows) + contrastive_error(*rows, 1.5)
    assert loss("both", *rows) == pytest.approx(wanted, rel=CLOSE)


def test_section_4_2_hadamard_product_of_text_and_condition(rng):
    """h_sc = h_s ∘ h_c, with a linear layer on h_c as in the public code."""
    network = condition_network("hadamard")
    texts, conditions = rng.normal(size=(5, DIM)), rng.normal(size=(3, DIM))
    vectors = [linear(network.make, one) for one in conditions]
    wanted = np.array(
        [
            [a * b for a, b in zip(text, vectors[which], strict=True)]
            for text, which in zip(texts, WHICH, strict=True)
        ]
    )
    np.testing.assert_allclose(projected(network, texts, conditions), wanted, rtol=CLOSE)
    searched = under_condition(texts[:1], np.array(vectors[WHICH[0]]))
    np.testing.assert_allclose(searched[0], wanted[0] / np.linalg.norm(wanted[0]), atol=ROUNDED)


def test_section_4_2_concatenation_of_text_and_condition(rng):
    """h_sc = W [h_s; h_c] + b: one linear layer, from 2d to d numbers.

    The public code has an activation after the layer; the paper and ontodex have none.
    """
    network = condition_network("concat")
    texts, conditions = rng.normal(size=(5, DIM)), rng.normal(size=(3, DIM))
    weight = np.hstack([network.mix.weight.detach().numpy(), network.make.weight.detach().numpy()])
    bias = network.make.bias.detach().numpy()
    wanted = np.array(
        [
            np.add(product(weight, [*text, *conditions[which]]), bias)
            for text, which in zip(texts, WHICH, strict=True)
        ]
    )
    found = projected(network, texts, conditions)
    np.testing.assert_allclose(found, wanted, rtol=CLOSE, atol=10 * CLOSE)
    factor = np.array(linear(network.make, conditions[WHICH[0]]))
    searched = under_condition(texts[:1], factor, network.mix.weight.detach().numpy().T)
    np.testing.assert_allclose(searched[0], wanted[0] / np.linalg.norm(wanted[0]), atol=ROUNDED)


@pytest.mark.parametrize("architecture", ["hadamard", "concat"])
def test_section_4_2_simpler_tri_encoders_of_links(rng, architecture):
    """h_hr = h_h ∘ h_r, or W [h_h; h_r] + b, in place of W_r h_h; φ(h, r, t) = cos(h_hr, h_t).

    The Hadamard product has a linear layer on h_r, as in the public code.
    """
    network = link_network(architecture, "public")
    heads, relations, tails = (rng.normal(size=(n, DIM)) for n in (5, 3, 5))
    trained, projections = queries(network, heads, relations), served(network, relations)
    searched = projections.queries(heads, np.array(WHICH)).astype(np.float64)
    for at, which in enumerate(WHICH):
        if architecture == "hadamard":
            scale = linear(network.scale, relations[which])
            query = [a * b for a, b in zip(heads[at], scale, strict=True)]
        else:
            weight = torch.cat([network.head.weight, network.shift.weight], dim=1).detach().numpy()
            bias = network.shift.bias.detach().numpy()
            query = np.add(product(weight, [*heads[at], *relations[which]]), bias)
        np.testing.assert_allclose(trained[at], query, rtol=CLOSE, atol=10 * CLOSE)
        score = searched[at] @ (tails[at] / np.linalg.norm(tails[at]))
        assert score == pytest.approx(cosine(query, tails[at]), abs=10 * 12 * 2.0**-24)


def test_section_5_impurity_of_clusters():
    """Σ_g n_g/n H_g: entropy H_g = -Σ_k p_gk ln p_gk of k-means clusters k within each group g.

    Three conditions with twenty texts each; 0 if every group lies in one cluster.
    """
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 20)
    apart = np.eye(8)[groups] + rng.normal(scale=0.05, size=(60, 8))
    assert cluster_entropy(apart, groups) == pytest.approx(0, abs=1e-9)
    # Tight clusters across groups: every k-means finds the same.
    mixed = np.eye(8)[rng.permutation(groups)] + rng.normal(scale=0.05, size=(60, 8))
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(mixed).tolist()
    wanted = 0.0
    for group in range(3):
        own = labels[20 * group : 20 * group + 20]
        shares = [own.count(cluster) / 20 for cluster in set(own)]
        wanted -= 20 / 60 * sum(share * math.log(share) for share in shares)
    assert wanted > 0.5
    assert cluster_entropy(mixed, groups) == pytest.approx(wanted, rel=CLOSE)


CONDITIONS = ["thing", "kind", "animal", "lives in"]


def variance(values):
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / len(values)


def size(matrix):
    """Frobenius norm divided by the square root of the number of elements."""
    numbers = np.ravel(matrix).tolist()
    return math.sqrt(sum(x * x for x in numbers)) / math.sqrt(len(numbers))


@pytest.mark.parametrize("architecture", ["hyper", "hadamard"])
def test_section_5_variance_of_norms(tiny_encoder, architecture):
    """Var_c(‖W_c‖_F / √n), over conditions c, with n elements in W_c.

    For a Hadamard product, W_c is the vector that texts are multiplied by.
    """
    text = TextEncoder(tiny_encoder, "cpu")
    network = ConditionNetwork(ConditionNetworkSettings(text.dim, architecture, rank=0))
    encoder = ConditionEncoder(text, network)
    wanted = variance([size(factor) for factor in encoder.factors(CONDITIONS)])
    # Each size, of about 1, is off by 1e-13; the variance of four near ones is a small difference.
    assert norm_variance(encoder, CONDITIONS) == pytest.approx(wanted, rel=1e-6)


def test_variance_of_norms_of_a_single_factor(tiny_encoder):
    """A projection of rank r is stored as one factor of d · r numbers; the variance is of W_c.

    The factor has the Frobenius norm of the matrix W_1 W_2ᵀ that it stands for (W_1 = Q R, and Q
    keeps norms).
    """
    text = TextEncoder(tiny_encoder, "cpu")
    network = ConditionNetwork(ConditionNetworkSettings(text.dim, rank=8))
    encoder = ConditionEncoder(text, network)
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(text.dim, 8))).Q
    whole = [basis @ factor.T for factor in encoder.factors(CONDITIONS).astype(np.float64)]
    assert whole[0].shape == (text.dim, text.dim)
    wanted = variance([size(matrix) for matrix in whole])
    assert norm_variance(encoder, CONDITIONS) == pytest.approx(wanted, rel=1e-6)
