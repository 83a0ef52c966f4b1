"""Evaluating what was trained."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.link_architectures import query_function
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.ranking import Adjust, evaluate_links
from ontodex.engine.rerank import COSINE, TOP, Reranker, neighbourhood_offset
from ontodex.errors import IndexMismatch, SettingsError, expect_choice, expect_count, settings_from
from ontodex.graph import KnowledgeGraph, TextSettings, entity_texts, relation_texts
from ontodex.readers import read
from ontodex.scoring.graph_features import QueryFunction
from ontodex.storage.space_names import LINK

__all__ = ["evaluate_kgc"]

SCORES = ("all", "text", "structure", "precedents")


def evaluate_kgc(
    model: str | Path,
    source: Any,
    *,
    split: str = "test",
    score: str = "all",
    texts: TextSettings | None = None,
    rerank: str | Path | None = None,
    top: int | None = None,
    hops: int = 0,
    device: str = "auto",
) -> dict[str, float]:
    """Rank the tails and heads of held-out triples among all entities of a graph.

    Args:
        model: An index of the graph, or an encoder of links.
        source: A graph with held-out triples, or what :func:`ontodex.read` reads.
        split: ``"test"`` or ``"valid"``.
        score: What ranks, where ``model`` is an index with structural vectors: ``"all"`` as in the index's answers, or
            ``"text"``, ``"structure"`` (ComplEx) or ``"precedents"`` (analogies and rules) for one alone.
        texts: How an entity's text is built, where ``model`` is an encoder; by default as in its training.
        rerank: Folder of a cross-encoder that reads the best ``top`` candidates of each question again.
        top: So many, at least 1; by default 50.
        hops: Where above 0, entities within so many hops of the one asked about have a bonus, as in SimKGC (five for WN18RR,
            two for FB15k-237).
        device: Where to compute.

    Returns:
        ``mrr``, ``mr``, ``hits@1``, ``hits@3`` and ``hits@10`` of both directions, and of each with ``tail.`` and
        ``head.`` before them.

    Raises:
        IndexMismatch: If the index is of another graph, or has no projections, or no structural vectors to rank by.
        SettingsError: If ``score`` or ``split`` is none of the above, ``texts`` are given with an index, or ``top`` without
            ``rerank``.
    """
    expect_choice("score", score, SCORES)
    if top is not None and rerank is None:
        raise SettingsError(
            "top: expected a cross-encoder that reads the best candidates again (rerank), found none"
        )
    top = TOP if top is None else top
    expect_count("top", top, 1)
    model, graph = Path(model), read(source)
    better = _Better(graph, None if rerank is None else Path(rerank), top, hops, device)
    if (model / "CURRENT").exists():
        if texts is not None:
            raise SettingsError(
                f"texts: expected an encoder, found {model}, an index, which has the texts it was built with"
            )
        return _evaluate_index(model, graph, split, score, better)
    if score in ("structure", "precedents"):
        raise IndexMismatch(
            f"{model}: expected an index, found an encoder of texts; it has no {score} to rank by"
        )
    from ontodex.encoders.link_encoder import load_link_encoder
    from ontodex.geometry.vectors import Vectors

    encoder = load_link_encoder(model, device=device)
    texts = texts or settings_from(TextSettings, encoder.texts, str(model))
    names = entity_texts(graph, texts)
    vectors = Vectors([encoder.entities(encoder.text.encode(names))])
    relations = relation_texts(graph)
    ask = query_function(encoder.bind(relations), vectors, names, relations)
    adjust = better.steps(COSINE)
    return evaluate_links(
        graph, vectors, ask, adjust=adjust, split=split, device=encoder.text.device
    )


@dataclass(frozen=True)
class _Better:
    """What makes scores better, as asked for."""

    graph: KnowledgeGraph
    rerank: Path | None
    top: int
    hops: int
    device: str

    def steps(self, unit: float) -> list[Adjust]:
        """Return the functions; the neighbourhood's bonus comes before the candidates are chosen that are read again."""
        steps: list[Adjust] = []
        if self.hops:
            steps.append(neighbourhood_offset(self.graph, self.hops, unit=unit))
        if self.rerank is not None:
            steps.append(
                Reranker(
                    self.rerank, self.graph, top=self.top, unit=unit, device=self.device
                ).adjust
            )
        return steps


def _evaluate_index(
    path: Path, graph: KnowledgeGraph, split: str, score: str, better: _Better
) -> dict[str, float]:
    from ontodex.engine.resources import Resources
    from ontodex.storage.index import Index

    index = Index.open(path)
    resources = Resources(index, better.device)
    index.encoder_info(LINK)
    index.expect_graph(graph)
    link_queries, structure = LinkQueries(resources), resources.graph_features
    if score in ("structure", "precedents") and structure is None:
        raise IndexMismatch(
            f"{path}: the index has no {score} to rank by: it was built without (structure=False, --no-structure), or the "
            "graph is one that build leaves it out of, of too few links to hold some out or more than 500,000 entities"
        )
    vectors = index.vectors(link_queries.space)
    ask: QueryFunction = link_queries.of_rows
    steps = [link_queries.add_offsets, *better.steps(link_queries.score_unit)]
    if score == "text":
        vectors, ask, steps = (
            index.vectors(LINK),
            partial(link_queries.of_rows, text_alone=True),
            better.steps(COSINE),
        )
    elif structure is not None and score == "structure":
        vectors, ask, steps = structure.kge_vectors(), structure.kge_queries, better.steps(1.0)
    elif score == "precedents":
        ask = partial(_nothing, dim=vectors.dim)
    return evaluate_links(graph, vectors, ask, adjust=steps, split=split, device=resources.device)


def _nothing(
    entities: NDArray[np.integer], relations: NDArray[np.integer], *, dim: int
) -> NDArray[np.float32]:
    """Return queries that score all entities alike."""
    return np.zeros((len(entities), dim), dtype=np.float32)
