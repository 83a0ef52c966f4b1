"""ComplEx: entities and relations as complex vectors, scored by an inner product of real ones.

Trouillon et al., "Complex Embeddings for Simple Link Prediction", ICML 2016, equation 9: the score of a triple is
Re(Σ h_i r_i conj(t_i)). Written in real numbers, real parts first and imaginary parts after them, that is the inner product
of the tail with the query h∘r, so that ComplEx is searched like any other vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ComplEx", "compose"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ComplEx:
    """Structural vectors of a graph: what its links say of its entities, without their texts.

    Attributes:
        entities: One complex vector an entity, ``float32`` of shape (entities, 2 * rank); zero where no link tells anything.
        relations: One complex vector a relation, those from R on of inverses, of shape (2R, 2 * rank).
    """

    entities: Floats
    relations: Floats

    def queries(self, entities: NDArray[np.integer], relations: NDArray[np.integer]) -> Floats:
        """Return the query of each (entity, relation) pair, ``float32`` of shape (pairs, 2 * rank)."""
        return compose(self.entities[entities], self.relations[relations])


def compose(heads: NDArray[np.floating], relations: NDArray[np.floating]) -> Floats:
    """Multiply complex vectors element by element.

    Args:
        heads: Real parts, then imaginary parts, of shape (..., 2 * rank).
        relations: Likewise.

    Returns:
        Queries whose inner product with a tail is the triple's score, ``float32`` of the same shape.

    Example:
        >>> head, relation, tail = np.array([1.0, 2.0]), np.array([0.0, 1.0]), np.array([3.0, 5.0])
        >>> compose(head, relation).tolist()  # (1 + 2i) * i
        [-2.0, 1.0]
        >>> float(compose(head, relation) @ tail) == ((1 + 2j) * 1j * (3 - 5j)).real
        True
    """
    real, imaginary = np.split(np.asarray(heads, dtype=np.float64), 2, axis=-1)
    turn, lift = np.split(np.asarray(relations, dtype=np.float64), 2, axis=-1)
    made = np.concatenate([real * turn - imaginary * lift, real * lift + imaginary * turn], axis=-1)
    return made.astype(np.float32)
