"""Why an entity is the answer that it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, checked, milliseconds
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.resolve import ResolvedTerm
from ontodex.engine.resources import Resources
from ontodex.engine.results.explanation import Explanation, Reason, SimilarCase
from ontodex.engine.results.link import Link, parts_of
from ontodex.engine.search.topk import Searcher
from ontodex.errors import UnknownEntity
from ontodex.scoring.case_based import Ground
from ontodex.storage.space_names import HYBRID

__all__ = ["Why"]

LEAST = 0.0005
"""Strength of precedents below which none is named."""

BY_VECTORS = ("text", "structure", "range")
BY_PRECEDENTS = (
    "heads of like text", "tails of like text", "heads of like links", "tails of like links", "rules",
)  # fmt: skip


class Why:
    """Takes scores apart; what it says is told at :meth:`ontodex.engine.links.LinkQuestions.why`.

    Args:
        resources: Encoders and scorers of an opened index.
        link_queries: Makes queries.
        searcher: Gives the search of a space.
    """

    def __init__(
        self, resources: Resources, link_queries: LinkQueries, searcher: Callable[[str], Searcher]
    ) -> None:
        self._resources, self._index = resources, resources.index
        self._queries, self._searcher = link_queries, searcher

    def explain(
        self,
        head: ResolvedTerm,
        relation: ResolvedTerm,
        tail: ResolvedTerm,
        k: int,
        known: Rows,
        left_out: Rows,
    ) -> Explanation:
        """Explain the score of a tail; for the inverse of a relation, of a head.

        Args:
            head: What is asked about.
            relation: By which relation.
            tail: The answer.
            k: How many precedents of each kind to name.
            known: Rows of the known answers.
            left_out: Rows that have no rank: those, and others that are no answer.
        """
        k, start = checked(k), time.perf_counter()
        if tail.row is None:
            raise UnknownEntity(
                f"{self._index.graph.source}: expected an entity of the graph as an answer to explain, found free text "
                f"{tail.resolution.text!r}{tail.resolution.hint}"
            )
        backward = relation.resolution.inverted
        [entity], [number] = (
            rows.tolist() for rows in self._queries.numbers([head], [relation], backward)
        )
        [query], [(reached, bonus)] = self._queries.of_terms([head], [relation], backward=backward)
        scores = self._searcher(self._queries.space).products(query[None])[0].astype(np.float64)
        scores[reached] += bonus
        vectors = self._index.vectors(self._queries.space)
        own = query * vectors[np.array([tail.row])][0].astype(np.float64)
        mean = query * np.sum(
            [block.sum(axis=0, dtype=np.float64) for _, block in vectors.blocks()], axis=0
        )
        apart = self._apart(own - mean / len(vectors))
        adds = dict(zip(BY_VECTORS, (float(part.sum()) for part in apart), strict=False))
        grounds: dict[str, list[Ground]] = {}
        structure, case_based = self._resources.graph_features, self._resources.case_based
        if structure is not None and case_based is not None:
            vector, asked, by = (
                self._queries.vectors([head]),
                np.array([entity]),
                np.array([number]),
            )
            [(rows, said)] = case_based.scores(vector, asked, by)
            shares = structure.case_weights(asked, by)[0].astype(np.float64)[:, None] * said
            more = shares[:, rows == tail.row].sum(axis=1) - shares.sum(axis=1) / len(vectors)
            for name, share in zip((*BY_PRECEDENTS, "range"), more.tolist(), strict=True):
                adds[name] = adds.get(name, 0.0) + share
            grounds = dict(
                zip(
                    BY_PRECEDENTS,
                    case_based.grounds(vector[0], entity, number, tail.row),
                    strict=True,
                )
            )
        others = np.ones(len(scores), dtype=bool)
        others[np.append(left_out, tail.row)] = False
        return Explanation(
            tuple(
                Reason(name, share, self._case_based(name, grounds.get(name, [])[:k]))
                for name, share in sorted(adds.items(), key=lambda one: -one[1])
                if share
            ),
            {"head": head.resolution, "relation": relation.resolution, "tail": tail.resolution},
            float(scores[tail.row]),
            float(scores.mean()),
            1 + int(np.count_nonzero(scores[others] > scores[tail.row])),
            bool(tail.row in known),
            self._queries.method,
            milliseconds(start, 1),
        )

    def _apart(self, products: NDArray[np.float64]) -> Sequence[NDArray[np.float64]]:
        """Split numbers of the space, of shape (dim,), into those of text, ComplEx and ranges."""
        structure = self._resources.graph_features
        if self._queries.space != HYBRID or structure is None:
            return [products]
        links, ranges = structure.relations.shape[1], structure.type_constraints.shape[1]
        return np.split(products, [len(products) - links - ranges, len(products) - ranges])

    def _case_based(self, by: str, grounds: Sequence[Ground]) -> tuple[SimilarCase, ...]:
        """Return the grounds of a reason that count for anything."""
        graph = self._index.graph
        of_link = {"heads": 0, "tails": 2}.get(by.split()[0])
        return tuple(
            SimilarCase(
                strength,
                tuple(Link(**parts_of(graph, *link)) for link in links),
                None if of_link is None else graph.ids[links[0][of_link]],
            )
            for strength, links in grounds
            if strength >= LEAST
        )
