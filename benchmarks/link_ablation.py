"""What each part of the hybrid score of links brings: leave a part out, refit the weights, rank."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ontodex
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.ranking import link_ranks, rank_metrics
from ontodex.geometry.complex import ComplEx
from ontodex.geometry.vectors import Vectors
from ontodex.graph.known_links import KnownLinks
from ontodex.graph.subgraph import with_triples
from ontodex.indexers.link_weights import (
    DRAWN,
    AnswerScores,
    Heads,
    draw_questions,
    fit_weights,
    score_answers,
)
from ontodex.scoring.case_based import CaseBasedEvidence
from ontodex.scoring.graph_features import GraphFeatures, QueryFunction, add_offsets
from ontodex.scoring.kinds import Kinds
from ontodex.storage.space_names import LINK

__all__ = [
    "CANDIDATE",
    "FEW",
    "KEPT",
    "NOT_LINKED",
    "PROTOCOLS",
    "REVERSED",
    "Ranks",
    "Refitting",
    "ablation",
    "are_linked",
    "both_protocols",
    "new_heads",
    "refitted",
    "reverses_of_held_out",
    "strata",
]

Rows = NDArray[np.integer]
Ranks = dict[str, NDArray[np.float64]]
"""Ranks of the tails and of the heads of triples."""

KEPT = ("mrr", "hits@1", "hits@10")

REVERSED, NOT_LINKED = "the reverse triple is in train", "the pair is not linked in train"
"""Two strata of test triples."""

CANDIDATE = "the asked entity a candidate"
PROTOCOLS = {f", {CANDIDATE}": True, "": False}
"""Ends of the names of figures in the papers' protocol and in ontodex's, and whether the asked
entity is a candidate in it."""

FEW = 20
"""Number of relations up to which each has its own rows in a record."""

PARTS = {
    "text": (0,),
    "ComplEx": (1,),
    "type constraint": (2,),
    "kind": (3,),
    "analogy": (4, 5, 6, 7, 8, 9),
    "rules": (10,),
    "cosine": (11,),
}
"""Parts of the hybrid score, by the places of their weights. Analogy: links of entities that are
similar by text, by KGE vectors and by shared links, on either side of the link."""

ROWS: dict[str, tuple[str, ...]] = {
    "all parts": tuple(PARTS),
    **{f"without {left}": tuple(part for part in PARTS if part != left) for left in PARTS},
    "text and ComplEx": ("text", "ComplEx"),
    **{f"{part} alone": (part,) for part in ("text", "ComplEx", "analogy", "rules")},
}
"""Rows of the table: the parts that count."""


class Refitting:
    """Fits the weights of the hybrid score anew, and ranks with them.

    Args:
        features: Features of the graph's links, with any weights.
        case_based: Case-based evidence of the graph's links.
        vectors: Vectors of the entities in the link space.
        query: Makes queries of the link space.
    """

    def __init__(
        self,
        features: GraphFeatures,
        case_based: CaseBasedEvidence,
        vectors: Vectors,
        query: QueryFunction,
    ) -> None:
        self.features, self._case_based = features, case_based
        self._vectors, self._query = vectors, query
        rows = np.arange(len(vectors))
        self._entities = features.entities[rows]
        self._hybrid = Vectors([np.concatenate([vectors[rows], self._entities], axis=1)])
        self._evidence: dict[tuple[bytes, bytes], list[Any]] = {}

    def scores(
        self,
        graph: ontodex.KnowledgeGraph,
        held_out: NDArray[np.integer],
        drawn: int = DRAWN,
    ) -> AnswerScores:
        """Return all scores of the answers to questions from held-out triples.

        Args:
            graph: The graph.
            held_out: Triples that are not in train, of shape (n, 3).
            drawn: See :func:`ontodex.indexers.link_weights.score_answers`.
        """
        random, features = np.random.default_rng(0), self.features
        ends = np.cumsum([features.relations.shape[1], features.type_constraints.shape[1]])
        kge, constraints, kinds = np.split(self._entities, ends, axis=1)
        return score_answers(
            graph,
            self._vectors,
            draw_questions(held_out, graph, random),
            Heads(np.arange(graph.n_entities), self._vectors, self._query),
            ComplEx(kge, features.relations),
            (constraints, features.type_constraints),
            Kinds(kinds, features.kinds),
            self._case_based,
            held_out,
            random,
            drawn=drawn,
            quiet=True,
        )

    def ranks(
        self,
        features: GraphFeatures,
        graph: ontodex.KnowledgeGraph,
        *,
        split: str = "test",
        itself: bool,
    ) -> Ranks:
        """Rank held-out triples with features of other weights; see :func:`link_ranks`."""

        def queries(rows: Rows, relations: Rows) -> Any:
            text = self._query(rows, relations)
            return features.queries(text, self._vectors[rows], rows, relations)

        def adjust(rows: Rows, relations: Rows, values: NDArray[np.float32]) -> Any:
            evidence = self._of_cases(rows, relations)
            add_offsets(values, features.offsets(evidence, rows, relations))
            return values

        return link_ranks(graph, self._hybrid, queries, adjust=[adjust], split=split, itself=itself)

    def _of_cases(self, rows: Rows, relations: Rows) -> list[Any]:
        key = rows.tobytes(), relations.tobytes()
        if key not in self._evidence:
            found = self._case_based.scores(self._vectors[rows], rows, relations)
            self._evidence[key] = list(found)
        return self._evidence[key]


def ablation(engine: ontodex.Engine, graph: ontodex.KnowledgeGraph) -> dict[str, Any]:
    """Return the test metrics of each row, with the weights refitted on the validation triples.

    Args:
        engine: An index of the graph with graph features.
        graph: A graph with validation and test triples.
    """
    features, case_based = engine.resources.graph_features, engine.resources.case_based
    assert features is not None
    assert case_based is not None
    by_text = partial(LinkQueries(engine.resources).of_rows, text_alone=True)
    refitting = Refitting(features, case_based, engine.index.vectors(LINK), by_text)
    scores = refitting.scores(graph, graph.valid)
    figures: dict[str, Any] = {}
    for row, parts in ROWS.items():
        fitted = _refitted(features, scores, parts)
        figures[row], _ = both_protocols(partial(refitting.ranks, fitted, graph))
        print(f"{row}: {figures[row]}", file=sys.stderr)
    return figures


def _refitted(
    features: GraphFeatures, scores: AnswerScores, parts: tuple[str, ...]
) -> GraphFeatures:
    """Return the features with weights that were fitted to some parts of the score alone."""
    out = [place for part, places in PARTS.items() if part not in parts for place in places]
    own, others = scores.own.copy(), scores.others.copy()
    own[:, out], others[out] = 0.0, 0.0
    reduced = dataclasses.replace(scores, own=own, others=others)
    fitted = refitted(features, reduced)
    fitted.weights[..., out] = 0.0
    return fitted


def refitted(features: GraphFeatures, scores: AnswerScores) -> GraphFeatures:
    """Return the features with weights of known entities that are fitted to other scores."""
    weights = features.weights.copy()
    weights[0] = fit_weights(scores, weights.shape[1] - 1)
    return dataclasses.replace(features, weights=weights)


def both_protocols(
    rank: Callable[..., Ranks], kept: Sequence[str] = KEPT
) -> tuple[dict[str, float], Ranks]:
    """Return metrics in the papers' protocol and in ontodex's, and the ranks in the latter.

    Args:
        rank: Ranks triples; takes ``itself`` (see :func:`link_ranks`).
        kept: Names of the metrics.
    """
    figures: dict[str, float] = {}
    for end, itself in PROTOCOLS.items():
        ranks = rank(itself=itself)
        metrics = rank_metrics(np.concatenate(list(ranks.values())))
        figures.update({f"{name}{end}": metrics[name] for name in kept})
    return figures, ranks


def strata(graph: ontodex.KnowledgeGraph, ranks: Ranks) -> dict[str, dict[str, float]]:
    """Return the MRR of groups of test triples, and how large the groups are.

    Args:
        graph: The graph.
        ranks: Ranks of the tail and the head of each test triple.
    """
    both = np.stack([ranks["tail"], ranks["head"]], axis=1)
    figures: dict[str, dict[str, float]] = {}
    for name, chosen in _groups(graph):
        if chosen.any():
            figures[name] = {
                "share of the test triples": float(chosen.mean()),
                "mrr": float((1 / both[chosen]).mean()),
                "tail.mrr": float((1 / both[chosen, 0]).mean()),
                "head.mrr": float((1 / both[chosen, 1]).mean()),
            }
    return figures


def _groups(graph: ontodex.KnowledgeGraph) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the strata of the test triples: by their pair in train, and by relation if few."""
    test, train = graph.test, graph.triples
    heads, relations, tails = test.T
    reverse = _known(graph, train).known(tails, relations, heads)
    yield REVERSED, reverse
    linked = are_linked(graph, train, test[:, [0, 2]])
    yield "the pair is linked in train, the reverse triple is not there", linked & ~reverse
    yield NOT_LINKED, ~linked
    if graph.n_relations <= FEW:
        for number, name in enumerate(graph.relation_ids):
            yield name, test[:, 1] == number


