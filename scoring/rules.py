"""Rules that the links of a graph follow: a relation holds where another does, or a path of two.

Whoever was born in a town is a citizen of its country. Such rules are counted, not trained: Meilicke et al., "Anytime
Bottom-Up Rule Learning for Knowledge Graph Completion", IJCAI 2019. A link that is added counts at once.
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
"""Known triples of a relation whose ends are looked at for paths between them."""

HEADS = 64
"""Heads of a relation that a rule is tried on."""

BODIES = 100
"""Most rules of a relation: those that most of its examples follow."""

HITS = 2
"""Known tails that a rule must find."""

DOUBT = 5
"""Wrong tails that every rule is taken to have found besides its own."""

LEAST = 0.01
"""Least confidence of a rule."""

MOST = 0.999
"""Confidence that no rule is trusted beyond."""

SURE = 0.7
"""Confidence of a rule that is right mostly."""

FAN = 512
"""A path does not go by an entity that has more links of the relation."""

BLOCK = 16
"""Questions that are answered at once."""

FOLLOWED = 128
"""Rules that are followed at once, each from one entity."""


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules, and how often they are right.

    Attributes:
        bodies: The relation that a rule predicts, the relation that leads on from the head, and the one that leads from
            there to the tail, or -1; ``int32`` of shape (rules, 3), ascending. Relations from R on are inverses.
        confidences: Share of right tails among those that the rule finds, ``float32`` of shape (rules,).
    """

    bodies: NDArray[np.int32]
    confidences: NDArray[np.float32]

    def scores(
        self, links: KnownLinks, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> Iterator[tuple[Rows, NDArray[np.float64]]]:
        """Score the tails of questions by 1 - Π(1 - confidence) over the rules that find them.

        Args:
            links: The links that paths go by.
            entities: Rows of entities, of shape (n,); -1 for one that the graph does not have.
            relations: Number of each relation; -1 for one that the graph does not have.

        Yields:
            For each question the rows of the tails found, ascending, and their scores, both of shape (rows,).
        """
        doubts = -np.log1p(-np.minimum(self.confidences.astype(np.float64), MOST))
        for start in range(0, len(entities), BLOCK):
            asked = np.asarray(entities[start : start + BLOCK], dtype=np.int64)
            kinds = np.where(asked < 0, -1, relations[start : start + BLOCK])
            starts = np.searchsorted(self.bodies[:, 0], kinds)
            counts = np.searchsorted(self.bodies[:, 0], kinds, side="right") - starts
            questions, rules = runs(starts, counts)
            pairs, tails = map(
                np.concatenate,
                zip(*_ends(links, asked[questions], self.bodies[rules]), strict=True),
            )
            found, places = np.unique(
                questions[pairs] * links.n_entities + tails, return_inverse=True
            )
            scores = -np.expm1(-np.bincount(places, doubts[rules[pairs]], len(found)))
            parts = np.searchsorted(found, np.arange(1, len(asked)) * links.n_entities)
            yield from zip(
                np.split(found % links.n_entities, parts), np.split(scores, parts), strict=True
            )

    def paths(
        self, links: KnownLinks, entity: int, relation: int, tail: int
    ) -> Iterator[tuple[float, list[tuple[int, int, int]]]]:
        """Yield the rules that find a tail: the confidence of each, and known links that it goes by, the surest first.

        None finds the entity itself.

        Args:
            links: The links that paths go by.
            entity: Row of the entity asked about; -1 for one that the graph does not have.
            relation: Number of the relation.
            tail: Row of the tail.
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
        """Return the questions without known tails that a rule of one link answers, which is right mostly.

        As the other half of a marriage, of which one half is told.

        Args:
            links: The known links.

        Returns:
            Entities and relations, ``int64`` of shape (n, 2), none twice.
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
        """Return the rules that are left when relations get other numbers.

        Args:
            numbers: New number of each relation, inverses counted; -1 for one that is gone.
        """
        bodies = np.where(self.bodies >= 0, numbers[self.bodies], -1)
        left = np.flatnonzero(
            (bodies[:, :2] >= 0).all(axis=1) & ((bodies[:, 2] >= 0) == (self.bodies[:, 2] >= 0))
        )
        order = left[np.lexsort(bodies[left].T[::-1])]
        return Rules(bodies[order].astype(np.int32), self.confidences[order])


def no_rules() -> Rules:
    """Return the rules of a graph that has none."""
    return Rules(np.zeros((0, 3), dtype=np.int32), np.zeros(0, dtype=np.float32))


def mine_rules(links: KnownLinks, *, seed: int = 0) -> Rules:
    """Find the rules that known links follow.

    For every relation, paths of one or two links between the ends of up to 128 known triples are rules to be tried, the 100
    most frequent ones on up to 64 heads. The confidence of a rule is right / (found + 5), of which right is at least 2.

    Args:
        links: The known links.
        seed: Seed of the samples.

    Example:
        >>> lives, town, country = (np.arange(10), 10 + np.arange(10) // 5, np.full(10, 12))
        >>> triples = [np.stack([head, np.full(10, number), tail], axis=1)  # lives in, citizen of; towns are in a country
        ...     for number, (head, tail) in enumerate([(lives, town), (lives, country), (town, country)])]
        >>> rules = mine_rules(KnownLinks(np.concatenate(triples), 13, 3))
        >>> rules.bodies[rules.bodies[:, 0] == 1].tolist()  # a citizen of where the town is that one lives in
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
        confidence = hits / (found + DOUBT)
        kept = (hits >= HITS) & (confidence >= LEAST)
        bodies.append(tried[kept])
        confidences.append(confidence[kept])
    return Rules(
        np.concatenate(bodies).astype(np.int32), np.concatenate(confidences).astype(np.float32)
    )


def _frequent(links: KnownLinks, relation: int, examples: Rows) -> Rows:
    """Return the bodies that join the ends of most examples, of shape (bodies, 3), ascending."""
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
    """Yield where rules lead, some rules at a time: the pair of an entity and a rule, and the tail found, each once.

    The entity itself is no tail.
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
