"""Fitting the weights of neighbours and names as evidence for parents and children."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.hit import HiT
from ontodex.geometry.cosine import unit
from ontodex.geometry.logistic import regression
from ontodex.geometry.poincare import distance as distance_of
from ontodex.geometry.poincare import norm, pairwise
from ontodex.geometry.subsumption import Subsumption
from ontodex.geometry.vectors import Vectors
from ontodex.graph import Hierarchy
from ontodex.indexers import link_weights
from ontodex.indexers.embedded_hierarchy import EmbeddedHierarchy, scores_of
from ontodex.indexers.hierarchy_rule import CANDIDATES, held_out_links
from ontodex.scoring.graph_features import Offsets
from ontodex.scoring.name_evidence import NAME_SCORES, NameEvidence
from ontodex.scoring.neighbour_voting import (
    COMPETING,
    SCORES,
    NeighbourVotes,
    NeighbourVoting,
    log_sum,
)
from ontodex.scoring.similarity import EntitySimilarity

__all__ = ["default_voting", "fit_neighbour_voting"]

MIN_WEIGHT = 0.01
"""Smallest weight of the subsumption score; the weights of neighbour scores are divided by it."""

PRECISION = 0.1
"""Precision of the Gaussian prior of the weights; the fit starts at the mean of the prior.

With few questions that the answers separate, weights grow until the prior stops them: at .001, a
taxonomy of 89 occupations had weights of 500. Ranks of 22 new terms in three such taxonomies are
the same from .001 to .3, and worse at 3.
"""

SYNONYM_COSINE = 0.8
"""Cosine of a name and a simulated synonym; real synonyms (Disease Ontology): median .83."""

RENAMED = 8
"""One in this many entities is also asked about by a simulated synonym."""

LISTED = 10
"""Number of best answers to each question to which the probability is fitted."""

LEAST_TRUE = 20
"""Minimal number of true answers to fit the probability; with fewer, none is fitted."""

MIN_SLOPE = 1e-6
"""Smallest weight of the score in the probability: a higher score is never less likely."""

USUAL = {
    "parents": NeighbourVoting(itself=6.0, parents=6.0, hypernyms=9.0, relative=True),
    "children": NeighbourVoting(itself=1.276),
}
"""Default weights for each question, multiplied by the slope of the encoder's rule.

