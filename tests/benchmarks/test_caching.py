"""The caching benchmark counts hits as the caches of the paper do, request by request."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.caching import Counts, _questions, _totals, count, paper_bytes


def one_by_one(triples, requests_of):
    """Count hits and misses with a dictionary, as the paper's code does."""
    cache, hits, requests = set(), 0, 0
    for triple in triples.tolist():
        for key in requests_of(*triple):
            requests += 1
            hits += key in cache
            cache.add(key)
    return hits / requests, len(cache)


def test_hit_rates_are_those_of_a_cache():
    rng = np.random.default_rng(0)
    triples = np.stack([rng.integers(0, high, 500) for high in (60, 4, 90)], axis=1)
    counts = count(triples)
    bi = one_by_one(
        triples, lambda head, relation, tail: [("query", head, relation), ("tail", tail)]
    )
    tri = one_by_one(
        triples,
        lambda head, relation, tail: [("entity", head), ("relation", relation), ("entity", tail)],
    )
    assert (counts.bi_hit_rate, counts.bi_calls) == pytest.approx(bi)
    assert (counts.tri_hit_rate, counts.tri_calls) == pytest.approx(tri)


def test_the_papers_figures_for_wn18rr():
    counts = Counts(triples=93_003, pairs=66_166, tails=33_075, entities=40_943, relations=11)
    assert (round(100 * counts.bi_hit_rate, 2), round(100 * counts.tri_hit_rate, 2)) == (
        46.65,
        85.32,
    )
    assert round(paper_bytes(counts.bi_calls, 768) / 2**20, 2) == 295.29
    assert round(paper_bytes(counts.tri_calls, 768) / 2**20, 2) == 121.86


def test_times_add_up():
    names = ("hadamard", "concat", "hyper, rank 64", "hyper, full")
    seconds = {"query": 10.0, "entity": 1.0, "bi": 0.5}
    seconds |= {name: 0.25 for name in names} | {f"relation, {name}": 2.0 for name in names}
    totals = _totals(seconds, Counts(triples=100, pairs=30, tails=20, entities=40, relations=3))
    assert totals["s, empty, bi-encoder"] == 30 * 10 + 20 * 1 + 100 * 0.5
    assert totals["s, empty, concat"] == 40 * 1 + 3 * 2 + 100 * 0.25
    assert (totals["s, warm, bi-encoder"], totals["s, warm, hyper, full"]) == (50, 25)
    asked = _questions(seconds)
    assert asked["bi-encoder / hyper, rank 64, a new question"] == 10.5 / 0.25
