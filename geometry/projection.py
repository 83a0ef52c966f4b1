"""Projections: a relation as an affine map of the head h, stored as factors of its matrix.

In Hyper-CL (Yoo et al., ACL 2024, section 3), a hypernetwork makes a matrix for each relation r;
the public code applies it as h·P·S with P of shape (dim, rank) and S of shape (rank, dim). The
baselines are the Hadamard product h ∘ s_r, and a linear layer over the concatenation [h; r], which
is h·W + b_r with one matrix W for all relations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.cosine import unit

__all__ = ["PARTS", "Projections"]

Floats = NDArray[np.float32]
PARTS = ("left", "right", "scale", "shared", "shift")
"""Names of the arrays of a projection, also in storage."""


@dataclass(frozen=True, eq=False)
class Projections:
    """Projections of several relations: h·left·right, h ∘ scale or h·shared, plus shift.

    Attributes:
        residual: If true, the projected head is added to the head; otherwise it replaces the head.
        left: Left factors of shape (relations, dim, rank); without ``right``, full matrices of
            shape (relations, dim, dim).
        right: Right factors of shape (relations, rank, dim).
        scale: Vectors of Hadamard products, of shape (relations, dim).
        shared: The matrix that all relations share, of shape (dim, dim).
        shift: Vectors that are added, of shape (relations, dim).

    Example:
        >>> scale = np.array([[0.0, 1.0]], dtype=np.float32)
        >>> Projections(residual=False, scale=scale).project(np.array([[3.0, 2.0]]), 0).tolist()
        [[0.0, 1.0]]
    """

    residual: bool
    left: Floats | None = None
    right: Floats | None = None
    scale: Floats | None = None
    shared: Floats | None = None
    shift: Floats | None = None

    def parts(self) -> dict[str, Floats]:
        """Return the arrays that are set, by name."""
        named = {name: getattr(self, name) for name in PARTS}
        return {name: array for name, array in named.items() if array is not None}

    def carrying(
        self, relations: NDArray[np.integer], other: Projections, others: NDArray[np.integer]
    ) -> Projections:
        """Return a copy in which the projections of some relations come from another set.

        Args:
            relations: Numbers of the relations in this set, of shape (n,).
            other: The other set, with the same arrays.
            others: Numbers of the same relations in ``other``, of shape (n,).
        """
        parts = {name: array.copy() for name, array in self.parts().items()}
        for name in parts.keys() - {"shared"}:
            parts[name][relations] = getattr(other, name)[others]
        return Projections(residual=self.residual, **parts)

    def project(self, vectors: NDArray[np.floating], relation: int) -> Floats:
        """Project heads by one relation.

        Args:
            vectors: Head vectors of shape (n, dim).
            relation: Number of the relation.

        Returns:
            Unit queries, ``float32`` of shape (n, dim).
        """
        heads = np.asarray(vectors, dtype=np.float64)
        moved = heads
        if self.left is not None:
            moved = moved @ self.left[relation]
        if self.right is not None:
            moved = moved @ self.right[relation]
        if self.scale is not None:
            moved = moved * self.scale[relation]
        if self.shared is not None:
            moved = moved @ self.shared
        if self.shift is not None:
            moved = moved + self.shift[relation]
        return unit(heads + moved if self.residual else moved)

    def queries(self, vectors: NDArray[np.floating], relations: NDArray[np.integer]) -> Floats:
        """Project each head by its own relation.

        Args:
            vectors: Head vectors of shape (n, dim).
            relations: Number of the relation of each head, of shape (n,).

        Returns:
            Unit queries, ``float32`` of shape (n, dim).
        """
        made = np.empty(vectors.shape, dtype=np.float32)
        for relation in np.unique(relations).tolist():
            here = np.flatnonzero(relations == relation)
            made[here] = self.project(vectors[here], relation)
        return made

    def by_each(
        self, vector: NDArray[np.floating], relations: slice | NDArray[np.integer]
    ) -> Floats:
        """Project one head by each of several relations.

        Args:
            vector: Head vector of shape (dim,).
            relations: Numbers of the relations.

        Returns:
            Unit queries, ``float32`` of shape (relations, dim).
        """
        head = np.asarray(vector)
        moved = head[None]
        if self.left is not None:
            moved = np.einsum("d,rdk->rk", head, self.left[relations])
        if self.right is not None:
            moved = np.einsum("rk,rkd->rd", moved, self.right[relations])
        if self.scale is not None:
            moved = moved * self.scale[relations]
        if self.shared is not None:
            moved = moved @ self.shared
        if self.shift is not None:
            moved = moved + self.shift[relations]
        return unit(head + moved if self.residual else moved)
