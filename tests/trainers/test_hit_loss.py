"""HiT's loss: contraction, gradients, descent and autocast; its formulas are in tests/papers."""

from __future__ import annotations

import warnings

import pytest
import torch

from ontodex.trainers.hierarchies.loss import HierarchyLoss

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", r"`torch\.jit\.script", DeprecationWarning)  # geoopt, import
    from geoopt.manifolds.stereographic import math as geoopt

DIM = 8
C = 1 / DIM


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(12, DIM, generator=generator, dtype=torch.float64) * 0.5
    children, parents = torch.tensor([0, 1, 2, 3, 3]), torch.tensor([4, 4, 5, 5, 0])
    negatives = torch.rand(5, 12, generator=generator) < 0.5
    negatives[torch.arange(5), children] = negatives[torch.arange(5), parents] = False
    return vectors, children, parents, negatives


def test_the_contraction_is_the_mean_distance_to_the_origin(batch):
    bare, pulled = (
        HierarchyLoss(C, 5.0, 0.1, weight, smooth=True)(*batch).item() for weight in (0.0, 0.5)
    )
    norms = geoopt.dist0(batch[0], k=torch.tensor(-C, dtype=torch.float64))
    assert pulled - bare == pytest.approx(0.5 * norms.mean().item(), rel=1e-6)


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("kind", ["equal", "zero", "rim", "outside", "far outside"])
def test_gradients_are_finite_everywhere(batch, smooth, kind):
    vectors, children, parents, negatives = batch
    vectors = vectors.float()
    if kind == "equal":
        vectors[:] = vectors[0]
    elif kind == "zero":
        vectors[:] = 0
    else:
        length = {"rim": 1.0, "outside": 1.5, "far outside": 1e6}[kind] * DIM**0.5
        vectors = vectors / vectors.norm(dim=-1, keepdim=True) * length
    vectors.requires_grad_()
    loss = HierarchyLoss(C, 5.0, 0.1, smooth=smooth)(vectors, children, parents, negatives)
    loss.backward()
    assert loss.isfinite()
    assert vectors.grad.isfinite().all()
    if kind in ("rim", "outside"):
        assert vectors.grad.abs().max() > 0  # points outside the ball still get gradients


def test_descent_draws_children_to_their_parents_and_parents_to_the_origin(batch):
    vectors, children, parents, negatives = batch
    loss = HierarchyLoss(C, 1.0, 0.1, smooth=False)
    points = vectors.clone().requires_grad_()
    optimiser = torch.optim.Adam([points], lr=0.02)
    for _ in range(300):
        optimiser.zero_grad()
        loss(points, children, parents, negatives).backward()
        optimiser.step()
    assert loss(points, children, parents, negatives).item() < 0.1 * loss(*batch).item()
    norms = points.detach().norm(dim=-1)
    assert (norms[parents] < norms[children]).all()


def test_it_is_the_same_under_autocast(batch):
    vectors, *rest = batch
    loss = HierarchyLoss(C, 5.0, 0.1, smooth=True)
    wanted = loss(vectors.float(), *rest)
    with torch.autocast("cpu", torch.bfloat16):
        found = loss(vectors.float(), *rest)
    assert found.dtype == torch.float32
    assert torch.equal(found, wanted)
