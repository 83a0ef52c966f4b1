"""Self-StrAE from text to answers, in Python and on the command line."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import ontodex
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, IndexMismatch, ReadError, SettingsError
from ontodex.graph import GraphBuilder
from ontodex.scoring.lexicon import Lexicon
from tests.plain import build_plain

WORDS = (
    "dog",
    "cat",
    "cow",
    "hen",
    "wolf",
    "barn",
    "field",
    "forest",
    "runs",
    "sleeps",
    "in",
    "the",
    "over",
    "a",
)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    draw = random.Random(0)
    path = tmp_path_factory.mktemp("text") / "farm.txt"
    path.write_text(
        "".join(" ".join(draw.choices(WORDS, k=draw.randint(3, 9))) + "\n" for _ in range(300))
    )
    return path


@pytest.fixture(scope="module")
def model(text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    settings = ontodex.SelfStrAETraining.of_dimension(32, 16, epochs=3, batch=64, evaluations=1)
    ontodex.train_self_strae(text, folder, training=settings, quiet=True)
    return folder


def farm():
    builder = GraphBuilder("farm")
    builder.entity("ex:dog", "dog", [], "A loyal dog runs over the field. It sleeps in the barn.")
    builder.entity("ex:cow", "cow", [], "The cow sleeps in the barn.")
    builder.entity("ex:wolf", "wolf", [], "The wolf runs in the forest.")
    return builder.build()


@pytest.fixture(scope="module")
def engine(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("index") / "farm.odx"
    made = build_plain(farm(), path, model, spans=True)
    yield made
    made.close()


def test_phrases_answer_with_what_matched(engine):
    hits = engine.search("in the forest", k=3, spans=True)
    assert len({hit.id for hit in hits}) == 3
    trees = engine.resources.encoders.text.structured.trees(
        ["wolf", "The wolf runs in the forest."]
    )
    spans = {
        tree.span(number): tree.vectors[number]
        for tree in trees
        for number in range(len(tree.nodes))
    }
    asked = engine.resources.encoders.text.encode(["in the forest"])[0]
    best = max(spans, key=lambda span: float(spans[span] @ asked))
    wolf = next(hit for hit in hits if hit.id == "ex:wolf")
    assert wolf.text == best
    assert wolf.score == pytest.approx(float(spans[best] @ asked), abs=1e-5)
    assert hits[0].score == max(hit.score for hit in hits)


def test_phrases_have_vectors_for_other_programs(engine):
    found, query = engine.embeddings("span"), engine.embed(["in the forest"], "span")[0]
    scores = found.vectors @ query
    wolf = next(
        hit for hit in engine.search("in the forest", k=3, spans=True) if hit.id == "ex:wolf"
    )
    of_wolf = [at for at, owner in enumerate(found.ids) if owner == "ex:wolf"]
    best = max(of_wolf, key=lambda at: scores[at])
    assert (found.texts[best], scores[best]) == (wolf.text, pytest.approx(wolf.score, abs=1e-5))


def test_more_answers_than_entities_are_all(engine):
    assert {hit.id for hit in engine.search("barn", k=50, spans=True)} == {
        "ex:dog",
        "ex:cow",
        "ex:wolf",
    }
    assert [len(hits) for hits in engine.search_batch(["barn", "dog"], k=2, spans=True)] == [2, 2]
    by_id, by_label = engine.search_batch(
        ["ex:dog", engine.graph.labels[engine.graph.find("ex:dog")[0]]], k=2, spans=True
    )
    assert [hit.score for hit in by_id] == pytest.approx([hit.score for hit in by_label])
    assert by_id.resolutions["text"].id == "ex:dog"


def test_an_index_without_phrases_is_built_anew_with_them(model, tmp_path):
    path = tmp_path / "farm.odx"
    build_plain(farm(), path, model).close()
    with build_plain(farm(), path, model, spans=True) as engine:
        assert engine.search("barn", k=1, spans=True)[0].text is not None


def test_an_added_entity_has_phrases_too_and_no_others_are_encoded(model, tmp_path, monkeypatch):
    path = tmp_path / "farm.odx"
    build_plain(farm(), path, model, spans=True).close()
    builder = GraphBuilder("more")
    builder.entity("ex:hen", "hen", [], "A hen runs.")
    encoded, encode = [], TextEncoder._encode_unique
    monkeypatch.setattr(
        TextEncoder,
        "_encode_unique",
        lambda self, texts: encoded.extend(texts) or encode(self, texts),
    )
    with ontodex.add(builder.build(), path, quiet=True) as engine:
        assert engine.search("A hen runs.", k=1, spans=True)[0].id == "ex:hen"
    assert "A hen runs." in encoded
    others = set(encoded) - set(Lexicon.load().definitions("hen"))
    assert not [text for text in others if "hen" not in text and "A" not in text.split()]


def test_an_index_without_phrases_says_so(small_index_path_of_another_encoder):
    with (
        ontodex.open(small_index_path_of_another_encoder) as engine,
        pytest.raises(IndexMismatch, match="no phrases; build it with a Self-StrAE"),
    ):
        engine.search("dog", spans=True)


@pytest.fixture(scope="module")
def small_index_path_of_another_encoder(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("plain") / "plain.odx"
    build_plain(farm(), path, model).close()
    return path


def test_phrases_need_an_encoder_that_finds_trees(tiny_encoder, tmp_path):
    with pytest.raises(EncoderError, match="expected a Self-StrAE encoder"):
        build_plain(farm(), tmp_path / "x.odx", tiny_encoder, spans=True)


def test_relation_projections_are_trained_on_self_strae(model, small_graph, tmp_path):
    training = ontodex.HyperCLTraining(steps=5, queries=16)
    with ontodex.build(
        small_graph,
        tmp_path / "x.odx",
        encoders=model,
        training=training,
        hierarchy=False,
        entailment=False,
        quiet=True,
    ) as engine:
        head, relation = small_graph.labels[0], small_graph.relation_labels[0]
        assert len(engine.tails(head, relation, k=3, known="include")) == 3


@pytest.mark.parametrize("train", ["train_hit", "train_gauss_cse", "train_cross_encoder"])
def test_training_of_transformers_refuses_self_strae(train, model, small_graph, tmp_path):
    with pytest.raises(EncoderError, match=r"expected a (transformer|Hugging Face model)"):
        getattr(ontodex, train)(small_graph, tmp_path / "out", encoder=model, quiet=True)


def test_trains_on_the_sentences_of_a_graph(tmp_path):
    builder = GraphBuilder("many")
    for number in range(120):
        builder.entity(
            f"ex:{number}",
            f"{WORDS[number % 5]} number {number % 7}",
            [],
            "It runs over the field.",
        )
    settings = ontodex.SelfStrAETraining(channels=8, epochs=1, batch=64, evaluations=1)
    ontodex.train_self_strae(builder.build(), tmp_path / "m", training=settings, quiet=True)
    assert TextEncoder(tmp_path / "m").dim == 16


def test_from_text_to_answers_on_the_command_line(shell, text, tmp_path):
    model, index, sts = tmp_path / "model", tmp_path / "farm.odx", tmp_path / "sts.tsv"
    arguments = (
        "--dimension",
        "32",
        "--channels",
        "16",
        "--epochs",
        "2",
        "--batch",
        "64",
        "--device",
        "cpu",
    )
    status, out, err = shell("train", "self-strae", text, "-o", model, *arguments)
    assert (status, out) == (0, ""), err
    assert "300 sentences" in err
    assert "sentence/s" in err
    assert f"wrote {model}" in err
    status, out, err = shell("tree", model, "the dog sleeps in the barn")
    assert status == 0, err
    assert out.startswith("the dog sleeps in the barn  ")
    assert len(out.splitlines()) == 11
    status, _, err = shell("tree", model, " ")
    assert (status, "expected words" in err) == (2, True)
    status, out, err = shell("tree", model, "the dog sleeps", "-o", tmp_path / "t.svg", "--json")
    assert status == 0, err
    nodes = json.loads(out)["nodes"]
    assert [node["text"] for node in nodes[:3]] == ["the", "dog", "sleeps"]
    picture = (tmp_path / "t.svg").read_text(encoding="utf-8")
    assert all(f">{word}<" in picture for word in ("the", "dog", "sleeps"))
    sts.write_text("dog\tcat\t5\nbarn\truns\t1\nin the barn\tin a barn\t4\ndog\twolf\t3\n")
    status, out, err = shell("eval", "sts", model, sts)
    assert status == 0, err
    found = json.loads(out)["sts.tsv"]
    assert found["pairs"] == 4
    assert -1 <= found["spearman"] <= 1
    assert 0 <= found["tree.right"] <= 1
    graph = tmp_path / "graph.tsv"
    graph.write_text("head\trelation\ttail\ndog in the barn\tnear\tcow in the field\n")
    status, out, err = shell(
        "build",
        graph,
        "-o",
        index,
        "--encoder",
        model,
        "--spans",
        "--no-train",
        "--no-entailment",
        "-q",
    )
    assert status == 0, err
    status, out, err = shell("search", index, "in the barn", "--spans", "--json")
    assert status == 0, err
    assert json.loads(out)["hits"][0]["text"]


def test_wrong_questions_on_the_command_line_are_named(shell, text, tmp_path):
    status, _, err = shell("train", "self-strae", text, "-o", tmp_path / "m", "--channels", "100")
    assert status == 2
    assert "divides the dimension of 256, found 100" in err
    (tmp_path / "empty.txt").write_text("")
    status, _, err = shell("train", "self-strae", tmp_path / "empty.txt", "-o", tmp_path / "m")
    assert status == 1
    assert "expected sentences, found none" in err
    status, _, err = shell("tree", tmp_path, "a text")
    assert status == 1
    assert "expected a Self-StrAE encoder" in err


def test_a_picture_needs_a_suffix_that_is_known(model, tmp_path):
    tree = ontodex.load_self_strae(model).trees(["the dog"])[0]
    with pytest.raises(SettingsError, match=r"\.svg or \.png"):
        ontodex.draw_tree(tree, tmp_path / "tree.pdf")
    ontodex.draw_tree(tree, tmp_path / "tree.png")
    assert (tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")
    single = ontodex.load_self_strae(model).trees(["dog"])[0]
    ontodex.draw_tree(single, tmp_path / "one.svg")


def test_evaluating_any_text_encoder(tiny_encoder, tmp_path):
    sts = tmp_path / "sts.tsv"
    sts.write_text("dog\tcat\t5\nbarn\tsea\t1\na dog\ta dog\t10\n")
    found = ontodex.evaluate_sts(tiny_encoder, [sts])["sts.tsv"]
    assert set(found) == {"spearman", "pearson", "alignment", "uniformity", "pairs"}
    assert np.isfinite(list(found.values())).all()
    other = tmp_path / "other" / "sts.tsv"
    other.parent.mkdir()
    other.write_text("dog\tcat\t5\nbarn\tsea\t1\n")
    both = ontodex.evaluate_sts(tiny_encoder, [sts, other])
    assert {path: figures["pairs"] for path, figures in both.items()} == {
        str(sts): 3,
        str(other): 2,
    }
    with pytest.raises(ReadError):
        ontodex.evaluate_sts(tiny_encoder, tmp_path / "none.tsv")
