"""Calibration: scores of different queries become comparable probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

from ontodex.geometry.logistic import sigmoid
from ontodex.geometry.vectors import Vectors
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring import calibration as module
from ontodex.scoring.calibration import (
    BEST,
    BestAnswers,
    answerable,
    asked_probabilities,
    best_answers,
    fit_calibration,
    probabilities,
)
from ontodex.scoring.case_based import SCORES, CaseBasedEvidence, by_rules
from ontodex.scoring.graph_features import WEIGHTS, GraphFeatures
from ontodex.scoring.rules import Rules, no_rules

NONE = (np.zeros(0, dtype=np.int64), np.zeros(0))


def rules_of(*bodies: tuple[float, int, int, int]) -> Rules:
    return Rules(
        np.array([body for _, *body in bodies], dtype=np.int32),
        np.array([one for one, *_ in bodies], dtype=np.float32),
    )


def test_every_question_that_has_or_surely_has_an_answer_is_asked_once_relation_by_relation() -> (
    None
):
    links = KnownLinks(np.array([[0, 1, 2], [0, 1, 3], [1, 0, 2]]), 4, 2)
    assert answerable(links, no_rules()).tolist() == [[1, 0], [0, 1], [2, 2], [2, 3], [3, 3]]
    assert answerable(links, no_rules(), np.array([1, 3])).tolist() == [[0, 1], [2, 3], [3, 3]]
    assert answerable(KnownLinks(np.zeros((0, 3), dtype=int), 4, 2), no_rules()).shape == (0, 2)
    rules = rules_of((0.9, 0, 1, -1), (0.5, 0, 2, -1), (0.9, 0, 3, 1), (0.8, 1, 3, -1))
    assert rules.surely_answered(links).tolist() == [
        [0, 0],
        [2, 1],
        [3, 1],
    ]  # from 0 by relation 1, and by its inverse
    assert answerable(links, rules, np.array([0, 2])).tolist() == [[0, 0], [1, 0], [2, 2]]


def asked(questions, links, scores, rules=None, reflexive=(), passed_over=None) -> BestAnswers:
    """Return the calibration features of queries with given scores."""
    said = [NONE] * len(questions) if rules is None else rules
    (best,) = best_answers(
        np.array(questions), lambda *_: (scores.copy(), said), links, reflexive, passed_over
    )
    return best


def test_known_answers_and_self_links_are_left_out() -> None:
    links = KnownLinks(np.array([[0, 0, 2], [1, 1, 1]]), 4, 2)
    best = asked([[0, 0], [2, 2], [0, 3]], links, np.zeros((3, 4), dtype=np.float32), reflexive=[1])
    found = {(entity, relation): set() for entity, relation in ((0, 0), (2, 2), (0, 3))}
    for entity, relation, tail in zip(
        *map(np.ndarray.tolist, (best.entities, best.relations, best.tails)), strict=True
    ):
        found[entity, relation].add(tail)
    assert list(found.values()) == [{1, 3}, {1, 3}, {0, 1, 2, 3}]


def test_calibration_features_of_the_best_answers() -> None:
    scores = np.random.default_rng(0).normal(size=(2, 60)).astype(np.float32)
    links = KnownLinks(np.array([[55, 0, tail] for tail in (51, 52, 53, 54)]), 60, 1)
    scores[0, 51:55] += 9  # known answers
    scores[0, 9] = np.delete(scores[0], [51, 52, 53, 54]).max() + 1  # the best new answer
    left = scores.astype(np.float64)
    left[0, 51:56] = left[1, 56] = -np.inf
    shares = log_softmax(left, axis=1)
    over = int(np.argmax(np.where(np.arange(60) == 9, -np.inf, left[0])))
    rules = [(np.array([3, 9]), np.array([0.5, 0.9])), NONE]
    best = asked(
        [[55, 0], [56, 0]],
        links,
        scores,
        rules,
        passed_over=lambda entity, _: np.array([over] * (entity == 55), dtype=int),
    )
    first, row = best.entities == 55, best.entities - 55
    assert np.bincount(row).tolist() == [BEST, BEST]
    assert over not in best.tails[first]  # though it takes its share
    expected = np.sort(np.delete(shares[0], over))[-BEST:]
    np.testing.assert_allclose(np.sort(best.features[0, first]), expected, rtol=1e-5)
    np.testing.assert_allclose(best.features[0], shares[row, best.tails], rtol=1e-5)
    np.testing.assert_allclose(best.features[7], np.exp(best.features[0]))
    np.testing.assert_allclose(best.features[1], np.log([4, 0.5])[row])
    (at,) = np.flatnonzero(first & (best.tails == 9))
    np.testing.assert_allclose(best.features[2:4, at], np.log(0.91 / 0.11), rtol=1e-6)
    silent = ~first | ~np.isin(best.tails, [3, 9])
    np.testing.assert_allclose(
        best.features[4], np.log([0.5 / 2, 1])[row]
    )  # the one that has four tails, and none more
    np.testing.assert_allclose(
        best.features[5], np.where(np.isin(best.tails, [51, 52, 53, 54]), np.log(0.5 / 5), 0)
    )
    mass = np.exp(scores.astype(np.float64))
    left = (
        1 - mass[0, 51:55].sum() / np.delete(mass[0], 55).sum()
    )  # of what is not asked about itself
    np.testing.assert_allclose(
        best.features[6], np.where(first, min(np.log(left) + 3, 0), 0), rtol=1e-5
    )
    np.testing.assert_allclose(
        best.features[2:4, silent].T, [[np.log(0.01 / 1.01), 0.0]] * silent.sum(), rtol=1e-6
    )


def test_a_question_whose_answers_are_all_left_out_has_none() -> None:
    links = KnownLinks(np.array([[0, 0, 1], [0, 0, 2], [1, 0, 0]]), 3, 1)
    scores = np.zeros((2, 3), dtype=np.float32)
    best = asked([[0, 0], [1, 0]], links, scores)
    assert (best.entities.tolist(), best.tails.tolist()) == ([1], [2])
    np.testing.assert_allclose(best.features[:2, 0], [0.0, np.log(1)], atol=1e-7)


def test_questions_are_asked_some_at_a_time() -> None:
    links = KnownLinks(np.array([[0, 0, 1]]), 200, 1)
    questions, sizes = np.stack([np.arange(150), np.zeros(150, dtype=int)], axis=1), []

    def scored(entities, relations):
        sizes.append(len(entities))
        return np.zeros((len(entities), 200), dtype=np.float32), [NONE] * len(entities)

    found = np.concatenate([best.entities for best in best_answers(questions, scored, links, [])])
    assert np.unique(found).tolist() == list(range(150))
    assert sizes == [64, 64, 22]


def test_probabilities_with_a_calibration_and_without() -> None:
    features = np.array(
        [
            *([-1.0, -20.0], [2.0, 0.0], [1.0, -4.0], [1.0, 0.0]),
            *([0.0, -1.0], [-2.0, 0.0], [-3.0, -3.0], [0.37, 0.0], [1.5, 0.0]),
        ]
    )
    calibration = np.array([1.0, 0.5, 0.2, -0.1, 0.3, -0.4, 0.7, 2.0, 0.6, -3.0], dtype=np.float32)
    np.testing.assert_allclose(
        probabilities(features, calibration),
        sigmoid(calibration[:9].astype(float) @ features - 3.0),
        rtol=1e-6,
    )
    np.testing.assert_allclose(  # of an index that has no coefficients for the last features
        probabilities(features, np.delete(calibration, [7, 8])),
        sigmoid(calibration[:7].astype(float) @ features[:7] - 3.0),
        rtol=1e-6,
    )
    np.testing.assert_allclose(probabilities(features, None), sigmoid(np.array([-1.0, -21.0])))


@pytest.mark.parametrize("hidden", [40, 5])
def test_the_calibration_is_fitted_to_enough_held_out_triples(
    hidden: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entities are linked within groups of similar vectors; some links are held out."""
    random = np.random.default_rng(1)
    monkeypatch.setattr(module, "QUESTIONS", 100)
    vectors = np.repeat(np.eye(6, dtype=np.float32), 10, axis=0)
    pairs = np.array(
        [
            [one, 0, other]
            for one in range(60)
            for other in range(60)
            if one // 10 == other // 10 != one % 6
        ]
    )
    pairs = random.permutation(pairs[pairs[:, 0] != pairs[:, 2]])
    links, held_out = KnownLinks(pairs[hidden:], 60, 1), KnownLinks(pairs[:hidden], 60, 1)
    weights = np.zeros((2, 3, WEIGHTS), dtype=np.float32)
    weights[:, :, 0] = 5.0
    structure = GraphFeatures(
        Vectors([np.ones((60, 2), dtype=np.float32)]), np.zeros((2, 2), dtype=np.float32),
        *np.zeros((2, 2, 0), dtype=np.float32), no_rules(), weights,
    )  # fmt: skip
    case_based = CaseBasedEvidence(links, Vectors([vectors]), structure.kge_vectors(), no_rules())
    calibration, asked = fit_calibration(
        links,
        held_out,
        Vectors([vectors]),
        lambda rows, _: vectors[rows],
        structure,
        case_based,
        [],
        random,
    )
    if hidden == 5:
        assert calibration is None
        assert asked is None
        return
    assert calibration is not None
    assert asked is not None
    questions = answerable(links, no_rules())

    def scored(rows, _):
        return 5.0 * vectors[rows] @ vectors.T, [NONE] * len(rows)

    every = list(best_answers(questions, scored, links, [], case_based=case_based))
    for best in every:
        votes = [case_based.link_similarity.votes(*part) for part in zip(
            best.entities[:, None], best.relations[:, None], best.tails[:, None, None], strict=True
        )]  # fmt: skip
        np.testing.assert_allclose(best.features[8], np.ravel(votes))
    likely = np.concatenate([probabilities(best.features, calibration) for best in every])
    true = np.concatenate(
        [held_out.known(best.entities, best.relations, best.tails) for best in every]
    )
    assert likely[true].mean() > 3 * likely[~true].mean()
    assert likely.sum() == pytest.approx(true.sum(), rel=0.3)
    sums = {True: 0.0, False: 0.0}
    for entity, relation in questions.tolist():
        own = [best for best in every if len(best.tails)]
        here = [(best, (best.entities == entity) & (best.relations == relation)) for best in own]
        best, at = next((best, at) for best, at in here if at.any())
        right = held_out.known(best.entities[at], best.relations[at], best.tails[at])
        if not held_out.spans(np.array([entity]), np.array([relation]))[1][0]:
            continue
        scores = best.features[0, at]
        order = np.argsort(-scores)
        known = round(float(np.exp(best.features[1, at][0])))
        of_question = asked_probabilities(scores[order], known, asked)
        assert of_question is not None
        assert np.all(np.diff(of_question) <= 0)
        sums[True] += float(of_question.sum())
        sums[False] += int(right.sum())
    assert sums[True] == pytest.approx(sums[False], rel=0.3)


