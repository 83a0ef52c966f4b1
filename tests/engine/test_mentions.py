"""Entities that a query mentions, and what its words say of entities through their links."""

from __future__ import annotations

import numpy as np
import pytest

import ontodex
from ontodex.engine.mentions import LONGEST, Mentions
from ontodex.graph import GraphBuilder

LINKS = {
    "kimchi": ("cabbage", "Korean cuisine", "fermenting"),
    "sauerkraut": ("cabbage", "German cuisine", "fermenting"),
    "cabbage soup": ("cabbage", "German cuisine", "boiling"),
    "fruit salad": ("apple", "German cuisine", "cutting"),
}


@pytest.fixture(scope="module")
def food():
    builder = GraphBuilder("food")
    builder.relation("made_with", "made with")
    for dish, others in LINKS.items():
        builder.entity(dish, dish)
        for other in others:
            builder.entity(other, other)
            builder.triple(dish, "made_with", other)
    for number in range(20):
        builder.entity(f"ex:other-{number}", f"Product {number}")
    return builder.build()


def shares(graph, text, *ids):
    """The shares of some entities, each with all its links."""
    rows = np.array([graph.find(name)[0] for name in ids])
    owners, others = graph.linked(rows, 16)
    return Mentions.of(graph, text).shares(graph, rows, owners, others)


@pytest.mark.parametrize(
    ("text", "mentioned"),
    [
        ("cabbage", {}),  # the whole query is a name
        ("sour cabbages", {"cabbage": {"cabbage"}}),
        ("boiling of cabbage", {"boiling": {"boiling"}, "cabbage": {"cabbage"}}),
        (
            "the cabbage soup of my aunt",
            {"cabbage": {"cabbage"}, "cabbage soup": {"cabbage", "soup"}},
        ),
        ("cabbage " + "very " * LONGEST, {}),
    ],
)
def test_names_that_are_a_part_of_the_query(food, text, mentioned):
    found = Mentions.of(food, text)
    assert {food.ids[row]: set(words) for row, words in found.words.items()} == mentioned


def test_names_are_compared_in_any_order_of_words_if_they_are_near(food):
    row, _ = food.find("cabbage soup")
    assert row not in Mentions.of(food, "soup with cabbage and ham").words
    assert Mentions.of(food, "soup with cabbage and ham", [row]).words[row] == {"cabbage", "soup"}


def test_links_say_the_words_that_own_names_do_not_have(food):
    facts, _ = shares(food, "fermenting old cabbage", "kimchi", "cabbage soup", "fruit salad")
    np.testing.assert_allclose(facts, [2 / 3, 0, 0])


def test_what_neither_a_name_nor_its_links_say_is_unsaid(food):
    _, unsaid = shares(food, "cabbage from the far East", "cabbage", "kimchi", "apple")
    np.testing.assert_allclose(unsaid, [3 / 4, 0, 0])
    _, unsaid = shares(food, "cabbage boiling slowly", "cabbage soup", "cabbage")
    np.testing.assert_allclose(unsaid, [0, 2 / 3])


@pytest.mark.parametrize(
    "text",
    ["sour cabbage", "cabbage with six further words of other meaning altogether"],
    ids=["the head of a phrase", "a long text"],
)
def test_nothing_is_unsaid(food, text):
    _, unsaid = shares(food, text, "cabbage")
    assert unsaid.tolist() == [0]


def test_a_dish_is_found_by_what_it_is_made_of(tmp_path, food, tiny_encoder):
    settings = {"hierarchy": False, "entailment": False, "train": False, "structure": False}
    with ontodex.build(
        food, tmp_path / "food.odx", encoders=tiny_encoder, device="cpu", quiet=True, **settings
    ) as engine:
        scores = {hit.id: hit.score for hit in engine.search("fermenting cabbage slowly", k=40)}
    assert scores["kimchi"] > scores["cabbage soup"]
    assert scores["kimchi"] > scores["fruit salad"]


def test_linked_entities_are_those_of_the_first_triples(small_graph):
    rows = np.arange(small_graph.n_entities)
    owners, others = small_graph.linked(rows, small_graph.n_triples)
    for row in rows.tolist():
        assert others[owners == row].tolist() == small_graph.neighbours(row).tolist()
    owners, others = small_graph.linked(rows, 2)
    assert np.bincount(owners).max() <= 4
    for row in rows.tolist():
        some, every = others[owners == row], small_graph.neighbours(row)
        assert set(some.tolist()) <= set(every.tolist())
        assert bool(len(some)) == bool(len(every))
