"""Explanations: parts add up to the score, and their evidence is in the graph."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ontodex
from ontodex.errors import SettingsError, UnknownEntity
from ontodex.graph import GraphBuilder
from tests.plain import build_plain


def stated(engine):
    graph = engine.graph
    return {
        (graph.ids[h], graph.relation_ids[r], graph.ids[t]) for h, r, t in graph.triples.tolist()
    }


@pytest.mark.parametrize("relation", ["ex:knows", "ex:childOf", "inverse child of", "parent of"])
@pytest.mark.parametrize("head", ["ex:3", "ex:70", "a person"])
def test_the_parts_add_up_to_the_score_of_the_answer(family, head, relation):
    engine, _ = family
    for rank, hit in enumerate(engine.tails(head, relation, k=5), 1):
        why = engine.why(head, relation, hit.id)
        assert why.rank == rank
        assert not why.known
        assert why.score == pytest.approx(hit.score, abs=1e-4)
        assert why.mean + sum(reason.adds for reason in why) == pytest.approx(why.score, abs=1e-4)
        assert [reason.adds for reason in why] == sorted(
            (reason.adds for reason in why), reverse=True
        )
        assert why.resolutions["tail"].id == hit.id


def test_the_rule_and_its_link_are_named(family):
    engine, held_out = family
    child, parent = held_out[3]
    why = engine.why(child, "ex:childOf", parent)
    assert why[0].by == "rules"
    link = why[0].case_based[0].links[0]
    assert (link.head, link.relation, link.tail) == (
        parent,
        "ex:parentOf",
        child,
    )  # in the stated direction
    assert why[0].case_based[0].strength > 0.5
    lines = str(why).splitlines()
    assert f"person {parent[3:]} ({parent})  parent of  person {child[3:]} ({child})" in lines[4]
    assert lines[3].endswith("rules")


def test_similar_cases_are_known_links_and_evidence_for_the_answer(family):
    engine, _ = family
    known, seen = stated(engine), set()
    for head, relation in [("ex:3", "ex:childOf"), ("ex:20", "ex:parentOf"), ("ex:8", "ex:knows")]:
        for hit in (
            *engine.tails(head, relation, k=5),
            *engine.tails(head, relation, known="only"),
        ):
            why = engine.why(head, relation, hit.id, k=4)
            for reason in why:
                strengths = [case.strength for case in reason.case_based]
                assert len(strengths) <= 4
                assert strengths == sorted(strengths, reverse=True)
                for case in reason.case_based:
                    seen.add(reason.by)
                    links = [(link.head, link.relation, link.tail) for link in case.links]
                    assert known >= set(links)
                    ends = {end for link in links for end in (link[0], link[2])}
                    if "heads" in reason.by:
                        assert links[0][1:] == (relation, hit.id)
                        assert links[0][0] == case.like != head
                    elif "tails" in reason.by:
                        assert links[0][:2] == (head, relation)
                        assert links[0][2] == case.like != hit.id
                    else:
                        assert {head, hit.id} <= ends
                        assert case.like is None
            assert why.known == hit.known
            by = engine.graph.source if hit.known else None
            assert why.asserted_by == by
            assert str(why).splitlines()[1].startswith(f"asserted by {by}; " if by else "rank ")
    assert seen >= {
        "similar heads (text)",
        "similar heads (links)",
        "similar tails (text)",
        "similar tails (links)",
        "similar heads (shared links)",
        "similar tails (shared links)",
    }


def test_new_heads_and_relations_have_fewer_reasons(family):
    engine, _ = family
    new = engine.why("person 7 of the family", "ex:knows", "ex:14")
    assert "ComplEx" not in {reason.by for reason in new}
    assert new.resolutions["head"].id is None
    assert {reason.by for reason in engine.why("ex:7", "admires", "ex:14")} == {"text"}
    with pytest.raises(
        UnknownEntity,
        match=r"entity of the graph as an answer to explain, found free text 'nobody'",
    ):
        engine.why("ex:7", "ex:knows", "nobody")
    with pytest.raises(SettingsError, match="k: expected"):
        engine.why("ex:7", "ex:knows", "ex:14", k=0)


@pytest.mark.parametrize("training", [True, False])
def test_an_index_without_graph_features_explains_by_text_alone(
    small_graph, tmp_path, tiny_encoder, training
):
    if training:
        settings = {
            "training": ontodex.HyperCLTraining(steps=5),
            "structure": False,
            "hierarchy": False,
        }
        engine = ontodex.build(
            small_graph,
            tmp_path / "x.odx",
            encoders=[tiny_encoder],
            device="cpu",
            entailment=False,
            quiet=True,
            **settings,
        )
    else:
        engine = build_plain(small_graph, tmp_path / "x.odx", [tiny_encoder])
    with engine:
        hit = engine.tails("ex:dog", "eats")[0]
        why = engine.why("ex:dog", "eats", hit.id)
    assert [reason.by for reason in why] == ["text"]
    assert (why.rank, why.score) == (1, pytest.approx(hit.score, abs=1e-5))
    assert why.mean + why[0].adds == pytest.approx(why.score, abs=1e-5)


def test_output_forms(family):
    engine, held_out = family
    why = engine.why(held_out[0][0], "ex:childOf", held_out[0][1], k=2)
    read = json.loads(why.to_json())
    assert read["query"]["question"] == "why"
    assert [reason["by"] for reason in read["reasons"]] == [reason.by for reason in why]
    assert read["reasons"][0]["case_based"][0]["links"][0]["relation"] == "ex:parentOf"
    table = why.to_pandas()
    assert list(table.columns) == ["by", "adds", "strength", "links"]
    assert len(table) == sum(max(1, len(reason.case_based)) for reason in why)
    assert len(why.to_tsv().splitlines()) == len(table) + 1


def test_the_rank_counts_the_asked_entity_where_a_relation_may_link_it_to_itself(family):
    engine, _ = family
    more = GraphBuilder("mirror")
    more.triple("ex:5", "ex:knows", "ex:5")
    with ontodex.open(engine.index.path, device="cpu", known=[more.build()]) as extended:
        ranked = [hit.id for hit in extended.tails("ex:3", "ex:knows", k=120)]
        assert "ex:3" in ranked
        for rank, tail in enumerate(ranked, 1):
            assert extended.why("ex:3", "ex:knows", tail).rank == rank
        assert "rules" not in {
            by.by for by in extended.why("ex:3", "ex:knows", "ex:3") if by.case_based
        }


def test_cases_without_strength_are_not_listed(family):
    engine, _ = family
    for tail in range(0, 120, 7):
        why = engine.why("ex:3", "ex:knows", f"ex:{tail}", k=100)
        assert all(case.strength >= 0.0005 for reason in why for case in reason.case_based)


def test_among_namesakes_linked_entities_are_preferred(family):
    engine, _ = family
    row = int(np.flatnonzero(engine.graph.relations == 0)[0])
    head, relation, tail = engine.graph.triples[row].tolist()
    why = engine.why(
        engine.graph.labels[head], engine.graph.relation_labels[relation], engine.graph.labels[tail]
    )
    assert why.known
