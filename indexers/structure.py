"""What the links of a graph say of its entities, beside what their texts say, under one inner product."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.complex import compose
from ontodex.indexers.vectors import Vectors

__all__ = ["HYBRID", "Structure"]

HYBRID = "hybrid"
"""Name of the space: the vectors of the link space, with the structural ones behind them."""


@dataclass(frozen=True, eq=False)
class Structure:
    """Structural vectors, and how much they and the text count.

    Attributes:
        entities: Structural vectors of the entities, of shape (entities, 2 * rank).
        relations: Those of the relations, inverses from R on, of shape (2R, 2 * rank).
        weights: Weights (text, structure) of each relation, ``float32`` of shape (2R + 1, 2); those from R on are of
            inverses, the last is for a relation that the graph does not have.
    """

    entities: Vectors
    relations: NDArray[np.float32]
    weights: NDArray[np.float32]

    def queries(
        self, text: NDArray[np.float32], entities: NDArray[np.integer], relations: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Return queries whose product with a vector of the hybrid space is a · text score + b · structural score.

        An entity or a relation that the graph does not have is answered by its text alone.

        Args:
            text: Queries of the link space, of shape (n, dim).
            entities: Row of each entity; -1 for one that the graph does not have.
            relations: Number of each relation, inverses from R on; -1 for one that the graph does not have.

        Returns:
            ``float32`` of shape (n, dim + 2 * rank).
        """
        weights = self.weights[relations]  # -1 is the last
        structural = self.structural(entities, relations) * weights[:, 1:]
        return np.concatenate([text * weights[:, :1], structural], axis=1)

    def structural(self, entities: NDArray[np.integer], relations: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the structural half of queries, unweighted: zero where the graph does not have entity or relation."""
        made = compose(self.entities[np.maximum(entities, 0)], self.relations[relations])
        made[(entities < 0) | (relations < 0)] = 0.0
        return made

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Return what is stored besides the entities' vectors, by name."""
        return {"structure/relations": self.relations, "structure/weights": self.weights}

    @classmethod
    def read(cls, arrays: Callable[[str], NDArray[np.float32]], hybrid: Vectors) -> Structure:
        """Put together what :meth:`arrays` and :func:`~ontodex.indexers.structure_build.join` took apart.

        Args:
            arrays: Gives the array of a name.
            hybrid: The vectors of the hybrid space.
        """
        relations = arrays("structure/relations")
        entities = Vectors([shard[:, hybrid.dim - relations.shape[1] :] for shard in hybrid.shards])
        return cls(entities, relations, arrays("structure/weights"))
