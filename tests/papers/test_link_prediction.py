"""Formulas of SimKGC and ComplEx, one by one, against direct implementations.

Wang et al., "SimKGC: Simple Contrastive Knowledge Graph Completion with Pre-trained Language
Models", ACL 2022; Trouillon et al., "Complex Embeddings for Simple Link Prediction", ICML 2016;
Lacroix et al., "Canonical Tensor Decomposition for Knowledge Base Completion", ICML 2018. Where
ontodex deviates from a paper, the test says so.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from ontodex.encoders.compositions import make_network
from ontodex.encoders.hypernetwork import LinkNetworkSettings
from ontodex.engine.rerank import neighbourhood_offset
from ontodex.geometry.complex import ComplEx, compose
from ontodex.graph import both_directions
from ontodex.trainers.links import complex as complex_training
from ontodex.trainers.links.batches import LinkBatches
from ontodex.trainers.links.complex_batches import ComplExBatches
from ontodex.trainers.links.loss import LinkLoss
from ontodex.trainers.links.models import FrozenLinkModel

FLOAT32 = 2.0**-24
DIM, RANK = 8, 3


def info_nce(scores, gold, negatives, margin, temperature):
    """Return -ln(e^((φ⁺ - γ)/τ) / (e^((φ⁺ - γ)/τ) + Σ_i e^(φ_i/τ))) of one query."""
    right = math.exp((scores[gold] - margin) / temperature)
    wrong = sum(math.exp(scores[column] / temperature) for column in negatives)
    return -math.log(right / (right + wrong))


@pytest.mark.parametrize(("margin", "temperature"), [(0.02, 0.05), (0.1, 0.2), (0.0, 1.0)])
def test_simkgc_info_nce_with_additive_margin(margin, temperature):
    """L = -ln(e^((φ(h,r,t)-γ)/τ) / (e^((φ(h,r,t)-γ)/τ) + Σ_i e^(φ(h,r,t'_i)/τ))), with margin γ.

    ontodex takes the mean over queries. The public code adds the same loss over the columns of the
    batch; the paper and ontodex have the loss over rows alone.
    """
    scores = torch.rand(5, 9, generator=torch.Generator().manual_seed(0))
    tails, masked = [0, 3, 8, 1, 1], [[0, 1], [0, 2], [4, 5]]
    loss = LinkLoss(margin, temperature)
    found = loss(scores, torch.tensor(tails), torch.tensor(masked)).item()
    losses = []
    for query, gold in enumerate(tails):
        negatives = [
            column for column in range(9) if column != gold and [query, column] not in masked
        ]
        row = scores[query].double().tolist()
        losses.append(info_nce(row, gold, negatives, margin, temperature))
    # Logits φ/τ of at most 1/τ in float32, and 1/τ itself, stored as a logarithm.
    limit = 10 * FLOAT32 / temperature
    assert found == pytest.approx(sum(losses) / 5, abs=limit)


def test_simkgc_temperature_is_learnt():
    """τ is a parameter: ln(1/τ) is learnt, and starts at τ = 0.05."""
    loss = LinkLoss()
    (parameter,) = loss.parameters()
    assert math.exp(-parameter.item()) == pytest.approx(0.05, rel=4 * FLOAT32)
    scores, tails = torch.tensor([[0.2, 0.9], [0.8, 0.1]]), torch.tensor([0, 0])
    loss(scores, tails, torch.zeros(0, 2, dtype=torch.long)).backward()
    step = 1e-3
    values = []
    for change in (-step, step):
        temperature = 1 / math.exp(math.log(1 / 0.05) + change)
        rows = [info_nce(row, 0, [1], 0.02, temperature) for row in ([0.2, 0.9], [0.8, 0.1])]
        values.append(sum(rows) / 2)
    # Central differences: an error of step² times a third derivative of at most about 20.
    assert parameter.grad.item() == pytest.approx((values[1] - values[0]) / (2 * step), abs=1e-4)


@pytest.mark.parametrize("entities", [0, 24])
def test_simkgc_negatives_of_a_batch(small_graph, entities):
    """Negatives of (h, r) are the batch's entities, h itself among them, without true tails.

    The paper's in-batch negatives N_IB are the tails of the batch, its self-negative N_SN is the
    head h. ontodex takes all heads and tails of the batch and further entities, and φ(h, r, t) is
    the inner product of the query with the tail; triples are in both directions, as in the paper.
    """
    graph = small_graph
    network = make_network(LinkNetworkSettings(DIM, 4, RANK, projection="public"))
    random = torch.Generator().manual_seed(0)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.4, generator=random)
    rng = np.random.default_rng(1)
    vectors, relations = (
        rng.normal(size=(count, DIM)).astype(np.float32)
        for count in (graph.n_entities, 2 * graph.n_relations)
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    model = FrozenLinkModel(network, LinkLoss(0.02, 0.5), vectors, relations)
    batches = LinkBatches(graph, steps=3, queries=12, entities=entities, negatives=16, seed=0)
    true = {tuple(row) for row in both_directions(graph.triples, graph.n_relations).tolist()}
    with torch.no_grad():
        parts = {
            name: part.double().numpy()
            for name, part in network(torch.from_numpy(relations)).items()
        }
    for number in range(3):
        batch = batches[number]
        found = model(batch)["loss"].item()
        losses = []
        for head, relation, tail in zip(batch.heads, batch.relations, batch.tails, strict=True):
            head_entity = int(batch.entities[head])
            query = vectors[head_entity].astype(np.float64) @ parts["left"][relation]
            query = query @ parts["right"][relation]
            scores = [float(query @ vectors[entity]) for entity in batch.entities.tolist()]
            negatives = [
                column
                for column, entity in enumerate(batch.entities.tolist())
                if (head_entity, int(relation), entity) not in true
            ]
            assert head in negatives
            losses.append(info_nce(scores, int(tail), negatives, 0.02, 0.5))
        # Float32 products of a few numbers of about 1, divided by τ.
        assert found == pytest.approx(sum(losses) / len(losses), rel=1e-5)


@pytest.mark.parametrize("hops", [1, 2, 5])
def test_simkgc_section_3_4_graph_based_reranking(small_graph, hops):
    """φ(h, r, t) + α 1(t ∈ E_k(h)), with α = 0.05 and the entities E_k(h) within k hops of h.

    Hops follow known triples in any direction; h itself is in E_k(h), as in the public code.
    """
    near = {entity: {entity} for entity in range(small_graph.n_entities)}
    links = [(head, tail) for head, _, tail in small_graph.triples.tolist()]
    for entity, reached in near.items():
        edge = {entity}
        for _ in range(hops):
            edge = {tail for head, tail in links if head in edge} | {
                head for head, tail in links if tail in edge
            }
            reached |= edge
    entities = np.arange(small_graph.n_entities)
    scores = np.random.default_rng(0).random((len(entities),) * 2).astype(np.float32)
    scores[3, 4] = -np.inf
    made = neighbourhood_offset(small_graph, hops)(entities, np.zeros(len(entities), int), scores)
    for entity in entities.tolist():
        for other in entities.tolist():
            score = float(scores[entity, other]) + 0.05 * (other in near[entity])
            assert made[entity, other] == pytest.approx(score, abs=2 * FLOAT32)


def as_complex(vectors):
    """Read real parts, then imaginary parts, as complex numbers."""
    real, imaginary = np.split(np.asarray(vectors, dtype=np.float64), 2, axis=-1)
    return real + 1j * imaginary


def test_complex_equation_9_score():
    """φ(h, r, t) = Re(Σ_k h_k r_k conj(t_k)) (Trouillon et al. 2016, equation 9).

    It is searched as the inner product of the query h ∘ r with t, both of 2k real numbers.
    """
    rng = np.random.default_rng(0)
    entities, relations = (rng.normal(size=(n, 2 * RANK)).astype(np.float32) for n in (5, 4))
    made = ComplEx(entities, relations)
    heads, kinds = np.array([0, 2, 4]), np.array([3, 1, 0])
    found = made.queries(heads, kinds).astype(np.float64) @ entities.T.astype(np.float64)
    e, r = as_complex(entities), as_complex(relations)
    for row, (head, kind) in enumerate(zip(heads, kinds, strict=True)):
        for tail in range(5):
            wanted = sum(e[head, k] * r[kind, k] * np.conj(e[tail, k]) for k in range(RANK)).real
            # The 2k numbers of a query, at most 10, are rounded to float32, and multiplied by at
            # most 3.
            assert found[row, tail] == pytest.approx(wanted, abs=2 * RANK * 10 * 3 * FLOAT32)
    np.testing.assert_array_equal(
        made.queries(heads, kinds), compose(entities[heads], relations[kinds])
    )


def objective(batch, entities, relations, strength):
    """Return the loss of Lacroix et al. of a batch, triple by triple, with torch's gradients.

    The arguments are lists of lists of scalar tensors, real parts first.
    """
    total = torch.zeros((), dtype=torch.float64)

    def parts(vector):
        return [(vector[k], vector[RANK + k]) for k in range(RANK)]

    for owner, tail in zip(batch.owners.tolist(), batch.tails.tolist(), strict=True):
        head = parts(entities[batch.heads[owner]])
        relation = parts(relations[batch.kinds[owner]])
        scores = []
        for candidate in range(len(batch.entities)):
            score = torch.zeros((), dtype=torch.float64)
            for (a, b), (c, d), (x, y) in zip(
                head, relation, parts(entities[candidate]), strict=True
            ):
                score = score + (a * c - b * d) * x + (a * d + b * c) * y
            scores.append(score)
        total = total + torch.stack(scores).exp().sum().log() - scores[tail]
        for vector in (head, relation, parts(entities[tail])):
            for real, imaginary in vector:
                total = total + strength * (real**2 + imaginary**2) ** 1.5
    return total / len(batch.owners)


@pytest.mark.parametrize("strength", [0.0, 0.3])
def test_lacroix_objective_with_n3_regularisation(small_graph, strength):
    """Σ -φ(h,r,t) + ln Σ_t' e^φ(h,r,t') + λ (‖h‖₃³ + ‖r‖₃³ + ‖t‖₃³), mean over triples of a batch.

    ‖x‖₃³ = Σ_k |x_k|³ of complex numbers; equation 7 of the paper. ontodex's λ contains the factor
    1/3 of the nuclear norm's variational form. Candidates are all entities in the paper, here the
    heads and tails of the batch and ten drawn entities.
    """
    batch = ComplExBatches(small_graph, steps=0, passes=1, queries=5, candidates=10, seed=0)[2]
    random = torch.Generator().manual_seed(0)
    entities, relations = (
        torch.randn(len(rows), 2 * RANK, generator=random, dtype=torch.float64, requires_grad=True)
        for rows in (batch.entities, batch.relations)
    )
    found, *gradients = complex_training.loss_and_gradients(
        batch, entities.detach(), relations.detach(), strength, torch.float64
    )
    wanted = objective(batch, entities, relations, strength)
    # The probability of each tail passes float32.
    assert found == pytest.approx(wanted.item(), rel=1e-6)
    for mine, direct in zip(
        gradients, torch.autograd.grad(wanted, (entities, relations)), strict=True
    ):
        torch.testing.assert_close(mine, direct, rtol=1e-5, atol=1e-6)


def test_lacroix_reciprocal_relations(small_graph):
    """Each triple (h, r, t) is also trained on as (t, r⁻¹, h): heads are ranked as tails."""
    count = small_graph.n_relations
    batches = ComplExBatches(small_graph, steps=0, passes=1, queries=8, candidates=10, seed=0)
    seen = []
    for number in range(batches.per_epoch):
        batch = batches[number]
        for owner, tail in zip(batch.owners, batch.tails, strict=True):
            head = batch.entities[batch.heads[owner]]
            relation = batch.relations[batch.kinds[owner]]
            seen.append((int(head), int(relation), int(batch.entities[tail])))
    wanted = []
    for head, relation, tail in small_graph.triples.tolist():
        wanted += [(head, relation, tail), (tail, relation + count, head)]
    assert sorted(seen) == sorted(wanted)


def test_lacroix_adagrad():
    """x ← x - η g / (√(Σ g²) + ε), with the squares of all gradients so far, number by number.

    A step updates only the rows of its batch.
    """
    rng = np.random.default_rng(0)
    start = rng.normal(size=(4, 3))
    table = complex_training.Table(torch.from_numpy(start.copy()))
    wanted, squares = start.copy(), np.zeros((4, 3))
    for rows in ([0, 2], [2, 3], [0, 2]):
        gradient = rng.normal(size=(2, 3))
        taken = table.rows(np.array(rows))
        np.testing.assert_array_equal(taken, wanted[rows])
        table.update(torch.from_numpy(gradient), 0.1)
        for at, row in enumerate(rows):
            for k in range(3):
                squares[row, k] += gradient[at, k] ** 2
                wanted[row, k] -= 0.1 * gradient[at, k] / (math.sqrt(squares[row, k]) + 1e-10)
    np.testing.assert_allclose(table.weights.numpy(), wanted, rtol=1e-14)
    np.testing.assert_array_equal(table.weights.numpy()[1], start[1])
