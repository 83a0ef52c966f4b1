"""Entailment queries: sentences, directions, probabilities and refused arguments."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import ontodex
from ontodex.encoders.gauss_cse import GaussCSE
from ontodex.errors import IndexMismatch, SettingsError, UnknownEntity
from ontodex.geometry.gaussian import similarity
from ontodex.graph import GraphBuilder, entity_sentences
from tests.plain import build_plain


@pytest.fixture(scope="module")
def engine(small_index):
    with ontodex.open(small_index, device="cpu") as opened:
        yield opened


@pytest.fixture(scope="module")
def by_hand(engine, tiny_gauss):
    """Score every sentence of the index in float64, and keep the best of each entity."""
    encoder = GaussCSE.load(tiny_gauss, "cpu")
    said = entity_sentences(engine.graph)
    stored = np.concatenate(engine.index.vectors("entailment").shards).astype(np.float64)

    def rank(question, queries, refused=()):
        queries = np.asarray(queries, np.float64)
        scores = np.full(len(said), -1.0)
        for query in queries:
            sides = (stored, query) if question == "entailed_by" else (query, stored)
            scores = np.maximum(scores, similarity(*sides, encoder.similarity))
        best = {}
        for row in np.lexsort((np.arange(len(said)), -scores)).tolist():
            owner = int(said.owners[row])
            if owner not in best and owner not in refused:
                best[owner] = (scores[row], said.texts[row])
        return [(engine.graph.ids[owner], score, text) for owner, (score, text) in best.items()]

    rank.encode, rank.stored, rank.sentences = encoder.encode, stored, said
    return rank


def answers(hits):
    return [(hit.id, hit.score, hit.text) for hit in hits]


@pytest.mark.parametrize("question", ["entailed_by", "entailing"])
@pytest.mark.parametrize("k", [1, 7, 1000])
def test_answers_are_those_of_a_float64_pass_over_every_sentence(engine, by_hand, question, k):
    for text in ("an animal that eats", "A wild dog lives in the forest. It eats a hen."):
        queries = by_hand.encode(text.split(". ") if ". " in text else [text])
        if ". " in text:
            queries = by_hand.encode(["A wild dog lives in the forest.", "It eats a hen."])
        found = getattr(engine, question)(text, k)
        wanted = by_hand(question, queries)[:k]
        assert [hit[0] for hit in answers(found)] == [one[0] for one in wanted]
        np.testing.assert_allclose(
            [hit.score for hit in found], [one[1] for one in wanted], rtol=1e-6
        )
        assert [hit.text for hit in found] == [one[2] for one in wanted]


def test_a_premise_has_all_sentences_of_an_entity_a_hypothesis_its_label(engine, by_hand):
    row, _ = engine.graph.find("ex:dog")
    own = np.flatnonzero(by_hand.sentences.owners == row)
    assert [by_hand.sentences.texts[one] for one in own] == [
        "dog",
        "a tame animal that lives in a farm",
    ]
    wanted = by_hand("entailed_by", by_hand.stored[own], refused=[row])
    assert [hit.id for hit in engine.entailed_by("ex:dog", 20)] == [one[0] for one in wanted[:20]]
    wanted = by_hand("entailing", by_hand.stored[own[:1]], refused=[row])
    assert [hit.id for hit in engine.entailing("ex:dog", 20)] == [one[0] for one in wanted[:20]]


def test_links_of_the_hierarchy_are_known(engine):
    above = {"ex:tame", "ex:animal", "ex:thing"}
    marked = {hit.id for hit in engine.entailed_by("ex:dog", 1000) if hit.known}
    assert marked == above
    assert {hit.id for hit in engine.entailed_by("ex:dog", 1000, "only")} == above
    assert not above & {hit.id for hit in engine.entailed_by("ex:dog", 1000, "exclude")}
    assert {hit.id for hit in engine.entailing("ex:dog", 1000) if hit.known} == {"ex:young-dog"}
    assert not any(hit.known for hit in engine.entailed_by("some dog", 1000))


def test_batches_answer_as_single_questions_do(engine):
    texts = ["ex:dog", "a place", "A wild animal. It eats."]
    for question in ("entailed_by", "entailing"):
        together = getattr(engine, f"{question}_batch")(texts, 5)
        alone = [getattr(engine, question)(text, 5) for text in texts]
        for one, other in zip(together, alone, strict=True):
            assert [(hit.id, hit.text) for hit in one] == [(hit.id, hit.text) for hit in other]
            # free texts are encoded in other batches, which changes the last digits
            np.testing.assert_allclose(
                [hit.score for hit in one], [hit.score for hit in other], rtol=1e-4
            )
    assert engine.entailed_by_batch([], 5) == []


def test_pairs_are_judged_in_both_directions(engine, tiny_gauss):
    encoder = GaussCSE.load(tiny_gauss, "cpu")
    one, two = encoder.encode(["a wild dog", "an animal"]).astype(np.float64)
    verdict = engine.entails("a wild dog", "an animal")
    assert verdict.similarity == pytest.approx(float(similarity(two, one)), rel=1e-6)
    assert verdict.probability == pytest.approx(float(encoder.rule.probability(verdict.similarity)))
    assert verdict.entailed == (verdict.similarity > encoder.rule.threshold)
    both = engine.direction("a wild dog", "an animal")
    backward = engine.entails("an animal", "a wild dog")
    for found, wanted in ((both.forward, verdict), (both.backward, backward)):
        # In another order a text is another row of the matrix product, with other float32
        # rounding.
        assert found.similarity == pytest.approx(wanted.similarity, rel=1e-6)
        assert found.probability == pytest.approx(wanted.probability, rel=1e-6)
        numbers = {"similarity": wanted.similarity, "probability": wanted.probability}
        assert replace(found, **numbers) == wanted
    larger = both.forward.similarity > both.backward.similarity
    assert both.direction == ("forward" if larger else "backward")
    assert engine.direction("a dog", "a dog").direction == "equal"
    assert engine.entails("a dog", "a dog").probability == max(
        verdict.probability
        for verdict in engine.entails_batch([("a dog", "a dog"), ("a dog", "a cat")])
    )
    assert json.loads(both.to_json())["direction"] == both.direction
    assert "entail" in str(verdict)
    assert not verdict.known
    assert "asserted" not in str(verdict)


def test_a_verdict_marks_asserted_pairs(engine):
    both = engine.direction("ex:dog", "ex:animal")
    assert (both.forward.known, both.backward.known) == (True, False)
    assert both.forward.entailed
    assert both.forward.to_dict()["entailed"]
    assert " entails (asserted in the graph) " in str(both.forward)
    assert f": by the texts alone p={both.forward.probability:.2f}, " in str(both.forward)
    assert not engine.entails("some dog", "ex:animal").known
    with pytest.raises(SettingsError, match="expected a list of pairs of texts"):
        engine.entails_batch("ab")
    with pytest.raises(SettingsError, match="expected pairs of texts, found 'ab'"):
        engine.direction_batch(["ab"])


@pytest.mark.parametrize(
    ("forward", "backward", "difference", "headline"),
    [
        (True, False, 1.0, "forward"),
        (False, True, -1.0, "backward"),
        (True, False, -1.0, "forward; likelier backward by p and similarity"),
        (False, True, 0.0, "backward; equally likely by p and similarity"),
        (False, False, 1.0, "neither entails the other; likelier forward by p and similarity"),
        (False, False, 0.0, "neither entails the other; equally likely by p and similarity"),
        (True, True, -1.0, "each entails the other; likelier backward by p and similarity"),
    ],
)
def test_the_headline_of_a_direction_agrees_with_both_verdicts(
    engine, forward, backward, difference, headline
):
    found = engine.direction("a wild dog", "an animal")
    both = ontodex.Direction(
        replace(found.forward, entailed=forward),
        replace(found.backward, entailed=backward),
        difference,
    )
    assert str(both).splitlines()[0] == headline
    assert both.direction == {1.0: "forward", 0.0: "equal", -1.0: "backward"}[difference]


def test_every_sentence_of_a_hypothesis_must_follow_from_some_of_the_premise(engine):
    premise = "A wild dog eats. A cat lives in the house."
    each = [engine.entails(premise, part).similarity for part in ("A dog eats.", "A cat lives.")]
    assert engine.entails(premise, "A dog eats. A cat lives.").similarity == pytest.approx(
        min(each)
    )
    alone = [
        engine.entails(part, "A dog eats.").similarity
        for part in ("A wild dog eats.", "A cat lives in the house.")
    ]
    assert each[0] == pytest.approx(max(alone))


def test_answers_print_the_sentence_that_matched(engine):
    found = engine.entailed_by("a tame animal that lives in a farm", 3)
    assert found[0].text == "a tame animal that lives in a farm"
    assert f"{found[0].label}: a tame animal that lives in a farm" in str(found)
    assert found.to_tsv().splitlines()[0] == "id\tlabel\tscore\tknown\tprobability\ttext"
    assert found.to_dict()["hits"][0]["text"] == found[0].text
    assert list(found.to_pandas().columns) == [
        "id",
        "label",
        "score",
        "known",
        "probability",
        "text",
    ]
    assert "text" not in engine.search("dog", 1).to_dict()["hits"][0]


@pytest.mark.parametrize("form", ["paper", "per-dimension"])
def test_other_similarities_rank_by_themselves(
    tmp_path, tiny_encoder, tiny_gauss, small_graph, form
):
    model = GaussCSE.load(tiny_gauss, "cpu")
    model.similarity = form
    model.save(tmp_path / "model")
    with build_plain(
        small_graph, tmp_path / "x.odx", tiny_encoder, entailment=tmp_path / "model"
    ) as engine:
        said = entity_sentences(small_graph)
        stored = np.concatenate(engine.index.vectors("entailment").shards).astype(np.float64)
        query = model.encode(["a wild dog"]).astype(np.float64)[0]
        scores = similarity(stored, query, form)
        owners = [int(said.owners[row]) for row in np.lexsort((np.arange(len(said)), -scores))]
        found = engine.entailed_by("a wild dog", 5)
        assert [hit.id for hit in found] == [
            small_graph.ids[owner] for owner in dict.fromkeys(owners)
        ][:5]
        assert found[0].score == pytest.approx(float(scores.max()))


def test_bad_questions_are_refused(engine):
    for call in (engine.entailed_by, engine.entailing):
        with pytest.raises(SettingsError, match="entity: expected"):
            call(" ")
        with pytest.raises(SettingsError, match="k: expected"):
            call("dog", 0)
        with pytest.raises(SettingsError, match="known: expected"):
            call("dog", 3, "all")
        with pytest.raises(UnknownEntity, match="no entity 'ex:dgo'"):
            call("ex:dgo")
    with pytest.raises(SettingsError, match="entity: expected"):
        engine.entails("dog", "")


def test_an_index_without_an_encoder_of_entailment_says_so(tmp_path, tiny_encoder):
    builder = GraphBuilder("pets")
    builder.triple("dog", "is_a", "animal")
    missing = pytest.raises(IndexMismatch, match="no entailment space; build it anew")
    with build_plain(builder.build(), tmp_path / "x.odx", tiny_encoder) as engine, missing:
        engine.entailed_by("a dog")


def test_a_file_of_statements_is_searched_without_a_graph(tmp_path, tiny_encoder, tiny_gauss):
    file = tmp_path / "Notes.txt"
    file.write_text("A dog lives in the barn.\n\nA cat eats. A hen eats, too.\n", encoding="utf-8")
    graph = ontodex.read(file, format="sentences")
    assert list(graph.labels) == ["A dog lives in the barn.", "A cat eats. A hen eats, too."]
    assert all(name.startswith("notes:") for name in graph.ids)
    with ontodex.build(
        graph,
        tmp_path / "x.odx",
        encoders=tiny_encoder,
        entailment=tiny_gauss,
        device="cpu",
        quiet=True,
    ) as engine:
        assert [(hit.id, hit.text) for hit in engine.entailed_by("A hen eats, too.", 1)] == [
            (graph.ids[1], "A hen eats, too.")
        ]


def test_additions_and_removals_keep_what_is_encoded(own_index, tiny_encoder):
    builder = GraphBuilder("more")
    builder.entity("ex:otter", "otter", [], "An animal of the river. It eats.")
    with ontodex.add(builder.build(), own_index, device="cpu", quiet=True) as engine:
        assert engine.entailed_by("An animal of the river.", 1)[0].text == "An animal of the river."
    with ontodex.remove(["ex:otter"], own_index, device="cpu", quiet=True) as engine:
        assert "ex:otter" not in {
            hit.id for hit in engine.entailed_by("an animal of the river", 100)
        }
    assert engine.index.verify() == []


def test_a_hypothesis_of_several_sentences_needs_all_of_them_indexed_or_not(
    tmp_path, tiny_encoder, tiny_gauss
) -> None:
    paragraph = "A dog eats meat. The sea is wild."
    path = tmp_path / "notes.txt"
    path.write_text(f"{paragraph}\nA cat lives in a house.\n")
    graph = ontodex.read(path, format="sentences")
    with build_plain(
        graph, tmp_path / "notes.odx", tiny_encoder, entailment=str(tiny_gauss)
    ) as engine:
        indexed = engine.entails("A dog eats meat.", paragraph)
        assert indexed.hypothesis.kind == "label"
        parts = [
            engine.entails("A dog eats meat.", one)
            for one in ("A dog eats meat.", "The sea is wild.")
        ]
        assert indexed.similarity == pytest.approx(min(part.similarity for part in parts), rel=1e-2)
        assert indexed.similarity < max(part.similarity for part in parts)
        assert engine.direction(paragraph, "A dog eats meat.").backward == indexed
