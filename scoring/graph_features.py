"""What the links of a graph say of its entities, beside what their texts say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.complex import compose
from ontodex.geometry.vectors import Vectors
from ontodex.scoring.rules import Rules

__all__ = ["PRECEDENTS", "WEIGHTS", "Offsets", "QueryFunction", "Structure", "add_offsets"]

TEXT, LINKS, RANGE = (slice(place, place + 1) for place in range(3))
PRECEDENTS = slice(3, 8)
"""Where the weights of each score stand: the text's, ComplEx's, the range's, and those of
:meth:`~ontodex.scoring.case_based.CaseBasedEvidence.scores`, of which the last corrects the range."""

WEIGHTS = 8
"""Weights of a relation."""


class StoredArrays(Protocol):
    """Arrays by name, as :class:`ontodex.storage.blobs.BlobReader` has them."""

    def __contains__(self, name: str) -> bool: ...
    def get(self, name: str) -> NDArray[Any]:
        """Return an array."""


QueryFunction = Callable[[NDArray[np.integer], NDArray[np.integer]], NDArray[np.float32]]
"""From rows of entities (n,) and numbers of relations (n,), inverses from R on, to queries (n, dim)."""

Offsets = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Rows of entities, ascending, and what is added to the score of each, which may be negative."""


def add_offsets(scores: NDArray[np.float32], offsets: Iterable[Offsets]) -> None:
    """Add the bonus of each query to its scores of all items, of shape (queries, items), in place."""
    for own, (rows, more) in zip(scores, offsets, strict=True):
        own[rows] += more.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Structure:
    """Structural vectors, and how much they, the text and precedents count.

    Attributes:
        entities: Structural vectors of the entities: ComplEx's, then those of their ranges
            (:mod:`ontodex.scoring.type_constraints`), of shape (entities, 2 * rank + ranges).
        relations: ComplEx's vectors of the relations, inverses from R on, of shape (2R, 2 * rank).
        ranges: Vectors of the relations' ranges, of shape (2R, ranges).
        rules: Rules that the links follow.
        weights: Weights of each relation, ``float32`` of shape (2, 2R + 1, 8): first where the entity asked about has
            structural vectors, then where it is new; of text, ComplEx, range, heads and tails of like text, heads and tails
            of like links, and rules. Those from R on are of inverses, the last is for a relation that the graph does not
            have.
        odds: What makes answers of different questions comparable (:mod:`ontodex.scoring.calibration`); ``None``
            where too little was held out to fit them.
    """

    entities: Vectors
    relations: NDArray[np.float32]
    ranges: NDArray[np.float32]
    rules: Rules
    weights: NDArray[np.float32]
    odds: NDArray[np.float32] | None = None

    def queries(
        self,
        text: NDArray[np.float32],
        entities: NDArray[np.integer],
        relations: NDArray[np.integer],
    ) -> NDArray[np.float32]:
        """Return queries whose product with a vector of the hybrid space is the weighted sum of its scores.

        A new entity, which the graph does not have or had no links of as the vectors were trained, is answered by its text
        and the relation's range, a relation that the graph does not have by its text alone.

        Args:
            text: Queries of the link space, of shape (n, dim).
            entities: Row of each entity; -1 for one that the graph does not have.
            relations: Number of each relation, inverses from R on; -1 for one that the graph does not have.

        Returns:
            ``float32`` of shape (n, dim + 2 * rank + ranges).
        """
        weights = self._weights(entities, relations)
        links = self.links(entities, relations) * weights[:, LINKS]
        ranges = self.ranges[relations] * weights[:, RANGE] * (relations >= 0)[:, None]
        return np.concatenate([text * weights[:, TEXT], links, ranges], axis=1)

    def links(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Return ComplEx's part of queries, unweighted: zero where the graph does not have entity or relation."""
        made = compose(
            self.entities[np.maximum(entities, 0)][:, : self.relations.shape[1]],
            self.relations[relations],
        )
        made[(entities < 0) | (relations < 0)] = 0.0
        return made

    def offsets(
        self,
        found: Iterable[Offsets],
        entities: NDArray[np.integer],
        relations: NDArray[np.integer],
    ) -> Iterator[Offsets]:
        """Yield what precedents add to the scores of each question's tails.

        A triple that is known does not count for its own range.

        Args:
            found: Their scores, see :meth:`ontodex.scoring.case_based.CaseBasedEvidence.scores`.
            entities: Row of each entity; -1 for one that the graph does not have.
            relations: Number of each relation, inverses from R on; -1 for one that the graph does not have.
        """
        for own, (rows, scores) in zip(self.case_weights(entities, relations), found, strict=True):
            yield rows, own @ scores

    def case_weights(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Return the weight of each score of precedents for each question, of shape (n, 6); see :meth:`bonuses`."""
        weights = self._weights(entities, relations)
        return np.concatenate([weights[:, PRECEDENTS], -weights[:, RANGE]], axis=1)

    def _weights(
        self, entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Return the weights of each question, of shape (n, 8)."""
        learnt = self.entities[np.maximum(entities, 0)][:, : self.relations.shape[1]].any(axis=1)
        new = (entities < 0) | ~learnt
        found: NDArray[np.float32] = self.weights[new.astype(np.int64), relations]  # -1 is the last
        return found

    def links_alone(self) -> Vectors:
        """Return ComplEx's vectors of the entities, of shape (entities, 2 * rank), without a copy."""
        return self.entities.first(self.relations.shape[1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is stored besides the entities' vectors, by name."""
        odds = {} if self.odds is None else {"graph_features/calibration": self.odds}
        return {
            "graph_features/relations": self.relations,
            "graph_features/ranges": self.ranges,
            "graph_features/rules": self.rules.bodies,
            "graph_features/confidences": self.rules.confidences,
            "graph_features/weights": self.weights,
            **odds,
        }

    @classmethod
    def read(cls, blobs: StoredArrays, hybrid: Vectors) -> Structure:
        """Put together what :meth:`arrays` and :func:`~ontodex.indexers.graph_features.join` took apart.

        Args:
            blobs: The store.
            hybrid: The vectors of the hybrid space.
        """
        relations, ranges = (
            blobs.get("graph_features/relations"),
            blobs.get("graph_features/ranges"),
        )
        rules = Rules(blobs.get("graph_features/rules"), blobs.get("graph_features/confidences"))
        dim = relations.shape[1] + ranges.shape[1]
        entities = Vectors([shard[:, hybrid.dim - dim :] for shard in hybrid.shards])
        name = "graph_features/calibration"
        odds = blobs.get(name) if name in blobs else None
        return cls(entities, relations, ranges, rules, blobs.get("graph_features/weights"), odds)
