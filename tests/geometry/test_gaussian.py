from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.errors import SettingsError
from ontodex.geometry import gaussian

SHAPES = [(0.0, 0.5, 0.0), (-4.0, 0.5, 0.0), (-9.0, 0.5, 0.8), (-4.0, 2.5, 0.0), (3.0, 2.0, -5.0)]
"""Mean and spread of log-variances, and an offset of means: even, tiny and uneven variances."""


def drawn(shape, middle, spread, offset, dim=24, seed=0):
    rng = np.random.default_rng(seed)
    logs = np.clip(middle + spread * rng.normal(size=(*shape, dim)), *gaussian.LOG_VARIANCE)
    means = offset + np.exp(middle / 2) * rng.normal(size=(*shape, dim))
    return np.concatenate([means, logs], axis=-1)


def normal(gaussians):
    means, logs = np.split(np.asarray(gaussians, np.float64), 2, axis=-1)
    return torch.distributions.Normal(torch.from_numpy(means), torch.from_numpy(np.exp(logs / 2)))


def reference(left, right):
    return torch.distributions.kl_divergence(normal(left), normal(right)).sum(-1).numpy()


@pytest.mark.parametrize("shape", SHAPES)
def test_kl_is_that_of_torch_distributions(shape):
    left, right = drawn((7,), *shape), drawn((7,), *shape, seed=1)
    np.testing.assert_allclose(gaussian.kl(left, right), reference(left, right), rtol=1e-9)
    np.testing.assert_allclose(
        gaussian.kl(left[:, None], right), reference(left[:, None], right[None]), rtol=1e-9
    )
    narrow = gaussian.kl(left.astype(np.float32), right.astype(np.float32))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(
        narrow, reference(left.astype(np.float32), right.astype(np.float32)), rtol=2e-4
    )


@given(st.integers(0, 2**32 - 1), st.floats(1e-7, 1e-3))
def test_kl_of_near_duplicates_keeps_its_digits_and_is_never_negative(seed, step):
    left = drawn((3,), -4.0, 1.0, 0.5, dim=8, seed=seed).astype(np.float32)
    right = (left + np.float32(step) * np.random.default_rng(seed).normal(size=left.shape)).astype(
        np.float32
    )
    found = gaussian.kl(left, right)
    wide = gaussian.kl(left.astype(np.longdouble).astype(np.float64), right.astype(np.float64))
    assert (found >= 0).all()
    np.testing.assert_allclose(found, wide, rtol=2e-2, atol=1e-12)
    np.testing.assert_array_equal(gaussian.kl(left, left), 0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_the_matrix_of_kl_is_that_of_every_pair(shape, kind):
    left, right = drawn((9,), *shape), drawn((5,), *shape, seed=1)
    wanted = reference(left[:, None], right[None])
    if kind == "torch":
        left, right = torch.from_numpy(left), torch.from_numpy(right)
    np.testing.assert_allclose(np.asarray(gaussian.kl_matrix(left, right)), wanted, rtol=1e-8)
    narrow = gaussian.kl_matrix(np.asarray(left, np.float32), np.asarray(right, np.float32))
    np.testing.assert_allclose(narrow, wanted, rtol=5e-3, atol=1e-3)


def test_the_matrix_has_gradients_and_keeps_its_precision_under_autocast():
    left = torch.from_numpy(drawn((4,), -2.0, 0.5, 0.3)).float().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        found = gaussian.kl_matrix(left, left)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.detach().diagonal(), torch.zeros(4), atol=1e-4, rtol=0)
    found.sum().backward()
    assert torch.isfinite(left.grad).all()
    assert left.grad.abs().max() > 0
    double = torch.from_numpy(drawn((3,), -2.0, 0.5, 0.3, dim=2)).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: gaussian.kl_matrix(x, x + 1).sum(), double)


