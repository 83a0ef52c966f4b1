"""Tail centroids: cosines of sums of vectors, computed without the sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontodex.engine.conditions import TailCentroids
from ontodex.geometry.cosine import unit
from ontodex.geometry.vectors import Vectors


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 60))
def test_equals_sums_that_are_made(seed: int, entities: int, links: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = unit(rng.normal(size=(entities, 5))).astype(np.float32)
    pairs = np.unique(rng.integers(0, entities, (links, 2)), axis=0)
    half = entities // 2
    tails = TailCentroids(
        pairs[:, 0],
        pairs[:, 1],
        Vectors([part for part in (vectors[:half], vectors[half:]) if len(part)]),
    )
    sums = np.zeros((entities, 5))
    np.add.at(sums, pairs[:, 0], vectors[pairs[:, 1]].astype(np.float64))
    for row in range(entities):
        own = tails.of(row)
        if row not in pairs[:, 0]:
            assert own is None
            continue
        assert own is not None
        assert own == pytest.approx(unit(sums[row][None])[0], abs=1e-5)
        [(rows, cosines)] = tails.cosines(own[None])
        assert rows.tolist() == sorted(set(pairs[:, 0].tolist()))
        assert cosines == pytest.approx(unit(sums[rows]) @ unit(sums[row][None])[0], abs=1e-4)
    assert tails.of(None) is None
    assert tails.of(entities) is None


def test_a_relation_without_links_and_tails_that_cancel() -> None:
    vectors = Vectors([np.array([[1, 0], [-1, 0], [0, 1]], dtype=np.float32)])
    none = TailCentroids(np.zeros(0, dtype=int), np.zeros(0, dtype=int), vectors)
    assert none.of(0) is None
    assert none.count == 0
    assert [rows.tolist() for rows, _ in none.cosines(np.ones((1, 2), dtype=np.float32))] == [[]]
    cancelled = TailCentroids(np.array([2, 2]), np.array([0, 1]), vectors)
    [(_, cosines)] = cancelled.cosines(np.ones((1, 2), dtype=np.float32))
    assert np.abs(cosines).max() <= 1
