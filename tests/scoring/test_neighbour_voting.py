"""Neighbour voting for parents and children, against the definition."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from ontodex.errors import SettingsError
from ontodex.geometry.cosine import unit
from ontodex.geometry.vectors import Vectors
from ontodex.graph import Hierarchy
from ontodex.scoring import similarity as module
from ontodex.scoring.neighbour_voting import NeighbourVotes, NeighbourVoting, log_sum
from ontodex.scoring.similarity import EntitySimilarity

COUNT, DIM = 50, 4


@pytest.fixture(scope="module")
def hierarchy() -> Hierarchy:
    """Return a hierarchy in which each later entity has one or two earlier parents."""
    rng = np.random.default_rng(0)
    children = np.concatenate([np.arange(3, COUNT), np.arange(30, COUNT)])
    return Hierarchy(
        children,
        (rng.random(len(children)) * children).astype(int),
        ids=[f"e{row}" for row in range(COUNT)],
    )


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    made = np.random.default_rng(1).normal(size=(COUNT, DIM)).astype(np.float32)
    made[7] = 0.0
    return made


@pytest.mark.parametrize("near", [6, 128])
def test_scores_are_those_of_the_definition(
    hierarchy: Hierarchy, vectors: np.ndarray, near: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NEAR", near)
    rows = np.append(np.arange(COUNT), [-1, -1])
    asked = np.concatenate(
        [vectors, np.random.default_rng(2).normal(size=(2, DIM)).astype(np.float32)]
    )
    votes = NeighbourVotes(hierarchy, EntitySimilarity(Vectors([vectors[:20], vectors[20:]])))
    every, found = unit(vectors.astype(np.float64)), 0
    for row, vector, (reached, scores) in zip(
        rows.tolist(), unit(asked), votes.scores("parents", asked, rows), strict=True
    ):
        cosines = every @ vector
        others = [other for other in np.argsort(-cosines, kind="stable").tolist() if other != row][
            :near
        ]
        below = set() if row < 0 else set(hierarchy.descendants(row).tolist())
        wanted = np.zeros((3, COUNT))
        for other in others:
            if other not in below and every[other].any() and vector.any():
                value = np.exp((cosines[other] - 1) / 0.1)
                wanted[0, other] += value
                wanted[1, hierarchy.parents(other)] += value
                wanted[2, hierarchy.ancestors(other)] += value
        made = np.zeros_like(wanted)
        made[:, reached] = scores
        np.testing.assert_allclose(made, np.log1p(wanted / 0.005), atol=1e-5)
        assert (np.diff(reached) > 0).all()
        assert scores.any(axis=0).all()
        assert vector.any() or not len(reached)
        found += len(reached)
    assert found > 5 * COUNT


def test_relative_similarities_are_squared_shares_of_the_nearest_neighbours(
    hierarchy: Hierarchy, vectors: np.ndarray
) -> None:
    votes = NeighbourVotes(hierarchy, EntitySimilarity(Vectors([vectors])))
    texts = np.random.default_rng(3).normal(size=(5, DIM)).astype(np.float32)
    unknown = np.full(len(texts), -1)
    for (rows, scores), (rows_too, relative) in zip(
        votes.scores("parents", texts, unknown),
        votes.scores("parents", texts, unknown, relative=True),
        strict=True,
    ):
        itself, made = (np.expm1(some) * 0.005 for some in (scores[0], relative[0]))
        wanted = (itself / itself.max()) ** 2
        np.testing.assert_allclose(made, wanted[np.isin(rows, rows_too)], rtol=1e-4, atol=1e-9)
        assert made.max() == pytest.approx(1.0)
        assert itself.max() < 0.99


def test_vote_offsets_are_weighted_sums(hierarchy: Hierarchy, vectors: np.ndarray) -> None:
    votes, rows = NeighbourVotes(hierarchy, EntitySimilarity(Vectors([vectors]))), np.array([3, 40])
    rule = NeighbourVoting(itself=1.0, parents=2.0, ancestors=0.5)
    for (reached, scores), added in zip(
        votes.scores("parents", vectors[rows], rows),
        votes.offsets("parents", rule, vectors[rows], rows),
        strict=True,
    ):
        assert np.array_equal(reached, added[0])
        np.testing.assert_allclose(added[1], scores[0] + 2 * scores[1] + 0.5 * scores[2])
        assert 0 < len(reached) < COUNT


def test_an_answer_is_less_likely_if_others_score_as_high() -> None:
    rule = NeighbourVoting(itself=1.0, curve=(2.0, -1.5, 0.5))
    best = np.array([3.0, 1.0, *[0.5] * 18, -1.0])
    total = log_sum(best)
    assert total == pytest.approx(np.log(np.exp(best[:20]).sum()))  # the last one does not count
    logits = 2 * best - 1.5 * total + 0.5
    common = rule.log_odds(best)
    np.testing.assert_allclose(rule.probability(best, common), 1 / (1 + np.exp(-logits)))
    alone, among_equals = (
        rule.probability(best[:1], rule.log_odds(scores))[0]
        for scores in (best[:1], np.full(9, 3.0))
    )
    assert alone > among_equals
    assert len(rule.probability(best[:0], rule.log_odds(best[:0]))) == 0
    unfit = NeighbourVoting(itself=1.0)
    assert unfit.probability(best, unfit.log_odds(best)) is None


@pytest.mark.parametrize("scores", [[9.0, 9.0], [9.0, 8.0, 1.0], [800.0, 800.0], [0.0] * 25])
@pytest.mark.parametrize("most", [1.0, 2.0, 3.0])
def test_no_more_answers_are_likely_than_can_be_right(scores: list[float], most: float) -> None:
    rule, best = NeighbourVoting(itself=1.0, curve=(1.0, 0.0, 2.0)), np.array(scores)
    unbound = rule.probability(best, rule.log_odds(best))
    found = rule.probability(best, rule.log_odds(best, most))
    assert found[:20].sum() == pytest.approx(min(most, unbound[:20].sum()))
    assert (np.diff(found) <= 0).all()
    if unbound[:20].sum() <= most:
        np.testing.assert_array_equal(found, unbound)


@pytest.mark.parametrize("question", ["parents", "children"])
def test_scores_of_pairs_are_those_of_each_answer(
    hierarchy: Hierarchy, vectors: np.ndarray, question: str
) -> None:
    votes, rng = (
        NeighbourVotes(hierarchy, EntitySimilarity(Vectors([vectors]))),
        np.random.default_rng(3),
    )
    asked, answers = rng.integers(COUNT, size=(2, 300))
    found = votes.of_pairs(question, asked, answers)
    every = np.zeros((COUNT, 3, COUNT))
    for row, (reached, scores) in enumerate(votes.scores(question, vectors, np.arange(COUNT))):
        every[row][:, reached] = scores
    assert np.array_equal(found, every[asked, :, answers].T)
    assert found.any(axis=1).all()


@pytest.mark.parametrize("near", [6, 128])
def test_scores_of_children_are_those_of_the_definition(
    hierarchy: Hierarchy, vectors: np.ndarray, near: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NEAR", near)
    votes, rows = (
        NeighbourVotes(hierarchy, EntitySimilarity(Vectors([vectors]))),
        np.append(np.arange(COUNT), -1),
    )
    asked = np.concatenate([vectors, vectors[[20]]])
    every, found = unit(vectors.astype(np.float64)), 0
    for row, vector, (reached, scores) in zip(
        rows.tolist(), unit(asked), votes.scores("children", asked, rows), strict=True
    ):
        cosines = every @ vector
        others = [other for other in np.argsort(-cosines, kind="stable").tolist() if other != row][
            :near
        ]
        like = {
            o: np.exp((cosines[o] - 1) / 0.1) for o in others if every[o].any() and vector.any()
        }
        parents = {child: hierarchy.parents(child).tolist() for child in range(COUNT)}
        if row >= 0:  # its children are those of its parents
            moved = [
                [p for p in parents[c] if p != row] + parents[c].count(row) * parents[row]
                for c in range(COUNT)
            ]
            parents = dict(enumerate(moved))
        wanted = np.zeros((3, COUNT))
        for child in range(COUNT):
            wanted[0, child] = like.get(child, 0.0)
            for parent in parents[child]:
                wanted[1, child] += sum(
                    value * parents[other].count(parent) for other, value in like.items()
                )
                wanted[2, child] += like.get(parent, 0.0)
        made = np.zeros((3, COUNT))
        made[:, reached] = scores
        np.testing.assert_allclose(made, np.log1p(wanted / 0.005), atol=1e-5)
        assert (np.diff(reached) > 0).all()
        found += len(reached)
    assert found > 5 * COUNT
    rule = NeighbourVoting(itself=2.0, siblings=1.0, children=0.5)
    [added] = votes.offsets("children", rule, asked[-1:], rows[-1:])
    assert np.array_equal(added[0], reached)
    np.testing.assert_allclose(added[1], 2 * scores[0] + scores[1] + 0.5 * scores[2])


def test_the_rule_is_read_as_it_was_written() -> None:
    rule = NeighbourVoting(itself=1.0, parents=2.0, ancestors=0.5, curve=(1.0, 2.0, -3.0))
    written = json.loads(json.dumps(asdict(rule)))
    assert NeighbourVoting.read({"parents": written}, "here") == {"parents": rule}
    assert NeighbourVoting.read({"children": written}, "here") == {"children": rule}
    assert NeighbourVoting.read({"rule": {}}, "here") == {}
    assert NeighbourVoting.read({}, "here") == {}
    with pytest.raises(SettingsError, match="here"):
        NeighbourVoting.read({"parents": {"parents": 1.0}}, "here")
    for curve in ([1.0, 2.0], 3.0, ["a", 0, 0]):
        with pytest.raises(SettingsError, match="curve"):
            NeighbourVoting.read({"parents": {**written, "curve": curve}}, "here")
