"""Every architecture of link prediction: index, encoder and a float64 reference agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ontodex
from ontodex.encoders.link_encoder import load_link_encoder
from ontodex.graph import KnowledgeGraph, entity_texts, inverse_text

SHAPES = {
    "full rank": {"rank": 0},
    "hadamard": {"architecture": "hadamard"},
    "paper": {"projection": "paper"},
    "concat": {"architecture": "concat"},
    "concat, public": {"architecture": "concat", "projection": "public"},
    "one tower": {"architecture": "bi-encoder", "tune": "full", "towers": 1},
    "two towers": {"architecture": "bi-encoder", "tune": "full", "towers": 2},
}
METRICS = ("mrr", "mr", "tail.mrr", "head.hits@10")


@pytest.fixture(scope="module", params=SHAPES, ids=str)
def model(request, tmp_path_factory, tiny_encoder: Path, small_graph: KnowledgeGraph) -> Path:
    shape = SHAPES[request.param]
    folder = tmp_path_factory.mktemp("model") / "m"
    settings = ontodex.HyperCLTraining(
        steps=3,
        queries=32,
        entities=16,
        negatives=16,
        condition=8,
        width=16,
        encoder_rate=1e-3,
        **shape,
    )
    ontodex.train_hyper_cl(
        small_graph, folder, encoder=tiny_encoder, training=settings, device="cpu", quiet=True
    )
    return folder


@pytest.fixture(scope="module")
def engine(model: Path, tmp_path_factory, tiny_encoder: Path, small_graph: KnowledgeGraph):
    path = tmp_path_factory.mktemp("index") / "farm.odx"
    encoders = [tiny_encoder, model]
    with ontodex.build(
        small_graph,
        path,
        encoders=encoders,
        structure=False,
        hierarchy=False,
        device="cpu",
        entailment=False,
        quiet=True,
    ) as engine:
        yield engine


def test_answers_are_those_of_the_encoder_in_float64(model, engine, small_graph):
    encoder = load_link_encoder(model, device="cpu")
    texts = entity_texts(small_graph)
    items = encoder.entities(encoder.text.encode(texts)).astype(np.float64)
    row = small_graph.find("dog")[0]
    cases = [
        (engine.tails("dog", "eats", k=5, known="include"), texts[row], "eats"),
        (engine.heads("eats", "dog", k=5, known="include"), texts[row], inverse_text("eats")),
        (engine.tails("dog", "is afraid of", k=5), texts[row], "is afraid of"),
        (engine.tails("a wild pig", "eats", k=5), "a wild pig", "eats"),
    ]
    for hits, head, relation in cases:
        if hasattr(encoder, "queries"):
            query = encoder.queries([(head, relation)])[0]
        else:
            vectors = encoder.entities(encoder.text.encode([head]))
            query = encoder.projections([relation]).project(vectors, 0)[0]
        scores = {small_graph.ids[number]: score for number, score in enumerate(items @ query)}
        if head == texts[row]:
            del scores["ex:dog"]
        best = sorted(scores.values(), reverse=True)[:5]
        np.testing.assert_allclose(
            [hit.score for hit in hits], best, atol=5e-3
        )  # bfloat16, other batches
        np.testing.assert_allclose([scores[hit.id] for hit in hits], best, atol=1e-2)


def test_relations_are_ranked(engine):
    hits = engine.relations("dog", "farm", k=3)
    assert sum(hit.probability for hit in hits) == pytest.approx(1)
    assert [hit.id for hit in hits if hit.known] == ["ex:livesIn"]
    assert len(engine.relations("a wild pig", "a green field")) == 3


def test_the_index_and_the_encoder_are_evaluated_alike(model, engine, small_graph):
    found, wanted = (
        ontodex.evaluate_kgc(path, small_graph, device="cpu") for path in (engine.index.path, model)
    )
    assert {name: found[name] for name in METRICS} == pytest.approx(
        {name: wanted[name] for name in METRICS}, rel=0.05
    )


def test_an_index_grows_with_the_encoder_that_it_has(model, engine, small_graph, tmp_path):
    import shutil

    path = Path(shutil.copytree(engine.index.path, tmp_path / "farm.odx"))
    with ontodex.remove("ex:dog", path, device="cpu", quiet=True) as smaller:
        about, before = (
            smaller.index.manifest.encoders["link"],
            engine.index.manifest.encoders["link"],
        )
        assert about == before
        assert smaller.index.verify() == []
        assert len(smaller.tails("cat", "eats", k=3)) == 3
        assert smaller.tails("a wild pig", "eats", k=3)


def test_build_trains_a_model_of_the_architecture_asked_for(tmp_path, tiny_encoder, small_graph):
    training = ontodex.HyperCLTraining(
        steps=2,
        queries=16,
        entities=16,
        negatives=0,
        architecture="bi-encoder",
        tune="full",
        max_tokens=16,
    )
    with ontodex.build(
        small_graph,
        tmp_path / "x.odx",
        encoders=tiny_encoder,
        structure=False,
        hierarchy=False,
        training=training,
        device="cpu",
        entailment=False,
        quiet=True,
    ) as engine:
        assert engine.index.manifest.encoders["link"]["architecture"] == "bi-encoder"
        assert not any(name.startswith("link/") and "vectors" not in name and "keys" not in name
                       for name in engine.index.manifest.blobs)  # fmt: skip
        assert len(engine.tails("dog", "eats", k=4)) == 4


def test_an_index_of_the_paper_scores_by_the_cosine_of_the_projected_head(
    tmp_path, tiny_encoder, small_graph
):
    """Hyper-CL, section 3.2: the score of (h, r, t) is cos(W_r h, t)."""
    with ontodex.build(
        small_graph,
        tmp_path / "paper.odx",
        encoders=tiny_encoder,
        training=ontodex.HyperCLTraining(projection="paper", steps=5, rank=4, width=0),
        structure=False,
        hierarchy=False,
        entailment=False,
        device="cpu",
        quiet=True,
    ) as engine:
        index = engine.index
        assert index.manifest.encoders["link"]["residual"] is False
        assert index.manifest.encoders["link"]["steps"] == 5
        projections = index.projections
        assert projections.shift is None
        vectors = np.concatenate(index.vectors("link").shards).astype(np.float64)
        number = small_graph.find_relation("eats")[0]
        row = small_graph.find("dog")[0]
        moved = vectors[row] @ projections.left[number].astype(np.float64)
        moved = moved @ projections.right[number].astype(np.float64)
        cosines = vectors @ moved / np.linalg.norm(moved) / np.linalg.norm(vectors, axis=1)
        for hit in engine.tails("dog", "eats", k=10, known="include"):
            assert hit.score == pytest.approx(cosines[small_graph.find(hit.id)[0]], abs=1e-5)
