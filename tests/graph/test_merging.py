from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from ontodex.graph import GraphBuilder, KnowledgeGraph, ReadWarning, merge
from ontodex.graph.columns import NestedTextColumn
from tests.graph_strategies import graphs, says


@settings(deadline=None, max_examples=60)
@given(graphs(), graphs())
def test_merge_is_a_union_that_keeps_rows(one: KnowledgeGraph, two: KnowledgeGraph) -> None:
    both = merge(one, two)
    assert list(both.ids)[: one.n_entities] == list(one.ids)
    assert list(both.relation_ids)[: one.n_relations] == list(one.relation_ids)
    assert says(both)["known"] == says(one)["known"] | says(two)["known"]
    assert set(both.ids) == set(one.ids) | set(two.ids)
    assert both.triples.tolist() == sorted(both.triples.tolist())
    assert merge(one, one).fingerprint == one.fingerprint


def test_merge_fills_in_what_is_missing_and_leaks_nothing() -> None:
    one, two = GraphBuilder("one"), GraphBuilder("two")
    one.entity("ex:dog", "", ["hound"])
    one.triple("ex:dog", "is_a", "ex:animal")
    one.triple("ex:dog", "eats", "ex:meat", "test")
    two.entity("ex:dog", "the dog", ["mutt"], "barks")
    two.triple("ex:dog", "eats", "ex:meat")
    both = merge(one.build(), two.build())
    assert says(both)["entities"]["ex:dog"] == ("the dog", {"hound", "mutt"}, "barks")
    assert says(both)["test"] == {("ex:dog", "eats", "ex:meat")}
    assert says(both)["known"] == {("ex:dog", "is_a", "ex:animal")}


def test_merge_meets_by_iri_whatever_the_spelling() -> None:
    one, two, bare = GraphBuilder("one"), GraphBuilder("two"), GraphBuilder("bare")
    one.prefixes["ex"] = "http://example.org/"
    two.prefixes |= {"x": "http://example.org/", "ex": "http://else.org/"}
    one.triple("ex:dog", "ex:eats", "http://example.org/a/b")
    two.triple("x:dog", "http://example.org/eats", "x:cat")
    two.triple("ex:dog", "x:eats", "x:a/b")
    bare.triple("ex:dog", "ex:eats", "ex:cat")
    both = merge(merge(one.build(), two.build()), bare.build())
    assert list(both.ids) == ["ex:dog", "http://example.org/a/b", "ex:cat", "http://else.org/dog"]
    assert list(both.relation_ids) == ["ex:eats"]
    assert says(both)["known"] == {
        ("ex:dog", "ex:eats", "http://example.org/a/b"),
        ("ex:dog", "ex:eats", "ex:cat"),
        ("http://else.org/dog", "ex:eats", "http://example.org/a/b"),
    }
    by_iri = merge(bare.build(), one.build())
    assert list(by_iri.ids) == ["ex:dog", "ex:cat", "http://example.org/a/b"]


def test_merge_leaves_odd_curies_and_doubles_as_they_are() -> None:
    builder = GraphBuilder("odd")
    builder.prefixes["ex"] = "http://example.org/"
    for name in ("ex:a/b", "ex:c", "http://example.org/c"):
        builder.triple(name, "r", "ex:a/b")
    graph = builder.build()
    assert merge(graph, graph).fingerprint == graph.fingerprint
    other = GraphBuilder("other")
    other.prefixes["ex"] = "http://example.org/"
    other.entity("ex:d/e")
    assert merge(graph, other.build()).ids[-1] == "ex:d/e"


def graph_of(*triples: tuple[str, str, str], **labels: str) -> KnowledgeGraph:
    builder = GraphBuilder("made")
    builder.prefixes["ex"] = "http://example.org/"
    for name, label in labels.items():
        builder.entity(name.replace("_", ":"), label)
    for triple in triples:
        builder.triple(*triple)
    return builder.build()


def with_alternatives(graph: KnowledgeGraph, **alternatives: str) -> KnowledgeGraph:
    """Return the graph; one entity of it has an alternative id: ``ex_1="ex:0"``."""
    ids = {name.replace("_", ":"): old for name, old in alternatives.items()}
    return replace(
        graph,
        alternative_ids=NestedTextColumn.of(
            [(ids[name],) if name in ids else () for name in graph.ids]
        ),
    )


@pytest.mark.parametrize("turned", [False, True])
def test_a_name_meets_the_one_entity_of_this_label(turned: bool) -> None:
    named = graph_of(("Rex", "is_a", "dog"), ("Bob", "is a", "Person"), ("Rex", "has", "7"))
    known = graph_of(ex_1="Dog", ex_Person="Person", ex_7="7")
    both = merge(named, known) if turned else merge(known, named)
    assert says(both)["known"] == {
        ("Rex", "is_a", "ex:1"),
        ("Bob", "is a", "ex:Person"),
        ("Rex", "has", "7"),
    }
    assert says(both)["entities"]["ex:1"] == ("Dog", set(), "")
    also = graph_of(("tom", "is_a", "dog"), ex_2="dog")  # it has a label of its own
    with pytest.warns(
        ReadWarning, match="'dog' is the label of ex:1 and ex:2; links of it are not theirs"
    ):
        both = merge(also, known) if turned else merge(known, also)
    assert ("tom", "is_a", "dog") in says(both)["known"]


