"""Fitting how much entities of like text count for parents and children, and how likely their answers are."""

from __future__ import annotations

from collections.abc import Sequence

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
from ontodex.indexers import link_weights as structure_weights
from ontodex.indexers.embedded_hierarchy import EmbeddedHierarchy, scores_of
from ontodex.indexers.hierarchy_rule import CANDIDATES, not_learnt
from ontodex.scoring.neighbour_voting import (
    SCORES,
    NeighbourVotes,
    NeighbourVoting,
    scores_of_answers,
)
from ontodex.scoring.similarity import EntitySimilarity

__all__ = ["default_voting", "fit_neighbour_voting"]

LEAST_WEIGHT = 0.01
"""Least weight of the subsumption score beside what like entities say."""

PRECISION = 1e-3
"""How hard those weights are drawn to where their fit starts."""

IN_OTHER_WORDS = 0.8
"""About the cosine of a name and other words for the same: synonyms in the Disease Ontology have a median of .83."""

NAMED = 8
"""One in so many phrases is taken for another name of an entity, the others for names of new concepts."""

LEAST_SLOPE = 1e-6
"""Steepness of the curve of probability where the score by itself tells nothing."""

USUAL = {
    "parents": (0.2116, -1.823, {"itself": 0.51, "parents": 6.378}, (-0.676, -3.675, 3.003)),
    "children": (0.1833, -0.12, {"itself": 1.276}, (-0.297, -0.12, 0.156)),
}
"""What is fitted to small parts of WordNet, Schema.org and the Human Phenotype Ontology together: steepness of the curve, in
that of the encoder's rule; the logit at the threshold of this; weights of like entities, as logits of this; the curve."""


def default_voting(rule: Subsumption) -> dict[str, NeighbourVoting]:
    """Return how much entities of like text count in a hierarchy too small to fit it to, beside the rule of an encoder.

    >>> usual_kin(Subsumption(weight=0.7, threshold=-7.0, slope=2.0, offset=14.0))["parents"].parents
    3.189
    """
    return {
        question: NeighbourVoting(
            slope=steepness * rule.slope,
            offset=logit - steepness * rule.slope * rule.threshold,
            **{kin: weight / rule.slope for kin, weight in weights.items()},
            curve=curve,
        )
        for question, (steepness, logit, weights, curve) in USUAL.items()
    }


def fit_neighbour_voting(
    hit: HiT, embedded: EmbeddedHierarchy | None, texts: Vectors
) -> dict[str, NeighbourVoting]:
    """Fit how much entities of like text count, by the likelihood of direct parents, and children, among all entities.

    What is farther above, or below, counts as wrong there: otherwise the roots, which are above all, would come first.
    Children are asked for in two ways: as those of concepts that are new, whose siblings like entities are, and as those of
    entities under another name, which one of the like entities is.

    Args:
        hit: The encoder, with the rule that :func:`with_rule` fitted.
        embedded: The asserted hierarchy as the encoder embeds it, if it is large enough (:func:`hierarchy_to_fit`).
        texts: Vectors of the entities' texts, to tell which are alike.

    Returns:
        The weights, and the curve of probabilities of the sums, for ``"parents"`` and ``"children"``; nothing, if there is
        nothing to fit them to.
    """
    if hit.rule is None or embedded is None:
        return {}
    links, rule = not_learnt(hit, embedded), hit.rule
    links = embedded.hierarchy.links if links is None else links
    kin, order, found = (
        NeighbourVotes(embedded.hierarchy, EntitySimilarity(texts)),
        embedded.order,
        {},
    )
    for question in SCORES:
        random = np.random.default_rng(0)
        asked = embedded.some_asked(question, links, random)
        drawn = order[random.permutation(len(order))[:CANDIDATES]]
        scored, of = list(kin.scores(question, _no_texts(asked), asked)), asked
        if question == "children":
            renamed = asked[::NAMED]
            phrases = _in_other_words(texts[renamed], random)
            scored, of = (
                [*scored, *kin.scores(question, phrases, np.full(len(renamed), -1))],
                np.append(asked, renamed),
            )
        evidence = _evidence_of_neighbours(question, embedded, rule, of, drawn, scored)
        start = np.array([[rule.slope, 0.5, 0.5, 0.5]])
        fitted = structure_weights.fit(evidence, evidence.groups, start, PRECISION * np.eye(4))[0]
        weights = np.maximum(fitted[1:], 0.0) / max(fitted[0], LEAST_WEIGHT)
        slope, offset, curve = _curve(
            question, embedded, rule, asked, scored[: len(asked)], weights
        )
        of_kin = dict(zip(SCORES[question], weights.tolist(), strict=True))
        found[question] = NeighbourVoting(slope, offset, **of_kin, curve=curve)
    return found


