"""Graph features: KGE vectors, type constraints, rules, and the weights of all scores of a link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.complex import compose
from ontodex.geometry.vectors import Vectors
from ontodex.scoring.rules import Rules

__all__ = [
    "CALIBRATIONS",
    "CASE_BASED",
    "COSINE",
    "KIND",
    "TEXT",
    "TYPE_CONSTRAINT",
    "WEIGHTS",
    "GraphFeatures",
    "Offsets",
    "QueryFunction",
    "add_offsets",
]

TEXT, KGE, TYPE_CONSTRAINT, KIND = (slice(place, place + 1) for place in range(4))
CASE_BASED, COSINE = slice(4, 11), slice(11, 12)
"""Positions of a relation's weights: text, ComplEx, type constraint, kind, case-based evidence and
cosine.

Case-based evidence has the first seven scores of
:meth:`~ontodex.scoring.case_based.CaseBasedEvidence.scores`. The cosine is that of the texts of
head and tail, without the projection of the relation.
"""

WEIGHTS = 12
"""Number of weights of a relation."""


CALIBRATIONS = ("calibration", "asked_calibration")
"""The attributes of :class:`GraphFeatures` that may be ``None``."""


class StoredArrays(Protocol):
    """Arrays by name, such as :class:`ontodex.storage.blobs.BlobReader`."""

    def __contains__(self, name: str) -> bool: ...
    def get(self, name: str) -> NDArray[Any]:
        """Return the array with a name."""


QueryFunction = Callable[[NDArray[np.integer], NDArray[np.integer]], NDArray[np.float32]]
"""Function from rows of entities and numbers of relations, both of shape (n,), to query vectors of
shape (n, dim). Numbers R (the number of relations) and above are inverses."""

Offsets = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Rows of entities, ascending, and the score offset of each entity, which may be negative."""


def add_offsets(scores: NDArray[np.float32], offsets: Iterable[Offsets]) -> None:
    """Add the score offsets of each query to its scores, in place.

    Args:
        scores: Scores of all items, of shape (queries, items).
        offsets: Offsets of each query.
    """
    for own, (rows, values) in zip(scores, offsets, strict=True):
        own[rows] += values.astype(np.float32)