@pytest.mark.parametrize("turned", [False, True])
def test_a_name_that_is_no_label_meets_the_one_entity_of_this_synonym(turned: bool) -> None:
    named = graph_of(("A2M", "in", "blood"), ("ACF", "in", "liver"), ("a1cf", "in", "liver"))
    genes = GraphBuilder("genes")
    genes.entity("HGNC:7", "alpha-2-macroglobulin", ["A2M"])
    genes.entity("HGNC:24086", "APOBEC1 complementation factor", ["A1CF", "ACF"])
    genes.entity("HGNC:1", "another factor", ["ACF"])
    both = merge(named, genes.build()) if turned else merge(genes.build(), named)
    assert says(both)["known"] == {
        ("HGNC:7", "in", "blood"),
        ("ACF", "in", "liver"),
        ("a1cf", "in", "liver"),
    }
    assert "A2M" not in both.ids


@pytest.mark.parametrize("turned", [False, True])
def test_what_has_the_id_of_a_relation_and_no_links_names_it(turned: bool) -> None:
    """As in the lists of relations that come with triples of Wikidata."""
    facts = graph_of(("Q1", "P17", "Q2"), ("Q1", "P19", "Q2"), ("Q1", "near", "Q2"))
    names = GraphBuilder("names")
    for name, label in (("P17", "country"), ("P19", "P19"), ("near", ""), ("Q1", "Ann")):
        names.entity(name, label, definition="what it is")
    both = merge(names.build(), facts) if turned else merge(facts, names.build())
    assert dict(zip(both.relation_ids, both.relation_labels, strict=True)) == {
        "P17": "country",
        "P19": "P19",
        "near": "near",
    }
    assert says(both)["entities"]["Q1"][0] == "Ann"
    assert set(both.ids) == {"Q1", "Q2", "P19", "near"}
    linked = graph_of(("P17", "domain", "place"), P17="country")
    both = merge(linked, facts) if turned else merge(facts, linked)
    assert "P17" in both.ids


def test_the_name_in_an_id_is_no_label_where_there_is_another() -> None:
    one, two, bare = GraphBuilder("one"), GraphBuilder("two"), GraphBuilder("bare")
    one.entity("places:IT", "Italy")
    two.triple("ex:pizza", "from", "places:IT")
    two.triple("ex:pizza", "said in", "it")
    assert says(merge(one.build(), two.build()))["known"] == says(two.build())["known"]
    bare.triple("places:IT", "near", "places:CH")
    meant = {
        ("ex:pizza", "from", "places:IT"),
        ("ex:pizza", "said in", "places:IT"),
        ("places:IT", "near", "places:CH"),
    }
    assert says(merge(bare.build(), two.build()))["known"] == meant


def test_what_becomes_one_is_not_linked_to_itself() -> None:
    known = with_alternatives(graph_of(ex_1="dog"), ex_1="ex:0")
    both = merge(
        known, graph_of(("ex:1", "is_a", "ex:0"), ("ex:0", "like", "ex:0"), ("ex:1", "is_a", "dog"))
    )
    assert says(both)["known"] == {("ex:1", "like", "ex:1")}
    assert says(merge(graph_of(("ex:1", "is_a", "ex:0")), known))["known"] == set()


def test_what_stands_for_an_alternative_id_says_what_it_is() -> None:
    known = with_alternatives(graph_of(("ex:1", "is_a", "ex:2")), ex_1="ex:0")
    more = graph_of(ex_0="obsolete thing", ex_1="thing")
    assert says(merge(known, more))["entities"]["ex:1"] == ("thing", set(), "")


def test_alternative_ids_meet_as_iris_too() -> None:
    linked = graph_of(("ex:7", "r", "ex:1"))
    more = GraphBuilder("more")
    more.entity("http://example.org/2", "two")
    more.replace(
        {
            "http://example.org/1": "http://example.org/2",
            "http://example.org/7": "http://example.org/2",
        }
    )
    both = merge(linked, more.build())
    assert set(both.ids) == {"ex:2"}
    assert says(both)["alternatives"] == {"ex:2": {"ex:1", "ex:7"}}


