"""Relation prediction, against Bayes' rule over the answers of `tails` and `heads`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

import ontodex
from ontodex.engine import relation_prediction
from tests.plain import build_plain


def test_an_inverse_relation_is_inferred(family):
    engine, held_out = family
    first = [hits[0] for hits in engine.relations_batch(held_out)]
    assert np.mean([hit.id == "ex:childOf" for hit in first]) > 0.9
    assert not any(hit.known for hit in first)


@pytest.mark.parametrize("structure", [True, False])
@pytest.mark.parametrize(
    ("head", "tail"), [("ex:3", "ex:7"), ("a person", "ex:7"), ("ex:3", "a child"), ("one", "two")]
)
def test_probabilities_follow_bayes_rule(
    family, small_graph, tmp_path, tiny_encoder, structure, head, tail
):
    if not structure:
        head, tail = head.replace("ex:3", "ex:dog"), tail.replace("ex:7", "ex:farm")
        with build_plain(small_graph, tmp_path / "plain.odx", [tiny_encoder]) as engine:
            _expect_bayes(engine, head, tail)
        return
    engine, _ = family
    assert engine.resources.graph_features is not None
    _expect_bayes(engine, head, tail)


def _expect_bayes(engine, head, tail):
    graph, unit = engine.graph, engine._links._queries.score_unit
    likely = engine._links._relation_prediction

    def asked_with(one):
        return one, likely._queries.vectors([one])[0]

    resolved = [ontodex.engine.resolve.resolve_entity(graph, text) for text in (head, tail)]
    sides = []
    for backward, (asked, answer) in enumerate((resolved, resolved[::-1])):
        if answer.row is None and asked.row is not None:
            continue
        joint = []
        for number, relation in enumerate(graph.relation_ids):
            ask = engine.heads if backward else engine.tails
            words = asked.resolution.text
            question = (relation, words) if backward else (words, relation)
            scores = {hit.id: hit.score / unit for hit in ask(*question, k=10_000)}
            if answer.row is not None:  # known answers are left out of the other list
                own = answer.resolution.id
                every = ask(*question, k=10_000, known="include")
                (scores[own],) = (hit.score / unit for hit in every if hit.id == own)
            else:  # new entities are scored by text alone
                queries, _ = likely._queries.by_each(
                    *asked_with(asked), np.array([number]), backward=bool(backward)
                )
                vector = likely._queries.vectors([answer])[0]
                texts = (
                    likely._queries.entities[np.arange(graph.n_entities)]
                    @ queries[0, : len(vector)]
                )
                own, scores = "", dict(zip(graph.ids, texts / unit, strict=True))
                scores[own] = float(queries[0, : len(vector)] @ vector) / unit
            probability = softmax(list(scores.values()))[list(scores).index(own)]
            joint.append(probability * likely._shares(asked_with(asked), bool(backward))[number])
        sides.append(np.array(joint) / np.sum(joint))
    wanted = np.mean(sides, axis=0)
    found = engine.relations(head, tail)
    assert [hit.id for hit in found] == [
        graph.relation_ids[row] for row in np.argsort(-wanted, kind="stable")
    ]
    np.testing.assert_allclose([hit.probability for hit in found], np.sort(wanted)[::-1], rtol=2e-3)
    np.testing.assert_allclose(
        np.log([hit.probability for hit in found]), [hit.score for hit in found], atol=1e-9
    )


def test_the_prior_of_a_relation_counts_similar_entities(family):
    engine, _ = family
    graph, likely = engine.graph, engine._links._relation_prediction
    vectors = np.asarray(
        engine.index.vectors("link")[np.arange(graph.n_entities)], dtype=np.float64
    )
    counts = np.zeros((graph.n_entities, graph.n_relations))
    np.add.at(counts, tuple(graph.triples[:, :2].T), 1)
    row = 3
    weights = np.exp((vectors @ vectors[row] - 1) / 0.1)
    weights[row] = 0.0
    weights[counts.sum(axis=1) == 0] = 0.0
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    whole = (counts.sum(axis=0) + 1) / (counts.sum() + graph.n_relations)
    neighbours = (weights @ shares + 0.2 * whole) / (weights.sum() + 0.2)
    wanted = (counts[row] + 5 * neighbours) / (counts[row].sum() + 5)
    entity = ontodex.engine.resolve.resolve_entity(graph, graph.ids[row])
    np.testing.assert_allclose(
        likely._shares((entity, likely._queries.vectors([entity])[0]), False), wanted, rtol=1e-3
    )
    assert wanted.sum() == pytest.approx(1)


def test_excluded_relations_get_no_probability(family):
    engine, _ = family
    pair = "ex:3", "ex:7"
    every, new, known = (
        engine.relations(*pair, known=known) for known in ("include", "exclude", "only")
    )
    assert sum(hit.probability for hit in every) == pytest.approx(1)
    assert sum(hit.probability for hit in new) == pytest.approx(1)
    assert [hit.id for hit in known] == ["ex:parentOf"]
    assert known[0].probability == pytest.approx(1)
    assert {hit.id for hit in new} == {hit.id for hit in every} - {"ex:parentOf"}


def test_of_many_relations_only_the_likeliest_are_scored(family, monkeypatch):
    engine, held_out = family
    every = engine.relations(*held_out[0], k=1)[0]
    monkeypatch.setattr(relation_prediction, "MAX_RELATIONS", 2)
    assert engine.relations(*held_out[0], k=1)[0].id == every.id
    assert len(engine.relations(*held_out[0], k=3)) == 3


def test_head_and_tail_may_be_one_entity(family):
    engine, _ = family
    hits = engine.relations("ex:3", "ex:3")
    assert len(hits) == 3
    assert all(np.isfinite(hit.score) for hit in hits)
