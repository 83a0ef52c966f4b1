from __future__ import annotations

import time

import pytest

from ontodex.errors import SettingsError
from ontodex.graph import GraphBuilder, KnowledgeGraph, TextSettings, entity_texts, relation_texts


@pytest.fixture
def graph() -> KnowledgeGraph:
    builder = GraphBuilder("texts")
    builder.entity("b", "art", ["fine art", "craft"], "artistic work of any kind")
    builder.entity("a", "Denton", [], "Denton is a city")
    builder.entity("c", "Texas")
    for tail in ("b", "a"):
        builder.triple("c", "has_part", tail)
    builder.triple("a", "near", "b", "test")
    return builder.build()


def test_label_synonyms_and_definition(graph: KnowledgeGraph) -> None:
    assert entity_texts(graph) == [
        "art (fine art; craft): artistic work of any kind",
        "Denton: is a city",
        "Texas",
    ]
    assert entity_texts(graph, TextSettings(synonyms=1, definition=False)) == [
        "art (fine art)",
        "Denton",
        "Texas",
    ]


def test_neighbours_fill_the_room_in_the_order_of_ids_from_known_triples(
    graph: KnowledgeGraph,
) -> None:
    assert entity_texts(graph, TextSettings(neighbours=2, definition=False, synonyms=0)) == [
        "art Texas",
        "Denton Texas",
        "Texas Denton art",
    ]
    assert entity_texts(graph, TextSettings(neighbours=5, max_words=2))[2] == "Texas Denton"


def test_words_are_counted(graph: KnowledgeGraph) -> None:
    assert entity_texts(graph, TextSettings(max_words=3))[1] == "Denton: is a"


@pytest.mark.parametrize("wrong", [{"synonyms": -1}, {"neighbours": -1}, {"max_words": 0}])
def test_settings_make_sense(wrong: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match=f"^{next(iter(wrong))}: expected"):
        TextSettings(**wrong)


def test_relations_and_their_inverses(graph: KnowledgeGraph) -> None:
    assert relation_texts(graph) == ["has part", "near", "inverse has part", "inverse near"]


def test_many_entities_are_quick() -> None:
    builder = GraphBuilder("many")
    for row in range(100_000):
        builder.entity(
            f"ex:{row}",
            f"entity {row}",
            [f"name {row}"],
            "something that is defined by a few words",
        )
    graph = builder.build()
    start = time.process_time()
    assert len(entity_texts(graph)) == 100_000
    assert time.process_time() - start < 10


def test_a_label_in_camel_case_is_read_in_words() -> None:
    builder = GraphBuilder("classes")
    builder.entity(
        "s:FoodEstablishment", "FoodEstablishment", definition="A food-related business."
    )
    builder.entity("s:FBN1", "FBN1")
    assert sorted(entity_texts(builder.build())) == [
        "FBN1",
        "Food establishment: A food-related business.",
    ]
