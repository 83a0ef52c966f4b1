"""Similarity under a condition: equal to a float64 pass over all entities, and cached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ontodex
from ontodex.encoders.condition import ConditionEncoder
from ontodex.encoders.text import TextEncoder
from ontodex.errors import (
    EncoderError,
    IndexMismatch,
    SettingsError,
    UnknownEntity,
    UnknownRelation,
)
from ontodex.geometry.conditioned import compact, expanded, under_condition
from ontodex.graph import KnowledgeGraph, TextSettings, entity_texts
from ontodex.storage.condition_cache import ConditionCache
from tests.plain import build_plain

RANK = 8


@pytest.fixture
def opened(condition_index: Path) -> ontodex.Engine:
    return ontodex.open(condition_index, device="cpu")


def shared(
    engine: ontodex.Engine, space: str, condition: str, predicted: np.ndarray | None, row: int
) -> np.ndarray:
    """Return float64 cosines of tail centroids; entities without tails have ``predicted`` ones."""
    graph = engine.graph
    number = graph.relation_labels.index(condition.removeprefix("inverse "))
    links = graph.triples[graph.triples[:, 1] == number][
        :, [2, 1, 0] if condition.startswith("inverse") else [0, 1, 2]
    ]
    vectors = engine.index.vectors(space)[np.arange(graph.n_entities)].astype(np.float64)
    sums = np.zeros_like(vectors)
    np.add.at(sums, links[:, 0], vectors[links[:, 2]])
    sums /= np.maximum(np.linalg.norm(sums, axis=1), 1e-30)[:, None]
    own = sums[row] if row >= 0 else np.zeros(vectors.shape[1])
    return sums @ (own if own.any() or predicted is None else predicted)


def by_hand(engine: ontodex.Engine, text: str, condition: str) -> list[tuple[str, float]]:
    """Rank all entities in float64, ties in entity order."""
    encoder = engine.resources.encoders.condition
    stored = engine.index.vectors("condition")[np.arange(engine.graph.n_entities)]
    (factor,) = encoder.factors([condition])
    factor = expanded(compact(factor), 32, RANK)
    entities = under_condition(stored, factor).astype(np.float64)
    found = engine.graph.find(text)
    asked = stored[found[0]][None] if found else encoder.text.encode([text])
    scores = entities @ under_condition(asked, factor)[0].astype(np.float64)
    if condition.removeprefix("inverse ") in engine.graph.relation_labels:
        scores += shared(engine, "text", condition, None, found[0] if found else -1)
    order = np.lexsort((np.arange(len(scores)), -scores))
    return [
        (engine.graph.ids[row], scores[row])
        for row in order.tolist()
        if not found or row != found[0]
    ]


@pytest.mark.parametrize("text", ["dog", "a wild thing in the sea"])
@pytest.mark.parametrize("condition", ["lives in", "what colour it has"])
def test_equals_a_float64_pass_over_all_entities(
    opened: ontodex.Engine, text: str, condition: str
) -> None:
    hits = opened.similar(text, k=60, condition=condition)
    wanted = by_hand(opened, text, condition)
    assert [hit.id for hit in hits] == [name for name, _ in wanted[:60]]
    np.testing.assert_allclose(
        [hit.score for hit in hits], [score for _, score in wanted[:60]], atol=1e-6
    )
    assert "condition" in hits.method
    assert ("known tails" in hits.method) == ((text, condition) == ("dog", "lives in"))


def by_projections(engine: ontodex.Engine, text: str, condition: str) -> list[tuple[str, float]]:
    """Rank all entities by relation projections and tail centroids in float64, ties by row."""
    encoder, labels = engine.resources.encoders.link, list(engine.graph.labels)
    stored = engine.index.vectors("link")[np.arange(engine.graph.n_entities)]
    row = labels.index(text) if text in labels else -1
    asked = stored[row][None] if row >= 0 else encoder.entities(encoder.text.encode([text]))
    made = (
        encoder.projections([condition])
        .project(np.concatenate([asked, stored]), 0)
        .astype(np.float64)
    )
    scores = made[1:] @ made[0]
    if condition.removeprefix("inverse ") in engine.graph.relation_labels:
        scores += shared(engine, "link", condition, made[0], row)
    order = np.lexsort((np.arange(len(scores)), -scores))
    return [(engine.graph.ids[row], scores[row]) for row in order.tolist() if labels[row] != text]


@pytest.mark.parametrize("text", ["dog", "river", "a wild thing in the sea"])
@pytest.mark.parametrize("condition", ["lives in", "inverse lives in", "what colour it has"])
def test_without_a_condition_encoder_projections_of_relations_serve(
    small_index: Path, text: str, condition: str
) -> None:
    with ontodex.open(small_index, device="cpu") as engine:
        hits = engine.similar(text, k=60, condition=condition)
        wanted = by_projections(engine, text, condition)
        assert [hit.id for hit in hits] == [name for name, _ in wanted]
        np.testing.assert_allclose(
            [hit.score for hit in hits], [score for _, score in wanted], atol=1e-5
        )
        assert "projection" in hits.method
        assert ("known tails" in hits.method) == (condition != "what colour it has")


def test_one_condition_by_two_names_is_projected_once(small_index: Path) -> None:
    with ontodex.open(small_index, device="cpu") as engine:
        by_id, by_label = engine.similar_batch(["dog", "dog"], condition=["ex:livesIn", "lives in"])
        assert list(by_id) == list(by_label)
        assert [hits.resolutions["condition"].text for hits in (by_id, by_label)] == [
            "ex:livesIn",
            "lives in",
        ]
        assert len(engine._conditions._projected) == 1
        with pytest.raises(SettingsError, match="as many tokens"):
            engine.similar("dog", condition="wild " * 100)


@pytest.mark.parametrize("index", ["small_index", "condition_index"])
def test_a_condition_in_camel_case_is_read_in_words(
    index: str, request: pytest.FixtureRequest
) -> None:
    with ontodex.open(request.getfixturevalue(index), device="cpu") as engine:
        joined, apart = engine.similar_batch(
            ["dog", "dog"], condition=["whereItEats", "where it eats"]
        )
        assert list(joined) == list(apart)
        with pytest.raises(SettingsError, match="as many tokens"):
            engine.similar("dog", condition="wildDog" * 100)


def test_a_bi_encoder_has_no_projections(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path
) -> None:
    training = ontodex.HyperCLTraining(
        architecture="bi-encoder", tune="full", towers=1, steps=1, queries=8
    )
    model = tmp_path / "model"
    ontodex.train_hyper_cl(
        small_graph, model, encoder=tiny_encoder, training=training, device="cpu", quiet=True
    )
    engine = build_plain(small_graph, tmp_path / "farm.odx", model)
    with engine, pytest.raises(IndexMismatch, match="a bi-encoder makes none"):
        engine.similar("dog", condition="eats")


def test_large_batches_with_tails_are_split(
    small_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["dog", "whale", "a river", "cat", "river"]
    with ontodex.open(small_index, device="cpu") as engine:
        together = engine.similar_batch(names, condition="lives in")
        monkeypatch.setattr("ontodex.engine.conditions.PRODUCTS", 1)
        assert [list(hits) for hits in engine.similar_batch(names, condition="lives in")] == [
            list(hits) for hits in together
        ]


def test_conditions_change_the_answer(opened: ontodex.Engine) -> None:
    first, second, plain = (
        [hit.id for hit in opened.similar("dog", condition=condition)]
        for condition in ("eats", "lives in", None)
    )
    assert first != second
    assert first != plain


def test_reads_a_relation_by_id_label_and_inverse(opened: ontodex.Engine) -> None:
    by_id, by_label = (opened.similar("dog", condition=name) for name in ("ex:livesIn", "lives in"))
    assert list(by_id) == list(by_label)
    assert by_id.resolutions["condition"].id == "ex:livesIn"
    inverse = opened.similar("dog", condition="inverse ex:livesIn")
    assert inverse.resolutions["condition"].label == "inverse lives in"
    assert [hit.id for hit in inverse] == [
        name for name, _ in by_hand(opened, "dog", "inverse lives in")[:10]
    ]
    assert opened.similar("dog", condition="inverse of fortune").resolutions["condition"].id is None


def test_a_batch_answers_as_single_questions_do(opened: ontodex.Engine) -> None:
    texts, conditions = ["dog", "whale", "a river", "dog"], ["eats", "lives in", "eats", "size"]
    together = opened.similar_batch(texts, 5, condition=conditions)
    alone = [
        opened.similar(text, 5, condition=one) for text, one in zip(texts, conditions, strict=True)
    ]
    assert [list(hits) for hits in together] == [list(hits) for hits in alone]
    assert opened.similar_batch([], condition="eats") == []


@pytest.mark.parametrize(("architecture", "rank"), [("hyper", 0), ("hadamard", 8), ("concat", 8)])
def test_serves_every_architecture(
    tmp_path: Path,
    small_graph: KnowledgeGraph,
    tiny_encoder: Path,
    make_condition_model: Callable[..., Path],
    architecture: str,
    rank: int,
) -> None:
    model = make_condition_model(tmp_path / "model", architecture, rank)
    engine = build_plain(small_graph, tmp_path / "farm.odx", [tiny_encoder, model])
    encoder = ConditionEncoder.load(model, device="cpu")
    texts = entity_texts(small_graph)
    wanted = encoder.encode(texts, "where it lives")
    dog = small_graph.labels.index("dog")
    hits = engine.similar("dog", k=3, condition="where it lives")
    scores = wanted @ wanted[dog]
    scores[dog] = -2
    best = np.sort(scores)[::-1][:3]
    np.testing.assert_allclose([hit.score for hit in hits], best, atol=2e-3)


def test_shares_the_text_space_where_texts_and_encoder_are_the_same(
    tmp_path: Path,
    condition_index: Path,
    small_graph: KnowledgeGraph,
    tiny_encoder: Path,
    other_encoder: Path,
    make_condition_model: Callable[..., Path],
) -> None:
    spaces = ontodex.open(condition_index).index.manifest.spaces
    assert spaces["condition"].stored_in == "text"
    own = make_condition_model(tmp_path / "own", texts={"definition": False})
    path, models = tmp_path / "farm.odx", [other_encoder, own]
    engine = build_plain(small_graph, path, models)
    assert engine.index.manifest.spaces["condition"].stored_in == "condition"
    assert engine.index.manifest.spaces["condition"].dim == 32
    assert (engine.index.folder / "encoders" / "condition" / "config.json").exists() or (
        engine.index.folder / "encoders" / "condition" / "modules.json"
    ).exists()
    named = entity_texts(small_graph, TextSettings(definition=False))
    np.testing.assert_array_equal(
        engine.index.vectors("condition")[np.arange(3)],
        TextEncoder(tiny_encoder, "cpu").encode(named)[:3],
    )
    assert engine.similar("dog", condition="eats")
    assert engine.index.verify() == []


def test_stays_with_the_index_when_it_grows(
    tmp_path: Path, condition_index: Path, small_graph: KnowledgeGraph
) -> None:
    import shutil

    path = Path(shutil.copytree(condition_index, tmp_path / "farm.odx"))
    from ontodex.graph import GraphBuilder

    builder = GraphBuilder("more")
    builder.entity("ex:otter", "otter")
    builder.triple("ex:otter", "ex:livesIn", "ex:river")
    with ontodex.add(builder.build(), path, device="cpu", quiet=True) as engine:
        assert "ex:otter" in {
            hit.id for hit in engine.similar("whale", k=100, condition="lives in")
        }
        assert engine.index.manifest.spaces["condition"].rows == engine.graph.n_entities


def test_an_index_without_conditions_says_what_is_needed(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path
) -> None:
    engine = build_plain(small_graph, tmp_path / "farm.odx", tiny_encoder)
    with engine, pytest.raises(IndexMismatch, match="train condition"):
        engine.similar("dog", condition="eats")


@pytest.mark.parametrize("condition", ["", " ", None])
def test_refuses_an_empty_condition(opened: ontodex.Engine, condition: str | None) -> None:
    with pytest.raises(SettingsError, match="condition: expected"):
        opened.similar_batch(["dog", "cat"], condition=[condition] * 2)  # type: ignore[list-item]


def test_refuses_conditions_that_it_cannot_read(opened: ontodex.Engine) -> None:
    with pytest.raises(SettingsError, match="as many tokens"):
        opened.similar("dog", condition="wild " * 100)
    with pytest.raises(UnknownRelation, match="ex:livesInn"):
        opened.similar("dog", condition="ex:livesInn")
    with pytest.raises(UnknownEntity):
        opened.similar("ex:dogg", condition="eats")
    with pytest.raises(SettingsError, match="one for each of 2 texts, found 1"):
        opened.similar_batch(["dog", "cat"], condition=["eats"])
    with pytest.raises(SettingsError, match="k: expected"):
        opened.similar("dog", 0, condition="eats")


def test_refuses_a_bi_encoder(
    tmp_path: Path,
    small_graph: KnowledgeGraph,
    tiny_encoder: Path,
    make_condition_model: Callable[..., Path],
) -> None:
    model = make_condition_model(tmp_path / "model", "bi-encoder")
    with pytest.raises(SettingsError, match="bi-encoder"):
        ontodex.build(
            small_graph,
            tmp_path / "farm.odx",
            encoders=[tiny_encoder, model],
            entailment=False,
            quiet=True,
        )
    assert not (tmp_path / "farm.odx").exists()


def test_refuses_budgets_smaller_than_one_projection(
    condition_index: Path, small_graph: KnowledgeGraph
) -> None:
    needed = small_graph.n_entities * RANK * 4
    with pytest.raises(
        SettingsError, match=f"condition_memory: expected at least {needed:,} bytes"
    ):
        ontodex.open(condition_index, condition_memory=needed - 1).similar("dog", condition="eats")
    with pytest.raises(SettingsError, match="condition_disk: expected at least"):
        ontodex.open(condition_index, condition_disk=100).similar("dog", condition="eats")
    assert ontodex.open(condition_index, condition_memory=needed, condition_disk=0).similar(
        "dog", condition="eats"
    )


def counting(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Count the conditions that are encoded from now on."""
    made: list[str] = []
    before = ConditionEncoder.factors
    monkeypatch.setattr(
        ConditionEncoder, "factors", lambda self, texts: made.extend(texts) or before(self, texts)
    )
    return lambda: len(made)


