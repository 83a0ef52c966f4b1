from __future__ import annotations

import pytest

from ontodex.engine.known import Known
from ontodex.graph import GraphBuilder, KnowledgeGraph, ReadWarning


def graph_of(*triples: str) -> KnowledgeGraph:
    builder = GraphBuilder("given")
    for triple in triples:
        head, relation, tail, *split = triple.split()
        builder.triple(head, relation, tail, *split)
    return builder.build()


@pytest.fixture
def graph() -> KnowledgeGraph:
    return graph_of("a r b", "a r c", "a s c", "b r c", "d s a test")


def test_the_graph_alone(graph: KnowledgeGraph) -> None:
    known, (a, b, c, d), (r, s) = Known(graph), range(4), range(2)
    assert known.tails(a, r).tolist() == [b, c]
    assert known.heads(r, c).tolist() == [a, b]
    assert known.relations(a, c).tolist() == [r, s]
    assert known.tails(d, s).tolist() == []  # held out is not known
    assert known.tails(a, r).dtype == "int64"


def test_other_sources_count_in_the_rows_of_the_graph_with_their_held_out_triples(
    graph: KnowledgeGraph,
) -> None:
    other = graph_of("x r b", "c s a", "a s c", "d r c valid", "d s a test", "a t b", "b r c")
    known, (a, b, c, d), (r, s) = Known(graph, [other, graph]), range(4), range(2)
    assert known.tails(c, s).tolist() == [a]
    assert known.heads(r, c).tolist() == [a, b, d]
    assert known.heads(r, b).tolist() == [a]  # x is no entity of the graph
    assert known.relations(a, b).tolist() == [r]  # t is no relation of it
    assert known.relations(a, c).tolist() == [r, s]
    assert known.tails(d, s).tolist() == [a]


def test_a_source_without_triples_or_without_anything_in_common_adds_nothing(
    graph: KnowledgeGraph,
) -> None:
    builder = GraphBuilder("entities alone")
    builder.entity("a")
    known = Known(graph, [builder.build()])
    assert known.tails(0, 0).tolist() == [1, 2]
    with pytest.warns(
        ReadWarning,
        match="^none of the 2 triples of given is about entities and relations of the index",
    ):
        known = Known(graph, [graph_of("x y z", "a y z test")])
    assert known.tails(0, 0).tolist() == [1, 2]


def test_iris_meet_curies() -> None:
    given, other = GraphBuilder("given"), GraphBuilder("other")
    given.prefixes["ex"] = "http://example.org/"
    given.triple("ex:a", "ex:r", "ex:b")
    given.triple("HP:1", "ex:r", "ex:a")
    other.triple(
        "http://example.org/a", "http://example.org/r", "http://purl.obolibrary.org/obo/HP_1"
    )
    assert Known(given.build(), [other.build()]).tails(0, 0).tolist() == [1, 2]
    assert Known(other.build(), [given.build()]).tails(1, 0).tolist() == [0]


def test_every_triple_of_a_graph_is_known(small_graph: KnowledgeGraph) -> None:
    known = Known(small_graph, [small_graph])
    held_out = {tuple(triple) for triple in small_graph.test.tolist()}
    every = {tuple(triple) for triple in small_graph.triples.tolist()} | held_out
    entities, relations = range(small_graph.n_entities), range(small_graph.n_relations)
    assert {
        (h, r, t) for h in entities for r in relations for t in known.tails(h, r).tolist()
    } == every
    assert {
        (h, r, t) for t in entities for r in relations for h in known.heads(r, t).tolist()
    } == every
    assert {
        (h, r, t) for h in entities for t in entities for r in known.relations(h, t).tolist()
    } == every


def test_a_relation_that_another_source_links_something_to_itself_by(graph: KnowledgeGraph) -> None:
    assert Known(graph).reflexive == frozenset()
    assert Known(graph, [graph_of("a s a"), graph_of("a r b")]).reflexive == {1}
    assert Known(graph_of("a r a", "b s c"), [graph_of("b s b")]).reflexive == {0, 1}


def test_equivalent_classes_share_parents_whatever_else_is_known() -> None:
    graph = graph_of("automobile is_a vehicle", "car equivalentClass automobile", "dog likes car")
    row = graph.ids.index
    for known in (Known(graph), Known(graph, [graph_of("car likes dog")])):
        assert known.hierarchy is not None
        assert known.hierarchy.parents(row("car")).tolist() == [row("vehicle")]
