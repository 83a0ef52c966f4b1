"""The one search path: candidates by inner product, re-scored exactly, filtered, ties in entity order."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.resources import Resources
from ontodex.engine.search.score_offsets import ScoreOffsets
from ontodex.engine.search.spaces import Asked, CosineSpace, ProductSpace, Space
from ontodex.geometry.vectors import Vectors
from ontodex.graph.arrays import distinct
from ontodex.scoring.graph_features import Offsets

__all__ = ["Found", "Searcher", "Searchers"]

Rows = NDArray[np.int64]
Found = list[tuple[Rows, NDArray[np.float64]]]
"""Rows and scores of the best items of each query, best first."""

PRODUCTS = 1 << 21
"""Products that are computed at once: they stay in the processor's cache until they have been looked through."""

BATCH = 512
"""Queries that share one pass over the vectors."""

ANSWERS = 1 << 20
"""Answers that are collected at once: queries that ask for very many share their pass with fewer others."""

PAIRS = 2048
"""Pairs that are scored exactly at once."""

CROWD = 1 << 22
"""Pairs to be scored exactly, for all queries of a pass, above which they share it no more: where very many items tie."""

ON_DEVICE = 1 << 28
"""Products that are held at once on a device: each takes some twenty bytes."""

SAMPLE = 2048
"""Items of the first block, spread over it, whose best k set the first floor."""

SIZES = (32, 128, 512, 2048)
"""Numbers of candidates to ask a FAISS structure for; whoever needs more has every item looked at."""


