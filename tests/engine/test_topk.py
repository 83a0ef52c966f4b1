"""Top k against a float64 pass over every vector."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.engine.search import topk
from ontodex.engine.search.topk import Searcher
from ontodex.geometry.cosine import score_pairs, unit
from ontodex.geometry.vectors import Vectors
from ontodex.scoring.graph_features import Offsets

DEVICES = ["cpu", "cpu:0"]  # "cpu:0" is a torch device: the path that a GPU takes


def brute(
    vectors: np.ndarray,
    query: np.ndarray,
    k: int,
    exclude: Sequence[int] = (),
    added: Offsets | None = None,
) -> tuple[list[int], list[float]]:
    scores = score_pairs(query[None], vectors[None])[0]
    if added is not None:
        scores[added[0]] += added[1]
    left = sorted(
        set(range(len(vectors))) - {int(row) for row in exclude},
        key=lambda row: (-scores[row], row),
    )[:k]
    return left, [float(scores[row]) for row in left]


def answer(found: tuple[np.ndarray, np.ndarray]) -> tuple[list[int], list[float]]:
    assert (found[0].dtype, found[1].dtype) == (np.int64, np.float64)
    return found[0].tolist(), found[1].tolist()


def sharded(vectors: np.ndarray, cuts: Sequence[int]) -> Vectors:
    bounds = [0, *sorted(cut for cut in set(cuts) if 0 < cut < len(vectors)), len(vectors)]
    return Vectors([vectors[start:end] for start, end in itertools.pairwise(bounds)])


def near_ties(rng: np.random.Generator, n: int, dim: int, distinct: int) -> np.ndarray:
    """Return unit vectors, many equal or a bit apart."""
    base = unit(rng.normal(size=(distinct, dim)))
    vectors = base[rng.integers(distinct, size=n)]
    nudged = rng.random(n) < 0.5
    vectors[nudged] = np.nextafter(vectors[nudged], np.float32(1))
    return vectors


@settings(deadline=None, max_examples=80)
@given(
    n=st.integers(1, 90),
    dim=st.sampled_from([1, 2, 3, 8, 33]),
    distinct=st.integers(1, 40),
    queries=st.integers(0, 7),
    k=st.integers(1, 120),
    cuts=st.lists(st.integers(1, 89), max_size=4),
    excluded=st.sampled_from([0.0, 0.05, 0.5, 0.95, 1.0]),
    raised=st.sampled_from([None, 0.0, 0.3, 1.0]),
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
    raised: float | None,
    device: str,
    block: int,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    vectors = near_ties(rng, n, dim, distinct)
    asked = np.concatenate([unit(rng.normal(size=(queries, dim))), vectors[: min(2, queries)]])
    exclude = [np.flatnonzero(rng.random(n) < excluded) for _ in asked]
    chosen = [np.flatnonzero(rng.random(n) < (raised or 0.0)) for _ in asked]
    offsets = [(rows, rng.choice([-3.0, -1e-7, 0.0, 1e-7, 0.5], len(rows))) for rows in chosen]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topk, "PRODUCTS", block)
        found = Searcher(sharded(vectors, cuts), device).top(
            asked, k, exclude, offsets if raised is not None else None
        )
    assert [answer(one) for one in found] == [
        brute(vectors, query, k, rows, added)
        for query, rows, added in zip(asked, exclude, offsets, strict=True)
    ]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("k", [1, 10, 700, 5000])
def test_thousands_of_vectors_in_many_blocks(device: str, k: int) -> None:
    rng = np.random.default_rng(k)
    vectors = near_ties(rng, 4000, 48, 900)
    vectors[1200:1300] = vectors[7]
    asked = unit(rng.normal(size=(5, 48)))
    asked[0] = vectors[7]
    exclude = [rng.choice(4000, size, replace=False) for size in (30, 0, 3999, 2500, 4000)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topk, "PRODUCTS", 1 << 12)
        found = Searcher(sharded(vectors, [999, 1000, 2500]), device).top(asked, k, exclude)
    wanted = [brute(vectors, query, k, rows) for query, rows in zip(asked, exclude, strict=True)]
    assert [answer(one) for one in found] == wanted
    assert len(found[2][0]) == 1
    assert len(found[4][0]) == 0


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("k", [1, 30])
def test_some_items_are_never_returned(device: str, share: float, k: int) -> None:
    rng = np.random.default_rng(k)
    vectors = near_ties(rng, 3000, 16, 700)
    asked = unit(rng.normal(size=(9, 16)))
    never = rng.permutation(3000)[: int(share * 3000)].astype(np.int32)
    exclude = [rng.choice(3000, int(rng.integers(0, 900)), replace=False) for _ in asked]
    offsets = [(np.arange(0, 3000, 7), np.full(429, 0.2))] * len(asked)
    whole = Searcher(sharded(vectors, [999, 2500]), device)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topk, "PRODUCTS", 1 << 12)
        found = whole.without(never).top(asked, k, exclude, offsets)
    both = [np.concatenate([never, rows]) for rows in exclude]
    assert [answer(one) for one in found] == [
        brute(vectors, query, k, rows, added)
        for query, rows, added in zip(asked, both, offsets, strict=True)
    ]
    assert [answer(one) for one in whole.top(asked, k)] == [
        brute(vectors, query, k) for query in asked
    ]


def test_rows_left_out_twice_or_in_any_order_count_once() -> None:
    vectors = unit(np.random.default_rng(0).normal(size=(30, 4)))
    searcher = Searcher(sharded(vectors, [7, 20]))
    rows = np.array([29, 3, 3, 12, 0, 29], dtype=np.int32)
    assert answer(searcher.top(vectors[3:4], 30, [rows])[0]) == brute(vectors, vectors[3], 30, rows)


@pytest.mark.parametrize("device", DEVICES)
def test_answers_do_not_depend_on_the_batch(device: str) -> None:
    rng = np.random.default_rng(5)
    vectors = near_ties(rng, 300, 16, 60)
    asked = unit(rng.normal(size=(700, 16)))
    exclude = [rng.choice(300, int(rng.integers(0, 40)), replace=False) for _ in asked]
    searcher = Searcher(sharded(vectors, [100]), device)
    whole = [answer(one) for one in searcher.top(asked, 12, exclude)]
    for start, end in ((0, 1), (3, 10), (511, 514)):
        assert [
            answer(one) for one in searcher.top(asked[start:end], 12, exclude[start:end])
        ] == whole[start:end]
    for row in (0, 350, 699):
        assert whole[row] == brute(vectors, asked[row], 12, exclude[row])


def test_no_queries_no_answers() -> None:
    assert (
        Searcher(Vectors([np.eye(3, dtype=np.float32)])).top(np.zeros((0, 3), dtype=np.float32), 5)
        == []
    )


def test_queries_of_another_layout() -> None:
    vectors = unit(np.random.default_rng(0).normal(size=(50, 8)))
    asked = np.asfortranarray(vectors[:6].astype(np.float64))
    found = Searcher(Vectors([vectors])).top(asked, 3)
    assert [one[0].tolist() for one in found] == [
        brute(vectors, query, 3)[0] for query in vectors[:6]
    ]


@given(rows=st.lists(st.integers(0, 49), unique=True, max_size=50), k=st.integers(1, 60))
@settings(deadline=None)
def test_among_ranks_the_given_rows_alone(rows: list[int], k: int) -> None:
    vectors = near_ties(np.random.default_rng(3), 50, 8, 10)
    found = Searcher(sharded(vectors, [11, 30])).among(
        vectors[4], np.array(rows, dtype=np.int64), k
    )
    assert answer(found) == brute(vectors, vectors[4], k, set(range(50)) - set(rows))


@pytest.mark.parametrize("device", DEVICES)
def test_products(device: str) -> None:
    rng = np.random.default_rng(0)
    vectors, asked = unit(rng.normal(size=(40, 8))), unit(rng.normal(size=(3, 8)))
    np.testing.assert_allclose(
        Searcher(sharded(vectors, [9]), device).products(asked), asked @ vectors.T, atol=1e-6
    )


class Lookup:
    """A stand-in with the interface of a FAISS index: the best of every other row, then -1."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = vectors
        self.asked: list[int] = []

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        self.asked.append(k)
        rows = np.full((len(queries), k), -1, dtype=np.int64)
        for at, query in enumerate(queries):
            best = [2 * row for row in brute(self.vectors[::2], query, k)[0]]
            rows[at, : len(best)] = best
        return np.zeros(rows.shape, dtype=np.float32), rows


def test_with_candidates_only_these_are_ranked_and_who_leaves_out_very_many_has_all_searched() -> (
    None
):
    rng = np.random.default_rng(0)
    vectors = near_ties(rng, 3000, 8, 500)
    asked = unit(rng.normal(size=(4, 8)))
    exclude = [
        np.zeros(0, dtype=np.int64),
        np.array(brute(vectors, asked[1], 40)[0]),
        np.arange(900),
        np.arange(2990),
    ]
    lookup = Lookup(vectors)
    found = Searcher(sharded(vectors, [1500]), approximate=lookup).top(asked, 5, exclude)
    odd = set(range(1, 3000, 2))
    wanted = [
        brute(vectors, query, 5, odd | set(rows.tolist()))
        for query, rows in zip(asked, exclude, strict=True)
    ]
    wanted[3] = brute(vectors, asked[3], 5, exclude[3])
    assert [answer(one) for one in found] == wanted
    assert lookup.asked == [128, 2048]
