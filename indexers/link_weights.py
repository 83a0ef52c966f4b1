"""Weights of the hybrid score of a relation, fitted on held-out triples.

The score is a weighted sum of twelve scores: text, KGE (ComplEx), type constraint, kind, seven
scores of case-based evidence, and cosine (:mod:`ontodex.scoring.graph_features`). A question is a
held-out triple in one direction: an entity, a relation or its inverse, and the true answer.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ontodex.geometry.complex import ComplEx
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph, both_directions
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.case_based import CaseBasedEvidence
from ontodex.scoring.graph_features import CASE_BASED, COSINE, WEIGHTS, QueryFunction
from ontodex.scoring.kinds import Kinds
from ontodex.scoring.similarity import greatest

__all__ = ["AnswerScores", "Heads", "draw_questions", "fit", "fit_weights", "score_answers"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MAX_QUESTIONS = 32768
"""Largest number of questions on which weights are fitted."""

MIN_QUESTIONS, SCORED = 1024, 2**30
"""Smallest number of questions, and largest number of scored answers of all questions together.

They limit the number of questions of a graph with very many entities.
"""

PER_RELATION = 1024
"""Largest number of questions with one relation in one direction."""

LIKELY = 256
"""Number of likely candidates of a question: those with the best scores by :data:`START`.

A likely candidate stands for itself alone.
"""

DRAWN = 256
"""Number of candidates of a question that are drawn at random, and stand for all other entities.

On the validation triples of WN18RR, ten times as many do no better.
"""

ASKED = 64
"""Number of questions that are scored at once."""

BLOCK = 64
"""Number of questions whose likelihood is computed at once."""

TOLERANCE = 1e-4
"""Largest squared Newton decrement at which a fit ends.

The decrement is the estimated distance to the best weights, in standard errors of the weights.
"""

START = (
    (15.0, 1.5, 0.0, 0.4, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 3.0, 5.0),
    (15.0, 1.5, -0.5, 0.4, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 3.0, 5.0),
)
"""Mean of the prior of the weights of tails and of heads, with which the fit starts.

Text, ComplEx, type constraint, kind, case-based evidence, cosine. What has a tail by a relation
rarely is a head of it again, so type constraints count against heads. A graph with too few links
for a fit takes these weights as they are. They were chosen on held-out links of 58 graphs of 30 to
190 triples and 13 of 300 to 1,000, parts of 18 graphs. Mean reciprocal rank of tails and heads of
the small ones: .556 and .287; with text and kinds alone .516 and .204. Of the larger ones, where
the weights are fitted: .564 and .310; without cosine and type constraint, and with a prior of 1,000
questions, .544 and .279. Rules weigh 3, as with 2 links that people took out of a graph of dishes
are found less well (.704 to .529).
"""

PRIOR = 300.0
"""Number of questions that the prior of the weights counts as.

With a hundred questions, weights that only these decide are far from good: rules had a negative
weight where, by themselves, they ranked better than all scores together.
"""

MIN_WEIGHTS = (0.1, 0.0, -np.inf, 0.0, *[-np.inf] * 7, 0.0)
"""Smallest weights.

The weight of text is positive, because only text scores entities that are new to the graph.
"""

POWER = 0.5
"""Exponent ``power`` of the loss by which weights are fitted; see :func:`fit`."""

MIN_SCALE = 0.1
"""Smallest factor by which the weights of a relation are scaled; see :func:`fit_weights`."""

SHRINK = 10.0
"""Number of questions that the prior of a relation's weights counts as, if there are very many.

