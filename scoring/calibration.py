"""Calibration: probabilities of the best answers to questions about links.

Scores rank the answers to one question; probabilities compare answers to different questions. A
logistic regression, fitted to held-out links, predicts whether an answer is true from its share of
the question's softmax, the number of known answers, the confidence of rules, how usual further
answers are, and the share of the softmax that known answers take.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ontodex.geometry.logistic import regression, sigmoid
from ontodex.geometry.vectors import Vectors
from ontodex.graph.arrays import distinct
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.case_based import RULES, CaseBasedEvidence
from ontodex.scoring.graph_features import GraphFeatures, Offsets, QueryFunction, add_offsets
from ontodex.scoring.rules import Rules

__all__ = [
    "BEST",
    "BLOCK",
    "BestAnswers",
    "answerable",
    "best_answers",
    "fit_calibration",
    "leave_out",
    "probabilities",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

BEST = 20
"""Number of answers to a question that are considered."""

QUESTIONS = 4096
"""Maximal number of questions that the calibration is fitted to."""

LEAST_TRUE = 20
"""Minimal number of true answers among them; with fewer, nothing is fitted."""

PSEUDOCOUNT = 0.5
"""Number of known answers assumed of a question that has none."""

BLOCK = 64
"""Questions in one block."""

UNCALIBRATED = (1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0)
"""Coefficients if nothing was fitted: the share of the softmax times the number of known tails."""

MUCH_LEFT, LEAST_LEFT = -3.0, -20.0
"""Bounds of the logarithm of the share that known tails leave: above the first it has no effect,
below the second it is clipped."""

SMOOTHING = 0.01
"""Added to the probability that rules give an answer, and to its complement."""


ScoreFunction = Callable[[Rows, Rows], tuple[NDArray[np.float32], Sequence[Offsets]]]
"""From entities and relations of questions to the log-odds of all entities as answers, up to a
constant for each question, of shape (questions, entities); and the scores of rules
(:meth:`ontodex.scoring.rules.Rules.scores`)."""


@dataclass(frozen=True, eq=False)
class BestAnswers:
    """The best answers to some questions.

    Attributes:
        entities: Entity of the question, of shape (answers,).
        relations: Relation of the question, likewise; those from R on are inverses.
        tails: Row of the answer, likewise.
        features: Inputs of the calibration, of shape (7, answers): log share of the question's
            softmax, log number of known tails of the question, logit of the rules' score, the same
            if positive and else 0, how usual further tails of the question are
            (:meth:`~ontodex.graph.known_links.KnownLinks.going_on`), how usual further heads of the
            answer are, and the log share of the softmax that known tails leave, clipped, at most 0.
    """

    entities: Rows
    relations: Rows
    tails: Rows
    features: Floats


def answerable(links: KnownLinks, rules: Rules, relations: Rows | None = None) -> Rows:
    """Return the questions that have a known answer, or one by a confident rule.

    Args:
        links: Known links.
        rules: Rules mined from them.
        relations: Restrict to these relations and inverses.

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
) -> Iterator[BestAnswers]:
    """Yield the best answers to questions that are not known, and their features, in blocks.

    Args:
        questions: Entities and relations, of shape (n, 2).
        score: Scores all entities.
        links: Known links.
        reflexive: Relations that may link an entity to itself.
        no_answers: Returns entities that count in the softmax of a question, but are no answers to
            it.
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
        features = _features(links, entities, relations, tails, shares, by_rules, known)
        at, places = np.nonzero(np.isfinite(shares))
        yield BestAnswers(entities[at], relations[at], tails[at, places], features[:, at, places])


def _features(
    links: KnownLinks,
    entities: Rows,
    relations: Rows,
    tails: Rows,
    shares: Floats,
    by_rules: Floats,
    known: Floats,
) -> Floats:
    """Return features of answers, see :class:`BestAnswers`, of shape (7, questions, answers).

    Args:
        links: Known links.
        entities: Entity of each question, of shape (questions,).
        relations: Its relation, likewise.
        tails: Answers, of shape (questions, answers).
        shares: Log shares of the softmax, of that shape.
        by_rules: Scores of rules, of that shape.
        known: Log ratio of the softmax of known answers and that of all others, of shape
            (questions,).
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
    return np.stack([shares, many, logits, np.maximum(logits, 0.0), here, there, full])


def _log_sum(scores: NDArray[np.float32]) -> float:
    """Return the log of the sum of exponentials, bounded from below for an empty sum."""
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
        relations: Its relation; those from R on are inverses.
        reflexive: Relations that may link an entity to itself; its score stays.
    """
    for row, known in enumerate(links.tails(entities, relations)):
        scores[row, known] = -np.inf
    apart = np.flatnonzero(~np.isin(relations % (links.n_relations // 2), list(reflexive)))
    scores[apart, entities[apart]] = -np.inf


def _looked_up(rows: Rows, values: Floats, wanted: Rows) -> Floats:
    """Return the values of wanted rows, 0 for others; ``rows`` are ascending."""
    if not len(rows):
        return np.zeros(len(wanted))
    places = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[places] == wanted, values[places], 0.0)


def probabilities(features: Floats, calibration: NDArray[np.floating] | None) -> Floats:
    """Return the probability of each answer, of shape (answers,).

    Args:
        features: Features of the answers, see :class:`BestAnswers`.
        calibration: Coefficients that :func:`fit_calibration` returned; with ``None``, links are
            assumed to be missing in proportion to the known ones.
    """
    weights = np.asarray(UNCALIBRATED if calibration is None else calibration, dtype=np.float64)
    return sigmoid(weights[:-1] @ features + weights[-1])


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
) -> NDArray[np.float32] | None:
    """Fit the calibration to held-out links among the best answers, by logistic regression.

    Args:
        links: Known links.
        held_out: Held-out true links.
        vectors: Entity vectors of the link space.
        query: Makes queries of the link space.
        graph_features: Features learned from the known links.
        case_based: Case-based evidence from the known links.
        reflexive: Relations that may link an entity to itself.
        random: Draws the questions.
        quiet: Show no progress on stderr.

    Returns:
        ``float32`` of shape (8,): a coefficient of each feature, and the intercept; ``None`` if
        there are too few true answers.
    """

    def score(entities: Rows, relations: Rows) -> tuple[NDArray[np.float32], Sequence[Offsets]]:
        queries = graph_features.queries(query(entities, relations), entities, relations)
        scores = np.empty((len(entities), len(vectors)), dtype=np.float32)
        for first, rows in vectors.blocks():
            here = slice(first, first + len(rows))
            others = graph_features.entities[np.arange(here.start, here.stop)]
            scores[:, here] = (
                queries[:, : vectors.dim] @ rows.T + queries[:, vectors.dim :] @ others.T
            )
        found = list(case_based.scores(vectors[entities], entities, relations))
        add_offsets(scores, graph_features.offsets(found, entities, relations))
        return scores, [(rows, values[RULES]) for rows, values in found]

    questions = random.permutation(answerable(links, graph_features.rules))[:QUESTIONS]
    features, truth = [np.zeros((len(UNCALIBRATED) - 1, 0))], [np.zeros(0, dtype=bool)]
    blocks, found = -(-len(questions) // BLOCK), best_answers(questions, score, links, reflexive)
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
    true = np.concatenate(truth)
    if not LEAST_TRUE <= np.count_nonzero(true) < len(true):
        return None
    weights, offset = regression(np.concatenate(features, axis=1), true)
    return np.array([*weights, offset], dtype=np.float32)
