"""Vectors of a space, for other programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import SettingsError
from ontodex.graph.writers.atomic import replacing
from ontodex.graph.writers.tsv import write_rows

__all__ = ["Embeddings"]

SUFFIX = ".npy"
HEADER = ("id", "text")


@dataclass(frozen=True, eq=False)
class Embeddings:
    """The vectors of a space, with their entities; see :meth:`ontodex.Engine.embeddings`.

    Attributes:
        space: Name of the space.
        geometry: How vectors are compared. ``"cosine"`` (unit vectors) and ``"product"``: by their
            inner product. ``"poincare"``: by :func:`ontodex.geometry.poincare.distance`.
            ``"gaussian"`` (means and log-variances): by
            :func:`ontodex.geometry.gaussian.similarity`.
        curvature: c of a Poincaré ball of curvature -c; 0 for other geometries.
        ids: Id of the entity of each vector.
        texts: Label of the entity of each vector; in spaces of sentences and phrases, the sentence
            or phrase.
        vectors: ``float32`` of shape (n, dim).
    """

    space: str
    geometry: str
    curvature: float
    ids: list[str]
    texts: list[str]
    vectors: NDArray[np.float32]

    def __repr__(self) -> str:
        dim = self.vectors.shape[1]
        return (
            f"Embeddings({self.space!r}: {len(self):,} vectors of {dim} numbers, {self.geometry})"
        )

    def __len__(self) -> int:
        return len(self.vectors)

    def write(self, path: str | Path) -> None:
        """Write the vectors to a NumPy file, and the id and text of each vector to a table.

        Args:
            path: The NumPy file, such as ``hp.npy``; the table is then ``hp.npy.tsv``.

        Raises:
            SettingsError: If the suffix is not ``.npy``.
            OSError: If the file cannot be written.
        """
        path = Path(path)
        if path.suffix != SUFFIX:
            raise SettingsError(
                f"{path}: expected a file that ends in {SUFFIX}, found {path.suffix!r}"
            )
        with replacing(path) as stream:
            np.save(stream, self.vectors, allow_pickle=False)
        write_rows(
            path.with_name(f"{path.name}.tsv"), (HEADER, *zip(self.ids, self.texts, strict=True))
        )
