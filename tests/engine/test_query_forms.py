"""Other forms of a query: numbers, Greek letters, hyphens, plurals and abbreviations."""

from __future__ import annotations

import itertools
import random

import pytest

import ontodex
from ontodex.engine import text_search
from ontodex.engine.query_forms import QueryForms
from ontodex.graph import GraphBuilder
from ontodex.scoring.name_completion import SMALL_WORDS, NameCompletion
from ontodex.scoring.name_similarity import NameSimilarity, plain
from tests.plain import build_plain

NAMES = (
    "Henry VIII",
    "type 2 collagen",
    "α-tocopherol",
    "interferon gamma",
    "X-ray",
    "toothbrush",
    "berry",
    "glasses",
    "chronic obstructive pulmonary disease",
    "court of the custody of the unfree",
    "post-traumatic stress disorder",
    "back-to-back house",
    "type II hair cell",
)


def graph_of(names):
    builder = GraphBuilder("names")
    for number, name in enumerate(names):
        builder.entity(f"ex:{number}", name)
    return builder.build()


@pytest.fixture(scope="module")
def forms():
    graph = graph_of(NAMES)
    return QueryForms(graph, NameSimilarity.of(graph), NameCompletion.of(graph))


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("henry 8", "Henry VIII"),
        ("Type II collagen", "type 2 collagen"),
        ("alpha tocopherol", "α-tocopherol"),
        ("Α-Tocopherol", None),  # it is the name itself, in capitals
        ("interferon-γ", "interferon gamma"),
        ("interferonγ", "interferon gamma"),
        ("xray", "X-ray"),
        ("X ray", "X-ray"),
        ("tooth brush", "toothbrush"),
        ("Tooth-Brush", "toothbrush"),
        ("henry 9", None),
        ("berries", None),  # another number is another form, but not the same name
        ("toothbrush", None),
    ],
)
def test_a_name_written_otherwise_is_found(forms, query, name):
    assert forms.named(query) == ([] if name is None else [NAMES.index(name)])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("berries", ["berry"]),
        ("tooth brushes", ["toothbrush"]),
        ("glass", ["glasses"]),
        ("collagen of type II", ["collagen of type 2"]),
        ("a cell of type 2 here", ["a cell of type ii here"]),
        ("collagen of type 3", []),  # no name has "type iii"
        ("a gamma ray", []),  # no name has "a γ"
        ("what I want", []),
        ("12345", []),
        ("", []),
    ],
)
def test_forms_are_names_or_have_words_of_names(forms, query, expected):
    assert forms.of(query, 2) == expected


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("COPD", [8]),
        ("c.o.p.d.", [8]),
        ("PTSD", [10]),
        ("CCU", [9]),
        ("COTCOTU", []),  # seven letters
        ("btbh", [11]),
        ("bbh", [11]),
        ("th", []),  # two words
        ("COP", []),
        ("CO PD", []),
        ("日本語", []),
    ],
)
def test_initials_find_whole_names_of_three_words(forms, query, names):
    assert forms.expanded(query, 5) == [NAMES[number] for number in names]


def test_initials_agree_with_a_direct_computation():
    draw = random.Random(0)
    words = ["care", "of", "the", "Unit", "x-ray", "und", "Éa", "(cat)", "b_c", "4a", "with"]
    names = [" ".join(draw.choices(words, k=draw.randint(1, 6))) for _ in range(800)]
    graph = graph_of(names)
    similarity, completion = NameSimilarity.of(graph), NameCompletion.of(graph)
    found = 0
    for letters in map("".join, itertools.product("cuoxe4", repeat=3)):
        among = similarity.with_initials(letters.upper())
        rows = {row for row, _ in completion.of_initials(letters.upper(), among, 1000)}
        expected = set()
        for row, name in enumerate(names):
            own = plain(name).replace("-", " ").replace("_", " ").replace("(", "").split()
            for some in (own, [word for word in own if word not in SMALL_WORDS]):
                if "".join(word[0] for word in some) == letters:
                    expected.add(row)
        assert rows == expected, letters
        found += len(rows)
    assert found > 40


@pytest.fixture(scope="module")
def engine(tmp_path_factory, tiny_encoder):
    builder = GraphBuilder("names")
    for number, name in enumerate(NAMES):
        builder.entity(f"ex:{number}", name)
    for number in range(20):
        builder.entity(f"ex:other-{number}", f"Product {number + 20}")
    builder.entity("ex:exact", "Henry 9")
    builder.entity("ex:form", "Henry IX")
    path = tmp_path_factory.mktemp("forms") / "names.odx"
    with build_plain(builder.build(), path, tiny_encoder) as found:
        yield found


def test_a_name_written_otherwise_comes_first_and_after_an_exact_name(engine):
    first, second = engine.search("type II collagen", 2)
    assert (first.label, first.score) == ("type 2 collagen", text_search.FORM)
    assert second.score < first.score
    first, second = engine.search("henry 9", 2)
    assert (first.id, first.score) == ("ex:exact", 1)
    assert second.score < 1
    texts = ["henry 8", "HENRY VIII", "xray", "type ii collagen"]
    for text, hits in zip(texts, engine.search_batch(texts, 1), strict=True):
        assert engine.ground([text])[0].term_id == hits[0].id


def test_a_query_is_compared_in_the_forms_that_names_have(engine):
    def others(text):
        term = ontodex.engine.resolve.resolve_entity(engine.graph, text)
        return engine._text_search.query(term, lexicon=False).others

    assert others("berries") == [("berry", text_search.FORM)]
    assert others("COPD") == [("chronic obstructive pulmonary disease", text_search.ABBREVIATED)]
    assert others("henry 9") == others("toothbrush") == others("dog") == []


def test_whole_names_and_parts_of_labels_come_before_words_of_them(tmp_path):
    graph = graph_of(
        [
            "Nut Crackers",
            "Nuts, Bolts and Screws",
            "Lamps & Lanterns",
            "Lamp Shades",
            "Chronic obstructive pulmonary disease",
            "Obstructive pulmonary disease",
        ]
    )
    settings = {"hierarchy": False, "entailment": False, "train": False, "structure": False}
    asked = {"nut": 1, "lamp": 2, "screws": 1, "COPD": 4, "copd": 4}
    with ontodex.build(graph, tmp_path / "shop.odx", device="cpu", quiet=True, **settings) as shop:
        assert {text: shop.search(text, 1)[0].id for text in asked} == {
            text: f"ex:{number}" for text, number in asked.items()
        }
