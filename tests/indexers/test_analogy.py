"""Scores by analogy, and ranges: against their definitions, on graphs drawn by seed."""

from __future__ import annotations

import numpy as np
import pytest

from ontodex.geometry.cosine import unit
from ontodex.graph import both_directions
from ontodex.indexers import analogy as module
from ontodex.indexers.analogy import Analogy
from ontodex.indexers.ranges import range_basis, range_vectors
from ontodex.indexers.vectors import Vectors

RELATIONS = 3


def drawn(entities: int = 60, triples: int = 150, relations: int = RELATIONS) -> tuple[np.ndarray, Vectors]:
    """Triples, and unit vectors in two pieces."""
    random = np.random.default_rng(0)
    columns = [random.integers(0, size, triples) for size in (entities, relations, entities)]
    vectors = unit(random.normal(size=(entities, 5)))
    return np.unique(np.stack(columns, axis=1), axis=0), Vectors([vectors[:23], vectors[23:]])


def by_definition(triples: np.ndarray, vectors: Vectors, asked: np.ndarray, row: int, relation: int) -> np.ndarray:
    """Score all tails of one question, of shape (3, entities)."""
    every = vectors[np.arange(len(vectors))].astype(np.float64)
    known = {tuple(triple) for triple in both_directions(triples, RELATIONS).tolist()}

    def near(vector: np.ndarray, own: int) -> dict[int, float]:
        cosines = every @ vector
        order = [other for other in np.argsort(-cosines).tolist() if other != own][: module.NEAR]
        return {other: float(np.exp((cosines[other] - 1) / 0.1)) for other in order}

    scores = np.zeros((3, len(every)))
    for head, likeness in near(asked.astype(np.float64), row).items():
        for tail in range(len(every)):
            scores[0, tail] += likeness * ((head, relation, tail) in known)
    for example in range(len(every)):
        if (row, relation, example) in known:
            for tail, likeness in near(every[example], example).items():
                scores[1, tail] += likeness
            scores[2, example] = sum((head, relation, example) in known for head in range(len(every))) == 1
    return np.stack([*np.log1p(scores[:2] / 0.005), scores[2]])


@pytest.mark.parametrize("near", [7, 128])
def test_scores_are_those_of_the_definition(monkeypatch: pytest.MonkeyPatch, near: int) -> None:
    monkeypatch.setattr(module, "NEAR", near)
    triples, vectors = drawn()
    analogy = Analogy(triples, RELATIONS, vectors)
    random = np.random.default_rng(1)
    rows, relations = random.integers(-1, 60, 80), random.integers(0, 2 * RELATIONS, 80)
    asked = np.where(rows[:, None] >= 0, vectors[rows], unit(random.normal(size=(80, 5))))
    reached_any = 0
    for question, (reached, scores) in enumerate(analogy.scores(asked, rows, relations)):
        wanted = by_definition(triples, vectors, asked[question], int(rows[question]), int(relations[question]))
        made = np.zeros_like(wanted)
        made[:, reached] = scores
        np.testing.assert_allclose(made, wanted, atol=1e-5)
        assert (np.diff(reached) > 0).all()
        reached_any += len(reached)
    assert reached_any > 80


def test_a_question_has_the_same_scores_alone_and_among_others() -> None:
    triples, vectors = drawn()
    rows, relations = np.arange(60).repeat(2 * RELATIONS), np.tile(np.arange(2 * RELATIONS), 60)
    together = list(Analogy(triples, RELATIONS, vectors).scores(vectors[rows], rows, relations))
    alone = Analogy(triples, RELATIONS, vectors)
    for place in (0, 77, 200, 359):
        one = slice(place, place + 1)
        [(reached, scores)] = alone.scores(vectors[rows[one]], rows[one], relations[one])
        assert np.array_equal(reached, together[place][0])
        assert np.array_equal(scores, together[place][1])


def test_what_the_graph_does_not_have_has_no_analogies() -> None:
    triples, vectors = drawn()
    analogy = Analogy(triples, RELATIONS, vectors)
    for rows, relation in ((np.array([3]), -1), (np.array([-1]), -1)):
        [(reached, scores)] = analogy.scores(vectors[np.array([3])], rows, np.array([relation]))
        assert (len(reached), scores.shape) == (0, (3, 0))
    assert list(analogy.scores(vectors[rows[:0]], rows[:0], rows[:0])) == []


def test_one_entity_has_nobody_to_be_like() -> None:
    vectors = Vectors([np.ones((1, 1), dtype=np.float32)])
    [(reached, scores)] = Analogy(np.array([[0, 0, 0]]), 1, vectors).scores(
        vectors[np.zeros(1, int)], np.zeros(1, int), np.zeros(1, int)
    )
    assert (reached.tolist(), scores.tolist()) == ([0], [[0.0], [0.0], [1.0]])


def test_of_very_many_known_tails_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXAMPLES", 4)
    vectors = Vectors([unit(np.random.default_rng(0).normal(size=(500, 5)))])
    triples = np.stack([np.zeros(400, int), np.zeros(400, int), np.arange(100, 500)], axis=1)
    analogy = Analogy(triples, 1, vectors)
    [(reached, scores)] = analogy.scores(vectors[np.array([0])], np.array([0]), np.array([0]))
    assert analogy._found.nonzero()[0].tolist() == [0, 100, 200, 300, 400]
    assert set(range(100, 500)) <= set(reached.tolist())
    assert 0 < np.count_nonzero(scores[1]) <= 4 * module.NEAR


def test_ranges_are_exact_for_few_relations_and_near_for_many() -> None:
    triples, _ = drawn()
    known = both_directions(triples, RELATIONS)
    wanted = np.zeros((60, 2 * RELATIONS))
    wanted[known[:, 2], known[:, 1]] = 1
    basis = range_basis(triples, 60, RELATIONS)
    assert np.array_equal(range_vectors(triples, 60, basis) @ basis.T, wanted)

    # A hundred relations of five kinds: a tail of one is a tail of all of its kind.
    random = np.random.default_rng(0)
    heads, kinds = random.integers(0, 100, 200), random.integers(0, 5, 200)
    many = np.array(
        [(head, 20 * kind + other, 100 + kind) for head, kind in zip(heads, kinds, strict=True) for other in range(20)]
    )
    basis = range_basis(many, 105, 100)
    assert basis.shape == (200, 64)
    known = both_directions(np.unique(many, axis=0), 100)
    wanted = np.zeros((105, 200))
    wanted[known[:, 2], known[:, 1]] = 1
    np.testing.assert_allclose(range_vectors(many, 105, basis) @ basis.T, wanted, atol=1e-4)
    assert np.array_equal(basis, range_basis(many, 105, 100))
