"""Re-ranking by a cross-encoder, against the definition; offsets of neighbours: tests/papers."""

from __future__ import annotations

import numpy as np
import pytest

import ontodex
from ontodex.encoders.cross_encoder import CrossEncoder
from ontodex.engine.rerank import COSINE, Reranker, neighbourhood_offset
from ontodex.errors import EncoderError, SettingsError
from ontodex.graph import entity_texts, inverse_text


@pytest.fixture(scope="module")
def cross(tmp_path_factory, tiny_encoder, small_graph):
    folder = tmp_path_factory.mktemp("cross") / "model"
    training = ontodex.CrossEncoderTraining(steps=2, queries=8, negatives=3, rate=1e-5)
    ontodex.train_cross_encoder(
        small_graph, folder, encoder=tiny_encoder, training=training, device="cpu", quiet=True
    )
    return folder


def test_settings_of_a_reranker_out_of_range_are_refused(small_graph, cross):
    with pytest.raises(SettingsError, match="hops"):
        neighbourhood_offset(small_graph, 0)
    with pytest.raises(SettingsError, match="top"):
        Reranker(cross, small_graph, top=0)


def test_the_best_are_reordered_in_front_of_all_others(small_graph, cross):
    reranker = Reranker(cross, small_graph, top=6, device="cpu")
    rng = np.random.default_rng(1)
    scores = rng.random((3, small_graph.n_entities)).astype(np.float32)
    scores[:, :50] = -np.inf  # ten candidates are left, four in the last query
    scores[2, :56] = -np.inf
    made = reranker.adjust(np.array([20, 21, 22]), np.array([0, 4, 1]), scores)
    texts, model = entity_texts(small_graph), CrossEncoder.load(cross, "cpu")
    relations = [
        small_graph.relation_labels[0],
        inverse_text(small_graph.relation_labels[1]),
        small_graph.relation_labels[1],
    ]
    for row, (head, relation) in enumerate(zip((20, 21, 22), relations, strict=True)):
        best = np.argsort(-scores[row], kind="stable")[: (6, 6, 4)[row]]
        better = scores[row][best] + COSINE * model.logits(
            [(texts[head], relation, texts[tail]) for tail in best]
        )
        order = best[np.argsort(-better)]
        found = np.argsort(-made[row], kind="stable")
        assert found[: len(order)].tolist() == order.tolist()
        rest = np.setdiff1d(np.arange(small_graph.n_entities), best)
        np.testing.assert_array_equal(made[row, rest], scores[row, rest])


def test_an_engine_reads_its_best_answers_again(small_index, small_graph, cross):
    model, texts = CrossEncoder.load(cross, "cpu"), entity_texts(small_graph)
    row = {name: number for number, name in enumerate(small_graph.ids)}
    with (
        ontodex.open(small_index, device="cpu") as plain,
        ontodex.open(small_index, device="cpu", rerank=cross) as engine,
    ):
        for ask, relation, entity in (
            ("tails", "eats", "dog"),
            ("heads", inverse_text("eats"), "dog"),
        ):
            question = ("dog", "eats") if ask == "tails" else ("eats", "dog")
            before, after = (
                getattr(plain, ask)(*question, k=50),
                getattr(engine, ask)(*question, k=5),
            )
            logits = model.logits(
                [(texts[row[f"ex:{entity}"]], relation, texts[row[hit.id]]) for hit in before]
            )
            unit = engine._links._queries.score_unit
            wanted = sorted(
                (hit.score + unit * logit for hit, logit in zip(before, logits, strict=True)),
                reverse=True,
            )
            np.testing.assert_allclose([hit.score for hit in after], wanted[:5], atol=0.05 * unit)
            assert "cross-encoder" in after.method
        assert len(engine.tails("a wild pig", "is afraid of", k=55)) == 55
        assert len(engine.tails("dog", "eats", known="only")) == 1
        assert engine.tails_batch([]) == []


def test_an_index_and_an_encoder_are_evaluated_with_re_ranking(small_index, small_graph, cross):
    def rank(**how):
        return ontodex.evaluate_kgc(small_index, small_graph, score="text", device="cpu", **how)[
            "mr"
        ]

    plain, near = rank(), rank(hops=2)
    assert len({plain, near, rank(rerank=cross, top=50), rank(hops=2, rerank=cross, top=50)}) == 4
    assert rank(rerank=cross, top=1) == pytest.approx(plain)
    with pytest.raises(EncoderError, match="cross-encoder"):
        ontodex.evaluate_kgc(small_index, small_graph, rerank=small_index, device="cpu")
