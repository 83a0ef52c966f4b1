"""Filtered ranks against scipy's average ranks over the scores that the definition leaves in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

import ontodex
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.ranking import evaluate_links, filtered_ranks, rank_metrics
from ontodex.engine.search.topk import Searcher
from ontodex.errors import GraphError
from ontodex.evaluation import evaluate_kgc
from ontodex.geometry.vectors import Vectors


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), distinct=st.integers(1, 30))
def test_ranks_equal_the_definition(seed, distinct):
    rng = np.random.default_rng(seed)
    items = rng.integers(-2, 3, (distinct, 8)).astype(np.float32)[
        rng.integers(0, distinct, 30)
    ]  # many ties
    queries = rng.integers(-2, 3, (70, 8)).astype(np.float32)  # whole numbers: every score is exact
    answers = rng.integers(0, 30, 70)
    known = [np.union1d(rng.integers(0, 30, rng.integers(0, 9)), [answer]) for answer in answers]
    found = filtered_ranks(queries, answers, known, Searcher(Vectors([items[:11], items[11:]])))
    for query, answer, true, rank in zip(queries, answers, known, found, strict=True):
        scores = items @ query
        left = np.setdiff1d(np.arange(30), np.setdiff1d(true, [answer]))
        assert rank == rankdata(-scores[left])[np.flatnonzero(left == answer)[0]]


def test_metrics_of_given_ranks():
    assert rank_metrics(np.array([1.0, 3.0, 10.0, 11.0]))["hits@10"] == 0.75
    assert rank_metrics(np.array([1.0, 2.0]))["mrr"] == 0.75


def test_an_index_and_its_encoder_are_evaluated_alike(small_index, small_graph):
    result = evaluate_kgc(str(small_index), small_graph, device="cpu")
    assert set(result) == {
        side + name
        for side in ("", "tail.", "head.")
        for name in ("mrr", "mr", "hits@1", "hits@3", "hits@10")
    }
    assert result["mrr"] == pytest.approx((result["tail.mrr"] + result["head.mrr"]) / 2)
    with ontodex.open(small_index, device="cpu") as engine:
        folder = small_index / engine.index.folder.name / "encoders"
        assert (folder / "link" / "hyper_cl" / "config.json").exists()


def test_a_graph_without_held_out_triples_is_refused(small_index, small_graph):
    with (
        ontodex.open(small_index, device="cpu") as engine,
        pytest.raises(GraphError, match="valid"),
    ):
        evaluate_links(
            small_graph,
            engine.index.vectors("link"),
            LinkQueries(engine.resources).of_rows,
            split="valid",
        )
