"""How much text, structure and precedents count in a relation: fitted on held-out triples."""

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

__all__ = ["Evidence", "fit", "fit_weights", "gather"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
QUESTIONS = 32768
"""Most questions that weights are fitted on."""

LEAST_QUESTIONS, SCORED = 1024, 2**30
"""Of very many entities fewer questions: at least so many, and as many as score so many answers."""

OF_ONE = 1024
"""Most of them that ask by one relation in one direction."""

LIKELY = 256
"""Entities that an answer is told from: those that score best by :data:`START`, each of which stands for itself."""

CANDIDATES = 2**24
"""Entities that answers are told from, those of all questions together: the likely ones, 256 more for each of very many
questions, more for each of fewer, which are drawn and stand for all others."""

ASKED = 64
"""Questions that are asked at once."""

BLOCK = 256
"""Questions whose likelihood is computed at once."""

START = (20.0, 1.0, 0.0, 0.2, 0.2, 0.2, 0.2, 1.0)
"""Weights where there is nothing to fit them on: a temperature of 0.05 for cosines, ComplEx as it was trained, nothing for
the range, and some for precedents."""

LEAST = (0.1, 0.0, *[-np.inf] * 6)
"""Least weights: the text, which alone answers for what the graph does not have, always counts a little."""

POWER = 0.5
"""Of the loss that weights are fitted by, see :func:`fit`."""

LEAST_SCALE = 0.1
"""What the weights of a relation are multiplied by at least when their sizes are fitted."""

SHRINK = 10.0
"""A relation's weights are drawn to those of all relations as by so many questions more."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Scores of the true answers of questions, and of candidates that they are to be told from.

    Attributes:
        own: Scores of each answer by text, ComplEx, range and precedents, of shape (questions, 8).
        others: Those of the candidates, ``float32`` of shape (8, questions, candidates).
        offsets: Logarithm of how many entities each candidate stands for, of shape (questions, candidates); minus
            infinity where it is a true answer itself, or no answer: the entity asked about.
        groups: Relation of each question; those from R on are inverses.
    """

    own: Floats
    others: NDArray[np.float32]
    offsets: NDArray[np.float32]
    groups: Ints


def fit_weights(
    evidence: Evidence, relations: int, *, by_direction: bool = False
) -> NDArray[np.float32]:
    """Fit the weights of each relation to the answers, under the softmax of the weighted sum of scores.

    Their proportions are those that rank best; their size, which changes no rank, is that of greatest likelihood, so that
    differences of scores are logarithms of odds. No weight is below :data:`LEAST`.

    Args:
        evidence: The questions.
        relations: Number of relations, inverses counted.
        by_direction: Whether relations with few questions are weighed as those of their direction, not as all: what is a
            tail of a relation is likely to be one again, what is a head often is not. Where links say much else it is no
            better.

    Returns:
        ``float32`` of shape (relations + 1, 8); the last row is for a relation that the graph does not have.
    """
    weights = _by_relation(evidence, relations, START, POWER, by_direction)
    each = weights[evidence.groups]
    own = np.einsum("qs,qs->q", each, evidence.own)
    others = np.einsum("qs,sqc->qc", each.astype(np.float32), evidence.others)
    summed = Evidence(own[:, None], others[None], evidence.offsets, evidence.groups)
    scales = np.maximum(_by_relation(summed, relations, (1.0,), 0.0, by_direction), LEAST_SCALE)
    return np.asarray(np.maximum(weights * scales, LEAST), dtype=np.float32)


def _by_relation(
    evidence: Evidence, relations: int, start: Sequence[float], power: float, by_direction: bool
) -> Floats:
    """Return the weights of each relation and, in the last row, those of all relations together.

    A relation with few questions stays near the weights of all, or of all in its direction.
    """
    everyone, many = np.zeros_like(evidence.groups), max(1, len(evidence.groups))
    first = np.array([start])
    one = _sums(evidence, everyone, first, power)[2][0] / many
    shared = fit(evidence, everyone, first, one, power)
    prior = np.repeat(shared, relations, axis=0)
    if by_direction:
        direction = (np.arange(relations) >= relations // 2).astype(np.int64)
        prior = fit(evidence, direction[evidence.groups], np.repeat(first, 2, axis=0), one, power)[
            direction
        ]
    precision = SHRINK * _sums(evidence, everyone, shared, power)[2][0] / many
    each = fit(evidence, evidence.groups, prior, precision, power)
    return np.concatenate([each, shared])


def fit(
    evidence: Evidence,
    groups: Ints,
    prior: Floats,
    precision: Floats,
    power: float = 0.0,
    rounds: int = 30,
) -> Floats:
    """Return the weights of least loss, of shape (groups, scores), by damped Newton steps.

    The loss of an answer of chance p is -log p, the likelihood's, or (1 - p^power) / power (Zhang and Sabuncu, "Generalized
    Cross Entropy Loss", NeurIPS 2018), in which answers that cannot be found anyway count for little; ranks gain by it.

    Args:
        evidence: The questions.
        groups: Group of each question.
        prior: Mean of the Gaussian prior of each group's weights, of shape (groups, scores).
        precision: Its inverse covariance, of shape (scores, scores).
        power: 0 for the likelihood, at most 1.
        rounds: Most steps.
    """
    precision = precision + 1e-6 * np.eye(len(precision))

    def cost(weights: Floats) -> tuple[Floats, Floats, Floats]:
        loss, slope, curve = _sums(evidence, groups, weights, power)
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
    evidence: Evidence, groups: Ints, weights: Floats, power: float
) -> tuple[Floats, Floats, Floats]:
    """Return the loss of each group, its gradient (groups, s) and what stands for its Hessian (groups, s, s).

    The Hessian of p^power need not be definite; that of log p is, and times p^power it makes somewhat smaller steps.
    """
    count, size = weights.shape
    loss, slope, curve = np.zeros(count), np.zeros((count, size)), np.zeros((count, size, size))
    for start in range(0, len(groups), BLOCK):
        part = slice(start, start + BLOCK)
        group, own = groups[part], evidence.own[part]
        scores = evidence.others[:, part].transpose(1, 0, 2)
        logits = (weights[group, None].astype(np.float32) @ scores)[:, 0] + evidence.offsets[part]
        mine = np.einsum("qi,qi->q", weights[group], own)
        top = np.maximum(logits.max(axis=1), mine)
        probabilities = np.exp(logits - top[:, None].astype(np.float32))
        own_chance = np.exp(mine - top)
        total = probabilities.sum(axis=1, dtype=np.float64) + own_chance
        weighed = probabilities[:, None] * scores
        mean = (weighed.sum(axis=2) + own_chance[:, None] * own) / total[:, None]
        square = (
            weighed @ scores.transpose(0, 2, 1)
            + own_chance[:, None, None] * own[:, :, None] * own[:, None, :]
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
    """How entities that are asked about are read.

    Attributes:
        rows: The entities, ascending.
        vectors: Vector of each in the link space.
        ask: Makes queries of it, from places in ``rows``.
        new: Whether they are asked about as if the graph did not have them, so that nothing is known of their links.
    """

    rows: NDArray[np.integer]
    vectors: Vectors
    ask: QueryFunction
    new: bool = False


def questions(
    held_out: NDArray[np.integer], graph: KnowledgeGraph, random: np.random.Generator
) -> Ints:
    """Draw what is asked: held-out triples in either direction, at most so many of a relation, ``int64`` of shape (n, 3)."""
    most = min(QUESTIONS, max(LEAST_QUESTIONS, SCORED // graph.n_entities))
    return _fair(random.permutation(both_directions(held_out, graph.n_relations)))[:most]


def gather(
    graph: KnowledgeGraph,
    vectors: Vectors,
    asked: Ints,
    heads: Heads,
    structure: ComplEx,
    ranges: tuple[NDArray[np.float32], NDArray[np.float32]],
    case_based: CaseBasedEvidence,
    held_out: NDArray[np.integer],
    random: np.random.Generator,
    *,
    quiet: bool = False,
) -> Evidence:
    """Score the answers of held-out triples, and candidates, by each of the scores.

    Args:
        graph: All of its triples, the given ones too, are true.
        vectors: Entity vectors of the link space.
        asked: Questions, see :func:`questions`.
        heads: The entities that they are about.
        structure: Vectors of ComplEx.
        ranges: Vectors of the ranges of entities and of relations.
        case_based: Scores by known triples.
        held_out: Triples that none of these knows, of shape (n, 3).
        random: What candidates are drawn by.
        quiet: Show no progress on stderr.
    """
    items = vectors, Vectors([structure.entities]), Vectors([ranges[0]])
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
        blocks, desc="weighing", unit="question", unit_scale=ASKED, file=sys.stderr, disable=quiet
    ):
        block = asked[start : start + ASKED]
        part = slice(start, start + len(block))
        scores = np.zeros((len(START), len(block), graph.n_entities), dtype=np.float32)
        entities, relations = block[:, 0], block[:, 1]
        read = np.searchsorted(heads.rows, entities)
        queries = {0: heads.ask(read, relations), 2: ranges[1][relations]}
        if not heads.new:
            queries[1] = structure.queries(entities, relations)
        for side, query_function in queries.items():
            for first, rows in items[side].blocks():
                scores[side, :, first : first + len(rows)] = query_function @ rows.T
        found = case_based.scores(heads.vectors[read], entities, relations, as_new=heads.new)
        for row, (reached, values) in enumerate(found):
            scores[CASE_BASED, row][:, reached] = values[:-1]
        rough = np.tensordot(np.array(START, dtype=np.float32), scores, axes=1)
        for row, known in enumerate(true.tails(entities, relations)):
            rough[row, known] = -np.inf
        apart = ~np.isin(
            relations % graph.n_relations, list(graph.reflexive)
        )  # no answer to their own question
        rough[apart, entities[apart]] = -np.inf
        places, offsets[part] = _candidates(rough, drawn, random)
        own[part] = scores[:, np.arange(len(block)), block[:, 2]].T
        others[:, part] = np.take_along_axis(scores, places[None], axis=2)
    return Evidence(own, others, offsets, asked[:, 1])


def _fair(questions: Ints) -> Ints:
    """Return questions without those of a relation that come after the first so many."""
    order = np.argsort(questions[:, 1], kind="stable")
    relations = questions[order, 1]
    before = np.arange(len(order)) - np.searchsorted(relations, relations)
    fair: Ints = questions[np.sort(order[before < OF_ONE])]
    return fair


def _candidates(
    rough: NDArray[np.float32], size: int, random: np.random.Generator
) -> tuple[Ints, NDArray[np.float32]]:
    """Return candidates of questions, the likely ones first, and the logarithm of how many entities each stands for.

    Args:
        rough: About the score of each entity, of shape (questions, entities), minus infinity for those that are none; the
            likely ones are made so.
        size: How many others are drawn.
        random: What the others are drawn by.
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