def test_a_large_matrix_per_dimension_is_made_in_parts(monkeypatch):
    left, right = drawn((7,), 0.0, 1.0, 0.0), drawn((5,), 0.0, 1.0, 0.0, seed=1)
    whole = gaussian.similarity_matrix(left, right, "per-dimension")
    monkeypatch.setattr(gaussian, "CHUNK", 500)
    np.testing.assert_array_equal(gaussian.similarity_matrix(left, right, "per-dimension"), whole)


@pytest.mark.parametrize("function", [gaussian.similarity, gaussian.similarity_matrix])
def test_an_unknown_similarity_is_refused(function):
    with pytest.raises(SettingsError, match="did you mean 'scaled'"):
        function(drawn((2,), 0, 1, 0), drawn((2,), 0, 1, 0), "scale")


@settings(max_examples=40)
@given(st.sampled_from(SHAPES), st.integers(0, 1000))
def test_products_of_lifts_are_kl_but_for_a_constant(shape, seed):
    items, queries = drawn((6,), *shape, seed=seed), drawn((4,), *shape, seed=seed + 1)
    lifted, constant = gaussian.right_queries(queries)
    found = (lifted @ gaussian.left_items(items).T + constant[:, None]) / 2
    np.testing.assert_allclose(
        found, reference(items[None], queries[:, None]), rtol=1e-6, atol=1e-6
    )
    lifted, constant = gaussian.left_queries(queries)
    found = (lifted @ gaussian.right_items(items).T + constant[:, None]) / 2
    np.testing.assert_allclose(
        found, reference(queries[:, None], items[None]), rtol=1e-6, atol=1e-6
    )


def test_lifts_are_made_in_float64_and_keep_the_type():
    narrow = drawn((3,), -4.0, 2.5, 0.5).astype(np.float32)
    for function in (gaussian.left_items, gaussian.right_items):
        assert function(narrow).dtype == np.float32
        np.testing.assert_array_equal(
            function(narrow), function(narrow.astype(np.float64)).astype(np.float32)
        )
    assert torch.equal(
        gaussian.left_items(torch.from_numpy(narrow)), torch.from_numpy(gaussian.left_items(narrow))
    )


def test_an_affine_map_changes_no_divergence():
    left, right = drawn((5,), -2.0, 1.0, 0.7), drawn((5,), -2.0, 1.0, 0.7, seed=1)
    shift, scale = left[:, :24].mean(0), np.linspace(0.1, 3, 24)
    moved = gaussian.moved(left, shift, scale), gaussian.moved(right, shift, scale)
    np.testing.assert_allclose(gaussian.kl(*moved), gaussian.kl(left, right), rtol=1e-9)


def test_entropy_is_that_of_torch_distributions():
    found = drawn((5,), -3.0, 2.0, 0.4)
    np.testing.assert_allclose(gaussian.entropy(found), normal(found).entropy().sum(-1).numpy())


def test_further_scores_are_their_definitions():
    left, right = drawn((5,), -1.0, 1.0, 0.1), drawn((5,), -1.0, 1.0, 0.1, seed=1)
    np.testing.assert_allclose(
        gaussian.symmetric_kl(left, right), reference(left, right) + reference(right, left)
    )
    one, two = normal(left), normal(right)
    squares = ((one.mean - two.mean) ** 2 + (one.stddev - two.stddev) ** 2).sum(-1)
    np.testing.assert_allclose(gaussian.wasserstein(left, right), squares.sqrt().numpy())
    np.testing.assert_allclose(gaussian.wasserstein(left, left), 0)
    torch.manual_seed(0)
    points = one.sample((40_000,))
    away = (((points - two.mean) / two.stddev) ** 2).mean((0, 2)).numpy()
    np.testing.assert_allclose(gaussian.containment(left, right), away, rtol=0.05)


def test_half_precision_is_raised_to_float32():
    half = drawn((3,), -2.0, 1.0, 0.1).astype(np.float16)
    assert gaussian.kl(half, half[::-1]).dtype == np.float32
