"""ComplEx: entities and relations as complex vectors, scored by a real inner product.

Trouillon et al., "Complex Embeddings for Simple Link Prediction", ICML 2016, equation 9: the score
of a triple is Re(Σ h_i r_i conj(t_i)). With the real parts of a vector stored before its imaginary
parts, the score is the real inner product of the tail with the query h∘r. ComplEx vectors are
therefore searched like any other vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ComplEx", "compose"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ComplEx:
    """ComplEx vectors of a graph, trained on its links without the texts of entities.

    Attributes:
        entities: One complex vector per entity, ``float32`` of shape (entities, 2 * rank); zero for
            an entity without links.
        relations: One complex vector per relation, then one per inverse relation, ``float32`` of
            shape (2 * relations, 2 * rank).
    """

    entities: Floats
    relations: Floats

    def queries(self, entities: NDArray[np.integer], relations: NDArray[np.integer]) -> Floats:
        """Return the query of each (entity, relation) pair, of shape (pairs, 2 * rank)."""
        return compose(self.entities[entities], self.relations[relations])


def compose(heads: NDArray[np.floating], relations: NDArray[np.floating]) -> Floats:
    """Multiply complex vectors elementwise.

    Args:
        heads: Real parts, then imaginary parts, of shape (..., 2 * rank).
        relations: Relations in the same layout, of a shape that broadcasts.

    Returns:
        Queries, ``float32`` of the broadcast shape; the inner product with a tail is the score of
        the triple.

    Example:
        >>> head, relation = np.array([1.0, 2.0]), np.array([0.0, 1.0])
        >>> tail = np.array([3.0, 5.0])
        >>> compose(head, relation).tolist()  # (1 + 2i) * i
        [-2.0, 1.0]
        >>> float(compose(head, relation) @ tail) == ((1 + 2j) * 1j * (3 - 5j)).real
        True
    """
    real, imaginary = np.split(np.asarray(heads, dtype=np.float64), 2, axis=-1)
    turn, lift = np.split(np.asarray(relations, dtype=np.float64), 2, axis=-1)
    made = np.concatenate([real * turn - imaginary * lift, real * lift + imaginary * turn], axis=-1)
    return made.astype(np.float32)
