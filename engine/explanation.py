"""Explanation of an answer: the parts of its score, and the known links behind them."""

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

__all__ = ["LinkExplanation"]

LEAST = 0.0005
"""Minimal strength of a similar case in an explanation."""

BY_VECTORS = ("text", "ComplEx", "type constraint", "kind")
"""Names of the parts of a score that are inner products."""

BY_CASES = (
    "similar heads (text)",
    "similar tails (text)",
    "similar heads (links)",
    "similar tails (links)",
    "similar heads (shared links)",
    "similar tails (shared links)",
    "rules",
)
"""Names of the parts of a score that are case-based evidence. An eighth score is added to
the type constraint, a ninth to the text."""


class LinkExplanation:
    """Splits scores into parts; see :meth:`ontodex.engine.links.LinkQuestions.why`.

    Args:
        resources: Encoders and scorers of an opened index.
        link_queries: Makes the query vectors.
        searcher: Returns the searcher of a space, given its name.
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
        """Explain the score of an answer to an (entity, relation) question.

        Args:
            head: Entity of the question.
            relation: Relation of the question; if it is inverted, the answer is a head.
            tail: The answer.
            k: Number of similar cases of each kind.
            known: Rows of the known answers.
            left_out: Rows that are not ranked: known answers, and entities that cannot be answers.
        """
        k, start = checked(k), time.perf_counter()
        if tail.row is None:
            raise UnknownEntity(
                f"{self._index.graph.source}: expected an entity of the graph as an answer to "
                f"explain, found free text {tail.resolution.text!r}{tail.resolution.hint}"
            )
        backward = relation.resolution.inverted
        [entity], [number] = (
            rows.tolist() for rows in self._queries.numbers([head], [relation], backward)
        )
        [query], [(reached, offsets)] = self._queries.of_terms(
            [head], [relation], backward=backward
        )
        scores = self._searcher(self._queries.space).products(query[None])[0].astype(np.float64)
        scores[reached] += offsets
        vectors = self._index.vectors(self._queries.space)
        own = query * vectors[np.array([tail.row])][0].astype(np.float64)
        mean = query * np.sum(
            [block.sum(axis=0, dtype=np.float64) for _, block in vectors.blocks()], axis=0
        )
        parts = self._split(own - mean / len(vectors))
        adds = dict(zip(BY_VECTORS, (float(part.sum()) for part in parts), strict=False))
        grounds: dict[str, list[Ground]] = {}
        features, case_based = self._resources.graph_features, self._resources.case_based
        if features is not None and case_based is not None:
            vector = self._queries.vectors([head])
            pair = np.array([entity]), np.array([number])
            [(rows, case_scores)] = case_based.scores(vector, *pair)
            shares = features.case_weights(*pair)[0].astype(np.float64)[:, None] * case_scores
            excess = shares[:, rows == tail.row].sum(axis=1) - shares.sum(axis=1) / len(vectors)
            for name, share in zip(
                (*BY_CASES, BY_VECTORS[2], BY_VECTORS[0]), excess.tolist(), strict=True
            ):
                adds[name] = adds.get(name, 0.0) + share
            found = case_based.grounds(vector[0], entity, number, tail.row)
            grounds = dict(zip(BY_CASES, found, strict=True))
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
            self._source(entity, number, tail.row) if tail.row in known else None,
            self._queries.method,
            milliseconds(start, 1),
        )

    def _source(self, entity: int, number: int, answer: int) -> str:
        """Return the name of the source of a known link.

        Args:
            entity: Entity of the question.
            number: Number of the relation; if it is at least R, the number of relations, the
                relation is an inverse.
            answer: Row of the answer.
        """
        graph = self._index.graph
        backward, relation = divmod(number, graph.n_relations)
        of_index = (
            graph.heads_of(relation, entity) if backward else graph.tails_of(entity, relation)
        )
        return graph.source if answer in of_index else "a further source"

    def _split(self, products: NDArray[np.float64]) -> Sequence[NDArray[np.float64]]:
        """Split elementwise products (dim,) into the parts of :data:`BY_VECTORS`."""
        features = self._resources.graph_features
        if self._queries.space != HYBRID or features is None:
            return [products]
        parts = features.relations, features.type_constraints, features.kinds
        widths = [part.shape[1] for part in parts]
        return np.split(products, np.cumsum([len(products) - sum(widths), *widths[:-1]]))

    def _case_based(self, by: str, grounds: Sequence[Ground]) -> tuple[SimilarCase, ...]:
        """Return the similar cases of a part whose strength is at least :data:`LEAST`.

        Args:
            by: Name of the part.
            grounds: Strength and links of each case.
        """
        graph = self._index.graph
        of_link = 0 if "heads" in by else 2 if "tails" in by else None
        return tuple(
            SimilarCase(
                strength,
                tuple(Link(**parts_of(graph, *link)) for link in links),
                None if of_link is None else graph.ids[links[0][of_link]],
            )
            for strength, links in grounds
            if strength >= LEAST
        )