def are_linked(graph: ontodex.KnowledgeGraph, known: Rows, pairs: Rows) -> NDArray[np.bool_]:
    """Return whether a known triple links the two entities of each pair, in either direction.

    Args:
        graph: The graph.
        known: Known triples, of shape (n, 3).
        pairs: Rows of entities, of shape (pairs, 2).
    """
    linked, asked = (
        np.sort(ends, axis=1).astype(np.int64) @ np.array([graph.n_entities, 1])
        for ends in (known[:, [0, 2]], pairs)
    )
    return np.isin(asked, linked)


def new_heads(graph: ontodex.KnowledgeGraph) -> dict[str, dict[str, float]]:
    """Return, for each relation, how many heads of the test have no tail by it in train.

    Beside it stands the share of all entities without one: where the two differ, the split itself
    tells which entities are answers.
    """
    figures = {}
    for number, name in enumerate(graph.relation_ids):
        heads = graph.test[graph.test[:, 1] == number, 0]
        known = np.zeros(graph.n_entities, dtype=bool)
        known[graph.triples[graph.triples[:, 1] == number, 0]] = True
        if len(heads):
            figures[name] = {
                "heads in the test without a tail in train": float((~known[heads]).mean()),
                "entities without a tail in train": float((~known).mean()),
            }
    return figures


def reverses_of_held_out(
    graph: ontodex.KnowledgeGraph,
) -> tuple[ontodex.KnowledgeGraph, NDArray[np.int64]]:
    """Take the reverses of held-out triples out of train; return the graph and those triples."""
    heads, relations, tails = graph.triples.T
    out = _known(graph, np.concatenate([graph.valid, graph.test])).known(tails, relations, heads)
    kept = with_triples(graph, graph.triples[~out], graph.valid, graph.test)
    return kept, graph.triples[out]


def _known(graph: ontodex.KnowledgeGraph, triples: NDArray[np.integer]) -> KnownLinks:
    return KnownLinks(triples, graph.n_entities, graph.n_relations)
