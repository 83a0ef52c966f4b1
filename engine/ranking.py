"""Evaluation of link prediction by filtered ranking of held-out triples."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.search.topk import Searcher
from ontodex.errors import GraphError, expect_choice
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.graph_features import QueryFunction

__all__ = ["Adjust", "evaluate_links", "filtered_ranks", "link_ranks", "rank_metrics"]

Ranks = NDArray[np.float64]
Rows = NDArray[np.integer]

Adjust = Callable[[Rows, Rows, NDArray[np.float32]], NDArray[np.float32]]
"""Function from rows of entities (questions,), numbers of relations (questions,), and scores of
all entities (questions, entities) to adjusted scores."""

BLOCK = 64
"""Number of queries in one block; the scores of a block fit the processor's cache."""

SAME = 1e-6
"""Relative tolerance within which float32 scores count as equal. It is relative to the largest
absolute score of the query, or to 1 if that is larger."""


def filtered_ranks(
    queries: NDArray[np.float32],
    answers: NDArray[np.integer],
    known: Sequence[NDArray[np.integer]],
    searcher: Searcher,
    adjust: Callable[[slice, NDArray[np.float32]], NDArray[np.float32]] | None = None,
) -> Ranks:
    """Rank the true answer of each query among all entities, without other true answers.

    Entities with equal scores share the mean of their ranks ("realistic" rank: Berrendorf et al.
    2020).

    Args:
        queries: Query vectors, of shape (queries, dim).
        answers: Row of the true answer of each query, of shape (queries,).
        known: Rows of all true answers of each query.
        searcher: Search of the entities.
        adjust: Function from a slice of the queries and the scores of the slice, of shape (block,
            entities), to adjusted scores. Excluded entities have the score -inf.

    Returns:
        Ranks from 1, ``float64`` of shape (queries,).
    """
    ranks = np.empty(len(queries))
    for start in range(0, len(queries), BLOCK):
        scores = searcher.products(queries[start : start + BLOCK])
        block = range(start, start + len(scores))
        left_out = [known[position][known[position] != answers[position]] for position in block]
        if adjust is not None:
            for row, rows in enumerate(left_out):
                scores[row, rows] = -np.inf
            scores = adjust(slice(start, start + len(scores)), scores)
        for row, position in enumerate(block):
            answer = scores[row, answers[position]]
            others = scores[row, left_out[row]]
            most = np.max(np.abs(scores[row]), initial=1.0, where=scores[row] > -np.inf)
            same = SAME * float(most)
            better = np.count_nonzero(scores[row] > answer + same) - np.count_nonzero(
                others > answer + same
            )
            as_good = np.count_nonzero(scores[row] >= answer - same) - np.count_nonzero(
                others >= answer - same
            )
            ranks[position] = (better + 1 + as_good) / 2
    return ranks


def rank_metrics(ranks: Ranks) -> dict[str, float]:
    """Return mean reciprocal rank, mean rank and Hits@1, 3 and 10.

    Example:
        >>> rank_metrics(np.array([1.0, 2.0, 4.0, 20.0]))
        {'mrr': 0.45, 'mr': 6.75, 'hits@1': 0.25, 'hits@3': 0.5, 'hits@10': 0.75}
    """
    hits = {f"hits@{k}": float(np.mean(ranks <= k)) for k in (1, 3, 10)}
    return {"mrr": float(np.mean(1 / ranks)), "mr": float(np.mean(ranks)), **hits}


def evaluate_links(
    graph: KnowledgeGraph,
    vectors: Vectors,
    query: QueryFunction,
    *,
    adjust: Sequence[Adjust] = (),
    split: str = "test",
    device: str = "cpu",
) -> dict[str, float]:
    """Rank the tail and the head of every held-out triple, and return metrics of the ranks.

    Args:
        graph: The graph, with held-out triples.
        vectors: Entity vectors.
        query: Function from rows of entities and numbers of relations to query vectors.
        adjust: See :func:`link_ranks`.
        split: ``"test"`` or ``"valid"``.
        device: Device of the search.

    Returns:
        Metrics of both directions together, and of each direction with the prefix ``tail.`` or
        ``head.``.

    Raises:
        GraphError: If the graph has no triples in the split.
    """
    by_side = link_ranks(graph, vectors, query, adjust=adjust, split=split, device=device)
    result = rank_metrics(np.concatenate(list(by_side.values())))
    for side, ranks in by_side.items():
        result.update({f"{side}.{name}": value for name, value in rank_metrics(ranks).items()})
    return result


def link_ranks(
    graph: KnowledgeGraph,
    vectors: Vectors,
    query: QueryFunction,
    *,
    adjust: Sequence[Adjust] = (),
    split: str = "test",
    itself: bool = False,
    device: str = "cpu",
) -> dict[str, Ranks]:
    """Rank the tail and the head of every held-out triple among all entities.

    All triples of the graph, known and held out, count as true. Heads are ranked as tails of the
    inverse relation. As in the engine's answers, the entity of the question is not a candidate,
    unless the relation links some entity to itself in a known triple.

    Args:
        graph: The graph, with held-out triples.
        vectors: Entity vectors.
        query: Function from rows of entities and numbers of relations to query vectors.
        adjust: Functions that adjust the scores one after the other, such as those of
            :mod:`ontodex.engine.rerank`.
        split: ``"test"`` or ``"valid"``.
        itself: Always keep the entity of the question among the candidates, as most papers do.
        device: Device of the search.

    Returns:
        For ``tail`` and for ``head``, the rank of each triple, counted from 1, of shape (triples,).

    Raises:
        GraphError: If the graph has no triples in the split.
    """
    expect_choice("split", split, ("test", "valid"))
    triples = graph.test if split == "test" else graph.valid
    if not len(triples):
        raise GraphError(
            f"{graph.source}: expected {split} triples to rank, found none; give a folder with "
            "train, valid and test"
        )
    true = KnownLinks(
        np.concatenate([graph.triples, graph.valid, graph.test]),
        graph.n_entities,
        graph.n_relations,
    )
    searcher = Searcher(vectors, device)
    by_side: dict[str, Ranks] = {}
    for side, given, answers in (("tail", 0, 2), ("head", 2, 0)):
        relations = triples[:, 1] + graph.n_relations * (side == "head")
        entities = triples[:, given]
        queries = query(entities, relations)
        known = list(true.tails(entities, relations))
        if not itself:
            own = ~np.isin(triples[:, 1], list(graph.reflexive))
            known = [
                np.append(rows, row) if out and row not in rows else rows
                for rows, row, out in zip(known, triples[:, given], own, strict=True)
            ]
        of_side = _of_side(adjust, entities, relations) if adjust else None
        by_side[side] = filtered_ranks(queries, triples[:, answers], known, searcher, of_side)
    return by_side


def _of_side(
    adjust: Sequence[Adjust], entities: Rows, relations: Rows
) -> Callable[[slice, NDArray[np.float32]], NDArray[np.float32]]:
    def adjusted(block: slice, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        for better in adjust:
            scores = better(entities[block], relations[block], scores)
        return scores

    return adjusted
