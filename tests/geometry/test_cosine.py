from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ontodex.geometry.cosine import score_pairs, unit

FLOATS = st.floats(-100, 100, width=32).map(lambda x: 0.0 if abs(x) < 1e-3 else x)
BLOCKS = hnp.arrays(
    np.float32, hnp.array_shapes(min_dims=3, max_dims=3, min_side=1, max_side=7), elements=FLOATS
)


@given(
    hnp.arrays(np.float32, hnp.array_shapes(min_dims=1, max_dims=3, max_side=9), elements=FLOATS)
)
def test_unit_is_torch_normalize(vectors: np.ndarray) -> None:
    made = unit(vectors)
    wanted = torch.nn.functional.normalize(torch.from_numpy(vectors.astype(np.float64)), dim=-1)
    assert (made.dtype, made.shape) == (np.float32, vectors.shape)
    np.testing.assert_allclose(made, wanted, atol=1e-6)
    np.testing.assert_allclose(unit(made), made, atol=1e-6)


def test_unit_of_a_zero_vector_is_zero_and_of_extreme_ones_is_one_long() -> None:
    vectors = np.array([[0, 0], [1e-30, 0], [3e30, 4e30], [np.float32(1e-45), 0]], dtype=np.float32)
    np.testing.assert_allclose(unit(vectors), [[0, 0], [1, 0], [0.6, 0.8], [1, 0]], atol=1e-6)


@given(BLOCKS, st.data())
def test_score_pairs_is_the_inner_product_in_float64(
    items: np.ndarray, data: st.DataObject
) -> None:
    queries = data.draw(hnp.arrays(np.float32, (items.shape[0], items.shape[2]), elements=FLOATS))
    scores = score_pairs(queries, items)
    assert (scores.dtype, scores.shape) == (np.float64, items.shape[:2])
    wanted = [
        [sum(float(a) * float(b) for a, b in zip(q, x, strict=True)) for x in row]
        for q, row in zip(queries, items, strict=True)
    ]
    np.testing.assert_allclose(scores, wanted, rtol=1e-12, atol=1e-9)


def test_score_pairs_of_unit_vectors_is_torch_cosine_similarity(rng: np.random.Generator) -> None:
    queries, items = unit(rng.normal(size=(5, 24))), unit(rng.normal(size=(5, 11, 24)))
    wanted = torch.nn.functional.cosine_similarity(
        torch.from_numpy(queries).double()[:, None], torch.from_numpy(items).double(), dim=-1
    )
    np.testing.assert_allclose(score_pairs(queries, items), wanted, atol=1e-6)


@settings(deadline=None, max_examples=60)
@given(
    dim=st.sampled_from([1, 2, 3, 7, 8, 31, 32, 384, 1023, 8192]),
    batch=st.integers(1, 6),
    count=st.integers(1, 9),
    seed=st.integers(0, 2**32 - 1),
    order=st.sampled_from("CF"),
)
def test_an_equal_pair_scores_equal_in_any_batch(
    dim: int, batch: int, count: int, seed: int, order: str
) -> None:
    rng = np.random.default_rng(seed)
    query, item = unit(rng.normal(size=dim)), unit(rng.normal(size=dim))
    alone = score_pairs(query[None], item[None, None])[0, 0]
    queries, items = unit(rng.normal(size=(batch, dim))), unit(rng.normal(size=(batch, count, dim)))
    row, column = int(rng.integers(batch)), int(rng.integers(count))
    queries[row], items[row, column] = query, item
    assert (
        score_pairs(np.asarray(queries, order=order), np.asarray(items, order=order))[row, column]
        == alone
    )
    assert score_pairs(queries[row : row + 1], items[row : row + 1])[0, column] == alone
    assert score_pairs(queries[:, None][:, 0], items[:, column : column + 1])[row, 0] == alone
    padded = np.zeros((batch, count, dim + 1), dtype=np.float32)[
        :, :, 1:
    ]  # another alignment and stride
    padded[...] = items
    assert score_pairs(queries, padded)[row, column] == alone


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
