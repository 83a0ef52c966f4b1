"""Similarity of entities by what they are linked to, against the definition."""

from __future__ import annotations

import numpy as np
import pytest

from ontodex.graph import both_directions
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring import link_similarity as module
from ontodex.scoring.link_similarity import LinkSimilarity

ENTITIES, RELATIONS = 40, 2


@pytest.fixture(scope="module")
def triples() -> np.ndarray:
    random = np.random.default_rng(0)
    columns = [random.integers(0, size, 150) for size in (30, RELATIONS, 39)]
    return np.unique(np.stack(columns, axis=1), axis=0)  # entity 39 has no links


def cosines_of(triples: np.ndarray, most: int = ENTITIES) -> np.ndarray:
    """Return the cosine of every two entities, by dense vectors."""
    vectors = np.zeros((ENTITIES, 2 * RELATIONS * ENTITIES))
    for head, relation, tail in both_directions(triples, RELATIONS).tolist():
        vectors[head, relation * ENTITIES + tail] = 1.0
    counts = vectors.sum(axis=0)
    vectors *= np.where(counts > most, 0.0, np.log(ENTITIES / np.maximum(counts, 1)))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= np.where(lengths > 0, lengths, 1.0)
    found = vectors @ vectors.T
    np.fill_diagonal(found, 0.0)
    return np.asarray(found)


@pytest.mark.parametrize(("near", "most"), [(5, ENTITIES), (32, ENTITIES), (32, 3)])
def test_neighbours_are_the_nearest_by_the_squared_cosine(
    triples: np.ndarray, near: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NEAR", near)
    monkeypatch.setattr(module, "SHARED", most)
    similarity = LinkSimilarity(KnownLinks(triples, ENTITIES, RELATIONS))
    wanted = cosines_of(triples, most) ** 2
    rows = np.random.default_rng(1).permutation(ENTITIES)
    for row, others, values in zip(rows.tolist(), *similarity.of(rows), strict=True):
        assert (np.diff(values) <= 0).all()
        np.testing.assert_allclose(
            values, np.sort(wanted[row])[::-1][:near], atol=1e-5, err_msg=str(row)
        )
        there = values > 0
        np.testing.assert_allclose(values[there], wanted[row, others[there]], atol=1e-5)
        assert len(set(others[there].tolist())) == there.sum()
    assert wanted.any(axis=1).sum() > 20
    assert not similarity.of(np.array([39]))[1].any()


def test_entities_that_the_graph_lacks_have_no_neighbours(triples: np.ndarray) -> None:
    similarity = LinkSimilarity(KnownLinks(triples, ENTITIES, RELATIONS))
    near, values = similarity.of_all(np.zeros((3, 0), np.float32), np.array([4, -1, 4]))
    assert not values[1].any()
    assert values[0].any()
    assert np.array_equal(near[0], near[2])
    assert np.array_equal(values[[0, 2]], similarity.of(np.array([4, 4]))[1])


def test_the_only_entity_has_no_neighbours() -> None:
    similarity = LinkSimilarity(KnownLinks(np.zeros((0, 3), int), 1, 1))
    assert similarity.of(np.array([0, 0]))[0].shape == (2, 0)


def test_neighbours_of_both_ends_vote_for_links(triples: np.ndarray) -> None:
    links = KnownLinks(triples, ENTITIES, RELATIONS)
    similarity, random = LinkSimilarity(links), np.random.default_rng(2)
    entities, tails = random.integers(0, ENTITIES, 30), random.integers(0, ENTITIES, (30, 7))
    relations = random.integers(0, 2 * RELATIONS, 30)
    known = set(map(tuple, both_directions(triples, RELATIONS).tolist()))
    wanted = np.zeros(tails.shape)
    for question, answer in np.ndindex(*tails.shape):
        head, relation, tail = entities[question], relations[question], tails[question, answer]
        for end, link in (
            (head, lambda near, tail=tail, relation=relation: (near, relation, tail)),
            (tail, lambda near, head=head, relation=relation: (head, relation, near)),
        ):
            near, values = (part[0, : module.VOTERS] for part in similarity.of(np.array([end])))
            wanted[question, answer] += sum(
                value
                for other, value in zip(near.tolist(), values.tolist(), strict=True)
                if link(other) in known
            )
    np.testing.assert_allclose(similarity.votes(entities, relations, tails), wanted, rtol=1e-6)
    assert (wanted > 0).sum() > 20