@dataclass(frozen=True, eq=False)
class GraphFeatures:
    """Features of the graph's links, and the weight of every score of a link.

    The score of a tail is the weighted sum of the text score, the cosine of the texts, the ComplEx
    score, the type constraint, the kind and case-based evidence. All but the last are inner
    products, so one query vector holds them.

    Below, R is the number of relations. Relations with numbers R and above are inverses.

    Attributes:
        entities: Feature vectors of the entities: ComplEx vectors, then type constraint vectors
            (:mod:`ontodex.scoring.type_constraints`), then profiles (:mod:`ontodex.scoring.kinds`);
            of shape (entities, 2 * rank + constraints + features of a profile).
        relations: ComplEx vectors of the relations and inverses, of shape (2R, 2 * rank).
        type_constraints: Type constraint vectors of the relations and inverses, of shape (2R,
            constraints).
        kinds: Vectors of the kinds of tails of the relations and inverses, of shape (2R, features
            of a profile).
        rules: Rules mined from the links.
        weights: Weights of the scores, ``float32`` of shape (2, 2R + 1, 12). The first axis is 0
            for known entities and 1 for new entities. The second axis is the number of the
            relation; 2R is for a relation that the graph lacks. The third axis has the weights of
            text, ComplEx, type constraint, kind, similar heads and tails by text, by KGE vectors
            and by shared links, rules, and cosine.
        calibration: Coefficients that make scores of different questions comparable
            (:mod:`ontodex.scoring.calibration`); ``None`` if too few links were held out to fit
            the coefficients.
        asked_calibration: The same for questions that have an answer.
    """

    entities: Vectors
    relations: NDArray[np.float32]
    type_constraints: NDArray[np.float32]
    kinds: NDArray[np.float32]
    rules: Rules
    weights: NDArray[np.float32]
    calibration: NDArray[np.float32] | None = None
    asked_calibration: NDArray[np.float32] | None = None

    @property
    def are_default(self) -> bool:
        """Whether the weights are default ones, without ComplEx, as in a graph with few links."""
        return not self.relations.shape[1]

    def queries(
        self,
        text: NDArray[np.float32],
        vectors: NDArray[np.float32],
        entities: NDArray[np.integer],
        relations: NDArray[np.integer],
    ) -> NDArray[np.float32]:
        """Return hybrid queries, whose product with a hybrid vector is the weighted sum of scores.

        A hybrid query has four parts: text with cosine, ComplEx, type constraint and kind. If an
        entity is new (not in the graph, or without links in KGE training), the ComplEx part is
        zero. If the graph lacks a relation, the query is that of the text alone.

        Args:
            text: Queries of the link space, of shape (n, dim).
            vectors: Vectors of the queries' entities in the link space, of shape (n, dim).
            entities: Row of each query's entity; -1 if the graph lacks it.
            relations: Number of each query's relation or inverse; -1 if the graph lacks it.

        Returns:
            ``float32`` of shape (n, dim + 2 * rank + constraints + features of a profile).
        """
        weights = self._weights(entities, relations)
        kge = self.kge_queries(entities, relations) * weights[:, KGE]
        known = (relations >= 0)[:, None]
        constraints = self.type_constraints[relations] * weights[:, TYPE_CONSTRAINT] * known
        kinds = self.kinds[relations] * weights[:, KIND] * known
        texts = text * weights[:, TEXT] + vectors * weights[:, COSINE] * known
        return np.concatenate([texts, kge, constraints, kinds], axis=1)

    def kge_queries(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Return the unweighted ComplEx part of queries, of shape (n, 2 * rank).

        The part is zero if the entity or the relation is -1, that is, not in the graph.
        """
        made = compose(
            self.entities[np.maximum(entities, 0)][:, : self.relations.shape[1]],
            self.relations[relations],
        )
        made[(entities < 0) | (relations < 0)] = 0.0
        return made

    def offsets(
        self,
        case_based: Iterable[Offsets],
        entities: NDArray[np.integer],
        relations: NDArray[np.integer],
    ) -> Iterator[Offsets]:
        """Yield the score offsets of each question: its weighted case-based evidence.

        The last but one case-based score marks tails that satisfy the type constraint only because
        of the triple in question. Its weight cancels the type constraint of these tails. The last
        one marks the entity of the question, whose cosine with itself is cancelled likewise.

        Args:
            case_based: Scores of each question, see
                :meth:`ontodex.scoring.case_based.CaseBasedEvidence.scores`.
            entities: Row of each question's entity; -1 if the graph lacks it.
            relations: Number of each question's relation or inverse; -1 if the graph lacks it.
        """
        weights = self.case_weights(entities, relations)
        for own, (rows, scores) in zip(weights, case_based, strict=True):
            yield rows, own @ scores

    def case_weights(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Return the weights of case-based scores, of shape (n, 9); see :meth:`offsets`."""
        weights = self._weights(entities, relations)
        return np.concatenate(
            [weights[:, CASE_BASED], -weights[:, TYPE_CONSTRAINT], -weights[:, COSINE]], axis=1
        )

    def _weights(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Return the weights of each question, of shape (n, 12)."""
        trained = self.entities[np.maximum(entities, 0)][:, : self.relations.shape[1]].any(axis=1)
        new = (entities < 0) | ~trained
        found: NDArray[np.float32] = self.weights[new.astype(np.int64), relations]  # -1 is the last
        return found

    def kge_vectors(self) -> Vectors:
        """Return ComplEx vectors of the entities, of shape (entities, 2 * rank), without a copy."""
        return self.entities.first(self.relations.shape[1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store, by name.

        Entity vectors are not among these arrays, because the hybrid space stores them.
        """
        arrays = {
            "graph_features/relations": self.relations,
            "graph_features/type_constraints": self.type_constraints,
            "graph_features/kinds": self.kinds,
            "graph_features/rules": self.rules.bodies,
            "graph_features/confidences": self.rules.confidences,
            "graph_features/weights": self.weights,
        }
        for name in CALIBRATIONS:
            if (fitted := getattr(self, name)) is not None:
                arrays[f"graph_features/{name}"] = fitted
        return arrays

    @classmethod
    def read(cls, blobs: StoredArrays, hybrid: Vectors) -> GraphFeatures:
        """Read stored features.

        Args:
            blobs: The store with the arrays of :meth:`arrays`.
            hybrid: Vectors of the hybrid space, which end with the entities' feature vectors.
        """
        relations, constraints, kinds, bodies, confidences, weights = (
            blobs.get(f"graph_features/{name}")
            for name in (
                "relations",
                "type_constraints",
                "kinds",
                "rules",
                "confidences",
                "weights",
            )
        )
        dim = relations.shape[1] + constraints.shape[1] + kinds.shape[1]
        entities = Vectors([shard[:, hybrid.dim - dim :] for shard in hybrid.shards])
        fitted = (f"graph_features/{name}" for name in CALIBRATIONS)
        return cls(
            entities,
            relations,
            constraints,
            kinds,
            Rules(bodies, confidences),
            weights,
            *(blobs.get(name) if name in blobs else None for name in fitted),
        )
