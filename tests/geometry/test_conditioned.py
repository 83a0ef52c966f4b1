"""The conditioned space: against torch, and what half precision costs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from ontodex.geometry.conditioned import compact, expanded, under_condition
from ontodex.geometry.cosine import unit


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def clustered(rng: np.random.Generator, count: int, dim: int) -> NDArray[np.float32]:
    """Unit vectors in clusters, as those of texts are: the ten best are close to one another."""
    centres = rng.standard_normal((count // 50, dim))
    return unit(
        centres[rng.integers(0, len(centres), count)] + 0.7 * rng.standard_normal((count, dim))
    )


@pytest.mark.parametrize("architecture", ["hyper", "hadamard", "concat"])
def test_equals_torch_in_float64(rng: np.random.Generator, architecture: str) -> None:
    vectors = clustered(rng, 100, 16)
    factor = rng.standard_normal((16, 4) if architecture == "hyper" else 16).astype(np.float32)
    mix = rng.standard_normal((16, 16)).astype(np.float32) if architecture == "concat" else None
    x, by = (torch.from_numpy(array).double() for array in (vectors, factor))
    wanted = x @ by if architecture == "hyper" else x * by
    if mix is not None:
        wanted = x @ torch.from_numpy(mix).double() + by
    found = under_condition(vectors, factor, mix)
    assert found.dtype == np.float32
    np.testing.assert_allclose(
        found, torch.nn.functional.normalize(wanted, dim=1).numpy(), atol=1e-7
    )


def test_one_factor_gives_the_cosines_of_two(rng: np.random.Generator) -> None:
    """cos(x·P·S, y·P·S) = cos(x·P·Rᵀ, y·P·Rᵀ) with the thin QR decomposition Sᵀ = Q·R."""
    vectors = clustered(rng, 100, 24)
    left, right = rng.standard_normal((24, 6)), rng.standard_normal((6, 24))
    both = under_condition(vectors, left @ right).astype(np.float64)
    one = under_condition(vectors, left @ np.linalg.qr(right.T).R.T).astype(np.float64)
    assert one.shape == (100, 6)
    np.testing.assert_allclose(one @ one.T, both @ both.T, atol=3e-7)


def test_half_precision_is_safe(rng: np.random.Generator) -> None:
    vectors = clustered(rng, 5000, 384)
    base, _ = np.linalg.qr(rng.standard_normal((384, 64)))
    factor = (base + 0.3 / 384**0.5 * rng.standard_normal((384, 64))).astype(np.float32)
    kept = compact(factor)
    assert (kept.dtype, kept.shape) == (np.float16, (384 * 64 - 64 * 63 // 2,))
    half = expanded(kept, 384, 64)
    whole, rounded = (under_condition(vectors, one).astype(np.float64) for one in (factor, half))
    scores, close = (each[:200] @ each.T for each in (whole, rounded))
    assert np.abs(scores - close).max() < 2e-4
    best, found = (np.argsort(-one, axis=1, kind="stable")[:, :11] for one in (scores, close))
    shared = [len(set(a) & set(b)) / 11 for a, b in zip(best.tolist(), found.tolist(), strict=True)]
    assert np.mean(shared) > 0.995


@pytest.mark.parametrize("width", [1, 5, 12])
@pytest.mark.parametrize("size", [1e6, 1e-8])
def test_what_half_precision_cannot_hold_stays_whole(
    rng: np.random.Generator, size: float, width: int
) -> None:
    vectors = clustered(rng, 100, 12)
    factor = (size * rng.standard_normal((12, width))).astype(np.float32)
    kept = compact(factor)
    assert (kept.dtype, len(kept)) == (np.float32, 12 * width - width * (width - 1) // 2)
    found, wanted = (under_condition(vectors, one) for one in (expanded(kept, 12, width), factor))
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=2e-6)


def test_a_vector_is_kept_as_it_is(rng: np.random.Generator) -> None:
    factor = rng.standard_normal(12).astype(np.float32)
    np.testing.assert_array_equal(expanded(compact(factor), 12, 12), factor.astype(np.float16))
    np.testing.assert_array_equal(expanded(compact(1e9 * factor), 12, 12), np.float32(1e9) * factor)


def test_a_factor_of_zeros_makes_zeros() -> None:
    kept = compact(np.zeros((3, 2), dtype=np.float32))
    assert not under_condition(np.ones((2, 3)), expanded(kept, 3, 2)).any()
