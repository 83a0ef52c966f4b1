from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ontodex.geometry.projection import project


@given(
    n=st.integers(1, 5),
    dim=st.integers(1, 12),
    rank=st.integers(0, 12),
    residual=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_projection_is_the_product_with_the_dense_matrix(
    n: int, dim: int, rank: int, residual: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, dim)).astype(np.float32)
    left = rng.normal(size=(dim, rank or dim)).astype(np.float32)
    right = rng.normal(size=(rank, dim)).astype(np.float32) if rank else None
    made = project(vectors, (left, right), residual=residual)
    dense = torch.from_numpy(left).double()
    if right is not None:
        dense = dense @ torch.from_numpy(right).double()
    heads = torch.from_numpy(vectors).double()
    wanted = torch.nn.functional.normalize(heads @ dense + (heads if residual else 0), dim=-1)
    assert (made.dtype, made.shape) == (np.float32, vectors.shape)
    np.testing.assert_allclose(made, wanted, atol=1e-5)


@pytest.mark.parametrize("residual", [True, False])
def test_one_vector_alone_is_projected_as_in_a_batch(residual: bool) -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(40, 384)).astype(np.float32)
    factors = rng.normal(size=(384, 32)).astype(np.float32), rng.normal(size=(32, 384)).astype(np.float32)
    whole = project(vectors, factors, residual=residual)
    for row in (0, 17, 39):
        np.testing.assert_allclose(
            project(vectors[row : row + 1], factors, residual=residual)[0], whole[row], atol=2e-7
        )


def test_a_projection_to_nothing() -> None:
    vectors, nothing = np.array([[3.0, 4.0]], dtype=np.float32), np.zeros((2, 2), dtype=np.float32)
    assert project(vectors, (nothing, None), residual=False).tolist() == [[0.0, 0.0]]
    np.testing.assert_allclose(project(vectors, (nothing, None), residual=True), [[0.6, 0.8]], atol=1e-7)
