"""Case-based evidence: scores of links by similar known links and by rules, without training."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.vectors import Vectors
from ontodex.graph.arrays import distinct
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.analogy import Analogy
from ontodex.scoring.link_similarity import LinkSimilarity
from ontodex.scoring.rules import Rules
from ontodex.scoring.similarity import EntitySimilarity

__all__ = ["CaseBasedEvidence", "Ground", "by_rules"]

SCORES = 9
"""Number of scores of a tail; see :meth:`CaseBasedEvidence.scores`."""

RULES = 6
"""Index of the rules' score among the scores of a tail."""

WEAK = 0.05
"""Confidence of a weak rule.

A rule of this confidence counts for log 2, one of .5 for log 11: in proportion to the confidence,
the rules of the largest relations, most of them weak, would set the weight of the strong ones.
"""

Ground = tuple[float, list[tuple[int, int, int]]]
"""One reason for a score: the similarity of an entity, or the confidence of a rule, and the known
triples (head, relation, tail) from which the entity or the rule predicts the tail."""


class CaseBasedEvidence:
    """Scores tails by known triples.

    Args:
        links: Known triples.
        texts: Vectors of the entities' texts, for similarity by text.
        kge: KGE vectors of the entities, for similarity by KGE vectors.
        rules: Rules of the graph.

    Attributes:
        link_similarity: Similarity of the entities by what they are linked to.
    """

    def __init__(self, links: KnownLinks, texts: Vectors, kge: Vectors, rules: Rules) -> None:
        self._links, self._rules = links, rules
        self._by_text = Analogy(links, EntitySimilarity(texts))
        self._by_kge = Analogy(links, EntitySimilarity(kge))
        self.link_similarity = LinkSimilarity(links)
        self._by_links = Analogy(links, self.link_similarity)
        self._kge = kge

    def scores(
        self,
        texts: NDArray[np.float32],
        entities: NDArray[np.integer],
        relations: NDArray[np.integer],
        *,
        as_new: bool = False,
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Score the tails of (entity, relation) questions.

        Args:
            texts: Text vector of each question's entity, of shape (n, dim).
            entities: Row of each question's entity, of shape (n,); -1 if the graph lacks it.
            relations: Number of each question's relation, of shape (n,); -1 if the graph lacks it.
                Numbers R (the number of relations) and above are inverses.
            as_new: If true, each entity is treated as if the graph lacked it; otherwise its own
                triples count as well.

        Yields:
            For each question, the rows of tails with a score, ascending, and their scores,
            ``float64`` of shape (9, rows):

            - two scores by similar heads and similar tails, with the similarity of texts
              (:class:`~ontodex.scoring.analogy.Analogy`),
            - the same two scores, with the similarity of KGE vectors,
            - the same two scores, with the similarity of what the entities are linked to
              (:class:`~ontodex.scoring.link_similarity.LinkSimilarity`),
            - log(1 + s / 0.05), with the score s by rules (:class:`~ontodex.scoring.rules.Rules`),
            - 1 if the tail is a known answer and no other entity is a known head of this relation
              and tail; otherwise 0,
            - the squared norm of the text vector if the tail is the entity itself; otherwise 0.
        """
        apart = entities if as_new else None
        entities = np.full_like(entities, -1) if as_new else entities
        kge = self._kge[np.maximum(entities, 0)]
        kge[entities < 0] = 0.0
        parts = zip(
            self._by_text.scores(texts, entities, relations, apart),
            self._by_kge.scores(kge, entities, relations),
            self._by_links.scores(kge, entities, relations),
            self._rules.scores(self._links, entities, relations),
            self._only_triple(entities, relations),
            _itself(texts, entities, relations),
            strict=True,
        )
        for question in parts:
            rows = distinct(np.concatenate([own for own, _ in question]))
            scores, first = np.zeros((SCORES, len(rows))), 0
            for own, values in question:
                values = np.atleast_2d(np.log1p(values / WEAK) if first == RULES else values)
                scores[first : first + len(values), np.searchsorted(rows, own)] = values
                first += len(values)
            yield rows, scores

    def grounds(
        self, text: NDArray[np.float32], entity: int, relation: int, tail: int
    ) -> list[list[Ground]]:
        """Return the known triples behind the first seven scores of a tail; see :meth:`scores`.

        Args:
            text: Text vector of the entity, of shape (dim,).
            entity: Row of the entity; -1 if the graph lacks it.
            relation: Number of the relation; -1 if the graph lacks it. Numbers R (the number of
                relations) and above are inverses.
            tail: Row of the tail.

        Returns:
            The grounds of each score, the strongest ground first.
        """
        kge = np.zeros(self._kge.dim, dtype=np.float32)
        if entity >= 0:
            kge = self._kge[np.array([entity])][0]
        found: list[list[Ground]] = []
        for analogy, vector in (
            (self._by_text, text),
            (self._by_kge, kge),
            (self._by_links, kge),
        ):
            heads, tails = analogy.grounds(vector, entity, relation, tail)
            found += [
                [(similarity, [(head, relation, tail)]) for head, similarity in heads],
                [(similarity, [(entity, relation, other)]) for other, similarity in tails],
            ]
        return [*found, list(self._rules.paths(self._links, entity, relation, tail))]

    def _only_triple(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Yield the known tails of each question that have no other known head, with score 1."""
        owners, tails = self._links.follow(np.where(relations < 0, -1, entities), relations)
        alone = self._links.spans(tails, self._links.inverse(relations[owners]))[1] == 1
        ends = np.searchsorted(owners[alone], np.arange(1, len(entities) + 1))
        for part in np.split(tails[alone], ends)[:-1]:
            yield part, np.ones(len(part))


def _itself(
    texts: NDArray[np.float32], entities: NDArray[np.integer], relations: NDArray[np.integer]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Yield each question's entity and the squared norm of its text vector.

    Nothing is yielded of entities and relations that the graph lacks.
    """
    norms = np.einsum("nd,nd->n", texts, texts, dtype=np.float64)
    for entity, relation, norm in zip(entities.tolist(), relations.tolist(), norms, strict=True):
        count = int(entity >= 0 and relation >= 0)
        yield np.full(count, entity, dtype=np.int64), np.full(count, norm)


def by_rules(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores by rules, between 0 and 1, of shape (rows,).

    Args:
        scores: Scores of tails, of shape (9, rows); see :meth:`CaseBasedEvidence.scores`.
    """
    return np.asarray(WEAK * np.expm1(scores[RULES]))
