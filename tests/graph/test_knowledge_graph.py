from __future__ import annotations

import pytest
from graph_strategies import graphs
from hypothesis import given, settings

from ontodex.errors import GraphError, ReadError, UnknownRelation
from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.graph.names import NameKind


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
        linked = {t for h, _, t in triples if h == entity} | {h for h, _, t in triples if t == entity}
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


def test_names_are_found_by_strength() -> None:
    builder = GraphBuilder("names")
    builder.entity("HP:1", "fever", ["pyrexia"])
    builder.entity("HP:2", "pyrexia")
    graph = builder.build()
    assert graph.find("PYREXIA") == (1, NameKind.LABEL)
    assert graph.find("http://purl.obolibrary.org/obo/HP_1") == (0, NameKind.ID)
    assert graph.find("cough") is None


def test_an_unknown_relation_and_an_empty_builder() -> None:
    builder = GraphBuilder("pets")
    with pytest.raises(ReadError, match="at least one entity"):
        builder.build()
    builder.triple("dog", "is_a", "animal")
    with pytest.raises(UnknownRelation, match="did you mean 'is a'"):
        builder.build().hierarchy("is b")
