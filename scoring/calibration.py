"""Calibration: probabilities of the best answers to questions about links.

Scores rank the answers to one question; probabilities compare answers to different questions. A
logistic regression, fitted to held-out links, predicts whether an answer is true. Its inputs are
the share of the question's softmax that the answer has, and its logarithm, the share that known
answers have, the number of known answers, the confidence of rules, how often entities with as many
known answers have one more, and the votes of the entities that are linked most alike.

A second regression is for a question that somebody asks, and that therefore has an answer. It is
fitted to the held-out links' own questions, and its inputs are the same for all answers but the
share, so that probabilities are in the order of the scores.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.logistic import regression, sigmoid
from ontodex.geometry.vectors import Vectors
from ontodex.graph.arrays import distinct
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.case_based import CaseBasedEvidence, by_rules
from ontodex.scoring.graph_features import GraphFeatures, Offsets, QueryFunction, add_offsets
from ontodex.scoring.rules import Rules

__all__ = [
    "BEST",
    "BLOCK",
    "BestAnswers",
    "answerable",
    "asked_probabilities",
    "best_answers",
    "fit_calibration",
    "leave_out",
    "missing_probabilities",
    "probabilities",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

BEST = 20
"""Number of best answers to a question that get a probability."""

QUESTIONS = 4096
"""Maximal number of questions that the calibration is fitted to."""

LEAST_TRUE = 20
"""Minimal number of true answers to fit the calibration; with fewer, nothing is fitted."""

PSEUDOCOUNT = 0.5
"""Number of known answers that is assumed for a question without known answers."""

BLOCK = 64
"""Number of questions in one block."""

UNCALIBRATED = (1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
"""Coefficients if nothing was fitted.

The odds of an answer are then its share of the softmax, times the number of known tails, times the
probabilities that the question has further tails and that the answer has further heads.
"""

MUCH_LEFT, LEAST_LEFT = -3.0, -20.0
"""Bounds of the log share of the softmax that known tails leave to other answers.

Above ``MUCH_LEFT`` the share has no effect; below ``LEAST_LEFT`` it is clipped.
"""

MANY_KNOWN = 1
"""Place of the number of known tails among the features."""

SURE = 0.999
"""Largest share of an answer among the best that the odds tell apart."""

SMOOTHING = 0.01
"""Added to the rules' score of an answer, and to 1 minus this score, before the logarithm."""


ScoreFunction = Callable[[Rows, Rows], tuple[NDArray[np.float32], Sequence[Offsets]]]
"""Function that scores all entities as answers to questions.

Its arguments are the entities and the relations of the questions. It returns log-odds of shape
(questions, entities), up to a constant for each question, and the scores of rules
(:meth:`ontodex.scoring.rules.Rules.scores`).
"""


@dataclass(frozen=True, eq=False)
class BestAnswers:
    """The best answers to some questions.

    Attributes:
        entities: Entity of each answer's question, of shape (answers,).
        relations: Relation of each answer's question, of shape (answers,). Numbers R (the number of
            relations) and above are inverses.
        tails: Row of each answer, of shape (answers,).
        features: Inputs of the calibration, of shape (9, answers):

            - log share of the question's softmax that the answer has,
            - log number of known tails of the question,
            - logit of the rules' score of the answer,
            - the same logit if it is positive, otherwise 0,
            - log probability that the question has further tails
              (:meth:`~ontodex.graph.known_links.KnownLinks.going_on`),
            - log probability that the answer has further heads,
            - log share of the softmax that known tails leave to other answers, minus
              :data:`MUCH_LEFT`, clipped to at most 0,
            - the share of the question's softmax itself, which tells apart large shares,
            - votes of the neighbours by links of both ends
              (:meth:`~ontodex.scoring.link_similarity.LinkSimilarity.votes`).
        among_best: Log share of the softmax over the best answers, of shape (answers,).
    """

    entities: Rows
    relations: Rows
    tails: Rows
    features: Floats
    among_best: Floats


