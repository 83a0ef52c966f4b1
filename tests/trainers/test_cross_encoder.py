"""The cross-encoder of triples: training, negatives and folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ontodex
from ontodex.encoders.cross_encoder import CrossEncoder
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, SettingsError, TrainingError
from ontodex.graph import (
    GraphBuilder,
    KnowledgeGraph,
    both_directions,
    entity_texts,
    relation_texts,
)
from ontodex.trainers.links.cross_encoder import _Batches, train_cross_encoder
from ontodex.trainers.progress import ProgressOnStderr

QUICK = ontodex.CrossEncoderTraining(steps=40, queries=8, negatives=3, rate=2e-3, max_tokens=16)


@pytest.fixture(scope="module")
def encoder(tiny_encoder: Path) -> TextEncoder:
    return TextEncoder(tiny_encoder, "cpu")


@pytest.fixture(scope="module")
def kinds() -> KnowledgeGraph:
    """Return a graph of animals and places, with the kind of each."""
    builder = GraphBuilder("kinds")
    for kind, names in (
        ("animal", ("dog", "cat", "cow", "hen", "bear")),
        ("place", ("farm", "field", "sea", "city")),
    ):
        for name in names:
            builder.triple(name, "is_a", kind)
    return builder.build()


@pytest.fixture(scope="module")
def trained(
    encoder: TextEncoder, kinds: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("cross") / "model"
    train_cross_encoder(kinds, folder, encoder=encoder, settings=QUICK, quiet=True)
    return folder


def test_known_triples_score_above_wrong_ones(trained, kinds):
    assert not (trained / "checkpoints").exists()
    model, texts, (relation, _) = (
        CrossEncoder.load(trained, "cpu"),
        entity_texts(kinds),
        relation_texts(kinds),
    )
    triples = [(texts[head], relation, texts[tail]) for head, _, tail in kinds.triples.tolist()]
    wrong = [
        (head, relation, name)
        for head, _, tail in triples
        for name in texts
        if name not in (head, tail)
    ]
    assert model.logits(triples).mean() > model.logits(wrong).mean() + 0.5
    assert model.texts == {"synonyms": 3, "definition": True, "neighbours": 0, "max_words": 50}


def test_it_is_no_encoder_of_texts(trained):
    with pytest.raises(EncoderError, match="expected an encoder of texts, found a cross-encoder"):
        TextEncoder(trained, "cpu")


def test_a_triple_scores_the_same_whatever_it_is_read_with(trained):
    model = CrossEncoder.load(trained, "cpu")
    triples = [
        ("dog", "eats", "cat"),
        ("a wild dog that lives in a farm", "lives in", "farm"),
        ("dog", "is a", "animal"),
    ]
    whole = model.logits(triples * 30)
    np.testing.assert_allclose(
        whole.reshape(30, 3), np.tile(whole[:3], (30, 1)), atol=0.05
    )  # bfloat16
    np.testing.assert_allclose(model.logits(triples[1:2]), whole[1:2], atol=0.05)
    assert len(model.logits([])) == 0


def test_wrong_tails_are_wrong_and_the_same_for_a_seed(small_graph, encoder):
    settings = ontodex.CrossEncoderTraining(queries=16, negatives=5)
    vectors = encoder.encode(entity_texts(small_graph))
    true = {
        tuple(triple)
        for triple in both_directions(small_graph.triples, small_graph.n_relations).tolist()
    }
    batches = _Batches(small_graph, vectors, 30, settings)
    bad = 0
    for batch in (batches[step] for step in range(30)):
        assert batch.shape == (16, 2 + 1 + 5)
        for head, relation, tail, *wrong in batch.tolist():
            assert (head, relation, tail) in true
            bad += sum((head, relation, other) in true for other in wrong)
    assert bad < 0.01 * 30 * 16 * 5
    again = _Batches(small_graph, vectors, 30, settings)
    assert np.array_equal(batches[7], again[7])
    assert not np.array_equal(batches[7], batches[8])


@pytest.mark.slow
def test_an_interrupted_run_goes_on(tmp_path, encoder, small_graph, monkeypatch):
    settings = ontodex.CrossEncoderTraining(steps=6, queries=4, negatives=2, save_every=2)
    whole = train_cross_encoder(
        small_graph, tmp_path / "whole", encoder=encoder, settings=settings, quiet=True
    )
    steps = []

    def stop_at_four(self, args, state, control, **kwargs):
        steps.append(state.global_step)
        if state.global_step == 4 and steps.count(4) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressOnStderr, "on_step_end", stop_at_four)
    with pytest.raises(KeyboardInterrupt):
        train_cross_encoder(
            small_graph, tmp_path / "cut", encoder=encoder, settings=settings, quiet=True
        )
    resumed = train_cross_encoder(
        small_graph, tmp_path / "cut", encoder=encoder, settings=settings, quiet=True
    )
    assert steps == [1, 2, 3, 4, 3, 4, 5, 6]
    triples = [("dog", "eats", "cat"), ("cow", "lives in", "farm")]
    np.testing.assert_allclose(resumed.logits(triples), whole.logits(triples), atol=0.02)


def test_graphs_that_it_cannot_be_trained_on(tmp_path, encoder, small_graph):
    builder = GraphBuilder("none")
    builder.entity("ex:dog", "dog")
    with pytest.raises(TrainingError, match="triples"):
        train_cross_encoder(builder.build(), tmp_path / "m", encoder=encoder, quiet=True)
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(TrainingError, match="other files"):
        train_cross_encoder(small_graph, tmp_path, encoder=encoder, settings=QUICK, quiet=True)
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", -1),
        ("queries", 0),
        ("negatives", 0),
        ("rate", 0),
        ("max_tokens", 7),
        ("seed", 1.5),
    ],
)
def test_settings_that_make_no_sense_are_refused(name, value):
    with pytest.raises(SettingsError, match=f"^{name}: expected .*, found {value!r}$"):
        ontodex.CrossEncoderTraining(**{name: value})


def test_another_folder_is_refused(tiny_encoder, trained, tmp_path):
    with pytest.raises(
        EncoderError,
        match=r"expected a cross-encoder of triples, found none .* train cross-encoder",
    ):
        CrossEncoder.load(tiny_encoder, "cpu")
    (tmp_path / "cross_encoder").mkdir()
    (tmp_path / "cross_encoder" / "config.json").write_text('{"max_token": 3}')
    with pytest.raises(
        EncoderError, match="unknown setting 'max_token'; did you mean 'max_tokens'"
    ):
        CrossEncoder.load(tmp_path, "cpu")
    (tmp_path / "cross_encoder" / "config.json").write_text("{}")
    with pytest.raises(EncoderError, match=r"model\.safetensors"):
        CrossEncoder.load(tmp_path, "cpu")
