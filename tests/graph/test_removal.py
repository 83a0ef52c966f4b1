"""Taking entities and links out of a graph."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.errors import GraphError, UnknownEntity, UnknownRelation
from ontodex.graph import GraphBuilder, KnowledgeGraph, ReadWarning, remove, remove_links
from ontodex.graph.prefixes import WELL_KNOWN
from tests.graph_strategies import graphs, says


def links(*triples: tuple[str, str, str]) -> KnowledgeGraph:
    builder = GraphBuilder("wrong")
    for triple in triples:
        builder.triple(*triple)
    return builder.build()


@settings(deadline=None, max_examples=60)
@given(graphs(held_out=True))
def test_remove_takes_the_triples_along(graph: KnowledgeGraph) -> None:
    gone = graph.ids[0]
    if graph.n_entities == 1:
        with pytest.raises(GraphError, match="at least one entity"):
            remove(graph, [gone])
        return
    left = remove(graph, [gone])
    assert list(left.ids) == list(graph.ids)[1:]
    for part in ("known", "valid", "test"):
        assert says(left)[part] == {
            triple for triple in says(graph)[part] if gone not in (triple[0], triple[2])
        }
    assert remove(graph, []).fingerprint == graph.fingerprint


def test_an_unknown_id_names_the_nearest() -> None:
    builder = GraphBuilder("pets")
    builder.entity("ex:dog", "hound")
    with pytest.raises(UnknownEntity, match="did you mean 'ex:dog'"):
        remove(builder.build(), ["ex:dig"])
    with pytest.raises(UnknownEntity, match="did you mean 'hound'"):
        remove(builder.build(), ["hounds"])


def test_remove_takes_any_name_that_means_one_entity() -> None:
    builder = GraphBuilder("pets")
    builder.prefixes["ex"] = "http://example.org/"
    builder.entity("ex:dog", "dog", ["hound"])
    builder.entity("ex:Dog", "breed", ["kind"])
    builder.entity("ex:cat", "cat", ["kind"])
    builder.entity("ex:lion", "Cat")
    graph = builder.build()
    for name in ("ex:dog", "http://example.org/dog", "Hound", "dog"):
        assert list(remove(graph, [name]).ids) == ["ex:Dog", "ex:cat", "ex:lion"]
    assert list(remove(graph, ["Cat"]).ids) == [
        "ex:dog",
        "ex:Dog",
        "ex:cat",
    ]  # spelt like one of them
    for name, listed in (
        ("CAT", "ex:cat, ex:lion"),
        ("kind", "ex:Dog, ex:cat"),
        ("EX:DOG", "ex:dog, ex:Dog"),
    ):
        with pytest.raises(
            UnknownEntity, match=f"pets: expected one entity, found 2 .*: {listed}; give the id"
        ):
            remove(graph, [name])


@settings(deadline=None, max_examples=60)
@given(graphs(held_out=True), st.data())
def test_remove_links_takes_those_alone(graph: KnowledgeGraph, data: st.DataObject) -> None:
    said = {part: says(graph)[part] for part in ("known", "valid", "test")}
    every = sorted(set().union(*said.values()))
    if not every:
        return
    gone = data.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    left = remove_links(graph, links(*gone))
    assert (list(left.ids), list(left.relation_ids)) == (list(graph.ids), list(graph.relation_ids))
    assert {part: says(left)[part] for part in said} == {
        part: was - set(gone) for part, was in said.items()
    }


def test_links_are_named_as_the_user_likes_and_must_be_there() -> None:
    builder = GraphBuilder("pets")
    builder.prefixes.update(WELL_KNOWN, ex="http://ex.org/")
    builder.entity("ex:dog", "dog", ["hound"])
    builder.entity("ex:plant", "plant")
    builder.relation("rdfs:subClassOf", "kind of")
    builder.triple("ex:dog", "rdfs:subClassOf", "ex:plant")
    builder.triple("ex:dog", "ex:eats", "ex:plant")
    graph = builder.build()
    for head, relation, tail in (
        ("http://ex.org/dog", "is_a", "ex:plant"),
        ("hound", "kind of", "plant"),
        ("ex:dog", "http://www.w3.org/2000/01/rdf-schema#subClassOf", "http://ex.org/plant"),
    ):
        assert says(remove_links(graph, links((head, relation, tail))))["known"] == {
            ("ex:dog", "ex:eats", "ex:plant")
        }
    with pytest.raises(
        GraphError, match="found 'plant' 'eats' 'dog', and 1 more, which it does not have"
    ):
        remove_links(graph, links(*((end, "ex:eats", "ex:dog") for end in ("ex:plant", "ex:dog"))))
    with pytest.raises(UnknownEntity, match="no entity 'ex:dgo'; did you mean 'ex:dog'"):
        remove_links(graph, links(("ex:dgo", "ex:eats", "ex:plant")))
    with pytest.raises(UnknownRelation, match="no relation 'ex:eat'"):
        remove_links(graph, links(("ex:dog", "ex:eat", "ex:plant")))
    with pytest.raises(GraphError, match="expected links to remove, found none"):
        remove_links(graph, remove(links(("ex:dog", "ex:eats", "ex:plant")), ["ex:dog"]))


@pytest.mark.parametrize("name", ["is_a", "skos:broader", "subclass of"])
def test_a_usual_name_is_any_relation_of_the_hierarchy(name: str) -> None:
    graph = links(("a", "hypernym", "b"), ("b", "instance hypernym", "c"), ("a", "eats", "b"))
    left = remove_links(graph, links(("a", name, "b"), ("b", name, "c")))
    assert says(left)["known"] == {("a", "eats", "b")}
    with pytest.raises(GraphError, match="found 'a' 'hypernym' 'c', which it does not have"):
        remove_links(graph, links(("a", name, "c")))
    with pytest.warns(ReadWarning, match="found 'a' 'hypernym' 'c', which it does not have"):
        assert remove_links(graph, links(("a", name, "c"), ("a", name, "b"))).n_triples == 2