def answerable(links: KnownLinks, rules: Rules, relations: Rows | None = None) -> Rows:
    """Return the questions that have a known answer or an answer by a confident rule.

    Args:
        links: Known links.
        rules: Rules mined from the known links.
        relations: If given, only questions with these relations (or inverses) are returned.

    Returns:
        Entities and relations, ``int64`` of shape (n, 2), ordered by relation.
    """
    asked = np.concatenate([links.triples[:, :2], rules.surely_answered(links)])
    if relations is not None:
        asked = asked[np.isin(asked[:, 1], relations)]
    relation, entity = np.divmod(
        distinct(asked[:, 1] * links.n_entities + asked[:, 0]), links.n_entities
    )
    return np.stack([entity, relation], axis=1)


def best_answers(
    questions: Rows,
    score: ScoreFunction,
    links: KnownLinks,
    reflexive: Collection[int],
    no_answers: Callable[[int, int], Rows] | None = None,
    *,
    case_based: CaseBasedEvidence | None = None,
) -> Iterator[BestAnswers]:
    """Yield the best answers to questions, except known ones, in blocks of questions.

    Args:
        questions: Entities and relations, of shape (n, 2).
        score: Scores all entities; see :data:`ScoreFunction`.
        links: Known links.
        reflexive: Relations that may link an entity to itself.
        no_answers: From the entity and relation of a question, returns rows that count in the
            softmax of the question but are not yielded as answers.
        case_based: Gives the votes; without, no answer has any.
    """
    for start in range(0, len(questions), BLOCK):
        entities, relations = questions[start : start + BLOCK].T
        scores, rules = score(entities, relations)
        of_known = np.array(
            [
                _log_sum(scores[row, known])
                for row, known in enumerate(links.tails(entities, relations))
            ]
        )
        leave_out(scores, links, entities, relations, reflexive)
        of_others = np.array([_log_sum(row) for row in scores])
        if no_answers is not None:
            for row, (entity, relation) in enumerate(
                zip(entities.tolist(), relations.tolist(), strict=True)
            ):
                scores[row, no_answers(entity, relation)] = -np.inf
        best = min(BEST, scores.shape[1])
        tails = np.argpartition(scores, -best, axis=1)[:, -best:]
        shares = np.take_along_axis(scores, tails, axis=1) - of_others[:, None]
        by_rules = np.stack(
            [_looked_up(*of_one, rows) for of_one, rows in zip(rules, tails, strict=True)]
        )
        known = of_known - of_others
        votes = np.zeros(tails.shape)
        if case_based is not None:
            votes = case_based.link_similarity.votes(entities, relations, tails)
        features = _features(links, entities, relations, tails, shares, by_rules, known, votes)
        at, places = np.nonzero(np.isfinite(shares))
        among_best = shares[at, places] - np.logaddexp.reduce(shares, axis=1)[at]
        yield BestAnswers(
            entities[at],
            relations[at],
            tails[at, places],
            features[:, at, places],
            among_best,
        )


def _features(
    links: KnownLinks,
    entities: Rows,
    relations: Rows,
    tails: Rows,
    shares: Floats,
    by_rules: Floats,
    known: Floats,
    votes: Floats,
) -> Floats:
    """Return features of answers, see :class:`BestAnswers`, of shape (9, questions, answers).

    Args:
        links: Known links.
        entities: Entity of each question, of shape (questions,).
        relations: Relation of each question, of shape (questions,).
        tails: Answers, of shape (questions, answers).
        shares: Log share of the softmax of each answer, of shape (questions, answers).
        by_rules: Score of each answer by rules, of shape (questions, answers).
        known: Log of the softmax mass of known answers divided by the mass of all other entities,
            of shape (questions,).
        votes: Votes for each answer, of shape (questions, answers).
    """
    counts = links.spans(entities, relations)[1]
    left = np.clip(-np.logaddexp(0, known), LEAST_LEFT, MUCH_LEFT) - MUCH_LEFT
    many, here, full = (
        np.broadcast_to(of_question[:, None], shares.shape)
        for of_question in (
            np.log(np.maximum(counts, PSEUDOCOUNT)),
            links.going_on(entities, relations),
            left,
        )
    )
    there = links.going_on(tails, links.inverse(relations)[:, None])
    logits = np.log(by_rules + SMOOTHING) - np.log1p(SMOOTHING - by_rules)
    itself = np.exp(np.minimum(shares, 0.0))
    surely = np.maximum(logits, 0.0)
    return np.stack([shares, many, logits, surely, here, there, full, itself, votes])


