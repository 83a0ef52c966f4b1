"""How likely the best answers of a question about links are: what is seen of each answer, and odds fitted to held-out links.

Scores rank the answers of one question. To rank those of all questions they need to compare: a link is the likelier the
larger the share of its question's chances it takes, the more links the question has already, the surer rules are of it, the
more usual still more links are, and unless known answers take nearly all chances.
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
from ontodex.scoring.graph_features import Offsets, QueryFunction, Structure, add_offsets
from ontodex.scoring.rules import Rules

__all__ = [
    "ASKED",
    "BEST",
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
"""Answers of a question that are looked at."""

QUESTIONS = 4096
"""Questions that odds are fitted on."""

LEAST_TRUE = 20
"""True ones among their answers, below which nothing is fitted."""

SOME = 0.5
"""Answers that a question without known ones is taken to have."""

ASKED = 64
"""Questions that are asked at once."""

UNFITTED = (1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0)
"""Odds where nothing could be fitted: the share of the chances times the number of known tails."""

MUCH_LEFT, LEAST_LEFT = -3.0, -20.0
"""Logarithm of the share of the chances left by known tails from which on it tells nothing, and of the least there is."""

SOME_DOUBT = 0.01
"""Added to what rules say and to its contrary, so that neither is sure."""


Scored = Callable[[Rows, Rows], tuple[NDArray[np.float32], Sequence[Offsets]]]
"""Scores all entities as answers to questions (entities and relations): logarithms of odds but for a constant, of shape
(questions, entities); and tells what rules say, see :meth:`ontodex.scoring.rules.Rules.scores`."""


@dataclass(frozen=True, eq=False)
class BestAnswers:
    """The best answers to some questions.

    Attributes:
        entities: What is asked about, of shape (answers,).
        relations: By which relation; those from R on are inverses.
        tails: Row of the answer, of shape (answers,).
        evidence: Logarithm of its share of the chances of its question, logarithm of the number of tails known there, logit
            of what rules say, and that where it is positive, how usual more tails are there
            (:meth:`~ontodex.graph.known_links.KnownLinks.going_on`), and more heads of the answer, and how little of
            the chances of its question known tails leave, 0 or less; of shape (7, answers).
    """

    entities: Rows
    relations: Rows
    tails: Rows
    evidence: Floats


def answerable(links: KnownLinks, rules: Rules, relations: Rows | None = None) -> Rows:
    """Return the questions that have some known answer, or that a rule answers surely: entities and relations.

    Args:
        links: What is known.
        rules: Rules that it follows.
        relations: Ask by these alone; inverses count as others.

    Returns:
        ``int64`` of shape (n, 2), a relation after the other.
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
    scored: Scored,
    links: KnownLinks,
    reflexive: Collection[int],
    passed_over: Callable[[int, int], Rows] | None = None,
) -> Iterator[BestAnswers]:
    """Ask questions, some at a time, and yield the best answers that are not known, and what is seen of them.

    Args:
        questions: Entities and relations, of shape (n, 2).
        scored: Scores answers.
        links: What is known.
        reflexive: Relations by which an entity may be an answer to a question about it.
        passed_over: Returns entities that take their share of the chances of a question, but are no answers.
    """
    for start in range(0, len(questions), ASKED):
        entities, relations = questions[start : start + ASKED].T
        scores, rules = scored(entities, relations)
        of_known = np.array(
            [
                _log_sum(scores[row, known])
                for row, known in enumerate(links.tails(entities, relations))
            ]
        )
        leave_out(scores, links, entities, relations, reflexive)
        of_others = np.array([_log_sum(row) for row in scores])
        if passed_over is not None:
            for row, (entity, relation) in enumerate(
                zip(entities.tolist(), relations.tolist(), strict=True)
            ):
                scores[row, passed_over(entity, relation)] = -np.inf
        best = min(BEST, scores.shape[1])
        tails = np.argpartition(scores, -best, axis=1)[:, -best:]
        shares = np.take_along_axis(scores, tails, axis=1) - of_others[:, None]
        said = np.stack(
            [_looked_up(*of_one, rows) for of_one, rows in zip(rules, tails, strict=True)]
        )
        evidence = _evidence(links, entities, relations, tails, shares, said, of_known - of_others)
        asked, places = np.nonzero(np.isfinite(shares))
        yield BestAnswers(
            entities[asked], relations[asked], tails[asked, places], evidence[:, asked, places]
        )


