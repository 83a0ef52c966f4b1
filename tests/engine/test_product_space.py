"""The product space: search against a float64 pass, and the bound of rounding errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.engine.search.spaces import ProductSpace
from ontodex.engine.search.topk import Searcher
from ontodex.geometry.cosine import score_pairs
from ontodex.geometry.vectors import Vectors


def drawn(seed: int, n: int, dim: int, spread: float) -> np.ndarray:
    """Return vectors of very different lengths; some equal, some a bit apart, some zero."""
    random = np.random.default_rng(seed)
    base = random.normal(size=(max(1, n // 3), dim)) * 10 ** random.uniform(
        -spread, spread, (max(1, n // 3), 1)
    )
    vectors = base[random.integers(len(base), size=n)].astype(np.float32)
    nudged = random.random(n) < 0.4
    vectors[nudged] = np.nextafter(vectors[nudged], np.float32(1e9))
    vectors[random.random(n) < 0.05] = 0.0
    return vectors


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 90),
    dim=st.sampled_from([1, 2, 7, 40]),
    queries=st.integers(1, 6),
    k=st.integers(1, 100),
    cut=st.integers(1, 89),
    spread=st.sampled_from([0.0, 1.0, 6.0]),
    device=st.sampled_from(["cpu", "cpu:0"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_top_is_the_float64_pass(
    n: int, dim: int, queries: int, k: int, cut: int, spread: float, device: str, seed: int
) -> None:
    items, asked = drawn(seed, n, dim, spread), drawn(seed + 1, queries, dim, spread)
    cut = min(cut, n)
    vectors = Vectors([part for part in (items[:cut], items[cut:]) if len(part)])
    found = Searcher(vectors, device, space=ProductSpace(vectors)).top(asked, k)
    for query, (rows, scores) in zip(asked, found, strict=True):
        truth = score_pairs(query[None], items[None])[0]
        order = np.lexsort((np.arange(n), -truth))[:k]
        assert rows.tolist() == order.tolist()
        assert scores.tolist() == truth[order].tolist()


@pytest.mark.parametrize("dim", [2, 640, 3000])
def test_products_stay_within_the_error_bound(dim: int) -> None:
    items, asked = drawn(0, 300, dim, 3.0), drawn(1, 40, dim, 3.0)
    error_bound = ProductSpace(Vectors([items])).prepare(asked).error_bound
    off = np.abs(
        (asked @ items.T).astype(np.float64) - asked.astype(np.float64) @ items.T.astype(np.float64)
    )
    assert (off <= error_bound[:, None]).all()
