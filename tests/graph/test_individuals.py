"""Individuals as children of their classes in the hierarchy."""

from __future__ import annotations

import pytest

from ontodex.graph import GraphBuilder, KnowledgeGraph, remove_links


def made(*links: tuple[str, str, str]) -> KnowledgeGraph:
    builder = GraphBuilder("software")
    for link in links:
        builder.triple(*link)
    return builder.build()


GRAPH = made(
    ("VersionControl", "rdfs:subClassOf", "Software"),
    ("Git", "rdf:type", "VersionControl"),
    ("Rust", "rdf:type", "Language"),
    ("VersionControl", "rdf:type", "NodeShape"),
    ("Software", "rdf:type", "Language"),
    ("Software", "rdf:type", "Software"),
    ("Git", "written in", "C"),
)


def linked(graph: KnowledgeGraph, relation: str | None = None) -> set[tuple[str, str]]:
    links = graph.hierarchy(relation).links.tolist()
    return {(graph.ids[child], graph.ids[parent]) for child, parent in links}


def test_individuals_are_below_their_classes_and_metaclasses_are_no_parents() -> None:
    classes = {("VersionControl", "Software")}
    individuals = {("Git", "VersionControl"), ("Rust", "Language")}
    assert linked(GRAPH) == classes | individuals
    assert linked(GRAPH, "rdfs:subClassOf") == classes
    assert linked(GRAPH.with_hierarchy("rdfs:subClassOf")) == classes
    hierarchy = GRAPH.hierarchy()
    assert [GRAPH.ids[row] for row in hierarchy.individuals.tolist()] == ["Git", "Rust"]
    assert not len(hierarchy.turned().individuals)
    rows = range(GRAPH.n_entities)
    assert [row for row in rows if GRAPH.is_individual(row)] == hierarchy.individuals.tolist()


def test_a_class_that_is_an_instance_of_a_class_of_the_hierarchy_is_below_both() -> None:
    graph = made(
        ("Physiotherapy", "rdfs:subClassOf", "Business"),
        ("Specialty", "rdfs:subClassOf", "Thing"),
        ("Physiotherapy", "rdf:type", "Specialty"),
    )
    assert ("Physiotherapy", "Specialty") in linked(graph)
    assert not len(graph.hierarchy().individuals)


@pytest.mark.parametrize("relation", ["rdf:type", "instance of", "InstanceOf"])
def test_types_alone_are_no_hierarchy_until_they_are_named(relation: str) -> None:
    graph = made(("Git", relation, "VersionControl"))
    assert graph.hierarchy_relations == ()
    assert linked(graph.with_hierarchy(relation)) == {("Git", "VersionControl")}


def test_a_usual_name_of_the_hierarchy_removes_the_type_of_an_individual() -> None:
    left = remove_links(GRAPH, made(("Git", "is_a", "VersionControl")))
    assert linked(left) == linked(GRAPH) - {("Git", "VersionControl")}