def test_subclass_is_one_relation_and_broader_is_not() -> None:
    rdf = graph_of(("ex:1", "rdfs:subClassOf", "ex:2"))
    assert set(merge(rdf, graph_of(("ex:3", "is_a", "ex:2"))).relation_ids) == {"rdfs:subClassOf"}
    thesaurus = graph_of(("ex:1", "broader", "ex:2"))
    words = graph_of(
        ("dog", "hypernym", "animal"),
        ("cat", "hypernym", "animal"),
        ("Rex", "instance hypernym", "dog"),
    )
    both = merge(words, graph_of(("cow", "rdfs:subClassOf", "animal")))
    assert (list(both.relation_ids), list(both.relation_labels)) == (
        list(words.relation_ids),
        list(words.relation_labels),
    )
    assert ("cow", "hypernym", "animal") in says(both)["known"]
    named = words.with_hierarchy("instance hypernym")
    assert ("cow", "instance hypernym", "animal") in says(
        merge(named, graph_of(("cow", "is_a", "animal")))
    )["known"]
    assert set(merge(thesaurus, graph_of(("ex:3", "skos:broader", "ex:2"))).relation_ids) == {
        "broader"
    }
    assert set(merge(rdf, graph_of(("ex:3", "skos:broader", "ex:2"))).relation_ids) == {
        "rdfs:subClassOf",
        "skos:broader",
    }
    assert set(merge(rdf, graph_of(("ex:3", "skos:broader", "ex:2"))).relation_ids) == {
        "rdfs:subClassOf",
        "skos:broader",
    }


@pytest.mark.parametrize(
    "name", ["subclass of", "subClassOf", "isa", "is a kind of", "rdfs:subClassOf"]
)
@pytest.mark.parametrize("own", ["is_a", "hypernym", "broader"])
def test_a_usual_name_is_the_relation_of_the_hierarchy(own: str, name: str) -> None:
    tree = graph_of(("dog", own, "animal"), ("dog", "eats", "meat"))
    both = merge(tree, graph_of(("cat", name, "animal")))
    assert list(both.relation_ids) == [own, "eats"]
    assert ("cat", own, "animal") in says(both)["known"]
    other = graph_of(("dog", "sits above", "flea"), ("dog", name, "animal")).with_hierarchy(
        "sits above"
    )
    assert ("cat", name, "animal") in says(merge(other, graph_of(("cat", name, "animal"))))[
        "known"
    ]  # declared not to be a hierarchy
    two = graph_of(
        ("dog", "is_a", "animal"), ("dog", own, "pet"), ("cat", own, "pet")
    ).with_hierarchy(own, "is_a")
    assert ("cow", "is_a", "animal") in says(merge(two, graph_of(("cow", name, "animal"))))["known"]


@pytest.mark.parametrize("turned", [False, True], ids=["name added", "id added"])
def test_a_relation_that_is_but_a_name_meets_the_one_of_this_label(turned: bool) -> None:
    named = GraphBuilder("named")
    named.relation("ex:1", "may treat")
    named.triple("ex:aspirin", "ex:1", "ex:headache")
    words = graph_of(("ex:aspirin", "may_treat", "ex:fever"), ("ex:fever", "seen in", "ex:flu"))
    both = merge(*((words, named.build()) if turned else (named.build(), words)))
    assert dict(zip(both.relation_ids, both.relation_labels, strict=True)) == {
        "ex:1": "may treat",
        "seen in": "seen in",
    }
    assert says(both)["known"] >= {
        ("ex:aspirin", "ex:1", "ex:headache"),
        ("ex:aspirin", "ex:1", "ex:fever"),
    }


def test_a_name_of_two_relations_is_neither() -> None:
    named = GraphBuilder("named")
    for identifier in ("ex:1", "ex:2"):
        named.relation(identifier, "may treat")
        named.triple("ex:aspirin", identifier, "ex:headache")
    both = merge(named.build(), graph_of(("ex:aspirin", "may treat", "ex:fever")))
    assert list(both.relation_ids) == ["ex:1", "ex:2", "may treat"]


def test_another_label_is_a_synonym_and_a_correction_takes_the_place_of_a_definition() -> None:
    one, other = GraphBuilder("one"), GraphBuilder("other")
    one.entity("x:1", "ham", [], "meat")
    one.entity("x:2", "Egg", [], "")
    other.entity("x:1", "gammon", ["bacon joint"], "meat of a pig")
    other.entity("x:2", "egg", [], "what a hen lays")
    for corrects, definition in ((False, "meat"), (True, "meat of a pig")):
        both = merge(one.build(), other.build(), corrects=corrects)
        assert list(both.labels) == ["ham", "Egg"]
        assert [set(names) for names in both.synonyms] == [{"gammon", "bacon joint"}, set()]
        assert list(both.definitions) == [definition, "what a hen lays"]
    again = merge(merge(one.build(), other.build()), one.build(), corrects=True)
    assert list(again.definitions) == ["meat", "what a hen lays"]


def test_a_named_hierarchy_is_joined_by_what_the_other_graph_has_of_its_own() -> None:
    pets, cars = GraphBuilder("pets"), GraphBuilder("cars")
    pets.triple("dog", "is_a", "animal")
    cars.triple("wheel", "part of", "car")
    parts = cars.build().with_hierarchy("part of")
    for both in (merge(pets.build(), parts), merge(parts, pets.build())):
        links = both.hierarchy().links.tolist()
        named = {(both.ids[child], both.ids[parent]) for child, parent in links}
        assert named == {("dog", "animal"), ("wheel", "car")}
    cars.triple("van", "is_a", "car")  # left out of the hierarchy on purpose
    parts = cars.build().with_hierarchy("part of")
    assert merge(parts, pets.build()).upward == parts.upward
    assert merge(pets.build(), pets.build()).upward == ()
