"""Every answer of a search by KL equals that of a float64 pass over all Gaussians."""

from __future__ import annotations

import numpy as np
import pytest

from ontodex.engine.search.gaussian_space import GaussianSpace
from ontodex.engine.search.topk import Searcher
from ontodex.geometry.gaussian import kl
from ontodex.geometry.vectors import Vectors

SHAPES = [(-2.0, 0.5, 0.8), (-9.0, 0.5, 0.8), (-3.0, 2.0, 0.0), (0.0, 0.01, 0.0)]


def drawn(count, dim, middle, spread, offset, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    means = offset + np.exp(middle / 2) * rng.normal(size=(count, dim))
    logs = np.clip(middle + spread * rng.normal(size=(count, dim)), -10, 10)
    return np.concatenate([means, logs], axis=1).astype(dtype)


def by_hand(stored, query, side, k, refused=()):
    items, query = stored.astype(np.float64), query.astype(np.float64)
    scores = 1 / (
        1 + (kl(items, query) if side == "left" else kl(query, items)) / (len(query) // 2)
    )
    rows = np.setdiff1d(np.arange(len(stored)), refused)
    order = rows[np.lexsort((rows, -scores[rows]))][:k]
    return order, scores[order]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_the_best_are_those_of_a_float64_pass(side, shape, dtype):
    stored = drawn(6000, 24, *shape, dtype=dtype)
    stored[4000:4010] = stored[:10]  # ties
    queries = np.concatenate([drawn(6, 24, *shape, seed=1), stored[:3].astype(np.float32)])
    space = GaussianSpace(Vectors([stored[:2500], stored[2500:]]), side)
    exclude = [
        np.array([4000, 17]) if number % 2 else np.zeros(0, dtype=np.int64)
        for number in range(len(queries))
    ]
    found = Searcher(space.lifted, space=space).top(queries, 12, exclude)
    for query, refused, (rows, scores) in zip(queries, exclude, found, strict=True):
        wanted, values = by_hand(stored, query, side, 12, refused)
        np.testing.assert_array_equal(rows, wanted)
        np.testing.assert_allclose(scores, values, rtol=1e-12)


@pytest.mark.parametrize("side", ["left", "right"])
def test_products_stay_within_the_error_bound(side):
    for shape in SHAPES:
        stored, queries = drawn(3000, 48, *shape), drawn(20, 48, *shape, seed=1)
        space = GaussianSpace(Vectors([stored]), side)
        asked = space.prepare(queries)
        products = Searcher(space.lifted, space=space).products(asked.augmented)
        wide = stored.astype(np.float64), queries.astype(np.float64)[:, None]
        true = kl(*wide) if side == "left" else kl(*wide[::-1])
        off = np.abs(asked._constant[:, None] - products.astype(np.float64) - 2 * true)
        assert (off <= asked.error_bound[:, None]).all()


def test_one_item_and_more_wanted_than_there_are():
    stored = drawn(1, 8, -2.0, 0.5, 0.0)
    space = GaussianSpace(Vectors([stored]), "left")
    ((rows, scores),) = Searcher(space.lifted, space=space).top(stored, 5)
    assert rows.tolist() == [0]
    assert scores[0] == 1.0
