from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ontodex.geometry.projection import Projections

RELATIONS = 3


def drawn(kind: str, dim: int, rank: int, residual: bool, rng: np.random.Generator) -> Projections:
    shapes = {
        "low rank": {"left": (RELATIONS, dim, rank), "right": (RELATIONS, rank, dim)},
        "full rank": {"left": (RELATIONS, dim, dim)},
        "hadamard": {"scale": (RELATIONS, dim)},
        "concat": {"shared": (dim, dim), "shift": (RELATIONS, dim)},
    }[kind]
    return Projections(
        residual,
        **{name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()},
    )


def dense(projections: Projections, relation: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The map of one relation as a whole matrix and a shift, in torch's float64."""
    parts = {name: torch.from_numpy(array).double() for name, array in projections.parts().items()}
    dim = parts["left" if "left" in parts else "scale" if "scale" in parts else "shared"].shape[
        -2 if "left" in parts else -1
    ]
    if "scale" in parts:
        return torch.diag(parts["scale"][relation]), torch.zeros(dim)
    if "shared" in parts:
        return parts["shared"], parts["shift"][relation]
    left = parts["left"][relation]
    return (left @ parts["right"][relation] if "right" in parts else left), torch.zeros(dim)


@given(
    kind=st.sampled_from(["low rank", "full rank", "hadamard", "concat"]),
    n=st.integers(1, 5),
    dim=st.integers(1, 12),
    rank=st.integers(1, 12),
    residual=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_projection_is_the_product_with_the_dense_matrix(
    kind: str, n: int, dim: int, rank: int, residual: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    projections = drawn(kind, dim, rank, residual, rng)
    vectors, relations = rng.normal(size=(n, dim)).astype(np.float32), rng.integers(0, RELATIONS, n)
    made = projections.queries(vectors, relations)
    assert (made.dtype, made.shape) == (np.float32, vectors.shape)
    for vector, relation, query in zip(vectors, relations.tolist(), made, strict=True):
        matrix, shift = dense(projections, relation)
        head = torch.from_numpy(vector).double()
        wanted = torch.nn.functional.normalize(
            head @ matrix + shift + (head if residual else 0), dim=-1
        )
        np.testing.assert_allclose(query, wanted, atol=1e-5)
        by_each = projections.by_each(vector, slice(0, RELATIONS))
        np.testing.assert_allclose(by_each[relation], query, atol=1e-4)
        np.testing.assert_allclose(
            projections.by_each(vector, slice(1, 3)), by_each[1:3], atol=1e-4
        )


@pytest.mark.parametrize("residual", [True, False])
def test_one_vector_alone_is_projected_as_in_a_batch(residual: bool) -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(40, 384)).astype(np.float32)
    projections = drawn("low rank", 384, 32, residual, rng)
    whole = projections.project(vectors, 0)
    for row in (0, 17, 39):
        np.testing.assert_allclose(
            projections.project(vectors[row : row + 1], 0)[0], whole[row], atol=2e-7
        )


def test_a_projection_to_nothing() -> None:
    vectors, nothing = (
        np.array([[3.0, 4.0]], dtype=np.float32),
        np.zeros((1, 2, 2), dtype=np.float32),
    )
    assert Projections(False, left=nothing).project(vectors, 0).tolist() == [[0.0, 0.0]]
    np.testing.assert_allclose(
        Projections(True, left=nothing).project(vectors, 0), [[0.6, 0.8]], atol=1e-7
    )
