"""The searches of an index, set up when a space is first asked."""

from __future__ import annotations

from ontodex.engine.search.spaces import ProductSpace
from ontodex.engine.search.topk import Searcher
from ontodex.indexers.index import Index

__all__ = ["Searchers"]


class Searchers:
    """Gives the search of a space that ranks by inner products.

    Args:
        index: An opened index.
        exact: Score every vector also where the index is so large that candidates are looked up first.
    """

    def __init__(self, index: Index, exact: bool) -> None:
        self._index, self._exact = index, exact
        self._made: dict[str, Searcher] = {}

    def __call__(self, space: str) -> Searcher:
        """Return the search of a space.

        Raises:
            IndexMismatch: If the index has no such space.
        """
        if space not in self._made:
            approximate = None if self._exact else self._index.candidates(space)
            vectors = self._index.vectors(space)
            product = ProductSpace(vectors) if self._index.manifest.spaces[space].geometry == "product" else None
            self._made[space] = Searcher(vectors, self._index.device, approximate, product)
        return self._made[space]
