from __future__ import annotations

import time

import pytest
from hypothesis import given, settings

from ontodex.errors import GraphError, ReadError, UnknownRelation
from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.graph.names import NameKind
from tests.graph_strategies import graphs


@settings(deadline=None, max_examples=50)
@given(graphs())
def test_views_agree_with_the_triples(graph: KnowledgeGraph) -> None:
    triples = [tuple(triple) for triple in graph.triples.tolist()]
    assert triples == sorted(set(triples))
    for entity in range(graph.n_entities):
        assert sorted(zip(*map(list, graph.outgoing(entity)), strict=True)) == [
            (r, t) for h, r, t in triples if h == entity
        ]
        assert sorted(zip(*map(list, graph.incoming(entity)), strict=True)) == sorted(
            (r, h) for h, r, t in triples if t == entity
        )
        linked = {t for h, _, t in triples if h == entity} | {
            h for h, _, t in triples if t == entity
        }
        assert set(graph.neighbours(entity).tolist()) == linked - {entity}
    for head, relation, tail in triples:
        assert tail in graph.tails_of(head, relation)
        assert head in graph.heads_of(relation, tail)
        assert relation in graph.relations_between(head, tail)


def test_one_entity() -> None:
    builder = GraphBuilder("one")
    builder.entity("ex:only", "only one")
    graph = builder.build()
    assert (graph.n_entities, graph.n_relations, graph.n_triples) == (1, 0, 0)
    assert graph.find("Only  One") == (0, NameKind.LABEL)
    assert graph.neighbours(0).tolist() == []
    with pytest.raises(GraphError, match="no relations"):
        graph.hierarchy()
    with pytest.raises(UnknownRelation, match="one: no relation 'is_b'"):
        graph.hierarchy("is_b")


def test_names_are_found_by_strength() -> None:
    builder = GraphBuilder("names")
    builder.entity("HP:1", "fever", ["pyrexia"])
    builder.entity("HP:2", "pyrexia")
    graph = builder.build()
    assert graph.find("PYREXIA") == (1, NameKind.LABEL)
    assert graph.find("http://purl.obolibrary.org/obo/HP_1") == (0, NameKind.ID)
    assert graph.find("cough") is None


def test_an_alternative_id_is_the_weakest_name() -> None:
    builder = GraphBuilder("names")
    builder.prefixes["ex"] = "http://example.org/"
    builder.entity("ex:1", "fever")
    builder.entity("ex:2", "ex:9")
    builder.replace(
        {"ex:7": "ex:1", "ex:9": "ex:1", "ex:2": "ex:1"}
    )  # the last is an entity itself
    graph = builder.build()
    assert graph.find("ex:7") == graph.find("http://example.org/7") == (0, NameKind.ALTERNATIVE_ID)
    assert graph.find("ex:9") == (1, NameKind.LABEL)
    assert graph.find("ex:2") == (1, NameKind.ID)
    assert list(graph.alternative_ids) == [("ex:7", "ex:9"), ()]
    builder.replace({"ex:8": "ex:2"})
    assert builder.build().fingerprint != graph.fingerprint


def test_an_exact_spelling_goes_before_a_folded_one() -> None:
    builder = GraphBuilder("case")
    builder.entity("ex:a", "Polish")
    builder.entity("ex:A", "polish", ["POLISH"])
    builder.entity("fever", "temperature")
    builder.entity("ex:b", "Fever")
    for tail in ("ex:a", "ex:b"):
        builder.triple("ex:a", "r", tail)
    graph = builder.build()
    assert [graph.find(name) for name in ("ex:a", "ex:A")] == [(0, NameKind.ID), (1, NameKind.ID)]
    assert [graph.find(name) for name in ("Polish", "polish")] == [
        (0, NameKind.LABEL),
        (1, NameKind.LABEL),
    ]
    assert graph.find("pOLISH") == (0, NameKind.LABEL)  # the one in more triples
    assert graph.find("Fever") == (2, NameKind.ID)
    assert graph.find_all("pOLISH") == ([0, 1], NameKind.LABEL)
    assert graph.find_all("polish") == ([1], NameKind.LABEL)


@settings(deadline=None, max_examples=50)
@given(graphs())
def test_every_exact_id_is_found(graph: KnowledgeGraph) -> None:
    assert [graph.find(name) for name in graph.ids] == [
        (row, NameKind.ID) for row in range(graph.n_entities)
    ]
    assert [graph.find_relation(name) for name in graph.relation_ids] == [
        (number, NameKind.ID) for number in range(graph.n_relations)
    ]


def test_an_iri_and_its_curie_as_two_entities() -> None:
    builder = GraphBuilder("both")
    builder.prefixes["ex"] = "http://example.org/"
    builder.entity("ex:a")
    builder.entity("http://example.org/a")
    graph = builder.build()
    assert graph.find("http://example.org/a") == (1, NameKind.ID)
    assert graph.find("ex:a") == (0, NameKind.ID)


def test_names_of_relations() -> None:
    builder = GraphBuilder("relations")
    builder.prefixes["ex"] = "http://example.org/"
    for name, label in (
        ("ex:Part", "piece of"),
        ("ex:part", "within"),
        ("ex:near", "close to"),
        ("x:y", "near"),
    ):
        builder.relation(name, label)
    builder.triple("a", "x:y", "b")
    graph = builder.build()
    wanted = {
        "ex:part": (1, NameKind.ID),
        "http://example.org/part": (1, NameKind.ID),
        "ex:PART": (0, NameKind.ID),
        "part": (1, NameKind.ID),
        "Part": (0, NameKind.ID),
        "Within": (1, NameKind.LABEL),
        "near": (3, NameKind.LABEL),  # a label before a local name
        "y": (3, NameKind.ID),
    }
    assert {name: graph.find_relation(name) for name in wanted} == wanted
    assert graph.find_relation("far") is None


def test_many_relations_are_not_scanned_for_every_question() -> None:
    builder = GraphBuilder("many")
    for number in range(1500):
        builder.triple("a", f"ex:relation{number}", "b")
    graph = builder.build()
    graph.find_relation("ex:relation0")
    start = time.process_time()
    for number in range(1500):
        assert graph.find_relation(f"ex:relation{number}") == (number, NameKind.ID)
    assert time.process_time() - start < 2


def test_an_unknown_relation_and_an_empty_builder() -> None:
    builder = GraphBuilder("pets")
    with pytest.raises(ReadError, match="at least one entity"):
        builder.build()
    builder.triple("dog", "is_a", "animal")
    with pytest.raises(UnknownRelation, match="did you mean 'is a'"):
        builder.build().hierarchy("is b")
