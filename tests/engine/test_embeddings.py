"""Exported vectors rank as the engine does."""

import numpy as np
import pytest

import ontodex
from ontodex.encoders.hit import HiT
from ontodex.errors import IndexMismatch, SettingsError, UnknownEntity
from ontodex.geometry import poincare
from ontodex.geometry.gaussian import similarity


@pytest.fixture(scope="module")
def engine(small_index):
    with ontodex.open(small_index, device="cpu") as opened:
        yield opened


def scores_of(hits):
    return {hit.id: hit.score for hit in hits}


def products(found, query):
    return dict(zip(found.ids, (found.vectors @ query).tolist(), strict=True))


def test_cosines_of_text_embeddings_are_the_scores(engine):
    found = engine.embeddings()
    assert (found.space, found.geometry, found.curvature) == ("text", "cosine", 0.0)
    assert (found.ids, found.texts) == (list(engine.graph.ids), list(engine.graph.labels))
    assert found.vectors.dtype == np.float32
    for at, text in enumerate(["ex:dog", "a kind of house"]):
        query = engine.embed(["ex:dog", "a kind of house"])[at]
        wanted = scores_of(engine.similar(text, k=len(found)))
        assert wanted == pytest.approx(
            {key: products(found, query)[key] for key in wanted}, abs=1e-6
        )


def test_products_of_link_embeddings_are_the_scores(engine):
    found = engine.embeddings("link")
    asked = [("dog", "lives in"), ("dog", "inverse eats"), ("a wild thing", "lives on")]
    answers = [engine.tails(*question, k=len(found), known="include") for question in asked]
    for query, hits in zip(engine.embed(asked, "link"), answers, strict=True):
        wanted = scores_of(hits)
        assert wanted == pytest.approx(
            {key: products(found, query)[key] for key in wanted}, abs=1e-6
        )
    assert engine.embed([], "link").shape[0] == 0


def test_products_of_hybrid_embeddings_are_the_scores(family):
    engine, held_out = family
    found = engine.embeddings("hybrid")
    (child, parent), other = held_out[0], "ex:7"
    queries = engine.embed([(child, "ex:childOf"), (parent, "inverse ex:childOf")], "hybrid")
    for query, (head, relation, tail) in zip(
        queries, [(child, "ex:childOf", parent), (parent, "inverse ex:childOf", child)], strict=True
    ):
        whys = [engine.why(head, relation, end) for end in (tail, other)]
        said = [
            sum(why.adds for why in one if why.by in ("text", "ComplEx", "type constraint", "kind"))
            for one in whys
        ]
        of_each = products(found, query)
        assert of_each[tail] - of_each[other] == pytest.approx(said[0] - said[1], abs=1e-4)
    texts = engine.embed([(child, "ex:childOf")], "link")
    assert texts.shape == (1, engine.embeddings("link").vectors.shape[1])


def test_points_lie_in_the_ball(engine, tiny_hit, tiny_encoder):
    found = engine.embeddings("hierarchy")
    assert found.geometry == "poincare"
    encoder = HiT.load(tiny_hit, "cpu", base=tiny_encoder)
    assert found.curvature == encoder.c
    assert np.linalg.norm(found.vectors, axis=1).max() < encoder.c**-0.5
    points = engine.embed(["ex:dog", "wild house"], "hierarchy")
    assert points[0] == pytest.approx(found.vectors[found.ids.index("ex:dog")], abs=1e-6)
    assert points[1] == pytest.approx(encoder.points(["wild house"])[0], abs=1e-5)
    norms = engine._subsumptions.space.norms
    assert poincare.norm(found.vectors.astype(np.float64), found.curvature) == pytest.approx(
        norms, rel=1e-4
    )


def test_kl_of_entailment_embeddings_is_the_score(engine):
    found = engine.embeddings("entailment")
    query = engine.embed(["a wild house"], "entailment")[0]
    scores = similarity(
        found.vectors.astype(np.float64), query.astype(np.float64), engine._entailments.form
    )
    hits = engine.entailed_by("a wild house", k=5)
    for hit in hits:
        of_it = [score for score, owner in zip(scores, found.ids, strict=True) if owner == hit.id]
        assert hit.score == pytest.approx(max(of_it), abs=1e-3)
    assert hits[0].id == found.ids[int(np.argmax(scores))]
    assert found.texts[found.ids.index("ex:farm")] == "farm"
    assert engine.embed(["ex:farm"], "entailment") == pytest.approx(
        engine.embed(["farm"], "entailment")
    )


def test_written_files_hold_vectors_and_ids(engine, tmp_path):
    found = engine.embeddings("entailment")
    assert str(found) == f"Embeddings('entailment': {len(found)} vectors of 64 numbers, gaussian)"
    (tmp_path / "farm.tsv").write_text("a source of mine")
    found.write(tmp_path / "farm.npy")
    assert (tmp_path / "farm.tsv").read_text() == "a source of mine"
    assert (np.load(tmp_path / "farm.npy", allow_pickle=False) == found.vectors).all()
    header, *rows = (
        line.split("\t") for line in (tmp_path / "farm.npy.tsv").read_text().splitlines()
    )
    assert header == ["id", "text"]
    assert [tuple(row) for row in rows] == list(zip(found.ids, found.texts, strict=True))
    with pytest.raises(SettingsError, match=r"\.npy"):
        found.write(tmp_path / "farm.bin")


def test_what_cannot_be_embedded(engine):
    with pytest.raises(SettingsError, match="space: expected"):
        engine.embeddings("texts")
    with pytest.raises(SettingsError, match="space: expected"):
        engine.embed(["dog"], "condition")
    with pytest.raises(IndexMismatch, match="no space 'hybrid'"):
        engine.embed([("dog", "eats")], "hybrid")
    with pytest.raises(IndexMismatch, match="no space 'span'"):
        engine.embeddings("span")
    with pytest.raises(SettingsError, match="pairs of texts"):
        engine.embed(["dog"], "link")
    with pytest.raises(SettingsError, match="expected a CURIE"):
        engine.embed([("dog", "eats")], "text")
    with pytest.raises(SettingsError, match="list of texts"):
        engine.embed("dog")
    with pytest.raises(UnknownEntity):
        engine.embed(["ex:nobody"])
