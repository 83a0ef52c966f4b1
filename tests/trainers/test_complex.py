"""ComplEx: score, loss against plain torch, batches, and training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from ontodex.errors import SettingsError, TrainingError
from ontodex.graph import GraphBuilder, KnowledgeGraph, split
from ontodex.trainers.links import complex as trained
from ontodex.trainers.links.complex import train_complex
from ontodex.trainers.links.complex_batches import ComplExBatches
from ontodex.trainers.links.settings import ComplExTraining


def batches_of(graph: KnowledgeGraph, **changes: int) -> ComplExBatches:
    settings = {"steps": 0, "passes": 1, "queries": 8, "candidates": 10, "seed": 0}
    return ComplExBatches(graph, **{**settings, **changes})


def test_a_pass_asks_every_question_once_with_all_its_answers(small_graph: KnowledgeGraph) -> None:
    batches = batches_of(small_graph, steps=1000)
    seen = set()
    for step in range(batches.per_epoch):
        batch = batches[step]
        heads, relations = batch.entities[batch.heads], batch.relations[batch.kinds]
        tails = batch.entities[batch.candidates][batch.tails]
        for head, relation, tail in zip(
            heads[batch.owners], relations[batch.owners], tails, strict=True
        ):
            seen.add((int(head), int(relation), int(tail)))
    count = small_graph.n_relations
    forward = {tuple(triple) for triple in small_graph.triples.tolist()}
    assert seen == forward | {(tail, relation + count, head) for head, relation, tail in forward}


def test_batches_are_the_same_for_the_same_seed(small_graph: KnowledgeGraph) -> None:
    one, same, other = (batches_of(small_graph, seed=seed)[3] for seed in (1, 1, 2))
    assert all(
        np.array_equal(getattr(one, name), getattr(same, name))
        for name in ("entities", "tails", "owners")
    )
    assert not np.array_equal(one.entities, other.entities)


def test_the_loss_and_its_gradients_are_those_of_plain_torch(small_graph: KnowledgeGraph) -> None:
    batch = batches_of(small_graph)[2]
    random = torch.Generator().manual_seed(0)
    entities, relations = (
        torch.randn(len(rows), 6, generator=random, dtype=torch.float64, requires_grad=True)
        for rows in (batch.entities, batch.relations)
    )
    trained._loss(batch, entities, relations, 0.3, torch.float64).backward()  # type: ignore[no-untyped-call]
    ours = entities.grad, relations.grad
    entities.grad = relations.grad = None
    whole, kinds = (
        torch.complex(entities[:, :3], entities[:, 3:]),
        torch.complex(relations[:, :3], relations[:, 3:]),
    )
    head = whole[torch.from_numpy(batch.heads[batch.owners])]
    relation = kinds[torch.from_numpy(batch.kinds[batch.owners])]
    candidates = whole[torch.from_numpy(batch.candidates)]
    scores = ((head * relation) @ candidates.conj().T).real
    tails = torch.from_numpy(batch.tails)
    loss = torch.nn.functional.cross_entropy(scores, tails)
    norms = sum((part.abs() ** 3).sum() for part in (head, relation, candidates[tails]))
    (loss + 0.3 * norms / len(tails)).backward()  # type: ignore[no-untyped-call]
    for mine, theirs in zip(ours, (entities.grad, relations.grad), strict=True):
        assert mine is not None
        assert theirs is not None
        torch.testing.assert_close(
            mine, theirs, rtol=1e-5, atol=1e-6
        )  # gradients pass through float32


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