def _log_sum(scores: NDArray[np.float32]) -> float:
    """Return the log of the sum of exponentials; a large negative number for an empty sum."""
    top = max(float(scores.max(initial=-np.inf)), float(np.finfo(np.float32).min))
    return float(np.log(max(np.exp(scores - np.float32(top)).sum(dtype=np.float64), 1e-300))) + top


def leave_out(
    scores: NDArray[np.float32],
    links: KnownLinks,
    entities: Rows,
    relations: Rows,
    reflexive: Collection[int],
) -> None:
    """Set the scores of known answers, and of each question's entity, to minus infinity.

    Args:
        scores: Scores of all entities, of shape (questions, entities); changed in place.
        links: Known links.
        entities: Entity of each question.
        relations: Relation of each question. Numbers R (the number of relations) and above are
            inverses.
        reflexive: Relations that may link an entity to itself. In questions with these relations
            (or inverses), the score of the question's entity stays.
    """
    for row, known in enumerate(links.tails(entities, relations)):
        scores[row, known] = -np.inf
    apart = np.flatnonzero(~np.isin(relations % (links.n_relations // 2), list(reflexive)))
    scores[apart, entities[apart]] = -np.inf


def _looked_up(rows: Rows, values: Floats, wanted: Rows) -> Floats:
    """Return the value of each wanted row, or 0 if it is not in ``rows``, which are ascending."""
    if not len(rows):
        return np.zeros(len(wanted))
    places = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[places] == wanted, values[places], 0.0)


def probabilities(features: Floats, calibration: NDArray[np.floating] | None) -> Floats:
    """Return the probability of each answer, of shape (answers,).

    Args:
        features: Features of the answers, see :class:`BestAnswers`.
        calibration: Coefficients that :func:`fit_calibration` returned. ``None`` assumes that the
            number of missing links is proportional to the number of known links
            (:data:`UNCALIBRATED`).
    """
    weights = np.asarray(UNCALIBRATED if calibration is None else calibration, dtype=np.float64)
    # Indexes that were built before the last features were added have no coefficients for them.
    return sigmoid(weights[:-1] @ features[: len(weights) - 1] + weights[-1])


def missing_probabilities(
    answers: BestAnswers,
    calibration: NDArray[np.floating] | None,
    asked: NDArray[np.floating] | None,
) -> Floats:
    """Return the probability that each answer is a missing link, of shape (answers,).

    No answer is more probable than if its question is known to have one.

    Args:
        answers: The answers.
        calibration: See :func:`probabilities`.
        asked: See :func:`asked_probabilities`; ``None`` if nothing was fitted.
    """
    found = probabilities(answers.features, calibration)
    if asked is None or asked[0] <= 0:
        return found
    most = _asked(_log_odds(answers.among_best), answers.features[MANY_KNOWN], asked)
    return np.minimum(found, most)


def asked_probabilities(
    scores: Floats, known: int, calibration: NDArray[np.floating]
) -> Floats | None:
    """Return the probability of each answer to a question that has one.

    Args:
        scores: Log-odds of the best answers that are not known, the best :data:`BEST` first, up to
            a constant.
        known: Number of known answers.
        calibration: The second result of :func:`fit_calibration`.

    Returns:
        Probabilities of shape (answers,); ``None`` if the fit gave better scores less probability.
    """
    if calibration[0] <= 0:
        return None
    share = _log_odds(scores - np.logaddexp.reduce(scores[:BEST]))
    return _asked(share, np.log(max(known, PSEUDOCOUNT)), calibration)


def _asked(share: Floats, log_known: Floats | float, calibration: NDArray[np.floating]) -> Floats:
    """Return probabilities, given the log-odds of shares and the log numbers of known answers."""
    of_share, of_known, offset = calibration.astype(np.float64).tolist()
    return sigmoid(of_share * share + of_known * log_known + offset)


def _log_odds(log_shares: Floats) -> Floats:
    """Return the log-odds of shares, of which the largest count as :data:`SURE`."""
    capped = np.minimum(log_shares, np.log(SURE))
    return np.asarray(capped - np.log1p(-np.exp(capped)))


def fit_calibration(
    links: KnownLinks,
    held_out: KnownLinks,
    vectors: Vectors,
    query: QueryFunction,
    graph_features: GraphFeatures,
    case_based: CaseBasedEvidence,
    reflexive: Collection[int],
    random: np.random.Generator,
    *,
    quiet: bool = False,
) -> tuple[NDArray[np.float32] | None, NDArray[np.float32] | None]:
    """Fit both calibrations to held-out links among the best answers, by logistic regression.

    Args:
        links: Known links.
        held_out: Held-out true links.
        vectors: Entity vectors of the link space.
        query: Makes queries of the link space.
        graph_features: Features learned from the known links.
        case_based: Case-based evidence from the known links.
        reflexive: Relations that may link an entity to itself.
        random: Draws the questions.
        quiet: Whether to hide the progress bar on stderr.

    Returns:
        ``float32`` of shape (10,): a coefficient for each feature, and the intercept; and of shape
        (3,), for :func:`asked_probabilities`. Each is ``None`` if fewer than :data:`LEAST_TRUE`
        answers are true.
    """

    def score(entities: Rows, relations: Rows) -> tuple[NDArray[np.float32], Sequence[Offsets]]:
        given = vectors[entities]
        queries = graph_features.queries(query(entities, relations), given, entities, relations)
        scores = np.empty((len(entities), len(vectors)), dtype=np.float32)
        for first, rows in vectors.blocks():
            here = slice(first, first + len(rows))
            others = graph_features.entities[np.arange(here.start, here.stop)]
            scores[:, here] = (
                queries[:, : vectors.dim] @ rows.T + queries[:, vectors.dim :] @ others.T
            )
        found = list(case_based.scores(given, entities, relations))
        add_offsets(scores, graph_features.offsets(found, entities, relations))
        return scores, [(rows, by_rules(values)) for rows, values in found]

    from tqdm import tqdm

    questions = random.permutation(answerable(links, graph_features.rules))[:QUESTIONS]
    features, truth = [np.zeros((len(UNCALIBRATED) - 1, 0))], [np.zeros(0, dtype=bool)]
    among_best, has_answer = [np.zeros(0)], [np.zeros(0, dtype=bool)]
    blocks = -(-len(questions) // BLOCK)
    found = best_answers(questions, score, links, reflexive, case_based=case_based)
    for best in tqdm(
        found,
        "calibrating",
        blocks,
        unit="question",
        unit_scale=BLOCK,
        file=sys.stderr,
        disable=quiet,
    ):
        features.append(best.features)
        truth.append(held_out.known(best.entities, best.relations, best.tails))
        among_best.append(best.among_best)
        has_answer.append(held_out.spans(best.entities, best.relations)[1] > 0)
    every, true, asked = (
        np.concatenate(features, axis=1),
        np.concatenate(truth),
        np.concatenate(has_answer),
    )
    of_asked = np.stack([_log_odds(np.concatenate(among_best)), every[MANY_KNOWN]])[:, asked]
    return (
        _fitted(every, true, UNCALIBRATED[:-1]),
        _fitted(of_asked, true[asked], (1.0, 0.0)),
    )


def _fitted(
    features: Floats, true: NDArray[np.bool_], prior: Sequence[float]
) -> NDArray[np.float32] | None:
    """Return the coefficients of a logistic regression; ``None`` if too few answers are true."""
    if not LEAST_TRUE <= np.count_nonzero(true) < len(true):
        return None
    weights, offset = regression(features, true, prior)
    return np.array([*weights, offset], dtype=np.float32)
