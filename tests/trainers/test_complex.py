"""Training of ComplEx: its batches, and that it learns; its formulas are in tests/papers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ontodex.errors import SettingsError, TrainingError
from ontodex.graph import GraphBuilder, KnowledgeGraph, split
from ontodex.trainers.links.complex import train_complex
from ontodex.trainers.links.complex_batches import ComplExBatches
from ontodex.trainers.links.settings import ComplExTraining


def batches_of(graph: KnowledgeGraph, **changes: int) -> ComplExBatches:
    settings = {"steps": 0, "passes": 1, "queries": 8, "candidates": 10, "seed": 0}
    return ComplExBatches(graph, **{**settings, **changes})


def test_batches_are_the_same_for_the_same_seed(small_graph: KnowledgeGraph) -> None:
    one, same, other = (batches_of(small_graph, seed=seed)[3] for seed in (1, 1, 2))
    assert all(
        np.array_equal(getattr(one, name), getattr(same, name))
        for name in ("entities", "tails", "owners")
    )
    assert not np.array_equal(one.entities, other.entities)


def test_training_triples_rank_first(small_graph: KnowledgeGraph) -> None:
    made = train_complex(
        small_graph,
        ComplExTraining(rank=16, steps=200, regularisation=0.0),
        device="cpu",
        quiet=True,
    )
    heads, relations, tails = small_graph.triples.T
    scores = made.queries(heads, relations) @ made.entities.T
    for row, (head, relation) in enumerate(zip(heads, relations, strict=True)):
        others = small_graph.tails_of(int(head), int(relation))
        scores[row, others[others != tails[row]]] = -np.inf
    ranks = 1 + (scores > scores[np.arange(len(tails)), tails][:, None]).sum(axis=1)
    assert np.mean(1 / ranks) > 0.9
    backward = made.queries(tails, relations + small_graph.n_relations)
    own = np.einsum("nd,nd->n", backward, made.entities[heads])
    assert np.mean(own > (backward @ made.entities.T).mean(axis=1)) > 0.95


def test_the_more_links_an_entity_has_the_less_is_regularised(small_graph: KnowledgeGraph) -> None:
    settings = ComplExTraining(rank=4, steps=5)
    fewer = split(replace(small_graph, test=small_graph.test[:0]), valid=0.6, test=0.0)
    for graph in (small_graph, fewer):
        links = graph.n_triples / len(np.unique(graph.triples[:, [0, 2]]))
        same = replace(settings, regularisation=0.12 / links**0.5)
        made, expected = (
            train_complex(graph, one, device="cpu", quiet=True) for one in (settings, same)
        )
        assert np.array_equal(made.entities, expected.entities)


def test_entities_in_no_triple_have_zero_vectors(small_graph: KnowledgeGraph) -> None:
    made = train_complex(small_graph, ComplExTraining(rank=4, steps=3), device="cpu", quiet=True)
    linked = np.zeros(small_graph.n_entities, dtype=bool)
    linked[small_graph.triples[:, [0, 2]]] = True
    assert np.array_equal(made.entities.any(axis=1), linked)
    assert made.relations.shape == (2 * small_graph.n_relations, 8)


def test_a_seed_decides_everything(small_graph: KnowledgeGraph) -> None:
    one, same, other = (
        train_complex(
            small_graph, ComplExTraining(rank=4, steps=5, seed=seed), device="cpu", quiet=True
        ).entities
        for seed in (0, 0, 1)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_graphs_that_cannot_be_trained_on_are_refused() -> None:
    builder = GraphBuilder("empty")
    builder.entity("a", "a")
    with pytest.raises(TrainingError, match="empty: expected triples"):
        train_complex(builder.build(), quiet=True)
    for wrong in ({"rank": 0}, {"rate": 0.0}, {"regularisation": -1.0}, {"queries": 2.5}):
        with pytest.raises(SettingsError, match=next(iter(wrong))):
            ComplExTraining(**wrong)  # type: ignore[arg-type]