Those for parents were chosen on 114 small parts of Schema.org, Brick and EDAM, of one branch or
several; that of hypernyms on 19 small parts of five vocabularies of products, plants, hazards, food
and places. That for children was fitted to small parts of WordNet, Schema.org and the Human
Phenotype Ontology.
"""


def default_voting(rule: Subsumption) -> dict[str, NeighbourVoting]:
    """Return default weights, without probabilities, for a hierarchy too small to fit them to.

    Args:
        rule: The rule of the encoder.

    Example:
        >>> rule = Subsumption(weight=0.7, threshold=-7.0, slope=2.0, offset=14.0)
        >>> default_voting(rule)["parents"].parents
        3.0
    """
    return {
        question: replace(
            usual,
            itself=usual.itself / rule.slope,
            parents=usual.parents / rule.slope,
            hypernyms=usual.hypernyms / rule.slope,
        )
        for question, usual in USUAL.items()
    }


def fit_neighbour_voting(
    hit: HiT, embedded: EmbeddedHierarchy, texts: Vectors, names: NameEvidence
) -> dict[str, NeighbourVoting]:
    """Fit the weights of the evidence of neighbours and names for direct parents (or children).

    The loss is that of :func:`~ontodex.indexers.link_weights.fit` for its ``POWER``, which is
    better for ranks than the likelihood.

    Indirect ancestors and descendants count as wrong: otherwise the roots, which are above all
    entities, would be ranked first. Children are asked for in two ways. An entity that is treated
    as a new concept has its siblings as neighbours. A simulated synonym of an entity also has the
    entity itself as a neighbour.

    Args:
        hit: The encoder, with the rule of :func:`~ontodex.indexers.hierarchy_rule.with_rule`.
        embedded: The hierarchy and its points.
        texts: Vectors of the text space, by which neighbours are found.
        names: Evidence of the entities' names.

    Returns:
        The weights for ``"parents"`` and ``"children"``, each with the curve from scores to
        probabilities; empty if the encoder has no rule.
    """
    if hit.rule is None:
        return {}
    links, rule = held_out_links(hit, embedded), hit.rule
    links = embedded.hierarchy.links if links is None else links
    votes = NeighbourVotes(embedded.hierarchy, EntitySimilarity(texts), names)
    order, found = embedded.order, {}
    for question in SCORES:
        random = np.random.default_rng(0)
        asked = embedded.some_asked(question, links, random)
        drawn = order[random.permutation(len(order))[:CANDIDATES]]
        labels = [embedded.labels[row] for row in asked.tolist()]
        scored, of = list(votes.scores(question, _no_vectors(asked), asked, labels)), asked
        if question == "children":
            renamed = asked[::RENAMED]
            synonyms = _synonyms(texts[renamed], random)
            unnamed = [""] * len(renamed)
            scored += votes.scores(question, synonyms, np.full(len(renamed), -1), unnamed)
            of = np.append(asked, renamed)
        answers = _answer_scores(question, embedded, rule, of, drawn, scored)
        count = len(answers.others)
        start = np.array([[rule.slope, *[0.5] * (count - 1)]])
        fitted = link_weights.fit(
            answers, answers.groups, start, PRECISION * np.eye(count), link_weights.POWER
        )[0]
        weights = np.maximum(fitted[1:], 0.0) / max(fitted[0], MIN_WEIGHT)
        curve = _curve(
            question,
            embedded,
            rule,
            asked,
            [(reached, weights @ scores) for reached, scores in scored[: len(asked)]],
        )
        by_name = dict(
            zip((*SCORES[question], *NAME_SCORES[question]), weights.tolist(), strict=True)
        )
        found[question] = NeighbourVoting(**by_name, curve=curve)
    return found


def _answer_scores(
    question: str,
    embedded: EmbeddedHierarchy,
    rule: Subsumption,
    asked: NDArray[np.int64],
    drawn: NDArray[np.int64],
    scored: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]],
) -> link_weights.AnswerScores:
    """Score one true answer and the drawn candidates for each question.

    The first score is by the rule, the others by neighbours and names.

    Args:
        question: ``"parents"`` or ``"children"``.
        embedded: The hierarchy and its points.
        rule: The rule.
        asked: Rows of the entities that the questions are about.
        drawn: Rows of the candidates.
        scored: For each question, the rows that have a score by neighbours or names, and their
            scores.
    """
    c, groups, hierarchy = embedded.c, embedded.groups, embedded.asserted(question)
    answers = _first_parents(hierarchy, asked, embedded.places)
    count = len(SCORES[question]) + len(NAME_SCORES[question])
    own = np.zeros((len(asked), 1 + count))
    others = np.zeros((1 + count, len(asked), len(drawn)), dtype=np.float32)
    points, right, wrong = (embedded.points(rows) for rows in (asked, answers, drawn))
    own[:, 0] = scores_of(
        question, rule, distance_of(points, right, c), norm(points, c), norm(right, c)
    )
    others[0] = scores_of(
        question, rule, pairwise(points, wrong, c), norm(points, c)[:, None], norm(wrong, c)
    )
    sums = np.zeros((count, len(groups)))
    for at, (reached, scores) in enumerate(scored):
        sums[:, reached] = scores
        own[at, 1:], others[1:, at] = sums[:, answers[at]], sums[:, drawn]
        sums[:, reached] = 0.0
    refused = (
        hierarchy.is_ancestor(drawn[None], asked[:, None])
        | (groups[asked][:, None] == groups[drawn][None])
        | np.isin(drawn, hierarchy.individuals)
    )
    for row, own_row in zip(refused, asked.tolist(), strict=True):
        row |= np.isin(drawn, hierarchy.parents(own_row))
    offsets = np.where(refused, -np.inf, np.log(len(groups) / len(drawn))).astype(np.float32)
    return link_weights.AnswerScores(own, others, offsets, np.zeros(len(asked), dtype=np.int64))


def _curve(
    question: str,
    embedded: EmbeddedHierarchy,
    rule: Subsumption,
    asked: NDArray[np.int64],
    offsets: Sequence[Offsets],
) -> tuple[float, float, float] | None:
    """Fit the probability that one of the best answers is a direct parent (or child).

    Args:
        question: ``"parents"`` or ``"children"``.
        embedded: The hierarchy and its points.
        rule: The rule.
        asked: Rows of the entities that the questions are about.
        offsets: Vote offsets of the answers to each question.

    Returns:
        The curve of :class:`~ontodex.scoring.neighbour_voting.NeighbourVoting`; ``None`` if fewer
        than :data:`LEAST_TRUE` answers are true.
    """
    owners, answers, scores = embedded.best_answers(
        question, rule, asked, COMPETING, offsets=offsets
    )
    starts = np.searchsorted(owners, np.arange(len(asked) + 1))
    log_sums = np.array([log_sum(scores[start:end]) for start, end in itertools.pairwise(starts)])
    listed = np.arange(len(owners)) - starts[owners] < LISTED
    owners, answers, scores = owners[listed], answers[listed], scores[listed]
    hierarchy = embedded.asserted(question)
    direct = [
        np.isin(answers[owners == at], hierarchy.parents(row))
        for at, row in enumerate(asked.tolist())
    ]
    true = np.concatenate(direct)
    if not LEAST_TRUE <= np.count_nonzero(true) < len(true):
        return None
    features = np.stack([scores, log_sums[owners]])
    (slope, of_log_sum), intercept = regression(features, true)
    if slope < MIN_SLOPE:
        slope = MIN_SLOPE
        (of_log_sum,), intercept = regression(features[1:], true)
    return slope, of_log_sum, intercept


def _first_parents(
    hierarchy: Hierarchy, entities: NDArray[np.int64], places: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return, for each entity, its parent with the smallest place."""
    parents = [hierarchy.parents(row) for row in entities.tolist()]
    return np.array([of_one[np.argmin(places[of_one])] for of_one in parents], dtype=np.int64)


def _no_vectors(asked: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return empty vectors for entities, whose neighbours are found by row, not by vector."""
    return np.zeros((len(asked), 0), dtype=np.float32)


def _synonyms(vectors: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
    """Return vectors of simulated synonyms: text vectors, rotated in random directions."""
    noise = unit(random.normal(size=vectors.shape))
    return np.asarray(
        SYNONYM_COSINE * unit(vectors) + (1 - SYNONYM_COSINE**2) ** 0.5 * noise, dtype=np.float32
    )
