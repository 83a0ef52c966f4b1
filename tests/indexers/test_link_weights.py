"""Weights of link scores: against scipy's minimiser, and for informative scores."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from ontodex.geometry.complex import ComplEx
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph
from ontodex.graph.known_links import KnownLinks
from ontodex.indexers import link_weights as module
from ontodex.indexers.link_weights import (
    AnswerScores,
    Heads,
    draw_questions,
    fit,
    fit_weights,
    score_answers,
)
from ontodex.scoring.case_based import CaseBasedEvidence
from ontodex.scoring.graph_features import CASE_BASED, KIND, TYPE_CONSTRAINT, WEIGHTS
from ontodex.scoring.kinds import kinds_of
from ontodex.scoring.rules import mine_rules


def random_scores(
    *good: float, questions: int = 300, groups: int = 3, seed: int = 0
) -> AnswerScores:
    """Return scores of queries whose answers stand out in the first of the scores."""
    random = np.random.default_rng(seed)
    others = random.normal(size=(WEIGHTS, questions, 50)).astype(np.float32)
    own = random.normal(size=(questions, WEIGHTS)) + np.pad(good, (0, WEIGHTS - len(good)))
    offsets = np.where(random.random((questions, 50)) < 0.1, -np.inf, 0.5).astype(np.float32)
    return AnswerScores(own, others, offsets, random.integers(0, groups, questions))


def test_of_very_many_entities_fewer_questions_are_asked(
    small_graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_out = small_graph.triples
    monkeypatch.setattr(module, "MIN_QUESTIONS", 5)
    for scored, expected in (
        (2**30, 2 * len(held_out)),
        (7 * small_graph.n_entities, 7),
        (small_graph.n_entities, 5),
    ):
        monkeypatch.setattr(module, "SCORED", scored)
        asked = draw_questions(held_out, small_graph, np.random.default_rng(0))
        assert len(asked) == expected


@pytest.mark.parametrize("power", [0.0, 0.5])
def test_finds_the_weights_that_scipy_finds(power: float) -> None:
    scores = random_scores(1.0, 0.5, 0.0, -0.3, 0.2)
    prior = np.array([[0.3, 0.2, 0.0, 0.0, 0.1, 0.1, 0.0, 0.2, 0.0, 0.1, -0.1, 0.3]] * 3)
    precision = np.eye(WEIGHTS) + 0.3
    found = fit(scores, scores.groups, prior, precision, power)
    for group in range(3):
        chosen = scores.groups == group

        def cost(weights: np.ndarray, chosen: np.ndarray = chosen) -> float:
            logits = (
                np.tensordot(weights, scores.others[:, chosen].astype(np.float64), 1)
                + scores.offsets[chosen]
            )
            mine = scores.own[chosen] @ weights
            total = logsumexp(np.concatenate([logits, mine[:, None]], axis=1), axis=1)
            away = weights - prior[0]
            loss = (1 - np.exp(power * (mine - total))) / power if power else total - mine
            return float(loss.sum() + 0.5 * away @ precision @ away)

        best = minimize(cost, prior[0], method="BFGS").x
        np.testing.assert_allclose(found[group], best, atol=5e-3)


def test_the_part_that_tells_more_counts_more() -> None:
    text = fit_weights(random_scores(2.0), 3)
    kge = fit_weights(random_scores(0.0, 2.0), 3)
    assert (text[:, 0] > 5 * text[:, 1]).all()
    assert (kge[:, 1] > 5 * kge[:, 0]).all()
    assert (text.shape, text.dtype) == ((4, WEIGHTS), np.float32)


def test_hopeless_questions_weigh_little_in_proportions_but_not_in_size() -> None:
    scores = random_scores(2.0, 1.0, questions=900, seed=2)
    hopeless = np.arange(len(scores.own)) % 3 == 0
    own = scores.own - 6.0 * hopeless[:, None] * np.eye(WEIGHTS)[0]
    spoilt = fit_weights(AnswerScores(own, scores.others, scores.offsets, scores.groups), 3)
    usual = fit_weights(scores, 3)
    assert (spoilt[:, 0] / spoilt[:, 1] > 0.5 * usual[:, 0] / usual[:, 1]).all()
    assert (spoilt[:, 0] < 0.5 * usual[:, 0]).all()


def test_a_relation_without_questions_has_the_weights_of_its_direction() -> None:
    scores = random_scores(1.0, 1.0, groups=6)
    asked = np.array([0, 1, 2, 5, 6, 7])[scores.groups]  # not the tails 3 and 4, nor the heads 8
    weights = fit_weights(dataclasses.replace(scores, groups=asked), 10)
    np.testing.assert_allclose(weights[3], weights[4], rtol=1e-5)
    np.testing.assert_allclose(weights[8], weights[9], rtol=1e-5)
    assert not np.allclose(weights[0], weights[3], rtol=1e-3)
    assert not np.allclose(weights[3], weights[8], rtol=1e-3)
    between = np.minimum(weights[3], weights[8]), np.maximum(weights[3], weights[8])
    assert ((between[0] - 1e-6 <= weights[10]) & (weights[10] <= between[1] + 1e-6)).all()


def test_a_relation_with_few_questions_is_weighed_as_those_of_its_direction() -> None:
    scores = random_scores(0.0, 0.0, 1.0, questions=2000, groups=4)
    own = scores.own.copy()
    own[scores.groups >= 2, 2] -= 2.0  # queries for heads have none
    few = scores.groups % 2 == 0  # one relation has no questions at all
    only = AnswerScores(own[few], scores.others[:, few], scores.offsets[few], scores.groups[few])
    weights = fit_weights(only, 4)[:, 2]
    assert weights[1] > 0.5 > -0.5 > weights[3]


def test_kge_never_counts_against_an_answer() -> None:
    assert (fit_weights(random_scores(1.0, -1.0), 3)[:, 1] == 0).all()


def test_the_text_always_counts_for_what_the_graph_does_not_have() -> None:
    scores = random_scores(-1.0, 1.0, questions=900)
    assert (fit_weights(scores, 3)[:, 0] == np.float32(0.1)).all()


def test_type_constraints_and_cases_may_count_against_an_answer() -> None:
    weights = fit_weights(random_scores(1.0, 0.0, *[-1.0] * (WEIGHTS - 2)), 3)
    assert (weights[:, TYPE_CONSTRAINT] < 0).all()
    assert (weights[:, CASE_BASED] < 0).all()
    assert (weights[:, KIND] == 0).all()  # a kind may not


def test_kge_that_says_nothing_is_no_obstacle() -> None:
    scores = random_scores(1.0)
    text = np.eye(WEIGHTS)[0]
    others = scores.others * text[:, None, None].astype(np.float32)
    silent = AnswerScores(scores.own * text, others, scores.offsets, scores.groups)
    assert np.isfinite(fit_weights(silent, 3)).all()


@pytest.mark.parametrize("candidates", [10, 1000])
def test_scores_are_what_the_vectors_say(
    small_graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, candidates: int
) -> None:
    monkeypatch.setattr(module, "LIKELY", candidates)
    random = np.random.default_rng(0)
    count = small_graph.n_relations
    text = random.normal(size=(small_graph.n_entities, 4)).astype(np.float32)
    moves = random.normal(size=(2 * count, 4)).astype(np.float32)
    kge = ComplEx(*(random.normal(size=(n, 6)).astype(np.float32) for n in (len(text), 2 * count)))
    held_out = small_graph.test
    vectors = Vectors([text])
    constraints = (
        random.normal(size=(len(text), 3)).astype(np.float32),
        random.normal(size=(2 * count, 3)).astype(np.float32),
    )
    links = KnownLinks(small_graph.triples, len(text), count)
    case_based = CaseBasedEvidence(links, vectors, Vectors([kge.entities]), mine_rules(links))
    asked = draw_questions(held_out, small_graph, random)
    heads = Heads(np.arange(len(text)), vectors, lambda rows, kinds: text[rows] * moves[kinds])
    kinds = kinds_of(small_graph)
    scores = score_answers(
        small_graph,
        vectors,
        asked,
        heads,
        kge,
        constraints,
        kinds,
        case_based,
        held_out,
        random,
        drawn=candidates,
    )
    true = {tuple(triple) for triple in np.concatenate([small_graph.triples, held_out]).tolist()}
    expected, asked = [], []
    for head, relation, tail in held_out.tolist():
        for entity, kind, answer in ((head, relation, tail), (tail, relation + count, head)):
            expected.append((text[entity] * moves[kind]) @ text[answer])
            triples = [
                (entity, relation, other) if kind < count else (other, relation, entity)
                for other in range(len(text))
            ]
            itself = (
                relation not in small_graph.reflexive and triples[entity] not in true
            )  # it is no answer
            asked.append(len(text) - sum(triple in true for triple in triples) - itself)
    np.testing.assert_allclose(np.sort(scores.own[:, 0]), np.sort(expected), atol=1e-5)
    by_case = np.zeros(7)
    for head, relation, tail in held_out.tolist():
        for entity, kind, answer in ((head, relation, tail), (tail, relation + count, head)):
            [(reached, found)] = case_based.scores(
                text[[entity]], np.array([entity]), np.array([kind])
            )
            by_case += found[:7, reached == answer].sum(axis=1)
    np.testing.assert_allclose(scores.own[:, CASE_BASED].sum(axis=0), by_case, rtol=1e-6)
    assert by_case.any()
    of_range = [
        constraints[0][answer] @ constraints[1][kind]
        for head, relation, tail in held_out.tolist()
        for kind, answer in ((relation, tail), (relation + count, head))
    ]
    np.testing.assert_allclose(np.sort(scores.own[:, 2]), np.sort(of_range), atol=1e-5)
    of_kind = [
        kinds.entities[answer] @ kinds.relations[kind]
        for head, relation, tail in held_out.tolist()
        for kind, answer in ((relation, tail), (relation + count, head))
    ]
    np.testing.assert_allclose(np.sort(scores.own[:, 3]), np.sort(of_kind), atol=1e-5)
    likely = min(candidates, len(text))
    best, drawn = scores.offsets[:, :likely], scores.offsets[:, likely:]
    usual = np.isfinite(best)
    assert not best[usual].any()
    assert sorted(np.exp(scores.offsets).sum(axis=1).round(3).tolist()) == sorted(
        asked
    )  # each false answer once
    start = np.array(module.START)[(scores.groups >= count).astype(int)]
    rough = np.einsum("qs,sqc->qc", start, scores.others)
    lowest = np.where(usual, rough[:, :likely], np.inf).min(axis=1)
    assert np.all(np.where(np.isfinite(drawn), rough[:, likely:], -np.inf).max(axis=1) <= lowest)
    assert np.isfinite(drawn).any() == (candidates < len(text))


def test_no_relation_asks_more_than_its_share(
    small_graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PER_RELATION", 3)
    held_out = small_graph.triples
    vectors = Vectors([np.ones((small_graph.n_entities, 2), dtype=np.float32)])
    relations = np.ones((2 * small_graph.n_relations, 2), dtype=np.float32)
    kge = ComplEx(vectors.shards[0], relations)
    links = KnownLinks(held_out, small_graph.n_entities, small_graph.n_relations)
    case_based = CaseBasedEvidence(links, vectors, vectors, mine_rules(links))
    random = np.random.default_rng(0)
    asked = draw_questions(held_out, small_graph, random)
    heads = Heads(np.arange(small_graph.n_entities), vectors, kge.queries)
    constraints = vectors.shards[0], relations
    kinds = kinds_of(small_graph)
    scores = score_answers(
        small_graph, vectors, asked, heads, kge, constraints, kinds, case_based, held_out, random
    )
    used = np.bincount(held_out[:, 1], minlength=small_graph.n_relations)
    assert np.bincount(scores.groups).tolist() == np.minimum(np.tile(used, 2), 3).tolist()


def test_new_heads_have_nothing_but_their_text(small_graph: KnowledgeGraph) -> None:
    random = np.random.default_rng(0)
    count, size = small_graph.n_relations, small_graph.n_entities
    text, renamed = (random.normal(size=(size, 4)).astype(np.float32) for _ in range(2))
    moves = random.normal(size=(2 * count, 4)).astype(np.float32)
    kge = ComplEx(*(random.normal(size=(n, 6)).astype(np.float32) for n in (size, 2 * count)))
    constraints = tuple(random.normal(size=(n, 3)).astype(np.float32) for n in (size, 2 * count))
    links = KnownLinks(small_graph.triples, size, count)
    vectors = Vectors([text])
    case_based = CaseBasedEvidence(links, vectors, Vectors([kge.entities]), mine_rules(links))
    asked = draw_questions(small_graph.test, small_graph, random)
    rows = np.unique(asked[:, 0])
    named = Vectors([renamed[rows]])
    heads = Heads(rows, named, lambda places, kinds: renamed[rows[places]] * moves[kinds], new=True)
    kinds = kinds_of(small_graph)
    scores = score_answers(
        small_graph,
        vectors,
        asked,
        heads,
        kge,
        constraints,
        kinds,
        case_based,
        small_graph.test,
        random,
    )
    head, kind, tail = asked.T
    np.testing.assert_allclose(
        scores.own[:, 0], ((renamed[head] * moves[kind]) * text[tail]).sum(axis=1), rtol=1e-5
    )
    np.testing.assert_allclose(
        scores.own[:, 2], (constraints[0][tail] * constraints[1][kind]).sum(axis=1), rtol=1e-5
    )
    for silent in (1, *range(5, 11)):  # ComplEx, known tails, similar links, rules
        assert not scores.own[:, silent].any()
        assert not scores.others[silent].any()
    for place, (entity, relation, answer) in enumerate(asked.tolist()):
        apart = small_graph.triples[(small_graph.triples[:, [0, 2]] != entity).all(axis=1)]
        without = CaseBasedEvidence(
            KnownLinks(apart, size, count),
            vectors,
            Vectors([kge.entities]),
            mine_rules(links),
        )
        [(reached, found)] = without.scores(renamed[[entity]], np.array([-1]), np.array([relation]))
        assert scores.own[place, 4] == pytest.approx(found[0, reached == answer].sum(), abs=1e-6)
    assert scores.own[:, 4].any()