class Searcher:
    """Searches the vectors of one space.

    Every answer equals that of a float64 pass over all vectors: float32 products, with the bound on their rounding, tell
    which few items can be among the best, and these are scored in float64. With ``approximate`` only the candidates of a
    FAISS structure are looked at.

    Args:
        vectors: What is searched.
        device: ``"cpu"``, or a torch device that then holds the vectors.
        approximate: A FAISS structure over the vectors, to look at its candidates alone.
        space: How they are scored; by default as unit vectors, by cosine.
    """

    OVERFETCH = 10

    def __init__(
        self,
        vectors: Vectors,
        device: str = "cpu",
        approximate: Any | None = None,
        space: Space | None = None,
    ) -> None:
        self.vectors = vectors
        self.approximate = approximate
        self.space: Space = CosineSpace(vectors) if space is None else space
        self._on_device = None
        if device != "cpu":
            import torch

            self._on_device = torch.cat(
                [torch.from_numpy(np.array(part)) for part in vectors.shards]
            ).to(device)

    def scored_by(self, space: Space) -> Searcher:
        """Return a search of the same vectors, where they are, by another score."""
        other = copy.copy(self)
        other.space = space
        return other

    def top(
        self,
        queries: NDArray[np.float32],
        k: int,
        exclude: Sequence[Rows] | None = None,
        offsets: Sequence[Offsets] | None = None,
    ) -> Found:
        """Return the ``k`` best items of each query.

        Args:
            queries: Vectors in the form of the stored ones, of shape (queries, dim).
            k: How many; fewer are returned where there are not as many.
            exclude: Rows that each query must not return.
            offsets: Rows of each query, ascending, and what is added to the score of each; it may be negative.
        """
        left_out = (
            list(exclude) if exclude is not None else [np.zeros(0, dtype=np.int64)] * len(queries)
        )
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        found: Found = [(np.zeros(0, dtype=np.int64), np.zeros(0))] * len(queries)
        threshold = 0
        needed = np.array([self.OVERFETCH * k + len(rows) for rows in left_out])
        for size in SIZES if self.approximate is not None else ():
            group = np.flatnonzero((needed > threshold) & (needed <= size))
            for part in _parts(group, BATCH):
                self._answer(queries, part, k, left_out, offsets, found, fetch=size)
            threshold = size
        k = min(k, len(self.vectors))
        if k < 1:
            return found
        most = min(BATCH, ANSWERS // k)
        if self._on_device is not None:
            most = min(most, ON_DEVICE // len(self.vectors))
        for part in _parts(np.flatnonzero(needed > threshold), max(1, most)):
            self._answer(queries, part, k, left_out, offsets, found)
        return found

    def among(
        self, query: NDArray[np.float32], rows: Rows, k: int, bonus: Offsets | None = None
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Return the ``k`` best of the given rows, some of which may have something added to their score."""
        wanted = np.asarray(rows, dtype=np.int64)
        owners = np.zeros_like(wanted)
        asked = self._asked(
            np.ascontiguousarray(query[None], dtype=np.float32), None if bonus is None else [bonus]
        )
        return _top_per_owner(wanted, _exact(asked, owners, wanted), owners, 1, k)[0]

    def products(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the inner products of queries with all items, ``float32`` of shape (queries, items)."""
        if self._on_device is not None:
            import torch

            return (torch.from_numpy(queries).to(self._on_device) @ self._on_device.T).cpu().numpy()
        return np.concatenate([queries @ block.T for _, block in self.vectors.blocks()], axis=1)

    def _asked(self, queries: NDArray[np.float32], offsets: Sequence[Offsets] | None) -> Asked:
        asked = self.space.ask(queries)
        return asked if offsets is None else ScoreOffsets(asked, offsets)

    def _answer(
        self,
        queries: NDArray[np.float32],
        group: Rows,
        k: int,
        exclude: Sequence[Rows],
        offsets: Sequence[Offsets] | None,
        found: Found,
        fetch: int = 0,
    ) -> None:
        """Answer some of the queries."""
        asked = self._asked(
            queries[group], None if offsets is None else [offsets[query] for query in group]
        )
        owners = np.repeat(np.arange(len(group)), [len(exclude[query]) for query in group])
        rows = np.concatenate([np.asarray(exclude[query], dtype=np.int64) for query in group])
        pairs: tuple[Rows, Rows] | None
        if fetch:
            pairs = self._looked_up(asked, fetch, owners, rows)
        elif self._on_device is not None:
            pairs = self._likely_on_device(asked, k, owners, rows)
        else:
            pairs = self._likely(asked, k, owners, rows)
        if pairs is None:
            for half in np.array_split(group, 2):
                self._answer(queries, half, k, exclude, offsets, found)
            return
        owners, rows = pairs
        best = _top_per_owner(rows, _exact(asked, owners, rows), owners, len(group), k)
        for query, answer in zip(group.tolist(), best, strict=True):
            found[query] = answer

    def _likely(self, asked: Asked, k: int, owners: Rows, rows: Rows) -> tuple[Rows, Rows] | None:
        """Return (query, row) of every item that may be among the best, the given pairs left out; ``None`` for a crowd."""
        order = np.argsort(rows, kind="stable")
        owners, rows = owners[order], rows[order]
        count = len(asked.augmented)
        best = np.full((count, k), -np.inf)
        threshold = np.full(count, -np.inf)
        likely: list[tuple[Rows, Rows, NDArray[np.float64]]] = []
        for start, products in self._blocks_of_products(asked.augmented):
            width = products.shape[1]
            here = slice(*np.searchsorted(rows, (start, start + width)))
            products[owners[here], rows[here] - start] = -np.inf
            if width > k and np.isneginf(threshold).any():
                threshold = np.maximum(threshold, _first_floor(asked, products, start, k))
            places = np.flatnonzero(
                asked.may_exceed(products, threshold, slice(start, start + width))
            )
            if not len(places):
                continue
            query = places // width
            row = places - query * width + start
            found = products.reshape(-1)[places].astype(np.float64)
            highest = asked.scores(found + asked.error_bound[query], query, row)
            high = highest >= threshold[query]
            query, row, found, highest = query[high], row[high], found[high], highest[high]
            _raise(best, query, asked.scores(found - asked.error_bound[query], query, row))
            threshold = np.maximum(threshold, best.min(axis=1))
            high = highest >= threshold[query]
            likely.append((query[high], row[high], highest[high]))
            if count > 1 and sum(len(part[0]) for part in likely) > CROWD:
                return None
        if not likely:
            return _NO, _NO
        query, row, highest = (np.concatenate(part) for part in zip(*likely, strict=True))
        kept = highest >= threshold[query]
        return query[kept], row[kept]

    def _blocks_of_products(
        self, queries: NDArray[np.float32]
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield (first row, products), in memory that is used again for the next."""
        step = max(1024, PRODUCTS // len(queries))
        room = np.empty(len(queries) * min(step, len(self.vectors)), dtype=np.float32)
        for first, block in self.vectors.blocks():
            for start in range(0, len(block), step):
                piece = block[start : start + step]
                products = room[: len(queries) * len(piece)].reshape(len(queries), len(piece))
                if len(queries) == 1:  # twice as fast as OpenBLAS, which is made for matrices
                    np.einsum("d,nd->n", queries[0], piece, out=products[0])
                else:
                    np.matmul(queries, piece.T, out=products)
                yield first + start, products

    def _likely_on_device(
        self, asked: Asked, k: int, owners: Rows, rows: Rows
    ) -> tuple[Rows, Rows]:
        import torch

        assert self._on_device is not None
        device = self._on_device.device
        products = torch.from_numpy(asked.augmented).to(device) @ self._on_device.T
        products[
            torch.from_numpy(owners).to(device), torch.from_numpy(rows).to(device)
        ] = -torch.inf
        whole = slice(0, len(self.vectors))
        near = torch.topk(asked.rough(products, whole), k).indices
        threshold = _lowest(asked, products.gather(1, near).cpu().numpy(), near.cpu().numpy())
        query, row = torch.nonzero(asked.may_exceed(products, threshold, whole), as_tuple=True)
        return query.cpu().numpy(), row.cpu().numpy()

    def _looked_up(self, asked: Asked, fetch: int, owners: Rows, rows: Rows) -> tuple[Rows, Rows]:
        """Return (query, row) of the candidates of the FAISS structure and of what has a bonus, the given pairs left out."""
        assert self.approximate is not None
        _, found = self.approximate.search(asked.augmented, min(fetch, len(self.vectors)))
        query, column = np.nonzero(found >= 0)
        row = found[query, column]
        count = len(self.vectors)
        pairs = query * count + row
        if isinstance(asked, ScoreOffsets):
            pairs = distinct(np.concatenate([pairs, asked.owners * count + asked.rows]))
        return np.divmod(pairs[~np.isin(pairs, owners * count + rows)], count)


_NO = np.zeros(0, dtype=np.int64)


def _parts(group: Rows, size: int) -> Iterator[Rows]:
    for start in range(0, len(group), size):
        yield group[start : start + size]


def _exact(asked: Asked, owners: Rows, rows: Rows) -> NDArray[np.float64]:
    """Score (query, row) pairs exactly, a few at a time."""
    scores = np.empty(len(rows))
    for start in range(0, len(rows), PAIRS):
        part = slice(start, start + PAIRS)
        scores[part] = asked.exact(owners[part], rows[part])
    return scores


def _first_floor(
    asked: Asked, products: NDArray[np.float32], start: int, k: int
) -> NDArray[np.float64]:
    """Return a score that k items of a block have at least, for each query."""
    width = products.shape[1]
    stride = max(1, width // max(SAMPLE, 2 * k))
    sample = products[:, ::stride]
    guess = asked.rough(sample, slice(start, start + width, stride))
    near = np.argpartition(guess, guess.shape[1] - k, axis=1)[:, -k:]
    return _lowest(asked, np.take_along_axis(sample, near, axis=1), start + stride * near)


def _lowest(asked: Asked, products: NDArray[np.float32], rows: Rows) -> NDArray[np.float64]:
    """Return the lowest score that any of a query's items, of shape (queries, k), may have."""
    count, k = products.shape
    query = np.repeat(np.arange(count), k)
    scores = asked.scores(products.reshape(-1) - asked.error_bound[query], query, rows.reshape(-1))
    return np.asarray(scores.reshape(count, k).min(axis=1))


def _raise(best: NDArray[np.float64], query: Rows, scores: NDArray[np.float64]) -> None:
    """Let further scores of queries, in ascending order of the query, into the best k scores of each."""
    k = best.shape[1]
    order = np.lexsort((-scores, query))
    rank = np.arange(len(query)) - np.searchsorted(query, query)
    touched, at = np.unique(query, return_inverse=True)
    fresh = np.full((len(touched), k), -np.inf)
    good = rank < k
    fresh[at[good], rank[good]] = scores[order][good]
    best[touched] = np.partition(np.concatenate([best[touched], fresh], axis=1), k, axis=1)[:, k:]


def _top_per_owner(
    rows: Rows, scores: NDArray[np.float64], owners: Rows, queries: int, k: int
) -> Found:
    """Return the k best of each query, equal scores in row order."""
    order = np.lexsort((rows, -scores, owners))
    rows, scores = rows[order], scores[order]
    bounds = np.searchsorted(owners[order], np.arange(queries + 1)).tolist()
    return [
        (rows[start : min(end, start + k)], scores[start : min(end, start + k)])
        for start, end in itertools.pairwise(bounds)
    ]


class Searchers:
    """Gives the search of a space that ranks by inner products.

    Args:
        resources: Encoders and scorers of an opened index.
        exact: Score every vector also where the index is so large that candidates are looked up first.
    """

    def __init__(self, resources: Resources, exact: bool) -> None:
        self._resources, self._exact = resources, exact
        self._made: dict[str, Searcher] = {}

    def __call__(self, space: str) -> Searcher:
        """Return the search of a space.

        Raises:
            IndexMismatch: If the index has no such space.
        """
        if space not in self._made:
            approximate = None if self._exact else self._resources.candidates(space)
            index = self._resources.index
            vectors = index.vectors(space)
            has_products = index.space_info(space).geometry == "product"
            product = ProductSpace(vectors) if has_products else None
            self._made[space] = Searcher(vectors, self._resources.device, approximate, product)
        return self._made[space]
