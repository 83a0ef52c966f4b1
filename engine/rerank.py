"""Re-ranking of candidates: by a cross-encoder, or by a score offset for graph neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Scored
from ontodex.engine.resolve import ResolvedTerm, relation_text
from ontodex.errors import SettingsError, settings_from
from ontodex.graph import KnowledgeGraph, TextSettings, entity_texts, relation_texts
from ontodex.graph.arrays import runs

__all__ = ["COSINE", "TOP", "Reranker", "neighbourhood_offset"]

Rows = NDArray[np.integer]
Scores = NDArray[np.float32]

TOP = 50
"""Number of candidates of a question that are re-ranked."""

COSINE = 0.05
"""Difference in cosine that counts as one unit of log-probability: the training temperature."""


class Reranker:
    """Re-ranks the best candidates of a question by their score plus a cross-encoder's logit.

    Score and logit are both log-probabilities, up to a constant and a unit. Their sum is therefore
    the logarithm of the product of both probabilities.

    Args:
        model: Folder of the cross-encoder.
        graph: Graph of the entities and relations.
        top: Number of candidates that are re-ranked.
        unit: Score difference of one unit of log-probability: :data:`COSINE`, or 1 for log-odds.
        device: Device of the cross-encoder.

    Raises:
        EncoderError: If there is no cross-encoder in the folder.
        SettingsError: If ``top`` is below 1.
    """

    def __init__(
        self,
        model: Path,
        graph: KnowledgeGraph,
        *,
        top: int = TOP,
        unit: float = COSINE,
        device: str = "auto",
    ) -> None:
        from ontodex.encoders.cross_encoder import CrossEncoder

        if top < 1:
            raise SettingsError(f"top: expected at least 1 candidate to re-rank, found {top}")
        self.top, self._unit = top, unit
        self._encoder: Any = CrossEncoder.load(model, device)
        self._entities = entity_texts(
            graph, settings_from(TextSettings, self._encoder.texts, str(model))
        )
        self._relations = relation_texts(graph)

    def questions(
        self,
        entities: Sequence[ResolvedTerm],
        relations: Sequence[ResolvedTerm],
        *,
        backward: bool = False,
    ) -> list[tuple[str, str]]:
        """Return the texts of (entity, relation) pairs for the cross-encoder.

        Args:
            entities: Heads; tails if ``backward``.
            relations: The relation of each entity.
            backward: Ask for heads, by the inverse relations, instead of tails.

        Returns:
            For each pair, the text of the entity and the text of the relation.
        """
        heads = [one.words if one.row is None else self._entities[one.row] for one in entities]
        return list(
            zip(
                heads,
                [relation_text(self._relations, one, backward) for one in relations],
                strict=True,
            )
        )

    def reordered(
        self, questions: Sequence[tuple[str, str]], found: Sequence[Scored]
    ) -> list[Scored]:
        """Re-rank the answers to questions.

        Args:
            questions: Texts of head and relation of each question.
            found: Rows and scores of the answers to each question.

        Returns:
            Rows and new scores, best first. A new score is the old score plus ``unit`` times the
            logit of the cross-encoder.
        """
        if not found:
            return []
        triples = [
            (head, relation, self._entities[row])
            for (head, relation), (rows, _) in zip(questions, found, strict=True)
            for row in rows.tolist()
        ]
        logits = np.split(
            self._encoder.logits(triples), np.cumsum([len(rows) for rows, _ in found])[:-1]
        )
        answers = []
        for (rows, scores), own in zip(found, logits, strict=True):
            better = scores + self._unit * own
            order = np.lexsort((rows, -better))
            answers.append((rows[order], better[order]))
        return answers

    def adjust(self, entities: Rows, relations: Rows, scores: Scores) -> Scores:
        """Return scores in which re-ranked candidates are above all others.

        This is an ``adjust`` function for ``evaluate_links``.

        Args:
            entities: Rows of the questions' entities, of shape (questions,).
            relations: Numbers of the relations; a number of at least R, the number of relations, is
                an inverse.
            scores: Scores of all entities, of shape (questions, entities); -inf for entities that
                are not candidates.
        """
        count = min(self.top, scores.shape[1])
        best = np.argpartition(-scores, count - 1, axis=1)[:, :count]
        found = [
            (rows[np.isfinite(own[rows])], own[rows][np.isfinite(own[rows])].astype(np.float64))
            for rows, own in zip(best, scores, strict=True)
        ]
        questions = [
            (self._entities[entity], self._relations[relation])
            for entity, relation in zip(entities.tolist(), relations.tolist(), strict=True)
        ]
        made = scores.copy()
        for row, (rows, better) in enumerate(self.reordered(questions, found)):
            if len(rows):
                shift = scores[row][np.isfinite(scores[row])].max() - better.min() + 1.0
                made[row, rows] = better + shift
        return made


def neighbourhood_offset(
    graph: KnowledgeGraph, hops: int, *, unit: float = COSINE
) -> Callable[[Rows, Rows, Scores], Scores]:
    """Return a function that adds an offset to the scores of entities near the question's entity.

    An entity is near if at most ``hops`` known triples, in any direction, lead to it from the
    question's entity. Wang et al., "SimKGC", ACL 2022, section 3.4, take five hops for WN18RR and
    two for FB15k-237.

    Args:
        graph: Graph of the known triples.
        hops: Maximal number of hops.
        unit: The offset; by default SimKGC's 0.05.

    Returns:
        An ``adjust`` function for ``evaluate_links``.

    Raises:
        SettingsError: If ``hops`` is below 1.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("line")
        >>> for here, there in ("ab", "bc", "cd"):
        ...     builder.triple(here, "next", there)
        >>> adjust = neighbourhood_offset(builder.build(), hops=2, unit=1.0)
        >>> adjust(np.array([0]), np.array([0]), np.zeros((1, 4), dtype=np.float32)).tolist()
        [[1.0, 1.0, 1.0, 0.0]]
    """
    if hops < 1:
        raise SettingsError(f"hops: expected at least 1, found {hops}")
    ends = np.concatenate([graph.triples[:, [0, 2]], graph.triples[:, [2, 0]]]).astype(np.int64)
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    starts = np.searchsorted(ends[:, 0], np.arange(graph.n_entities + 1))

    def near(entity: int) -> NDArray[np.bool_]:
        reached = np.zeros(graph.n_entities, dtype=bool)
        reached[entity] = True
        edge = np.array([entity])
        for _ in range(hops):
            _, places = runs(starts[edge], starts[edge + 1] - starts[edge])
            linked = np.unique(ends[places, 1])
            edge = linked[~reached[linked]]
            reached[edge] = True
        return reached

    def adjust(entities: Rows, relations: Rows, scores: Scores) -> Scores:
        made = scores.copy()
        for row, entity in enumerate(entities.tolist()):
            made[row, near(entity)] += np.float32(unit)
        return made

    return adjust
