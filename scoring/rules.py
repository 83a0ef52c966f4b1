"""Horn rules with one or two body atoms, mined from the links of a graph.

For example, a person born in a town is a citizen of the country of the town. Rules are counted, not
trained (Meilicke et al., "Anytime Bottom-Up Rule Learning for Knowledge Graph Completion", IJCAI
2019), so an added link takes effect at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.arrays import distinct, runs
from ontodex.graph.known_links import KnownLinks

__all__ = ["Rules", "mine_rules", "no_rules"]

Rows = NDArray[np.int64]

EXAMPLES = 128
"""Number of sampled triples of a relation; paths from head to tail are candidate rules."""

HEADS = 64
"""Number of sampled heads of a relation, to estimate confidences."""

BODIES = 100
"""Maximal number of candidate rules of a relation: the most frequent paths."""

HITS = 2
"""Minimal number of known tails that a rule must predict."""

PSEUDOCOUNT = 5
"""Number of wrong predictions that is added to the predictions of every rule."""

LEAST = 0.01
"""Minimal confidence of a rule."""

MOST = 0.999
"""Upper bound of a confidence."""

SURE = 0.7
"""Minimal confidence of rules that answer questions without known tails."""

FAN = 512
"""Paths do not follow a relation from an entity with more links of this relation."""

BLOCK = 16
"""Number of questions in one block."""

FOLLOWED = 128
"""Number of (entity, rule) pairs in one block."""


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules and their confidences.

    Attributes:
        bodies: For each rule, the predicted relation, the first relation of the path from head to
            tail, and the second relation (-1 if the path has one link); ``int32`` of shape (rules,
            3), ascending. Numbers R (the number of relations) and above are inverses.
        confidences: Share of known tails among the predicted tails, smoothed (:func:`mine_rules`),
            ``float32`` of shape (rules,).
    """

    bodies: NDArray[np.int32]
    confidences: NDArray[np.float32]

    def scores(
        self, links: KnownLinks, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> Iterator[tuple[Rows, NDArray[np.float64]]]:
        """Score tails by noisy-or, 1 - Π(1 - confidence) over the rules that predict them.

        Args:
            links: Links that paths follow.
            entities: Row of each question's entity, of shape (n,); -1 if the graph lacks it.
            relations: Number of each question's relation, of shape (n,); -1 if the graph lacks it.

        Yields:
            For each question, the rows of predicted tails, ascending, and their scores, both of
            shape (rows,).
        """
        log_failures = -np.log1p(-np.minimum(self.confidences.astype(np.float64), MOST))
        for start in range(0, len(entities), BLOCK):
            heads = np.asarray(entities[start : start + BLOCK], dtype=np.int64)
            kinds = np.where(heads < 0, -1, relations[start : start + BLOCK])
            starts = np.searchsorted(self.bodies[:, 0], kinds)
            counts = np.searchsorted(self.bodies[:, 0], kinds, side="right") - starts
            questions, rules = runs(starts, counts)
            pairs, tails = map(
                np.concatenate,
                zip(*_ends(links, heads[questions], self.bodies[rules]), strict=True),
            )
            found, places = np.unique(
                questions[pairs] * links.n_entities + tails, return_inverse=True
            )
            scores = -np.expm1(-np.bincount(places, log_failures[rules[pairs]], len(found)))
            parts = np.searchsorted(found, np.arange(1, len(heads)) * links.n_entities)
            yield from zip(
                np.split(found % links.n_entities, parts), np.split(scores, parts), strict=True
            )

    def paths(
        self, links: KnownLinks, entity: int, relation: int, tail: int
    ) -> Iterator[tuple[float, list[tuple[int, int, int]]]]:
        """Yield the rules that predict a tail, by descending confidence.

        Rules never predict the head itself.

        Args:
            links: Links that paths follow.
            entity: Row of the head; -1 if the graph lacks it.
            relation: Number of the relation.
            tail: Row of the tail.

        Yields:
            The confidence of the rule, and one path: its known links (head, relation, tail).
        """
        own = np.flatnonzero((self.bodies[:, 0] == relation) & (tail != entity))
        for rule in own[np.argsort(-self.confidences[own], kind="stable")].tolist():
            first, second = self.bodies[rule, 1:].tolist()
            _, ends = links.follow(np.array([entity]), np.array([first]), FAN)
            if second < 0:
                path = [(entity, first, tail)] if tail in ends else []
            else:
                origins, further = links.follow(ends, np.full(len(ends), second), FAN)
                between = ends[origins[further == tail]][:1].tolist()
                path = [
                    link for one in between for link in ((entity, first, one), (one, second, tail))
                ]
            if path:
                yield float(self.confidences[rule]), path

    def surely_answered(self, links: KnownLinks) -> Rows:
        """Return the questions that have no known tail, but a tail by a confident one-link rule.

        An example is a symmetric relation if the graph has only one direction of a link.

        Args:
            links: Known links.

        Returns:
            Distinct entities and relations, ``int64`` of shape (n, 2).
        """
        sure = self.bodies[(self.bodies[:, 2] < 0) & (self.confidences >= SURE)].astype(np.int64)
        questions = distinct(links.triples[:, 1] * links.n_entities + links.triples[:, 0])
        spans = np.searchsorted(questions, np.arange(links.n_relations + 1) * links.n_entities)
        found = [np.zeros(0, dtype=np.int64)]
        for relation, body, _ in sure.tolist():
            heads = questions[spans[body] : spans[body + 1]] % links.n_entities
            without = links.spans(heads, np.full(len(heads), relation))[1] == 0
            found.append(relation * links.n_entities + heads[without])
        relations, entities = np.divmod(distinct(np.concatenate(found)), links.n_entities)
        return np.stack([entities, relations], axis=1)

    def renumbered(self, numbers: NDArray[np.integer]) -> Rules:
        """Return the rules with new numbers of the relations.

        Rules with a removed relation are left out.

        Args:
            numbers: New number of each relation and inverse relation; -1 if it is removed.
        """
        bodies = np.where(self.bodies >= 0, numbers[self.bodies], -1)
        left = np.flatnonzero(
            (bodies[:, :2] >= 0).all(axis=1) & ((bodies[:, 2] >= 0) == (self.bodies[:, 2] >= 0))
        )
        order = left[np.lexsort(bodies[left].T[::-1])]
        return Rules(bodies[order].astype(np.int32), self.confidences[order])


def no_rules() -> Rules:
    """Return an empty set of rules."""
    return Rules(np.zeros((0, 3), dtype=np.int32), np.zeros(0, dtype=np.float32))


def mine_rules(links: KnownLinks, *, seed: int = 0) -> Rules:
    """Mine rules from known links.

    The candidate rules of a relation are the paths of one or two links from head to tail in up to
    128 of its triples. The 100 most frequent candidates are tried on up to 64 heads. The confidence
    of a rule is the number of known tails that it predicts, divided by the number of all predicted
    tails plus 5. A rule must predict at least 2 known tails and have a confidence of at least 0.01.

    Args:
        links: Known links.
        seed: Seed of the samples.

    Example:
        >>> person, town, country = (np.arange(10), 10 + np.arange(10) // 5, np.full(10, 12))
        >>> links = [(person, town), (person, country), (town, country)]
        >>> triples = [np.stack([head, np.full(10, number), tail], axis=1)
        ...     for number, (head, tail) in enumerate(links)]  # lives in, citizen of, is in
        >>> rules = mine_rules(KnownLinks(np.concatenate(triples), 13, 3))
        >>> rules.bodies[rules.bodies[:, 0] == 1].tolist()  # citizen of <- lives in, is in
        [[1, 0, 2]]
        >>> float(rules.confidences[rules.bodies[:, 0] == 1][0])  # 10 of 10
        0.6666666865348816
    """
    random = np.random.default_rng(seed)
    order = np.argsort(links.triples[:, 1], kind="stable")
    parts = np.split(
        order, np.searchsorted(links.triples[order, 1], np.arange(1, links.n_relations))
    )
    bodies, confidences = [np.zeros((0, 3), dtype=np.int64)], [np.zeros(0)]
    for relation, rows in enumerate(parts):
        if not len(rows):
            continue
        tried = _frequent(links, relation, links.triples[random.permutation(rows)[:EXAMPLES]])
        heads = random.permutation(np.unique(links.triples[rows, 0]))[:HEADS]
        asked, rules = np.repeat(heads, len(tried)), np.tile(np.arange(len(tried)), len(heads))
        hits, found = np.zeros(len(tried)), np.zeros(len(tried))
        for pairs, tails in _ends(links, asked, tried[rules]):
            right = links.known(asked[pairs], np.full(len(pairs), relation), tails)
            hits += np.bincount(rules[pairs], right, len(tried))
            found += np.bincount(rules[pairs], minlength=len(tried))
        confidence = hits / (found + PSEUDOCOUNT)
        kept = (hits >= HITS) & (confidence >= LEAST)
        bodies.append(tried[kept])
        confidences.append(confidence[kept])
    return Rules(
        np.concatenate(bodies).astype(np.int32), np.concatenate(confidences).astype(np.float32)
    )


def _frequent(links: KnownLinks, relation: int, examples: Rows) -> Rows:
    """Return the most frequent paths from head to tail of examples, as bodies of :class:`Rules`."""
    found = []
    for head, _, tail in examples.tolist():
        away, there = links.links_of(head)
        back, from_there = links.links_of(tail)
        short = away[(there == tail) & (away != relation)]
        order = np.argsort(from_there, kind="stable")
        starts = np.searchsorted(from_there[order], there)
        counts = np.searchsorted(from_there[order], there, side="right") - starts
        counts[(there == head) | (there == tail)] = 0
        steps, places = runs(starts, counts)
        long = away[steps] * links.n_relations + links.inverse(back[order[places]])
        found += [distinct(-1 - short), distinct(long)]
    codes, counts = np.unique(np.concatenate(found), return_counts=True)
    best = np.lexsort((codes, -counts))[:BODIES]
    codes = codes[best[counts[best] >= HITS]]
    first, second = np.divmod(codes, links.n_relations)
    bodies = np.stack(
        [np.where(codes < 0, -1 - codes, first), np.where(codes < 0, -1, second)], axis=1
    )
    bodies = bodies[np.lexsort(bodies.T[::-1])]
    return np.concatenate([np.full((len(bodies), 1), relation), bodies], axis=1)


def _ends(
    links: KnownLinks, entities: Rows, bodies: NDArray[np.integer]
) -> Iterator[tuple[Rows, Rows]]:
    """Yield the distinct tails that rules predict, in blocks of (entity, rule) pairs.

    The entity itself is left out as a tail.

    Args:
        links: Links that paths follow.
        entities: Entity of each pair, of shape (pairs,).
        bodies: Rule of each pair, of shape (pairs, 3).

    Yields:
        For each predicted tail, the position of its pair, and the row of the tail.
    """
    for start in range(0, max(1, len(entities)), FOLLOWED):
        pairs, ends = links.follow(
            entities[start : start + FOLLOWED], bodies[start : start + FOLLOWED, 1], FAN
        )
        pairs += start
        on = bodies[pairs, 2] >= 0
        steps, tails = links.follow(ends[on], bodies[pairs[on], 2], FAN)
        keys = np.concatenate(
            [pairs[~on] * links.n_entities + ends[~on], pairs[on][steps] * links.n_entities + tails]
        )
        pairs, tails = np.divmod(distinct(keys), links.n_entities)
        other = tails != entities[pairs]
        yield pairs[other], tails[other]
