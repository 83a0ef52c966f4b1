"""Grounding: names, ids, other texts, types, and the rule that is fitted to a graph."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import ontodex
from ontodex.engine import grounding, grounding_fit
from ontodex.engine.grounding import FEATURES, SHIPPED, Candidates, candidates_of, homonym_share
from ontodex.engine.grounding_fit import Asked, ask_held_out, rule_of
from ontodex.errors import SettingsError, UnknownEntity
from ontodex.graph import GraphBuilder, TextSettings
from ontodex.storage.index import Index
from ontodex.storage.space_names import NAME, TEXT
from tests.conftest import ANIMALS, PLACES
from tests.plain import build_plain

COLOURS = ("amber", "black", "crimson", "dark", "emerald", "faint")


def animals():
    """A graph of 120 animals, each with a synonym of other words."""
    builder = GraphBuilder("zoo")
    builder.entity("ex:kind", "kind")
    for name in ANIMALS:
        for colour in COLOURS:
            row = f"ex:{colour}-{name}"
            builder.entity(row, f"{colour} {name}", [f"{name} of {colour} fur"], f"a {name}")
            builder.triple(row, "is_a", "ex:kind")
    return builder.build()


@pytest.fixture(scope="module")
def zoo(tmp_path_factory, tiny_encoder):
    path = tmp_path_factory.mktemp("zoo") / "zoo.odx"
    with build_plain(animals(), path, tiny_encoder) as engine:
        yield engine


def test_names_and_ids_are_matches(tmp_path, tiny_encoder):
    builder = GraphBuilder("terms")
    builder.entity("ex:1", "Fever", ["Pyrexia"])
    builder.replace({"ex:9": "ex:1"})
    builder.entity("ex:2", "Cold", ["Bank"])
    builder.entity("ex:3", "River", ["Bank"])
    with build_plain(builder.build(), tmp_path / "x.odx", tiny_encoder) as engine:
        texts = ["pyrexia", "ex:1", "ex:9", "bank", "  ", "pyrexia"]
        found = engine.ground(texts)
        assert homonym_share(engine.graph) == pytest.approx(1 / 5)
    assert [one.text for one in found] == texts
    assert [one.decision for one in found] == ["match", "match", "match", "none", "", "match"]
    assert [one.term_id for one in found[:3]] == ["ex:1"] * 3
    assert found[3].term_id in ("ex:2", "ex:3")
    assert [one.probability for one in found[:4]] == pytest.approx([0.9, 1, 1, 0.45])
    assert (found[4].term_id, found[4].term_label, found[4].probability) == (None, None, None)
    assert found[5] == found[0]


def test_a_misspelt_name_is_a_match_and_another_text_is_not(zoo):
    texts = ["crimson whalle", "qualifications of an accountant"]
    one, other = zoo.ground(texts)
    assert (one.term_id, one.term_label, one.decision) == (
        "ex:crimson-whale",
        "crimson whale",
        "match",
    )
    assert other.decision == "none"
    assert other.probability < zoo.ground(texts).threshold <= one.probability
    assert json.loads(zoo.ground(texts).to_json())["groundings"][0] == one.to_dict()


def test_the_rule_is_stored_and_an_update_keeps_it(zoo, tmp_path, tiny_encoder):
    stored = zoo.index.manifest.grounding
    assert len(stored["weights"]) == len(FEATURES)
    assert grounding_fit.LOWEST <= stored["threshold"] <= grounding_fit.HIGHEST
    assert zoo.index.info()["grounding"] == stored
    builder = GraphBuilder("more")
    builder.entity("ex:more", "more")
    path = tmp_path / "zoo.odx"
    build_plain(animals(), path, tiny_encoder).close()
    with ontodex.add(builder.build(), path, device="cpu", quiet=True) as engine:
        assert engine.index.manifest.grounding == stored


def test_a_graph_with_few_synonyms_takes_the_shipped_rule(small_index):
    index = Index.open(small_index)
    assert index.manifest.grounding == {}
    with ontodex.open(small_index, device="cpu") as engine:
        assert engine.ground(["hound dog"]).threshold == SHIPPED.threshold
    assert len(SHIPPED.weights) == len(FEATURES)


def test_only_terms_of_the_type_are_kept(small_index):
    with ontodex.open(small_index, device="cpu") as engine:
        texts = ["dog", "forrest", "farm", "a very wild duck", "place"]
        found = engine.ground(texts, type="place")
        assert {one.term_label for one in found} <= {"place", *PLACES}
        assert [one.term_label for one in found][1:3] == ["forest", "farm"]
        assert (found[0].decision, found[2].decision, found[4].decision) == (
            "none",
            "match",
            "match",
        )
        with pytest.raises(UnknownEntity, match="as type, found free text 'nowhere'"):
            engine.ground(texts, type="nowhere")


@pytest.mark.parametrize("texts", ["dog", ["dog", None], [1]])
def test_other_things_than_a_list_of_texts_are_rejected(zoo, texts):
    with pytest.raises(SettingsError, match="expected"):
        zoo.ground(texts)


def test_held_out_names_are_neither_in_names_nor_in_texts(zoo, tmp_path, tiny_encoder, monkeypatch):
    """The cosines of held-out synonyms are those of an index of a graph without them."""
    graphs = []
    monkeypatch.setattr(
        grounding_fit,
        "candidates_of",
        lambda index, *rest: graphs.append(index.graph) or candidates_of(index, *rest),
    )
    index, encoder = zoo.index, zoo.resources.encoders.text
    asked = ask_held_out(
        zoo.graph,
        zoo.hierarchy,
        index.vectors(TEXT),
        index.sentences(NAME),
        index.vectors(NAME),
        TextSettings(),
        encoder.encode,
        encoder.knows,
    )
    fewer = graphs[0]
    held_out = [
        (name, row)
        for row, names in enumerate(zoo.graph.synonyms)
        for name in names
        if name not in fewer.synonyms[row]
    ]
    assert len(held_out) == 60
    assert [row for _, row in held_out] == asked.meant[:60].tolist()
    with build_plain(fewer, tmp_path / "fewer.odx", tiny_encoder) as engine:
        expected = candidates_of(
            engine._text_search.without_definitions(),
            zoo._word_differences,
            [name for name, _ in held_out],
        )
    columns = [FEATURES.index(name) for name in ("cosine of the best name", "cosine of the text")]
    compared = 0
    for one, other in zip(asked.found, expected, strict=False):
        for at, row in enumerate(one.rows.tolist()):
            for there in np.flatnonzero(other.rows == row):
                np.testing.assert_allclose(
                    one.features[at, columns], other.features[there, columns], atol=2e-3
                )
                compared += 1
    assert compared > 300
    for one, (_, row) in zip(asked.without, held_out, strict=True):
        assert row not in one.rows


def test_the_threshold_keeps_wrong_answers_and_other_words_apart():
    def answers(score, row):
        return Candidates(np.array([row]), np.full((1, len(FEATURES)), float(score)))

    random = np.random.default_rng(0)
    scores = random.normal(2.0, 1.0, 200).tolist() + random.normal(-2.0, 1.0, 200).tolist()
    found = [answers(score, 0) for score in scores]
    meant = np.array([0] * 200 + [-1] * 200)
    rule = rule_of([Asked(meant, found, [])])
    probabilities = np.array([rule.probabilities(one.features)[0] for one in found])
    assert (probabilities[200:] >= rule.threshold).mean() <= 0.03
    assert (probabilities[:200] >= rule.threshold).mean() > 0.8
    assert rule_of([Asked(np.array([0, 0]), found[:2], [])]) is None


def test_a_lead_is_the_difference_from_the_best_other():
    assert grounding._lead(np.array([0.75])).tolist() == [0.75]
    assert grounding._lead(np.array([0.5, 0.5])).tolist() == [0.0, 0.0]


def test_described_terms_have_paths_and_definitions(small_index):
    with ontodex.open(small_index, device="cpu") as engine:
        plain = engine.ground(["dog", "", "thing"])
        found = plain.described()
        assert [one.term_path for one in found] == [
            ("thing", "animal", "tame animal", "dog"),
            None,
            None,
        ]
        assert found[0].term_definition == "a tame animal that lives in a farm"
        assert list(found.to_pandas().columns)[-2:] == ["term_path", "term_definition"]
        assert "term_path" not in plain.to_tsv() + plain.to_json()
        assert "thing > animal > tame animal > dog" in str(found)
        assert str(pickle.loads(pickle.dumps(found))) == str(found)
