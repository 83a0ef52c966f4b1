"""Weights of the hybrid score of a relation, fitted on held-out triples.

The score is a weighted sum of eight scores: text, KGE (ComplEx), type constraints, and five of
case-based evidence (:mod:`ontodex.scoring.graph_features`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ontodex.geometry.complex import ComplEx
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph, both_directions
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.case_based import CaseBasedEvidence
from ontodex.scoring.graph_features import CASE_BASED, QueryFunction
from ontodex.scoring.similarity import greatest

__all__ = ["AnswerScores", "Heads", "draw_questions", "fit", "fit_weights", "score_answers"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MAX_QUESTIONS = 32768
"""Questions at most that weights are fitted on."""

MIN_QUESTIONS, SCORED = 1024, 2**30
"""A graph with very many entities gets fewer questions: as many as score so many answers together,
and at least so many."""

PER_RELATION = 1024
"""Questions at most by one relation in one direction."""

LIKELY = 256
"""Candidates of a question that score best by :data:`START`; each stands for itself."""

CANDIDATES = 2**24
"""Candidates of all questions together. Those of a question that are not the likely ones are drawn
at random, and stand for all other entities."""

ASKED = 64
"""Questions that are scored at once."""

BLOCK = 256
"""Questions whose likelihood is computed at once."""

START = (20.0, 1.0, 0.0, 0.2, 0.2, 0.2, 0.2, 1.0)
"""Weights where the fit starts: a temperature of 0.05 for cosines, ComplEx as it was trained, 0 for
type constraints, some for case-based evidence."""

MIN_WEIGHTS = (0.1, 0.0, *[-np.inf] * 6)
"""Smallest weights. That of text is positive: text alone scores what the graph does not have."""

POWER = 0.5
"""Exponent of the loss that weights are fitted by, see :func:`fit`."""

MIN_SCALE = 0.1
"""Smallest factor of a relation's weights when their size is fitted."""

SHRINK = 10.0
"""Questions that the prior of a relation's weights, the weights of all relations, counts as."""


@dataclass(frozen=True, eq=False)
class AnswerScores:
    """Scores of the true answers of questions, and of wrong candidates.

    Attributes:
        own: The scores of each true answer, of shape (questions, scores).
        others: Those of the candidates, ``float32`` of shape (scores, questions, candidates).
        offsets: Logarithm of how many entities each candidate stands for, of shape (questions,
            candidates); minus infinity for candidates that are true answers, or cannot be one.
        groups: Relation of each question; those from R on are inverses.
    """

    own: Floats
    others: NDArray[np.float32]
    offsets: NDArray[np.float32]
    groups: Ints


def fit_weights(
    scores: AnswerScores, relations: int, *, by_direction: bool = False
) -> NDArray[np.float32]:
    """Fit the weights of each relation, under the softmax of the weighted sum of scores.

    The proportions of the weights are those that rank best. Their size, which changes no rank, is
    that of greatest likelihood: differences of scores are then log-odds. No weight is below
    :data:`MIN_WEIGHTS`.

    Args:
        scores: Scores of the answers.
        relations: Number of relations, inverses included.
        by_direction: Whether the prior of a relation is the fit to all relations of its direction,
            instead of to all relations. A known tail of a relation is likely to be a tail again, a
            known head often is not; it makes no difference where KGE vectors count.

    Returns:
        ``float32`` of shape (relations + 1, 8); the last row is for relations that the graph does
        not have.
    """
    weights = _by_relation(scores, relations, START, POWER, by_direction)
    each = weights[scores.groups]
    own = np.einsum("qs,qs->q", each, scores.own)
    others = np.einsum("qs,sqc->qc", each.astype(np.float32), scores.others)
    summed = AnswerScores(own[:, None], others[None], scores.offsets, scores.groups)
    scales = np.maximum(_by_relation(summed, relations, (1.0,), 0.0, by_direction), MIN_SCALE)
    return np.asarray(np.maximum(weights * scales, MIN_WEIGHTS), dtype=np.float32)


