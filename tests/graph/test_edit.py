from __future__ import annotations

import pytest
from graph_strategies import graphs, says
from hypothesis import given, settings

from ontodex.errors import GraphError, UnknownEntity
from ontodex.graph import GraphBuilder, KnowledgeGraph, merge, remove


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
        assert says(left)[part] == {triple for triple in says(graph)[part] if gone not in (triple[0], triple[2])}
    assert remove(graph, []).fingerprint == graph.fingerprint


def test_an_unknown_id_names_the_nearest() -> None:
    builder = GraphBuilder("pets")
    builder.entity("ex:dog", "hound")
    with pytest.raises(UnknownEntity, match="did you mean 'ex:dog'"):
        remove(builder.build(), ["ex:dig"])
    with pytest.raises(UnknownEntity):
        remove(builder.build(), ["hound"])
