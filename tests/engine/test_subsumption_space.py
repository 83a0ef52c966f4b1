"""Search by the subsumption score against a float64 pass with the distance in its safe form."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.engine.search import topk
from ontodex.engine.search.subsumption_space import SubsumptionSpace
from ontodex.engine.search.topk import Searcher
from ontodex.errors import SettingsError
from ontodex.geometry import poincare
from ontodex.geometry.vectors import Vectors

DEVICES = ["cpu", "cpu:0"]  # "cpu:0" is a torch device: the path that a GPU takes


def made(
    rng: np.random.Generator, n: int, dim: int, low: float, high: float, distinct: int | None = None
) -> np.ndarray:
    """Return lifted points between two shares of the radius, many equal or a bit apart."""
    radius = np.sqrt(dim)
    base = rng.normal(size=(distinct or n, dim))
    base *= (
        rng.uniform(low, high, (len(base), 1))
        * radius
        / np.linalg.norm(base, axis=1, keepdims=True)
    )
    points = (
        base.astype(np.float32)[rng.integers(len(base), size=n)]
        if distinct
        else base.astype(np.float32)
    )
    if distinct:
        nudged = rng.random(n) < 0.5
        points[nudged] = np.nextafter(points[nudged], np.float32(0))
    return poincare.lift_items(points, 1 / dim)


def brute(
    lifted: np.ndarray,
    query: np.ndarray,
    weight: float,
    upward: bool,
    k: int,
    exclude: Sequence[int] = (),
    tilt: float = 0.0,
) -> tuple[list[int], list[float]]:
    c = 1 / (lifted.shape[1] - 1)
    items, asked = lifted.astype(np.float64), query.astype(np.float64)
    distance = poincare.distance(poincare.unlift(asked[None], c), poincare.unlift(items, c), c)
    norms, asked_norm = poincare.item_norms(items, c), poincare.item_norms(asked[None], c)
    parents, children = (norms, asked_norm) if upward else (asked_norm, norms)
    scores = -(distance + weight * (parents - children) - tilt * children)
    left = sorted(
        set(range(len(lifted))) - {int(row) for row in exclude}, key=lambda row: (-scores[row], row)
    )[:k]
    return left, [float(scores[row]) for row in left]


def answer(found: tuple[np.ndarray, np.ndarray]) -> tuple[list[int], list[float]]:
    assert (found[0].dtype, found[1].dtype) == (np.int64, np.float64)
    return found[0].tolist(), found[1].tolist()


def searcher(
    lifted: np.ndarray,
    weight: float,
    upward: bool,
    device: str = "cpu",
    cuts: Sequence[int] = (),
    tilt: float = 0.0,
) -> Searcher:
    bounds = [0, *sorted(cut for cut in set(cuts) if 0 < cut < len(lifted)), len(lifted)]
    vectors = Vectors([lifted[start:end] for start, end in itertools.pairwise(bounds)])
    space = SubsumptionSpace(vectors, 1 / (lifted.shape[1] - 1), weight, tilt)
    return Searcher(vectors, device, space=space if upward else space.reversed())


@settings(deadline=None, max_examples=100)
@given(
    n=st.integers(1, 90),
    dim=st.sampled_from([1, 2, 3, 8, 33]),
    distinct=st.integers(1, 40),
    queries=st.integers(0, 7),
    k=st.integers(1, 120),
    cuts=st.lists(st.integers(1, 89), max_size=4),
    excluded=st.sampled_from([0.0, 0.05, 0.5, 0.95, 1.0]),
    weight=st.sampled_from([0.0, 0.1, 0.7, 1.0, 5.0]),
    child_weight=st.sampled_from([0.0, 0.4, 1.0, 3.0]),
    upward=st.booleans(),
    span=st.sampled_from([(0.0, 0.0), (0.0, 0.1), (0.2, 0.55), (0.5, 0.999), (0.99, 0.99999)]),
    device=st.sampled_from(DEVICES),
    block=st.sampled_from([1, 64, 1 << 20]),
    seed=st.integers(0, 2**32 - 1),
)
def test_top_is_the_float64_pass(
    n: int,
    dim: int,
    distinct: int,
    queries: int,
    k: int,
    cuts: list[int],
    excluded: float,
    weight: float,
    child_weight: float,
    upward: bool,
    span: tuple[float, float],
    device: str,
    block: int,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    lifted = made(rng, n, dim, *span, distinct)
    asked = np.concatenate([made(rng, queries, dim, *span), lifted[: min(2, queries)]])
    exclude = [np.flatnonzero(rng.random(n) < excluded) for _ in asked]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topk, "PRODUCTS", block)
        patch.setattr(topk, "SAMPLE", 8)
        found = searcher(lifted, weight, upward, device, cuts, child_weight - weight).top(
            asked, k, exclude
        )
    assert [answer(one) for one in found] == [
        brute(lifted, query, weight, upward, k, rows, child_weight - weight)
        for query, rows in zip(asked, exclude, strict=True)
    ]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("upward", [True, False])
@pytest.mark.parametrize(
    ("k", "weight"), [(1, 0.0), (10, 0.4), (10, 20.0), (700, 1.0), (5000, 2.0)]
)
def test_thousands_of_items_in_many_blocks(
    device: str, upward: bool, k: int, weight: float
) -> None:
    rng = np.random.default_rng(k)
    lifted = made(rng, 4000, 48, 0.2, 0.6, 900)
    lifted = np.concatenate(
        [lifted, lifted[np.argsort(-lifted[:, -1])]]
    )  # a second time, from the rim inwards
    lifted[1200:1300] = lifted[7]
    asked = made(rng, 5, 48, 0.2, 0.6)
    asked[0] = lifted[7]
    exclude = [rng.choice(8000, size, replace=False) for size in (30, 0, 7999, 2500, 8000)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topk, "PRODUCTS", 1 << 12)
        found = searcher(lifted, weight, upward, device, [999, 1000, 2500]).top(asked, k, exclude)
    wanted = [
        brute(lifted, query, weight, upward, k, rows)
        for query, rows in zip(asked, exclude, strict=True)
    ]
    assert [answer(one) for one in found] == wanted
    assert len(found[2][0]) == 1
    assert len(found[4][0]) == 0


@pytest.mark.parametrize("weight", [0.0, 0.5, 20.0])
@pytest.mark.parametrize("upward", [True, False])
def test_may_exceed_holds_for_every_score_above_the_threshold(weight: float, upward: bool) -> None:
    rng = np.random.default_rng(0)
    lifted, queries = made(rng, 3000, 64, 0.2, 0.6), made(rng, 8, 64, 0.2, 0.6)
    asked = searcher(lifted, weight, upward).space.prepare(queries)
    pairs = np.repeat(np.arange(8), 3000), np.tile(np.arange(3000), 8)
    exact = asked.exact(*pairs).reshape(8, 3000)
    products = asked.augmented @ lifted.T
    np.testing.assert_allclose(
        asked.scores(products.ravel().astype(float), *pairs).reshape(8, 3000), exact, atol=1e-3
    )
    for share in (0.0, 0.3, 0.99, 1.0):
        threshold = np.quantile(exact, share, axis=1)
        reached = asked.may_exceed(products, threshold, slice(0, 3000))
        assert reached[exact >= threshold[:, None]].all()
        assert not reached[exact < threshold[:, None] - 0.01].any()


@pytest.mark.parametrize("span", [(0.0, 0.2), (0.2, 0.6), (0.9, 0.999), (0.999, 0.99999)])
@pytest.mark.parametrize("dim", [2, 48, 384])
def test_products_stay_within_the_error_bound(dim: int, span: tuple[float, float]) -> None:
    rng = np.random.default_rng(dim)
    lifted, asked = made(rng, 500, dim, *span), made(rng, 40, dim, *span)
    c, both = 1 / dim, SubsumptionSpace(Vectors([lifted]), 1 / dim, 0.5).prepare(asked)
    points, queries = (
        poincare.unlift(lifted.astype(np.float64), c),
        poincare.unlift(asked.astype(np.float64), c),
    )
    gaps = queries[:, None] - points
    true = (queries**2).sum(-1)[:, None] - (gaps**2).sum(-1) / (1 - c * (points**2).sum(-1))
    off = np.abs(both.augmented @ lifted.T - true).max(axis=1)
    assert (off <= both.error_bound).all()


@given(
    rows=st.lists(st.integers(0, 49), unique=True, max_size=50),
    k=st.integers(1, 60),
    upward=st.booleans(),
)
@settings(deadline=None)
def test_among_ranks_the_given_rows_alone(rows: list[int], k: int, upward: bool) -> None:
    lifted = made(np.random.default_rng(3), 50, 8, 0.2, 0.6, 10)
    found = searcher(lifted, 0.5, upward, cuts=[11, 30]).among(
        lifted[4], np.array(rows, dtype=np.int64), k
    )
    assert answer(found) == brute(lifted, lifted[4], 0.5, upward, k, set(range(50)) - set(rows))


def test_pairs_score_as_in_a_search_either_way() -> None:
    lifted = made(np.random.default_rng(3), 50, 8, 0.2, 0.6)
    space = SubsumptionSpace(Vectors([lifted]), 1 / 8, 0.7)
    children, parents = np.arange(50)[::-1], np.arange(50)
    scores = space.pair_scores(lifted[children], parents)
    assert space.reversed().pair_scores(lifted[children], parents).tolist() == scores.tolist()
    up, down = Searcher(space.vectors, space=space), Searcher(space.vectors, space=space.reversed())
    for child, parent, score in zip(
        children.tolist(), parents.tolist(), scores.tolist(), strict=True
    ):
        assert up.among(lifted[child], np.array([parent]), 1)[1].tolist() == [score]
        assert down.among(lifted[parent], np.array([child]), 1)[1].tolist() == pytest.approx(
            [score], abs=1e-12
        )


def test_a_weight_beyond_float32_is_refused_with_the_most_that_serves() -> None:
    lifted = made(np.random.default_rng(0), 50, 8, 0.1, 0.9999)
    with pytest.raises(SettingsError, match="expected at most"):
        SubsumptionSpace(Vectors([lifted]), 1 / 8, 64.0)
