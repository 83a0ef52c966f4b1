"""What each part of the hybrid score of links brings: leave a part out, refit the weights, rank."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ontodex
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.ranking import link_ranks, rank_metrics
from ontodex.geometry.complex import ComplEx
from ontodex.graph.known_links import KnownLinks
from ontodex.indexers.link_weights import (
    AnswerScores,
    Heads,
    draw_questions,
    fit_weights,
    score_answers,
)
from ontodex.scoring.graph_features import GraphFeatures, add_offsets
from ontodex.scoring.kinds import Kinds
from ontodex.storage.space_names import HYBRID, LINK

__all__ = [
    "CANDIDATE",
    "KEPT",
    "NOT_LINKED",
    "REVERSED",
    "ablation",
    "new_heads",
    "reverses_of_held_out",
    "strata",
]

KEPT = ("mrr", "hits@1", "hits@10")

REVERSED, NOT_LINKED = "the reverse triple is in train", "the pair is not linked in train"
"""Two strata of test triples."""

CANDIDATE = "the asked entity a candidate"
"""End of the names of figures in the papers' protocol."""

PARTS = {
    "text": (0,),
    "ComplEx": (1,),
    "type constraint": (2,),
    "kind": (3,),
    "analogy": (4, 5, 6, 7),
    "rules": (8,),
}
"""Parts of the hybrid score, by the places of their weights. Analogy: links of entities that are
similar by text and by KGE vectors, on either side of the link."""

ROWS: dict[str, tuple[str, ...]] = {
    "all parts": tuple(PARTS),
    **{f"without {left}": tuple(part for part in PARTS if part != left) for left in PARTS},
    "text and ComplEx": ("text", "ComplEx"),
    **{f"{part} alone": (part,) for part in ("text", "ComplEx", "analogy", "rules")},
}
"""Rows of the table: the parts that count."""


def ablation(engine: ontodex.Engine, graph: ontodex.KnowledgeGraph) -> dict[str, Any]:
    """Return the test metrics of each row, with the weights refitted on the validation triples.

    Args:
        engine: An index of the graph with graph features.
        graph: A graph with validation and test triples.
    """
    features, case_based = engine.resources.graph_features, engine.resources.case_based
    assert features is not None
    assert case_based is not None
    link_queries, rank = LinkQueries(engine.resources), features.relations.shape[1]
    vectors, random = engine.index.vectors(LINK), np.random.default_rng(0)
    stored = np.concatenate([features.entities[np.arange(graph.n_entities)]])
    constraints_end = rank + features.type_constraints.shape[1]

    def text_queries(rows: NDArray[np.integer], relations: NDArray[np.integer]) -> Any:
        return link_queries.of_rows(rows, relations, text_alone=True)

    scores = score_answers(
        graph,
        vectors,
        draw_questions(graph.valid, graph, random),
        Heads(np.arange(graph.n_entities), vectors, text_queries),
        ComplEx(stored[:, :rank], features.relations),
        (stored[:, rank:constraints_end], features.type_constraints),
        Kinds(stored[:, constraints_end:], features.kinds),
        case_based,
        graph.valid,
        random,
        quiet=True,
    )
    found: dict[tuple[bytes, bytes], list[Any]] = {}

    def evidence(rows: NDArray[np.integer], relations: NDArray[np.integer]) -> list[Any]:
        key = rows.tobytes(), relations.tobytes()
        if key not in found:
            found[key] = list(case_based.scores(link_queries.entities[rows], rows, relations))
        return found[key]

    figures: dict[str, Any] = {}
    for row, parts in ROWS.items():
        fitted = _refitted(features, scores, parts)

        def queries(
            rows: NDArray[np.integer],
            relations: NDArray[np.integer],
            fitted: GraphFeatures = fitted,
        ) -> Any:
            return fitted.queries(text_queries(rows, relations), rows, relations)

        def adjust(
            rows: NDArray[np.integer],
            relations: NDArray[np.integer],
            values: NDArray[np.float32],
            fitted: GraphFeatures = fitted,
        ) -> NDArray[np.float32]:
            add_offsets(values, fitted.offsets(evidence(rows, relations), rows, relations))
            return values

        hybrid = engine.index.vectors(HYBRID)
        figures[row] = {}
        for itself in (True, False):
            ranks = link_ranks(graph, hybrid, queries, adjust=[adjust], itself=itself)
            metrics = rank_metrics(np.concatenate(list(ranks.values())))
            end = f", {CANDIDATE}" if itself else ""
            figures[row].update({f"{name}{end}": metrics[name] for name in KEPT})
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
    weights = features.weights.copy()
    weights[0] = fit_weights(reduced, weights.shape[1] - 1)
    weights[..., out] = 0.0
    return dataclasses.replace(features, weights=weights)


def strata(
    graph: ontodex.KnowledgeGraph, ranks: dict[str, NDArray[np.float64]]
) -> dict[str, dict[str, float]]:
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
    ends, known = (np.sort(part[:, [0, 2]], axis=1) for part in (test, train))
    size = graph.n_entities
    linked = np.isin(
        ends[:, 0].astype(np.int64) * size + ends[:, 1],
        known[:, 0].astype(np.int64) * size + known[:, 1],
    )
    yield "the pair is linked in train, the reverse triple is not there", linked & ~reverse
    yield NOT_LINKED, ~linked
    if graph.n_relations <= 20:
        for number, name in enumerate(graph.relation_ids):
            yield name, test[:, 1] == number


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
    sides = {side: getattr(graph, side)[~out] for side in ("heads", "relations", "tails")}
    return dataclasses.replace(graph, **sides), graph.triples[out]


def _known(graph: ontodex.KnowledgeGraph, triples: NDArray[np.integer]) -> KnownLinks:
    return KnownLinks(triples, graph.n_entities, graph.n_relations)