The mean of the prior is the weights fitted to all relations together. With n questions in all, the
prior counts as 1 + :data:`PRIOR` / n times as many.
"""


@dataclass(frozen=True, eq=False)
class AnswerScores:
    """Scores of the true answers of questions, and of wrong candidates.

    Attributes:
        own: Scores of the true answers, of shape (questions, scores).
        others: Scores of the candidates, ``float32`` of shape (scores, questions, candidates).
        offsets: Logarithm of how many entities each candidate stands for, of shape (questions,
            candidates); minus infinity for candidates that are true answers, or cannot be answers.
        groups: Number of each question's relation; numbers of at least R, the number of relations,
            are inverses.
    """

    own: Floats
    others: NDArray[np.float32]
    offsets: NDArray[np.float32]
    groups: Ints


def fit_weights(scores: AnswerScores, relations: int) -> NDArray[np.float32]:
    """Fit the weights of each relation, under the softmax of the weighted sum of scores.

    First, the weights of a relation are fitted for the best ranks, with the loss of :func:`fit`
    for :data:`POWER`. Then they are multiplied by a common factor, which changes no rank. The
    factor is fitted for the greatest likelihood, so that differences of scores are log-odds. No
    weight is below :data:`MIN_WEIGHTS`.

    The prior of a relation's weights is fitted to all relations of its direction. The directions
    differ, because a known tail of a relation is likely to be a tail again, while a known head
    often is not a head again.

    Args:
        scores: Scores of the answers.
        relations: Number of relations, inverses included.

    Returns:
        ``float32`` of shape (relations + 1, 12); the last row, the mean of both priors, is for
        relations that the graph does not have.
    """
    weights = _by_relation(scores, relations, np.array(START), POWER, PRIOR)
    each = weights[scores.groups]
    own = np.einsum("qs,qs->q", each, scores.own)
    others = np.einsum("qs,sqc->qc", each.astype(np.float32), scores.others)
    summed = AnswerScores(own[:, None], others[None], scores.offsets, scores.groups)
    scales = np.maximum(_by_relation(summed, relations, np.ones((2, 1)), 0.0, 1.0), MIN_SCALE)
    return np.asarray(np.maximum(weights * scales, MIN_WEIGHTS), dtype=np.float32)


def _by_relation(
    scores: AnswerScores, relations: int, start: Floats, power: float, count: float
) -> Floats:
    """Return the weights of each relation and, in the last row, the mean of their two priors.

    Args:
        scores: Scores of the answers.
        relations: Number of relations, inverses included.
        start: Mean of the prior of the weights of each direction, of shape (2, scores).
        power: See :func:`fit`.
        count: Number of questions that the prior counts as.
    """
    inverse = (np.arange(relations) >= relations // 2).astype(np.int64)
    direction, many = inverse[scores.groups], max(1, len(scores.groups))

    def precision(weights: Floats, count: float) -> Floats:
        return np.asarray(count * _sums(scores, direction, weights, power)[2].sum(axis=0) / many)

    prior = fit(scores, direction, start, precision(start, count), power)
    shrink = precision(prior, SHRINK * (1 + count / many))
    each = fit(scores, scores.groups, prior[inverse], shrink, power)
    return np.concatenate([each, prior.mean(axis=0, keepdims=True)])


def fit(
    scores: AnswerScores,
    groups: Ints,
    prior: Floats,
    precision: Floats,
    power: float = 0.0,
    rounds: int = 30,
) -> Floats:
    """Return the weights with the least loss, of shape (groups, scores), by damped Newton steps.

    If ``power`` is 0, the loss of an answer with probability p is -log p, the negative
    log-likelihood. Otherwise it is (1 - p^power) / power (Zhang and Sabuncu, "Generalized Cross
    Entropy Loss", NeurIPS 2018): answers of small probability count for little, which improves
    ranks.

    Args:
        scores: Scores of the answers.
        groups: Group of each question.
        prior: Mean of the Gaussian prior of each group's weights, of shape (groups, scores).
        precision: Inverse covariance of the prior, of shape (scores, scores).
        power: Exponent of the loss, from 0 (likelihood) to 1.
        rounds: Largest number of steps.
    """
    precision = precision + 1e-6 * np.eye(len(precision))

    def cost(weights: Floats) -> tuple[Floats, Floats, Floats]:
        loss, slope, curve = _sums(scores, groups, weights, power)
        away = weights - prior
        pulled = away @ precision
        return loss + 0.5 * np.einsum("gi,gi->g", away, pulled), slope + pulled, curve + precision

    weights = prior.copy()
    loss, slope, curve = cost(weights)
    scale = np.ones(len(weights))
    for _ in range(rounds):
        step = -np.linalg.solve(curve, slope[:, :, None])[:, :, 0]
        if np.all(np.einsum("gi,gi->g", -slope, step) < TOLERANCE):
            break
        tried = weights + scale[:, None] * step
        new_loss, new_slope, new_curve = cost(tried)
        better = new_loss <= loss
        weights[better], loss[better] = tried[better], new_loss[better]
        slope[better], curve[better] = new_slope[better], new_curve[better]
        scale = np.where(better, np.minimum(1.0, 2 * scale), scale / 2)
    return weights


def _sums(
    scores: AnswerScores, groups: Ints, weights: Floats, power: float
) -> tuple[Floats, Floats, Floats]:
    """Return the loss of each group, its gradient (groups, s) and a Hessian (groups, s, s).

    The Hessian of p^power may be indefinite. It is replaced by p^power times the Hessian of log p,
    which is definite. This makes steps somewhat smaller.
    """
    count, size = weights.shape
    loss, slope, curve = np.zeros(count), np.zeros((count, size)), np.zeros((count, size, size))
    for start in range(0, len(groups), BLOCK):
        part = slice(start, start + BLOCK)
        group, own = groups[part], scores.own[part]
        others = scores.others[:, part].transpose(1, 0, 2)
        logits = (weights[group, None].astype(np.float32) @ others)[:, 0] + scores.offsets[part]
        mine = np.einsum("qi,qi->q", weights[group], own)
        top = np.maximum(logits.max(axis=1), mine)
        probabilities = np.exp(logits - top[:, None].astype(np.float32))
        own_share = np.exp(mine - top)
        total = probabilities.sum(axis=1, dtype=np.float64) + own_share
        weighted = probabilities[:, None] * others
        mean = (weighted.sum(axis=2) + own_share[:, None] * own) / total[:, None]
        square = (
            weighted @ others.transpose(0, 2, 1)
            + own_share[:, None, None] * own[:, :, None] * own[:, None, :]
        )
        square = square / total[:, None, None] - mean[:, :, None] * mean[:, None, :]
        surprise = np.log(total) + top - mine
        counts = np.exp(-power * surprise)
        np.add.at(loss, group, (1 - counts) / power if power else surprise)
        np.add.at(slope, group, counts[:, None] * (mean - own))
        np.add.at(curve, group, counts[:, None, None] * square)
    return loss, slope, curve


@dataclass(frozen=True, eq=False)
class Heads:
    """The entities that questions are about.

    Attributes:
        rows: Rows of the entities, ascending.
        vectors: Vectors of the entities in the link space.
        query: Makes queries of the link space from positions in ``rows`` and numbers of relations.
        new: Whether the entities are treated as new to the graph, that is without links.
    """

    rows: NDArray[np.integer]
    vectors: Vectors
    query: QueryFunction
    new: bool = False


def draw_questions(
    held_out: NDArray[np.integer], graph: KnowledgeGraph, random: np.random.Generator
) -> Ints:
    """Draw questions: held-out triples in either direction, ``int64`` of shape (n, 3).

    There are at most :data:`PER_RELATION` questions with one relation in one direction.
    """
    most = min(MAX_QUESTIONS, max(MIN_QUESTIONS, SCORED // graph.n_entities))
    drawn = random.permutation(both_directions(held_out, graph.n_relations))
    return _first_of_each_relation(drawn)[:most]


def score_answers(
    graph: KnowledgeGraph,
    vectors: Vectors,
    asked: Ints,
    heads: Heads,
    kge: ComplEx,
    constraints: tuple[NDArray[np.float32], NDArray[np.float32]],
    kinds: Kinds,
    case_based: CaseBasedEvidence,
    held_out: NDArray[np.integer],
    random: np.random.Generator,
    *,
    drawn: int = DRAWN,
    quiet: bool = False,
) -> AnswerScores:
    """Compute all scores of the true answers to questions, and of candidates.

    Args:
        graph: The full graph; all of its triples are true.
        vectors: Entity vectors of the link space.
        asked: Questions; see :func:`draw_questions`.
        heads: The entities that the questions are about.
        kge: KGE vectors.
        constraints: Type constraints: vectors of entities and of relations.
        kinds: Profiles of entities and vectors of relations.
        case_based: Case-based evidence.
        held_out: True triples on which none of the scores was trained, of shape (n, 3).
        random: Source of random numbers for candidates.
        drawn: Number of drawn candidates of a question.
        quiet: Show no progress on stderr.
    """
    items = {
        0: vectors,
        1: Vectors([kge.entities]),
        2: Vectors([constraints[0]]),
        3: Vectors([kinds.entities]),
        COSINE.start: vectors,
    }
    true = KnownLinks(
        np.concatenate([graph.triples, held_out]), graph.n_entities, graph.n_relations
    )
    drawn = min(drawn, graph.n_entities)
    own = np.empty((len(asked), WEIGHTS))
    others = np.empty(
        (WEIGHTS, len(asked), min(LIKELY, graph.n_entities) + drawn), dtype=np.float32
    )
    offsets = np.empty(others.shape[1:], dtype=np.float32)
    blocks = range(0, len(asked), ASKED)
    for start in tqdm(
        blocks, desc="weighting", unit="question", unit_scale=ASKED, file=sys.stderr, disable=quiet
    ):
        block = asked[start : start + ASKED]
        part = slice(start, start + len(block))
        scores = np.zeros((WEIGHTS, len(block), graph.n_entities), dtype=np.float32)
        entities, relations = block[:, 0], block[:, 1]
        places = np.searchsorted(heads.rows, entities)
        given = heads.vectors[places]
        queries = {
            0: heads.query(places, relations),
            2: constraints[1][relations],
            3: kinds.relations[relations],
            COSINE.start: given,
        }
        if not heads.new:
            queries[1] = kge.queries(entities, relations)
        for score, queries_of_score in queries.items():
            for first, rows in items[score].blocks():
                scores[score, :, first : first + len(rows)] = queries_of_score @ rows.T
        found = case_based.scores(given, entities, relations, as_new=heads.new)
        for row, (reached, values) in enumerate(found):
            scores[CASE_BASED, row][:, reached] = values[: len(scores[CASE_BASED])]
        if not heads.new:
            scores[COSINE, np.arange(len(block)), entities] = 0.0
        start = np.array(START, dtype=np.float32)[(relations >= graph.n_relations).astype(int)]
        rough = np.einsum("qs,sqn->qn", start, scores, optimize=True)
        for row, known in enumerate(true.tails(entities, relations)):
            rough[row, known] = -np.inf
        irreflexive = ~np.isin(relations % graph.n_relations, list(graph.reflexive))
        rough[irreflexive, entities[irreflexive]] = -np.inf
        chosen, offsets[part] = _candidates(rough, drawn, random)
        own[part] = scores[:, np.arange(len(block)), block[:, 2]].T
        others[:, part] = np.take_along_axis(scores, chosen[None], axis=2)
    return AnswerScores(own, others, offsets, asked[:, 1])


def _first_of_each_relation(questions: Ints) -> Ints:
    """Return the first :data:`PER_RELATION` questions of each relation."""
    order = np.argsort(questions[:, 1], kind="stable")
    relations = questions[order, 1]
    before = np.arange(len(order)) - np.searchsorted(relations, relations)
    first: Ints = questions[np.sort(order[before < PER_RELATION])]
    return first


def _candidates(
    rough: NDArray[np.float32], size: int, random: np.random.Generator
) -> tuple[Ints, NDArray[np.float32]]:
    """Return the candidates of questions, likely ones first, and the logarithm of their counts.

    Args:
        rough: An estimate of the score of each entity, of shape (questions, entities); minus
            infinity for entities that cannot be candidates. The array is overwritten.
        size: Number of candidates to draw in addition to the likely ones.
        random: Source of random numbers.

    Returns:
        Rows of the candidates, and the logarithm of how many entities each stands for, both of
        shape (questions, candidates).
    """
    count = rough.shape[1]
    likely = np.stack([greatest(row, min(LIKELY, count)) for row in rough])
    drawn = np.tile(random.permutation(count)[:size], (len(rough), 1))
    one = np.where(np.isfinite(np.take_along_axis(rough, likely, axis=1)), 0.0, -np.inf)
    np.put_along_axis(rough, likely, -np.inf, axis=1)
    other = np.isfinite(np.take_along_axis(rough, drawn, axis=1))
    many = np.isfinite(rough).sum(axis=1) / np.maximum(1, other.sum(axis=1))
    weights = np.where(other, np.log(np.maximum(1.0, many))[:, None], -np.inf)
    return np.concatenate([likely, drawn], axis=1), np.concatenate([one, weights], axis=1).astype(
        np.float32
    )
