"""Hierarchies across equivalent classes."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.graph.equivalents import through_equivalents
from ontodex.readers import read

FUNCTIONAL = """Prefix(:=<http://example.org/o#>)
Prefix(owl:=<http://www.w3.org/2002/07/owl#>)
Prefix(rdfs:=<http://www.w3.org/2000/01/rdf-schema#>)
Ontology(<http://example.org/o>
Declaration(Class(:Car)) Declaration(Class(:Automobile)) Declaration(Class(:Vehicle))
Declaration(Class(:Cabrio)) Declaration(Class(:SportsCar))
AnnotationAssertion(rdfs:label :Car "car") AnnotationAssertion(rdfs:label :Automobile "automobile")
AnnotationAssertion(rdfs:label :Vehicle "vehicle")
AnnotationAssertion(rdfs:label :Cabrio "convertible")
AnnotationAssertion(rdfs:label :SportsCar "sports car")
EquivalentClasses(:Car :Automobile)
SubClassOf(:Automobile :Vehicle)
SubClassOf(:Cabrio :Car)
SubClassOf(:SportsCar :Automobile)
)
"""
OBO = """[Term]
id: X:1
name: car
equivalent_to: X:2

[Term]
id: X:2
name: automobile
is_a: X:3

[Term]
id: X:3
name: vehicle

[Term]
id: X:4
name: convertible
is_a: X:1

[Term]
id: X:5
name: sports car
is_a: X:2
"""
OBOGRAPH = """{"graphs": [{"nodes": [
  {"id": "X:1", "lbl": "car"}, {"id": "X:2", "lbl": "automobile"}, {"id": "X:3", "lbl": "vehicle"},
  {"id": "X:4", "lbl": "convertible"}, {"id": "X:5", "lbl": "sports car"}],
  "edges": [{"sub": "X:2", "pred": "is_a", "obj": "X:3"},
    {"sub": "X:4", "pred": "is_a", "obj": "X:1"},
            {"sub": "X:5", "pred": "is_a", "obj": "X:2"}],
  "equivalentNodesSets": [{"nodeIds": ["X:1", "X:2"]}]}]}"""
TABLE = """X:2\tis_a\tX:3
X:4\tis_a\tX:1
X:5\tis_a\tX:2
X:1\tequivalent class\tX:2
"""


def above(graph: KnowledgeGraph) -> dict[str, set[str]]:
    """Return the labels of the ancestors of each label."""
    hierarchy, labels = graph.hierarchy(), graph.labels
    return {
        label: {labels[one] for one in hierarchy.ancestors(row).tolist()}
        for row, label in enumerate(labels)
    }


@pytest.mark.parametrize(
    ("name", "text"), [("a.ofn", FUNCTIONAL), ("a.obo", OBO), ("a.json", OBOGRAPH)]
)
def test_equivalent_classes_share_what_is_above_and_below(write, name: str, text: str) -> None:
    graph = read(write(name, text), on_error="raise")
    assert above(graph) == {
        "car": {"vehicle"},
        "automobile": {"vehicle"},
        "vehicle": set(),
        "convertible": {"car", "automobile", "vehicle"},
        "sports car": {"car", "automobile", "vehicle"},
    }
    assert graph.n_triples == 4


def test_bridges_between_vocabularies(write) -> None:
    head = (
        "@prefix owl: <http://www.w3.org/2002/07/owl#> . "
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
    )
    head += "@prefix dbo: <http://dbpedia.org/ontology/> . @prefix schema: <http://schema.org/> . "
    dbo = (
        'dbo:Person a owl:Class ; rdfs:label "person" ; rdfs:subClassOf dbo:Agent . '
        "dbo:Agent a owl:Class ."
    )
    dbo += (
        " dbo:Artist a owl:Class ; rdfs:subClassOf dbo:Person ; owl:equivalentClass schema:Person ."
    )
    one = write("dbo.ttl", head + dbo)
    two = write(
        "schema.ttl",
        head
        + "schema:Person a owl:Class ; rdfs:subClassOf schema:Thing . schema:Thing a owl:Class .",
    )
    bridge = write(
        "bridge.ttl", head + "dbo:Person a owl:Class ; owl:equivalentClass schema:Person ."
    )
    graph = read(one, two, bridge, on_error="raise")
    found = above(graph)
    assert {"Agent", "Thing"} < found["Artist"]


def test_a_table_says_what_is_equivalent(write) -> None:
    graph = read(write("a.tsv", TABLE), on_error="raise")
    assert above(graph)["X:4"] == {"X:1", "X:2", "X:3"}


def test_equivalents_with_something_between_them_stay_apart() -> None:
    builder = GraphBuilder("odd")
    for head, relation, tail in (
        ("a", "is_a", "between"),
        ("between", "is_a", "b"),
        ("a", "owl:equivalentClass", "b"),
        ("under", "is_a", "a"),
        ("c", "owl:equivalentClass", "d"),
        ("d", "is_a", "a"),
        ("below", "is_a", "c"),
    ):
        builder.triple(head, relation, tail)
    assert above(builder.build()) == {
        "a": {"between", "b"},
        "between": {"b"},
        "b": set(),
        "under": {"a", "between", "b"},
        "c": {"a", "between", "b"},
        "d": {"a", "between", "b"},
        "below": {"c", "d", "a", "between", "b"},
    }


def test_a_hostile_number_of_equivalents_is_not_multiplied() -> None:
    size = 2000
    star = np.array([[0, other] for other in range(1, size)], dtype=np.int32)
    below = np.array([[child, 0] for child in range(size, 2 * size)], dtype=np.int32)
    assert through_equivalents(below, star, 2 * size) is below


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda link: link[0] < link[1]),
        max_size=10,
    ),
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=4),
)
def test_what_follows_is_what_logic_says(
    links: list[tuple[int, int]], same: list[tuple[int, int]]
) -> None:
    pairs = (np.array(some, dtype=np.int32).reshape(-1, 2) for some in (links, same))
    found = [tuple(link) for link in through_equivalents(*pairs, 8).tolist()]
    assert set(links) <= set(found)
    assert networkx.is_directed_acyclic_graph(networkx.DiGraph(found))
    meant = networkx.DiGraph(links)
    meant.add_nodes_from(range(8))
    meant.add_edges_from([*same, *((other, one) for one, other in same)])
    whole = networkx.transitive_closure(meant, reflexive=True)
    assert all(whole.has_edge(*link) for link in found)
    alike = networkx.Graph([(one, one) for one in range(8)] + same)
    groups = [set(group) for group in networkx.connected_components(alike)]
    if not _has_circle(links, groups):
        closed = networkx.transitive_closure(networkx.DiGraph(found))
        asked = (
            link for link in whole.edges if not any(group.issuperset(link) for group in groups)
        )
        assert all(closed.has_edge(*link) for link in asked)


def _has_circle(links: list[tuple[int, int]], groups: list[set[int]]) -> bool:
    """Return whether groups of equivalents, merged into one node each, have a cycle."""
    number = {one: at for at, group in enumerate(groups) for one in group}
    linked = networkx.DiGraph([(number[child], number[parent]) for child, parent in links])
    linked.remove_edges_from(networkx.selfloop_edges(linked))
    return bool(linked) and not networkx.is_directed_acyclic_graph(linked)