def test_rules_are_at_their_place_among_case_based_scores() -> None:
    links = KnownLinks(np.array([[0, 0, 1], [0, 1, 1], [2, 0, 3]]), 4, 2)
    rules = no_rules()
    rules = type(rules)(np.array([[1, 0, -1]], dtype=np.int32), np.array([0.5], dtype=np.float32))
    texts = Vectors([np.eye(4, dtype=np.float32)])
    [(rows, said)] = CaseBasedEvidence(links, texts, texts, rules).scores(
        texts[np.array([2])], np.array([2]), np.array([1])
    )
    assert said.shape == (SCORES, len(rows))
    np.testing.assert_allclose(by_rules(said)[rows == 3], 0.5)


def test_probabilities_of_a_question_do_not_depend_on_a_constant() -> None:
    scores = np.array([4.0, 2.0, 1.0])
    fitted = np.array([1.5, 0.2, 0.3], dtype=np.float32)
    one, other = (asked_probabilities(scores + more, 2, fitted) for more in (0.0, 7.0))
    assert one is not None
    assert other is not None
    np.testing.assert_allclose(one, other)
    share = np.exp(scores[0]) / np.exp(scores).sum()
    log_odds = 1.5 * np.log(share / (1 - share)) + 0.2 * np.log(2) + 0.3
    assert one[0] == pytest.approx(1 / (1 + np.exp(-log_odds)))
    assert asked_probabilities(np.array([20.0, 0.0]), 2, fitted) == pytest.approx(
        asked_probabilities(np.array([30.0, 0.0]), 2, fitted), abs=1e-4
    )
    assert asked_probabilities(scores, 2, -fitted) is None
