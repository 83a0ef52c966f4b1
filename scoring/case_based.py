"""What known triples suggest without any training: analogies of text and of links, and rules."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.vectors import Vectors
from ontodex.graph.arrays import distinct
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.analogy import Analogy
from ontodex.scoring.rules import Rules

__all__ = ["RULES", "CaseBasedEvidence", "Ground"]

SCORES = 6
"""Scores that a tail has."""

Ground = tuple[float, list[tuple[int, int, int]]]
"""How like an entity is, or how sure a rule, and the known triples that say so: head, relation and tail."""

RULES = 4
"""Which of them is that of rules."""


class CaseBasedEvidence:
    """Scores of the tails of questions by known triples.

    Args:
        links: What is known.
        texts: Vectors of the entities' texts, to tell which are alike.
        structure: Structural vectors of the entities, for the same.
        rules: Rules of the graph.
    """

    def __init__(self, links: KnownLinks, texts: Vectors, structure: Vectors, rules: Rules) -> None:
        self._links, self._rules = links, rules
        self._by_text, self._by_links = Analogy(links, texts), Analogy(links, structure)
        self._structure = structure

    def scores(
        self,
        texts: NDArray[np.float32],
        entities: NDArray[np.integer],
        relations: NDArray[np.integer],
        *,
        as_new: bool = False,
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Score the tails of questions.

        Args:
            texts: Vector of the text of each entity that is asked about, of shape (n, dim).
            entities: Its row, of shape (n,); -1 for one that the graph does not have.
            relations: Number of each relation, inverses from R on; -1 for one that the graph does not have.
            as_new: Ask of each entity as if the graph did not have it.

        Yields:
            For each question the rows of tails with a score, ascending, and their scores, ``float64`` of shape (6, rows): by
            heads and by tails of like text, and of like links (:class:`~ontodex.scoring.analogy.Analogy`), by
            rules (:class:`~ontodex.scoring.rules.Rules`), and 1 for tails that are known to be one of the relation
            by nothing but the triple asked about.
        """
        apart = entities if as_new else None
        entities = np.full_like(entities, -1) if as_new else entities
        structure = self._structure[np.maximum(entities, 0)]
        structure[entities < 0] = 0.0
        parts = zip(
            self._by_text.scores(texts, entities, relations, apart),
            self._by_links.scores(structure, entities, relations),
            self._rules.scores(self._links, entities, relations),
            self._alone(entities, relations),
            strict=True,
        )
        for question in parts:
            rows = distinct(np.concatenate([own for own, _ in question]))
            scores, first = np.zeros((SCORES, len(rows))), 0
            for own, values in question:
                values = np.atleast_2d(values)
                scores[first : first + len(values), np.searchsorted(rows, own)] = values
                first += len(values)
            yield rows, scores

    def grounds(
        self, text: NDArray[np.float32], entity: int, relation: int, tail: int
    ) -> list[list[Ground]]:
        """Return the known triples that the scores of a tail go by, but for the last: likeness or confidence, and triples.

        Args:
            text: Vector of the text of the entity that is asked about, of shape (dim,).
            entity: Its row; -1 for one that the graph does not have.
            relation: Number of the relation, inverses from R on; -1 for one that the graph does not have.
            tail: Row of the tail.

        Returns:
            The grounds of each score, the strongest first.
        """
        links = np.zeros(self._structure.dim, dtype=np.float32)
        if entity >= 0:
            links = self._structure[np.array([entity])][0]
        found: list[list[Ground]] = []
        for analogy, vector in ((self._by_text, text), (self._by_links, links)):
            heads, tails = analogy.grounds(vector, entity, relation, tail)
            found += [
                [(like, [(head, relation, tail)]) for head, like in heads],
                [(like, [(entity, relation, other)]) for other, like in tails],
            ]
        return [*found, list(self._rules.paths(self._links, entity, relation, tail))]

    def _alone(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        owners, tails = self._links.follow(np.where(relations < 0, -1, entities), relations)
        alone = self._links.spans(tails, self._links.inverse(relations[owners]))[1] == 1
        ends = np.searchsorted(owners[alone], np.arange(1, len(entities) + 1))
        for part in np.split(tails[alone], ends)[:-1]:
            yield part, np.ones(len(part))
