"""Misspelt queries: unknown words are replaced by words of the graph, known words stay."""

from __future__ import annotations

import pytest

import ontodex
from ontodex.engine.spelling import Spelling
from ontodex.graph import GraphBuilder
from ontodex.scoring.lexicon import Lexicon, lines_of
from ontodex.scoring.name_similarity import NameSimilarity

NAMES = (
    "Restaurant",
    "BookStore",
    "recipe",
    "Café Zürich",
    "storage box",
    "shelf BX-20",
    "sunshade",
    "sun shade",
)
KNOWN = {"mobile", "hound", "circle", "book"}
"""Words that the encoder of these tests has as one token."""


@pytest.fixture(scope="module")
def graph():
    builder = GraphBuilder("shop")
    for number, name in enumerate(NAMES):
        builder.entity(f"ex:{number}", name, [f"{name} of old"] if number == 2 else [])
    return builder.build()


@pytest.fixture(scope="module")
def spelling(graph):
    return Spelling(
        graph, NameSimilarity.of(graph), lambda words: [word in KNOWN for word in words]
    )


@pytest.mark.parametrize(
    ("query", "corrected", "unknown"),
    [
        ("resturant", "restaurant", 1),  # a letter is missing
        ("Resatuarnt", "restaurant", 1),  # swapped letters
        ("reciepe book", "recipe book", 0.5),
        ("bok stroe", "bok store", 1),  # three letters are too few
        ("storge", "storage", 1),
        ("zurich", None, 0),  # the graph has it, but for the accent
        ("restaurant", None, 0),
        ("hound", None, 0),  # the encoder knows it, the graph does not
        ("photophobia", None, 1),  # nothing is near
        ("bookstor", "bookstor", 1),
        ("12345", None, 0),
        ("", None, 0),
    ],
)
def test_unknown_words_are_replaced_by_the_nearest_of_the_graph(
    spelling, query, corrected, unknown
):
    assert spelling.corrected(query) == (None if corrected == query else corrected, unknown)


@pytest.mark.parametrize(
    ("query", "parted"),
    [
        ("bookstore", "book store"),
        ("Storagebox of wood", "storage box of wood"),
        ("bx20 of steel", "bx 20 of steel"),
        ("bookstor", "bookstor"),  # misspelt as well
        ("restaurant", "restaurant"),  # a word of the graph
        ("Hound 12", "Hound 12"),
        ("red sunshade", "red sunshade"),  # as one name has it, though another divides it
    ],
)
def test_a_word_that_joins_words_of_a_name_is_parted(spelling, query, parted):
    assert spelling.parted(query) == parted


def test_a_word_of_the_lexicon_is_not_misspelt(spelling):
    lexicon = Lexicon(lines_of([("restaurateur", "host")]))
    assert spelling.corrected("restaurateurs", lexicon) == (None, 0)
    assert spelling.corrected("restaurateurs") == ("restaurant", 1)
    assert spelling.corrected("reciepe", lexicon) == ("recipe", 1)


def test_a_misspelt_name_finds_its_entity_first(tmp_path, graph, tiny_encoder):
    settings = {"hierarchy": False, "entailment": False, "device": "cpu", "quiet": True}
    with ontodex.build(graph, tmp_path / "shop.odx", encoders=tiny_encoder, **settings) as engine:
        first = engine.search("Resturant", k=3)[0]
        assert first.id == "ex:0"
        assert 0.8 < first.score < 1
        exact = engine.search("Restaurant", k=3)
        assert (exact[0].id, exact[0].score) == ("ex:0", 1.0)
        joined = engine.search("big storagebox", k=1)[0]
        assert joined.id == engine.search("big storage box", k=1)[0].id == "ex:4"
        both = engine.search_batch(["Resturant", "Restaurant", "ex:0", "storge box"], k=5)
        assert [len(hits) for hits in both] == [5] * 4
        assert [hits[0].id for hits in both] == ["ex:0", "ex:0", "ex:0", "ex:4"]
        for hits in both:
            scores = [hit.score for hit in hits]
            assert scores == sorted(scores, reverse=True)
            assert len({hit.id for hit in hits}) == len(hits)


def test_an_encoder_knows_words_that_its_tokenizer_does_not_divide(tiny_encoder):
    from ontodex.encoders.text import TextEncoder

    encoder = TextEncoder(tiny_encoder, "cpu")
    assert encoder.knows(["dog", "dogdogdog", "cat"]) == [True, False, True]
    assert encoder.knows([]) == []


def test_a_misspelt_word_is_no_comparative_of_the_lexicon():
    builder = GraphBuilder("tools")
    for name in ("hammer", "spanner"):
        builder.entity(f"ex:{name}", name)
    graph = builder.build()
    spelling = Spelling(graph, NameSimilarity.of(graph), lambda words: [False for _ in words])
    for word, meant in (("hamer", "hammer"), ("spaner", "spanner")):
        assert spelling.corrected(word, Lexicon.load()) == (meant, 1)
