"""Similarity of entities by what they are linked to: an inner product of sparse vectors."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.similarity import KeptNeighbours, Near

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["LinkSimilarity"]

NEAR = 32
"""Number of neighbours of an entity."""

VOTERS = 5
"""Number of neighbours that vote for a link; see :meth:`LinkSimilarity.votes`."""

POWER = 2.0
"""Exponent of the cosine, which lets near neighbours count for more."""

SHARED = 10_000
"""Links that more entities share do not count, which bounds the time of a search."""

BLOCK = 64
"""Number of entities in one block of the search for neighbours."""


class LinkSimilarity(KeptNeighbours):
    """Finds the 32 nearest neighbours of entities by their links, with the squared cosine.

    The vector of an entity has an element for every pair of a relation, with its direction, and
    the other end of the entity's links by the relation. The element is ln(n / m) if m of the n
    entities share the pair. There is no training, so an added link takes effect at once. An entity
    without links has no neighbours. Neighbours are searched on first use and then kept in memory.

    Args:
        links: Known triples.

    Example:
        >>> likes = LinkSimilarity(KnownLinks(np.array([[0, 0, 3], [1, 0, 3], [2, 0, 4]]), 5, 1))
        >>> near, values = likes.of(np.array([0, 2]))  # 0 and 1 like the same; 2 likes another
        >>> int(near[0, 0]), values.sum(axis=1).round(3).tolist()
        (1, [1.0, 0.0])
    """

    def __init__(self, links: KnownLinks) -> None:
        count = links.n_entities
        super().__init__(count, max(0, min(NEAR, count - 1)), BLOCK)
        self._links = links

    @cached_property
    def _vectors(self) -> tuple[csr_matrix, csr_matrix]:
        """Unit vectors of the entities as rows, and their transpose."""
        from scipy.sparse import csr_matrix

        heads, relations, tails = self._links.triples.T
        pairs, columns = np.unique(relations * len(self) + tails, return_inverse=True)
        counts = np.bincount(columns, minlength=len(pairs))
        weights = np.where(counts > SHARED, 0.0, np.log(len(self) / np.maximum(counts, 1)))
        lengths = np.sqrt(np.bincount(heads, weights[columns] ** 2, len(self)))
        values = weights[columns] / np.where(lengths[heads] > 0, lengths[heads], 1.0)
        kept = values > 0
        vectors = csr_matrix(
            (values[kept].astype(np.float32), (heads[kept], columns[kept])),
            shape=(len(self), len(pairs)),
        )
        return vectors, vectors.T.tocsr()

    def of_all(
        self,
        vectors: NDArray[np.float32],
        rows: NDArray[np.integer],
        apart: NDArray[np.integer] | None = None,
    ) -> Near:
        """Return the neighbours of entities; see :meth:`of`.

        Args:
            vectors: Not used; entities that the graph lacks have no links.
            rows: Row of each entity, of shape (n,); -1 for one that the graph lacks.
            apart: Not used.
        """
        near, values = self.of(np.maximum(rows, 0))
        values[rows < 0] = 0.0
        return near, values

    def votes(
        self,
        entities: NDArray[np.integer],
        relations: NDArray[np.integer],
        tails: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """Return the votes for links of the neighbours of both ends.

        The five nearest neighbours of a link's head that are known heads of its relation and tail
        vote with their similarity, and so do those of its tail that are known tails of its head and
        relation. Without text or training, the votes find the surest of a graph's missing links.

        Args:
            entities: Heads, of shape (questions,).
            relations: Numbers of relations, of shape (questions,); numbers of at least R, the
                number of relations, are inverses.
            tails: Tails, of shape (questions, tails).

        Returns:
            Sums of similarities, ``float64`` of shape (questions, tails).
        """
        heads, of_heads = self.of(entities)
        ends, of_ends = self.of(tails.reshape(-1))
        ends = ends[:, :VOTERS].reshape(*tails.shape, -1)
        of_ends = of_ends[:, :VOTERS].reshape(*tails.shape, -1)
        by = relations[:, None, None]
        by_heads = self._links.known(heads[:, None, :VOTERS], by, tails[:, :, None])
        by_ends = self._links.known(entities[:, None, None], by, ends)
        found = np.sum(of_heads[:, None, :VOTERS] * by_heads, axis=2, dtype=np.float64)
        return np.asarray(found + np.sum(of_ends * by_ends, axis=2, dtype=np.float64))

    def _searched(self, rows: NDArray[np.integer]) -> Near:
        vectors, transposed = self._vectors
        products = (vectors[rows] @ transposed).tocsr()
        width = self._near.shape[1]
        near = np.zeros((len(rows), width), dtype=np.int32)
        similarity = np.zeros((len(rows), width), dtype=np.float32)
        for at, row in enumerate(rows.tolist()):
            part = slice(products.indptr[at], products.indptr[at + 1])
            others, cosines = products.indices[part], products.data[part]
            cosines = np.where(others == row, 0.0, cosines)
            if len(cosines) > width:
                high = np.flatnonzero(cosines >= np.partition(cosines, -width)[-width])
                others, cosines = others[high], cosines[high]
            best = np.lexsort((others, -cosines))[:width]
            near[at, : len(best)] = others[best]
            similarity[at, : len(best)] = np.minimum(cosines[best], 1.0) ** POWER
        return near, similarity
