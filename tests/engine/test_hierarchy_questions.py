"""Queries for parents and children: resolution of their words, and namesakes."""

from __future__ import annotations

import pytest

import ontodex
from ontodex.engine.hierarchy import MERGED, Subsumptions
from ontodex.graph import GraphBuilder, merge
from tests.plain import build_plain


@pytest.fixture(scope="module")
def engine(small_index):
    with ontodex.open(small_index, device="cpu") as opened:
        yield opened


def test_a_phrase_in_camel_case_is_read_as_labels_are(engine):
    for question in ("parents", "children", "place"):
        joined, apart = (
            getattr(engine, question)(text, 5) for text in ("WildDogHouse", "Wild dog house")
        )
        assert joined.resolutions["text"].text == "WildDogHouse"
        one, other = (
            answer.to_dict()["placements" if question == "place" else "hits"]
            for answer in (joined, apart)
        )
        assert one == other
    assert (
        engine.parents("McDonald", 5).hits != engine.parents("Mc donald", 5).hits
    )  # not camel case


def test_namesakes_are_no_answers_and_are_not_drawn(tmp_path, tiny_encoder, tiny_hit, small_graph):
    builder = GraphBuilder("more")
    builder.entity("ex:dog2", "Dog")
    builder.triple("ex:dog2", "is_a", "ex:place")
    graph = merge(small_graph, builder.build())
    with build_plain(graph, tmp_path / "x.odx", tiny_encoder, hierarchy=tiny_hit) as engine:
        for text, there in (
            ("ex:dog", False),
            ("dog", False),
            ("ex:dog2", False),
            ("ex:cat", True),
        ):
            for question in ("parents", "children"):
                ids = {hit.id for hit in getattr(engine, question)(text, 100)}
                assert bool({"ex:dog", "ex:dog2"} & ids) == there
        engine.plot("ex:dog", tmp_path / "dog.svg", answers=40)
        assert ">Dog<" not in (tmp_path / "dog.svg").read_text(encoding="utf-8")


def test_among_namesakes_entities_of_the_hierarchy_are_preferred(
    tmp_path, tiny_encoder, tiny_hit, small_graph
):
    """The namesake is in more triples, but in none of the hierarchy."""
    builder = GraphBuilder("more")
    builder.entity("t:tame", "tame animal")
    for name in small_graph.ids:
        if name not in ("ex:tame", "ex:cow"):
            builder.triple(name, "has tag", "t:tame")
    graph = merge(small_graph, builder.build())
    with build_plain(graph, tmp_path / "x.odx", tiny_encoder, hierarchy=tiny_hit) as engine:
        for question in (engine.parents, engine.children, engine.place):
            assert question("tame animal").resolutions["text"].id == "ex:tame"
        assert engine.heads("is_a", "tame animal", known="only").resolutions["tail"].id == "ex:tame"
        assert (
            engine.heads("has tag", "tame animal", known="only").resolutions["tail"].id == "t:tame"
        )
        assert engine.relations("cow", "tame animal").resolutions["tail"].id == "ex:tame"
        assert engine.relations("whale", "tame animal").resolutions["tail"].id == "t:tame"
        assert [hit.id for hit in engine.search("tame animal", k=2)] == ["t:tame", "ex:tame"]
        assert [hit.score for hit in engine.search("tame animal", k=3)][:2] == [1.0, 1.0]
        assert [hit.id for hit in engine.search("tame animal", k=1)] == ["t:tame"]


def test_the_children_of_a_text_are_merged_with_plain_search(engine):
    alone = Subsumptions.of(engine.resources, engine.hierarchy, None)
    text = "small tame animals"
    (before,) = alone.ranked("children", [text], MERGED, "include")
    searched = engine.search(text, MERGED, lexicon=False)
    ranks = [
        {hit.id: rank for rank, hit in enumerate(hits, start=1)} for hits in (before, searched)
    ]
    sums = {
        name: sum(1 / (3 + own[name]) for own in ranks if name in own)
        for name in ranks[0] | ranks[1]
    }
    found = engine.children(text, 10)
    wanted = sorted(sums, key=lambda name: (-sums[name], ranks[0].get(name, 1000)))
    assert [hit.id for hit in found] == wanted[:10]
    assert [hit.score for hit in found] == pytest.approx([sums[name] for name in wanted[:10]])
    assert [hit.probability for hit in found] == [hit.probability for hit in before[:10]]
    assert found.method.endswith("merged with plain search")
    assert engine.children_batch([text, "dog"], 10)[0].hits == found.hits
    for entity, question in (("dog", "children"), ("dog", "parents"), (text, "parents")):
        ask = engine.children if question == "children" else engine.parents
        assert ask(entity, 10).hits == alone.ranked(question, [entity], 10, "include")[0].hits