def _by_relation(
    scores: AnswerScores, relations: int, start: Sequence[float], power: float, by_direction: bool
) -> Floats:
    """Return the weights of each relation and, in the last row, those of all relations together."""
    everyone, many = np.zeros_like(scores.groups), max(1, len(scores.groups))
    first = np.array([start])
    one = _sums(scores, everyone, first, power)[2][0] / many
    shared = fit(scores, everyone, first, one, power)
    prior = np.repeat(shared, relations, axis=0)
    if by_direction:
        direction = (np.arange(relations) >= relations // 2).astype(np.int64)
        both = fit(scores, direction[scores.groups], np.repeat(first, 2, axis=0), one, power)
        prior = both[direction]
    precision = SHRINK * _sums(scores, everyone, shared, power)[2][0] / many
    each = fit(scores, scores.groups, prior, precision, power)
    return np.concatenate([each, shared])


def fit(
    scores: AnswerScores,
    groups: Ints,
    prior: Floats,
    precision: Floats,
    power: float = 0.0,
    rounds: int = 30,
) -> Floats:
    """Return the weights of least loss, of shape (groups, scores), by damped Newton steps.

    The loss of an answer of probability p is -log p, for the likelihood, or (1 - p^power) / power
    (Zhang and Sabuncu, "Generalized Cross Entropy Loss", NeurIPS 2018). In the second, answers of
    small probability count for little, which improves ranks.

    Args:
        scores: Scores of the answers.
        groups: Group of each question.
        prior: Mean of the Gaussian prior of each group's weights, of shape (groups, scores).
        precision: Its inverse covariance, of shape (scores, scores).
        power: 0 for the likelihood, at most 1.
        rounds: Steps at most.
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
        if np.all(np.einsum("gi,gi->g", -slope, step) < 1e-6):
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

    The Hessian of p^power need not be definite. It is replaced by that of log p, which is, times
    p^power; steps are somewhat smaller by it.
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
        rows: Their rows, ascending.
        vectors: Their vectors in the link space.
        query: Makes queries of the link space, from places in ``rows`` and relations.
        new: Whether they are treated as entities that the graph does not have, without any links.
    """

    rows: NDArray[np.integer]
    vectors: Vectors
    query: QueryFunction
    new: bool = False


def draw_questions(
    held_out: NDArray[np.integer], graph: KnowledgeGraph, random: np.random.Generator
) -> Ints:
    """Draw questions: held-out triples in either direction, ``int64`` of shape (n, 3).

    There are at most :data:`PER_RELATION` questions by one relation in one direction.
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
    ranges: tuple[NDArray[np.float32], NDArray[np.float32]],
    case_based: CaseBasedEvidence,
    held_out: NDArray[np.integer],
    random: np.random.Generator,
    *,
    quiet: bool = False,
) -> AnswerScores:
    """Compute all scores of the answers of held-out triples, and of candidates.

    Args:
        graph: The full graph: all of its triples are true.
        vectors: Entity vectors of the link space.
        asked: Questions, see :func:`draw_questions`.
        heads: The entities that they are about.
        kge: KGE vectors.
        ranges: Type constraints: vectors of entities and of relations.
        case_based: Case-based evidence.
        held_out: Triples that none of these scores knows, of shape (n, 3).
        random: Draws the candidates.
        quiet: Show no progress on stderr.
    """
    items = vectors, Vectors([kge.entities]), Vectors([ranges[0]])
    true = KnownLinks(
        np.concatenate([graph.triples, held_out]), graph.n_entities, graph.n_relations
    )
    drawn = min(CANDIDATES // max(1, len(asked)) - LIKELY, graph.n_entities)
    own = np.empty((len(asked), len(START)))
    others = np.empty(
        (len(START), len(asked), min(LIKELY, graph.n_entities) + drawn), dtype=np.float32
    )
    offsets = np.empty(others.shape[1:], dtype=np.float32)
    blocks = range(0, len(asked), ASKED)
    for start in tqdm(
        blocks, desc="weighting", unit="question", unit_scale=ASKED, file=sys.stderr, disable=quiet
    ):
        block = asked[start : start + ASKED]
        part = slice(start, start + len(block))
        scores = np.zeros((len(START), len(block), graph.n_entities), dtype=np.float32)
        entities, relations = block[:, 0], block[:, 1]
        places = np.searchsorted(heads.rows, entities)
        queries = {0: heads.query(places, relations), 2: ranges[1][relations]}
        if not heads.new:
            queries[1] = kge.queries(entities, relations)
        for score, queries_of_score in queries.items():
            for first, rows in items[score].blocks():
                scores[score, :, first : first + len(rows)] = queries_of_score @ rows.T
        found = case_based.scores(heads.vectors[places], entities, relations, as_new=heads.new)
        for row, (reached, values) in enumerate(found):
            scores[CASE_BASED, row][:, reached] = values[:-1]
        rough = np.tensordot(np.array(START, dtype=np.float32), scores, axes=1)
        for row, known in enumerate(true.tails(entities, relations)):
            rough[row, known] = -np.inf
        irreflexive = ~np.isin(relations % graph.n_relations, list(graph.reflexive))
        rough[irreflexive, entities[irreflexive]] = -np.inf
        candidates, offsets[part] = _candidates(rough, drawn, random)
        own[part] = scores[:, np.arange(len(block)), block[:, 2]].T
        others[:, part] = np.take_along_axis(scores, candidates[None], axis=2)
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
    """Return the candidates of questions, the likely ones first, and the logarithm of their counts.

    Args:
        rough: An estimate of the score of each entity, of shape (questions, entities); minus
            infinity for those that cannot be candidates. It is overwritten.
        size: Number of candidates to draw beside the likely ones.
        random: Draws them.

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
