"""Analogies, other case-based evidence and type constraints, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from ontodex.geometry.cosine import unit
from ontodex.geometry.vectors import Vectors
from ontodex.graph import both_directions
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring import analogy as module
from ontodex.scoring import similarity as similarity_module
from ontodex.scoring.analogy import Analogy
from ontodex.scoring.case_based import CaseBasedEvidence, by_rules
from ontodex.scoring.link_similarity import LinkSimilarity
from ontodex.scoring.rules import mine_rules
from ontodex.scoring.similarity import EntitySimilarity
from ontodex.scoring.type_constraints import constraint_basis, constraint_vectors

RELATIONS = 3


def drawn(
    entities: int = 60, triples: int = 150, relations: int = RELATIONS
) -> tuple[np.ndarray, Vectors]:
    """Return triples, and vectors in two pieces, the last of which is zero."""
    random = np.random.default_rng(0)
    columns = [random.integers(0, size, triples) for size in (entities, relations, entities)]
    vectors = random.normal(size=(entities, 5)).astype(np.float32)
    vectors[-1] = 0.0
    return np.unique(np.stack(columns, axis=1), axis=0), Vectors([vectors[:23], vectors[23:]])


def by_definition(
    triples: np.ndarray, vectors: Vectors, asked: np.ndarray, row: int, relation: int
) -> np.ndarray:
    """Score all tails of one query; shape (2, entities)."""
    every = unit(vectors[np.arange(len(vectors))].astype(np.float64))
    known = {tuple(triple) for triple in both_directions(triples, RELATIONS).tolist()}

    def near(vector: np.ndarray, own: int) -> dict[int, float]:
        cosines = every @ vector
        order = [other for other in np.argsort(-cosines).tolist() if other != own][
            : similarity_module.NEAR
        ]
        values = {other: float(np.exp((cosines[other] - 1) / 0.1)) for other in order}
        return {
            other: value for other, value in values.items() if every[other].any() and vector.any()
        }

    scores = np.zeros((2, len(every)))
    for head, similarities in near(unit(asked.astype(np.float64)), row).items():
        for tail in range(len(every)):
            scores[0, tail] += similarities * ((head, relation, tail) in known)
    for example in range(len(every)):
        if (row, relation, example) in known:
            for tail, similarities in near(every[example], example).items():
                scores[1, tail] += similarities
    return np.asarray(np.log1p(scores / 0.005))


@pytest.mark.parametrize("near", [7, 128])
def test_scores_are_those_of_the_definition(monkeypatch: pytest.MonkeyPatch, near: int) -> None:
    monkeypatch.setattr(similarity_module, "NEAR", near)
    triples, vectors = drawn()
    analogy = Analogy(KnownLinks(triples, 60, RELATIONS), EntitySimilarity(vectors))
    random = np.random.default_rng(1)
    rows, relations = random.integers(-1, 60, 80), random.integers(0, 2 * RELATIONS, 80)
    asked = np.where(
        rows[:, None] >= 0, vectors[rows], random.normal(size=(80, 5)).astype(np.float32)
    )
    reached_any = 0
    for question, (reached, scores) in enumerate(analogy.scores(asked, rows, relations)):
        wanted = by_definition(
            triples, vectors, asked[question], int(rows[question]), int(relations[question])
        )
        made = np.zeros_like(wanted)
        made[:, reached] = scores
        np.testing.assert_allclose(made, wanted, atol=1e-5)
        assert (np.diff(reached) > 0).all()
        reached_any += len(reached)
    assert reached_any > 80


def case_based_of(
    triples: np.ndarray, vectors: Vectors, relations: int = RELATIONS
) -> CaseBasedEvidence:
    """Case-based evidence with KGE vectors that differ from text vectors."""
    links = KnownLinks(triples, len(vectors), relations)
    return CaseBasedEvidence(links, vectors, turned(vectors), mine_rules(links))


def turned(vectors: Vectors) -> Vectors:
    return Vectors([np.roll(vectors[np.arange(len(vectors))], 1, axis=0)])


@pytest.mark.slow
def test_case_based_scores_are_analogies_rules_tails_by_the_triple_alone_and_itself() -> None:
    triples, vectors = drawn(triples=400)
    links, known = KnownLinks(triples, 60, RELATIONS), both_directions(triples, RELATIONS)
    random = np.random.default_rng(1)
    rows, relations = random.integers(-1, 60, 50), random.integers(-1, 2 * RELATIONS, 50)
    asked, structure = vectors[np.maximum(rows, 0)], turned(vectors)[np.maximum(rows, 0)]
    structure[rows < 0] = 0
    wanted = np.zeros((50, 9, 60))
    for question in range(50):
        one = slice(question, question + 1)
        likes = (
            EntitySimilarity(vectors),
            EntitySimilarity(turned(vectors)),
            LinkSimilarity(links),
        )
        for place, (similar, own) in enumerate(
            zip(likes, (asked, structure, structure), strict=True)
        ):
            [(reached, scores)] = Analogy(links, similar).scores(
                own[one], rows[one], relations[one]
            )
            wanted[question, 2 * place : 2 * place + 2, reached] = scores.T
        [(reached, found)] = mine_rules(links).scores(links, rows[one], relations[one])
        wanted[question, 6, reached] = np.log1p(found / 0.05)
        if rows[question] >= 0 and relations[question] >= 0:
            wanted[question, 8, rows[question]] = (asked[question].astype(np.float64) ** 2).sum()
        for head, relation, tail in known.tolist():
            alone = (known[:, 1:] == (relation, tail)).all(axis=1).sum() == 1
            wanted[question, 7, tail] += alone and (head, relation) == (
                rows[question],
                relations[question],
            )
    for own, (reached, scores) in zip(
        wanted, case_based_of(triples, vectors).scores(asked, rows, relations), strict=True
    ):
        made = np.zeros((9, 60))
        made[:, reached] = scores
        assert np.array_equal(made[:8], own[:8])
        np.testing.assert_allclose(made[8], own[8], rtol=1e-12)
        assert np.allclose(by_rules(scores), 0.05 * np.expm1(own[6, reached]))
        assert (np.diff(reached) > 0).all()
    assert all(wanted[:, score].any() for score in range(9))
    assert not wanted[(rows < 0) | (relations < 0)][:, 1:].any()


def test_a_question_has_the_same_scores_alone_and_among_others() -> None:
    triples, vectors = drawn()
    rows, relations = np.arange(60).repeat(2 * RELATIONS), np.tile(np.arange(2 * RELATIONS), 60)
    together = list(case_based_of(triples, vectors).scores(vectors[rows], rows, relations))
    alone = case_based_of(triples, vectors)
    for place in (0, 77, 200, 359):
        one = slice(place, place + 1)
        [(reached, scores)] = alone.scores(vectors[rows[one]], rows[one], relations[one])
        assert np.array_equal(reached, together[place][0])
        assert np.array_equal(scores, together[place][1])


def test_what_the_graph_does_not_have_has_no_analogies() -> None:
    triples, vectors = drawn()
    analogy = Analogy(KnownLinks(triples, 60, RELATIONS), EntitySimilarity(vectors))
    for rows, relation in ((np.array([3]), -1), (np.array([-1]), -1)):
        [(reached, scores)] = analogy.scores(vectors[np.array([3])], rows, np.array([relation]))
        assert (len(reached), scores.shape) == (0, (2, 0))
    assert list(analogy.scores(vectors[rows[:0]], rows[:0], rows[:0])) == []


def test_a_single_entity_has_no_similar_entities() -> None:
    vectors = Vectors([np.ones((1, 1), dtype=np.float32)])
    [(reached, scores)] = case_based_of(np.array([[0, 0, 0]]), vectors, 1).scores(
        vectors[np.zeros(1, int)], np.zeros(1, int), np.zeros(1, int)
    )
    assert (reached.tolist(), scores.tolist()) == ([0], [[0.0]] * 7 + [[1.0]] * 2)


def test_of_very_many_known_tails_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXAMPLES", 4)
    vectors = Vectors([unit(np.random.default_rng(0).normal(size=(500, 5)))])
    triples = np.stack([np.zeros(400, int), np.zeros(400, int), np.arange(100, 500)], axis=1)
    analogy = Analogy(KnownLinks(triples, 500, 1), EntitySimilarity(vectors))
    [(_, scores)] = analogy.scores(vectors[np.array([0])], np.array([0]), np.array([0]))
    assert analogy._similarity._found.nonzero()[0].tolist() == [0, 100, 200, 300, 400]
    assert 0 < np.count_nonzero(scores[1]) <= 4 * similarity_module.NEAR


def test_type_constraints_are_exact_for_few_relations_and_close_for_many() -> None:
    triples, _ = drawn()
    known = both_directions(triples, RELATIONS)
    wanted = np.zeros((60, 2 * RELATIONS))
    wanted[known[:, 2], known[:, 1]] = 1
    basis = constraint_basis(triples, 60, RELATIONS)
    assert np.array_equal(constraint_vectors(triples, 60, basis) @ basis.T, wanted)

    # A hundred relations of five kinds: a tail of one is a tail of all of its kind.
    random = np.random.default_rng(0)
    heads, kinds = random.integers(0, 100, 200), random.integers(0, 5, 200)
    many = np.array(
        [
            (head, 20 * kind + other, 100 + kind)
            for head, kind in zip(heads, kinds, strict=True)
            for other in range(20)
        ]
    )
    basis = constraint_basis(many, 105, 100)
    assert basis.shape == (200, 64)
    known = both_directions(np.unique(many, axis=0), 100)
    wanted = np.zeros((105, 200))
    wanted[known[:, 2], known[:, 1]] = 1
    np.testing.assert_allclose(constraint_vectors(many, 105, basis) @ basis.T, wanted, atol=1e-4)
    assert np.array_equal(basis, constraint_basis(many, 105, 100))