def _evidence_of_neighbours(
    question: str,
    embedded: EmbeddedHierarchy,
    rule: Subsumption,
    asked: NDArray[np.int64],
    drawn: NDArray[np.int64],
    scored: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]],
) -> structure_weights.Evidence:
    """Score an answer to each entity that is asked about, and those drawn, by the rule and by kin.

    Scores by kin are for each that is asked about.
    """
    c, groups, hierarchy = embedded.c, embedded.groups, embedded.asserted(question)
    answers = _first_parents(hierarchy, asked, embedded.places)
    own, others = np.zeros((len(asked), 4)), np.zeros((4, len(asked), len(drawn)), dtype=np.float32)
    points, right, wrong = (embedded.points(rows) for rows in (asked, answers, drawn))
    own[:, 0] = scores_of(
        question, rule, distance_of(points, right, c), norm(points, c), norm(right, c)
    )
    others[0] = scores_of(
        question, rule, pairwise(points, wrong, c), norm(points, c)[:, None], norm(wrong, c)
    )
    sums = np.zeros((3, len(groups)))
    for at, (reached, scores) in enumerate(scored):
        sums[:, reached] = scores
        own[at, 1:], others[1:, at] = sums[:, answers[at]], sums[:, drawn]
        sums[:, reached] = 0.0
    refused = hierarchy.is_ancestor(drawn[None], asked[:, None]) | (
        groups[asked][:, None] == groups[drawn][None]
    )
    for row, own_row in zip(refused, asked.tolist(), strict=True):
        row |= np.isin(drawn, hierarchy.parents(own_row))
    offsets = np.where(refused, -np.inf, np.log(len(groups) / len(drawn))).astype(np.float32)
    return structure_weights.Evidence(own, others, offsets, np.zeros(len(asked), dtype=np.int64))


def _curve(
    question: str,
    embedded: EmbeddedHierarchy,
    rule: Subsumption,
    asked: NDArray[np.int64],
    scored: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]],
    weights: NDArray[np.float64],
) -> tuple[float, float, tuple[float, float, float]]:
    """Fit the probability of answers as users see them: the best ones of the entities that are asked about.

    The order of answers has direct ones first; that one is above, or below, at all is told better by other weights.

    Returns:
        Steepness of the logistic curve for the sum, its logit at zero, and what each score by kin adds to the logit.
    """
    offsets = [(reached, weights @ scores) for reached, scores in scored]
    owners, answers, sums = embedded.best_answers(question, rule, asked, offsets=offsets)
    true = embedded.asserted(question).is_ancestor(asked[owners], answers)
    if not true.any() or true.all():
        return rule.slope, rule.offset, (0.0, 0.0, 0.0)
    of_kin = scores_of_answers(scored, owners, answers, len(embedded.items))
    (slope, *own), offset = regression(np.vstack([sums - weights @ of_kin, of_kin]), true)
    if slope < LEAST_SLOPE:  # a higher score is never to make an answer less likely
        own, offset = regression(of_kin, true)
        slope = LEAST_SLOPE
    first, second, third = (np.array(own) - slope * weights).tolist()
    return slope, offset, (first, second, third)


def _first_parents(
    hierarchy: Hierarchy, entities: NDArray[np.int64], places: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return a parent of each entity: the first by places, whatever order the graph has them in."""
    parents = [hierarchy.parents(row) for row in entities.tolist()]
    return np.array([of_one[np.argmin(places[of_one])] for of_one in parents], dtype=np.int64)


def _no_texts(asked: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return vectors that nobody looks at: the neighbours of entities are known by their rows."""
    return np.zeros((len(asked), 0), dtype=np.float32)


def _in_other_words(
    vectors: NDArray[np.float32], random: np.random.Generator
) -> NDArray[np.float32]:
    """Turn vectors of texts about as far as other words for the same would."""
    noise = unit(random.normal(size=vectors.shape))
    return np.asarray(
        IN_OTHER_WORDS * unit(vectors) + (1 - IN_OTHER_WORDS**2) ** 0.5 * noise, dtype=np.float32
    )