def _evidence(
    links: KnownLinks,
    entities: Rows,
    relations: Rows,
    tails: Rows,
    shares: Floats,
    said: Floats,
    known: Floats,
) -> Floats:
    """Return what is seen of answers, see :class:`BestAnswers`, of shape (7, questions, answers).

    Args:
        links: What is known.
        entities: What is asked about, of shape (questions,).
        relations: By which relation, likewise.
        tails: Answers, of shape (questions, answers).
        shares: Logarithms of their shares of the chances, of that shape.
        said: Chances that rules give them, of that shape.
        known: Logarithm of the chances of known answers over those of all others, of shape (questions,).
    """
    counts = links.spans(entities, relations)[1]
    left = np.clip(-np.logaddexp(0, known), LEAST_LEFT, MUCH_LEFT) - MUCH_LEFT
    many, here, full = (
        np.broadcast_to(of_question[:, None], shares.shape)
        for of_question in (
            np.log(np.maximum(counts, SOME)),
            links.going_on(entities, relations),
            left,
        )
    )
    there = links.going_on(tails, links.inverse(relations)[:, None])
    logits = np.log(said + SOME_DOUBT) - np.log1p(SOME_DOUBT - said)
    return np.stack([shares, many, logits, np.maximum(logits, 0.0), here, there, full])


def _log_sum(scores: NDArray[np.float32]) -> float:
    """Return the logarithm of the sum of the exponentials, or of next to nothing if there is nothing."""
    top = max(float(scores.max(initial=-np.inf)), float(np.finfo(np.float32).min))
    return float(np.log(max(np.exp(scores - np.float32(top)).sum(dtype=np.float64), 1e-300))) + top


def leave_out(
    scores: NDArray[np.float32],
    links: KnownLinks,
    entities: Rows,
    relations: Rows,
    reflexive: Collection[int],
) -> None:
    """Set scores of what is known, or no answer, to minus infinity.

    Args:
        scores: Of all entities, of shape (questions, entities).
        links: What is known.
        entities: Entity of each question, which is no answer to it.
        relations: Its relation; those from R on are inverses.
        reflexive: Relations by which it may be one.
    """
    for row, known in enumerate(links.tails(entities, relations)):
        scores[row, known] = -np.inf
    apart = np.flatnonzero(~np.isin(relations % (links.n_relations // 2), list(reflexive)))
    scores[apart, entities[apart]] = -np.inf


def _looked_up(rows: Rows, values: Floats, wanted: Rows) -> Floats:
    """Return the values of wanted rows, 0 where there is none; ``rows`` ascend."""
    if not len(rows):
        return np.zeros(len(wanted))
    places = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[places] == wanted, values[places], 0.0)


def probabilities(evidence: Floats, odds: NDArray[np.floating] | None) -> Floats:
    """Return the probability of each answer, of shape (answers,).

    Args:
        evidence: See :class:`BestAnswers`.
        odds: What :func:`fit_odds` returned; without, links are missing in proportion to those that are known.
    """
    weights = np.asarray(UNFITTED if odds is None else odds, dtype=np.float64)
    return sigmoid(weights[:-1] @ evidence[: len(weights) - 1] + weights[-1])


def fit_calibration(
    links: KnownLinks,
    held_out: KnownLinks,
    vectors: Vectors,
    ask: QueryFunction,
    structure: Structure,
    case_based: CaseBasedEvidence,
    reflexive: Collection[int],
    random: np.random.Generator,
    *,
    quiet: bool = False,
) -> NDArray[np.float32] | None:
    """Fit the odds to held-out links among the best answers of questions, by logistic regression.

    Args:
        links: What is known.
        held_out: What is true besides.
        vectors: Entity vectors of the link space.
        ask: Makes queries of it.
        structure: What was learnt of the known links, and its weights.
        case_based: What they suggest.
        reflexive: Relations by which an entity may be linked to itself.
        random: Draws the questions.
        quiet: Show no progress on stderr.

    Returns:
        ``float32`` of shape (8,): a weight of each kind of evidence, and the offset; ``None`` where there are too
        few true answers to fit any.
    """

    def scored(entities: Rows, relations: Rows) -> tuple[NDArray[np.float32], Sequence[Offsets]]:
        queries = structure.queries(ask(entities, relations), entities, relations)
        scores = np.empty((len(entities), len(vectors)), dtype=np.float32)
        for first, rows in vectors.blocks():
            here = slice(first, first + len(rows))
            of_links = structure.entities[np.arange(here.start, here.stop)]
            scores[:, here] = (
                queries[:, : vectors.dim] @ rows.T + queries[:, vectors.dim :] @ of_links.T
            )
        found = list(case_based.scores(vectors[entities], entities, relations))
        add_offsets(scores, structure.offsets(found, entities, relations))
        return scores, [(rows, said[RULES]) for rows, said in found]

    asked = random.permutation(answerable(links, structure.rules))[:QUESTIONS]
    evidence, truth = [np.zeros((len(UNFITTED) - 1, 0))], [np.zeros(0, dtype=bool)]
    blocks, found = -(-len(asked) // ASKED), best_answers(asked, scored, links, reflexive)
    for best in tqdm(
        found, "weighing", blocks, unit="question", unit_scale=ASKED, file=sys.stderr, disable=quiet
    ):
        evidence.append(best.evidence)
        truth.append(held_out.known(best.entities, best.relations, best.tails))
    true = np.concatenate(truth)
    if not LEAST_TRUE <= np.count_nonzero(true) < len(true):
        return None
    weights, offset = regression(np.concatenate(evidence, axis=1), true)
    return np.array([*weights, offset], dtype=np.float32)
