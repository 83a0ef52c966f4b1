"""Answers of one type: below an entity, its instances, or with a prefix of ids."""

from __future__ import annotations

import json

import pytest

import ontodex
from ontodex.engine.entity_types import entity_type
from ontodex.errors import SettingsError, UnknownEntity
from ontodex.graph import GraphBuilder
from tests.conftest import PLACES, WILD


@pytest.fixture(scope="module")
def engine(small_index):
    with ontodex.open(small_index, device="cpu") as found:
        yield found


def cities():
    builder = GraphBuilder("cities")
    for child, parent in (("capital", "city"), ("city", "place"), ("person", "thing")):
        builder.triple(f"class:{child}", "is_a", f"class:{parent}")
    for name, kind in (("lisbon", "capital"), ("porto", "city"), ("pessoa", "person")):
        builder.triple(f"ex:{name}", "rdf:type", f"class:{kind}")
    return builder.build()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("class:city", ["class:capital", "class:city", "ex:lisbon", "ex:porto"]),
        ("class:capital", ["class:capital", "ex:lisbon"]),
        ("ex:pessoa", ["ex:pessoa"]),
        ("ex:", ["ex:lisbon", "ex:pessoa", "ex:porto"]),
    ],
)
def test_a_type_has_what_is_below_it_and_instances(text, ids):
    graph = cities()
    found = entity_type(graph, graph.hierarchy(), text)
    assert sorted(graph.ids[row] for row in found.rows.tolist()) == ids
    assert found.resolution.id == text
    assert found.rows.tolist() == sorted(found.rows.tolist())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class:vilage", "class:vilage"),
        ("a town", "expected an entity as type, found free text 'a town'"),
        ("nothing:", "no id starts with 'nothing:'"),
    ],
)
def test_an_unknown_type_is_an_error(text, message):
    graph = cities()
    with pytest.raises(UnknownEntity, match=message):
        entity_type(graph, graph.hierarchy(), text)


def test_a_type_that_is_no_text_is_an_error():
    with pytest.raises(SettingsError, match="found 5"):
        entity_type(cities(), None, 5)


def test_a_graph_without_a_hierarchy_has_instances():
    builder = GraphBuilder("cities")
    builder.triple("ex:porto", "rdf:type", "class:city")
    graph = builder.build()
    rows = entity_type(graph, None, "class:city").rows.tolist()
    assert sorted(graph.ids[row] for row in rows) == ["class:city", "ex:porto"]


@pytest.mark.parametrize("known", ["exclude", "include"])
@pytest.mark.parametrize("question", ["tails", "heads"])
def test_links_of_a_type_keep_their_scores_and_order(engine, question, known):
    parts = ("dog", "lives in") if question == "tails" else ("lives in", "farm")
    kind, names = ("place", {"place", *PLACES}) if question == "tails" else ("ex:wild", None)
    ask = getattr(engine, question)
    everything = ask(*parts, k=100, known=known)
    found = ask(*parts, k=4, known=known, type=kind)
    below = entity_type(engine.graph, engine.hierarchy, kind).rows.tolist()
    names = names or {engine.graph.labels[row] for row in below}
    expected = [hit for hit in everything if hit.label in names]
    assert [(hit.id, hit.known) for hit in found] == [(hit.id, hit.known) for hit in expected[:4]]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected[:4]])
    assert str(found.resolutions["type"]).endswith(f"({engine.graph.ids[below[0]]}, by id)") or (
        found.resolutions["type"].id == "ex:place"
    )
    assert json.loads(found.to_json())["query"]["type"]["id"] == found.resolutions["type"].id
    assert len(found.triples) == sum(not hit.known for hit in found)


def test_known_answers_of_another_type_are_not_counted(engine):
    assert engine.tails("dog", "lives in").known_left_out.count == 1
    assert engine.tails("dog", "lives in", type="animal").known_left_out.count == 0
    only = engine.tails("dog", "lives in", known="only", type="animal")
    assert len(only) == 0
    assert [hit.label for hit in engine.tails("dog", "lives in", known="only", type="place")] == [
        "farm"
    ]


def test_search_of_a_type(engine):
    wild = {"wild animal", *WILD, *(f"young {name}" for name in WILD)}
    everything = engine.search("common dog", k=100)
    assert everything[0].label == "dog"
    found = engine.search("common dog", k=5, type="wild animal")
    assert {hit.label for hit in found} <= wild
    scores = {hit.id: hit.score for hit in everything}
    assert [hit.score for hit in found] == pytest.approx([scores[hit.id] for hit in found])
    assert engine.search("dog", k=1, type="tame animal")[0].score == 1
    assert len(engine.search("dog", k=100, type="place")) == 1 + len(PLACES)
    assert "type = place (ex:place, by label)" in str(engine.search("dog", type="place"))


def test_an_unknown_type_fails_the_whole_batch(engine):
    for ask in (
        lambda: engine.search_batch(["dog"], type="nowhere"),
        lambda: engine.tails_batch([("dog", "eats")], type="nowhere"),
        lambda: engine.heads_batch([("eats", "dog")], type="nowhere"),
        lambda: engine.ground(["dog"], type="nowhere"),
    ):
        with pytest.raises(UnknownEntity, match="as type, found free text 'nowhere'"):
            ask()
