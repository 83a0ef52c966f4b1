"""Evaluating what was trained."""

from __future__ import annotations

from pathlib import Path

from ontodex.engine.ranking import evaluate_links
from ontodex.errors import IndexMismatch, settings_from
from ontodex.geometry.projection import Factors
from ontodex.graph import KnowledgeGraph, TextSettings, entity_texts, relation_texts

__all__ = ["evaluate_kgc"]


def evaluate_kgc(
    model: Path,
    graph: KnowledgeGraph,
    *,
    split: str = "test",
    texts: TextSettings | None = None,
    device: str = "auto",
) -> dict[str, float]:
    """Rank the tails and heads of held-out triples among all entities of a graph.

    Args:
        model: An index of the graph, or a Hyper-CL encoder.
        graph: A graph with held-out triples.
        split: ``"test"`` or ``"valid"``.
        texts: How an entity's text is built, where ``model`` is an encoder; by default as in its training.
        device: Where to compute.

    Returns:
        ``mrr``, ``mr``, ``hits@1``, ``hits@3`` and ``hits@10`` of both directions, and of each with ``tail.`` and
        ``head.`` before them.

    Raises:
        IndexMismatch: If the index is of another graph, or has no projections.
    """
    if (model / "CURRENT").exists():
        return _evaluate_index(model, graph, split, device)
    from ontodex.encoders.hyper_cl import HyperCL
    from ontodex.indexers.vectors import Vectors

    encoder = HyperCL.load(model, device=device)
    texts = texts or settings_from(TextSettings, encoder.texts, str(model))
    vectors = Vectors([encoder.entities(encoder.text.encode(entity_texts(graph, texts)))])
    left, right = encoder.factors(relation_texts(graph))

    def projection(relation: int) -> Factors:
        return left[relation], None if right is None else right[relation]

    return evaluate_links(
        graph, vectors, projection, residual=encoder.residual, split=split, device=encoder.text.device
    )


def _evaluate_index(path: Path, graph: KnowledgeGraph, split: str, device: str) -> dict[str, float]:
    from ontodex.indexers.index import Index

    index = Index.open(path, device)
    if "link" not in index.manifest.spaces:
        raise IndexMismatch(f"{path}: the index has no relation projections; build it with training")
    if index.graph.ids != graph.ids or index.graph.relation_ids != graph.relation_ids:
        raise IndexMismatch(f"{path}: an index of {index.graph!r}, not of {graph!r}; build one of this graph")
    return evaluate_links(
        graph, index.vectors("link"), index.projection, residual=index.residual, split=split, device=index.device
    )