def test_encodes_a_condition_once_for_all_processes(
    tmp_path: Path, condition_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    path = Path(shutil.copytree(condition_index, tmp_path / "farm.odx"))
    (path / "conditions.mdb").unlink(missing_ok=True)
    encoded = counting(monkeypatch)
    first = list(ontodex.open(path, device="cpu").similar("dog", condition="colour"))
    assert encoded() == 1
    engine = ontodex.open(path, device="cpu")  # as another process would do
    assert list(engine.similar("dog", condition="colour")) == first
    assert encoded() == 1
    assert "condition_encoder" not in vars(engine.index)  # no encoder was loaded


def test_keeps_no_more_than_the_budget_in_memory(
    condition_index: Path, small_graph: KnowledgeGraph
) -> None:
    engine = ontodex.open(
        condition_index, device="cpu", condition_memory=2 * small_graph.n_entities * RANK * 4
    )
    for condition in ("one", "two", "one", "three"):
        engine.similar("dog", condition=condition)
    assert [one.text for one in engine._conditions._projected] == ["one", "three"]
    answers = engine.similar_batch(["dog"] * 5, condition=["a", "b", "c", "one", "d"])
    assert [hits.resolutions["condition"].text for hits in answers] == ["a", "b", "c", "one", "d"]
    assert len(engine._conditions._projected) == 2


def test_answers_where_the_cache_cannot_be_made(tmp_path: Path, condition_index: Path) -> None:
    import shutil

    path = Path(shutil.copytree(condition_index, tmp_path / "farm.odx"))
    (path / "conditions.mdb").unlink(missing_ok=True)
    (path / "conditions.mdb").mkdir()
    assert ontodex.open(path, device="cpu").similar("dog", condition="colour")
    assert list((path / "conditions.mdb").iterdir()) == []


def test_answers_without_a_cache_as_with_one(
    condition_index: Path, monkeypatch: pytest.MonkeyPatch, opened: ontodex.Engine
) -> None:
    import lmdb

    with_cache = list(opened.similar("dog", condition="weight"))

    def read_only(*_: object, **__: object) -> None:
        raise lmdb.ReadonlyError("read-only file system")

    monkeypatch.setattr(lmdb, "open", read_only)
    monkeypatch.setattr("ontodex.storage.condition_cache._environments", {})
    engine = ontodex.open(condition_index, device="cpu", condition_disk=1 << 20)
    engine._conditions._strategy._cache = ConditionCache(Path("nowhere"), 1 << 20)
    assert list(engine.similar("dog", condition="weight")) == with_cache


def test_a_damaged_encoder_is_named(tmp_path: Path, condition_index: Path) -> None:
    import shutil

    path = Path(shutil.copytree(condition_index, tmp_path / "farm.odx"))
    (path / "conditions.mdb").unlink(missing_ok=True)
    engine = ontodex.open(path, device="cpu")
    weights = engine.index.folder / "encoders" / "condition" / "condition" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100].ljust(weights.stat().st_size, b"x"))
    with pytest.raises((IndexMismatch, EncoderError), match="condition"):
        engine.similar("dog", condition="never seen")
