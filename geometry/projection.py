"""A relation as an affine map of the head, kept in the small parts that it is made of and never as a dense matrix.

Hyper-CL (Yoo et al., ACL 2024, section 3) has the hypernetwork q(r) = W_r; its public code applies the row form h·P·S with
P of shape (dim, rank) and S of shape (rank, dim). Its baselines are h ∘ s_r (Hadamard product) and a linear layer over
[h; r] (concatenation), which is h·W + b_r with one matrix W for all relations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.geometry.cosine import unit

__all__ = ["PARTS", "Projections"]

Floats = NDArray[np.float32]
PARTS = ("left", "right", "scale", "shared", "shift")
"""Names of the parts, as they are stored."""


@dataclass(frozen=True, eq=False)
class Projections:
    """What each of several relations makes of a head: h·left·right, or h ∘ scale, or h·shared; plus shift.

    Attributes:
        residual: Whether that is added to the head, or stands in its place.
        left: Left factors (relations, dim, rank); without ``right`` full matrices (relations, dim, dim).
        right: Right factors (relations, rank, dim).
        scale: Factors of a Hadamard product (relations, dim).
        shared: The matrix of all relations (dim, dim).
        shift: What is added for each relation (relations, dim).

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
        """Return the arrays that there are, by name."""
        named = {name: getattr(self, name) for name in PARTS}
        return {name: array for name, array in named.items() if array is not None}

    def carrying(
        self, relations: NDArray[np.integer], other: Projections, others: NDArray[np.integer]
    ) -> Projections:
        """Return these, but for some relations, which have what they have in another set of the same parts.

        Args:
            relations: Which relations.
            other: The other set.
            others: Where each is in it.
        """
        parts = {name: array.copy() for name, array in self.parts().items()}
        for name in parts.keys() - {"shared"}:
            parts[name][relations] = getattr(other, name)[others]
        return Projections(residual=self.residual, **parts)

    def project(self, vectors: NDArray[np.floating], relation: int) -> Floats:
        """Move vectors by one relation and scale them to length one.

        Args:
            vectors: Head vectors of shape (n, dim).
            relation: Which relation.

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
        """Move each vector by a relation of its own.

        Args:
            vectors: Head vectors of shape (n, dim).
            relations: One relation for each, of shape (n,).

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
        """Move one vector by each of several relations.

        Args:
            vector: A head of shape (dim,).
            relations: Which relations.

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
