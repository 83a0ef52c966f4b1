"""Rules, against their definition."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from ontodex.graph.known_links import KnownLinks
from ontodex.scoring import rules as module
from ontodex.scoring.rules import Rules, mine_rules

ENTITIES, RELATIONS = 40, 3


@pytest.fixture
def links() -> KnownLinks:
    random = np.random.default_rng(0)
    return KnownLinks(
        random.integers(0, (ENTITIES, RELATIONS, ENTITIES), (160, 3)), ENTITIES, RELATIONS
    )


def tails_of(links: KnownLinks, entity: int, relation: int) -> set[int]:
    [found] = links.tails(np.array([entity]), np.array([relation]))
    return set(found.tolist())


def found_by(links: KnownLinks, head: int, first: int, second: int) -> set[int]:
    """Follow a rule by its definition."""
    known = links.triples.tolist()
    ends = {tail for entity, relation, tail in known if (entity, relation) == (head, first)}
    if second >= 0:
        ends = {tail for entity, relation, tail in known if entity in ends and relation == second}
    return ends - {head}


def test_every_rule_that_is_right_often_enough_is_found_with_its_confidence(
    links: KnownLinks, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("EXAMPLES", "HEADS", "BODIES"):
        monkeypatch.setattr(module, name, 10_000)
    wanted = {}
    for relation in range(2 * RELATIONS):
        tails = {head: tails_of(links, head, relation) for head in range(ENTITIES)}
        bodies = [
            (first, second) for first in range(2 * RELATIONS) for second in range(-1, 2 * RELATIONS)
        ]
        for first, second in bodies:
            if (first, second) == (relation, -1):
                continue
            ends = {head: found_by(links, head, first, second) for head in tails if tails[head]}
            right = sum(len(found & tails[head]) for head, found in ends.items())
            # Only examples whose path leads through a third entity count.
            joined = sum(
                bool(found_by(links, head, first, second) & {tail})
                for head in ends
                for tail in tails[head]
                if second < 0 or third(links, head, first, second, tail)
            )
            confidence = right / (sum(map(len, ends.values())) + 5)
            if right >= 2 and joined >= 2 and confidence >= 0.01:
                wanted[relation, first, second] = confidence
    rules = mine_rules(links)
    found = dict(zip(map(tuple, rules.bodies.tolist()), rules.confidences.tolist(), strict=True))
    assert len(wanted) > 20
    assert list(found) == sorted(wanted)
    assert found == pytest.approx(wanted)


def third(links: KnownLinks, head: int, first: int, second: int, tail: int) -> bool:
    middles = tails_of(links, head, first) - {head, tail}
    return any(tail in tails_of(links, middle, second) for middle in middles)


def test_a_score_is_the_chance_that_not_all_rules_are_wrong(links: KnownLinks) -> None:
    rules = mine_rules(links)
    heads, relations = (
        np.arange(-1, ENTITIES).repeat(7),
        np.tile(np.arange(-1, 2 * RELATIONS), ENTITIES + 1),
    )
    answers = rules.scores(links, heads, relations)
    reached_any = 0
    for head, relation, (rows, scores) in zip(
        heads.tolist(), relations.tolist(), answers, strict=True
    ):
        wanted = np.ones(ENTITIES)
        for (rule, first, second), confidence in zip(
            rules.bodies.tolist(), rules.confidences, strict=True
        ):
            if rule == relation and head >= 0:
                wanted[list(found_by(links, head, first, second))] *= 1 - float(confidence)
        assert rows.tolist() == np.flatnonzero(wanted < 1).tolist()
        np.testing.assert_allclose(scores, 1 - wanted[rows], rtol=1e-6)
        reached_any += len(rows)
    assert reached_any > 500


def test_a_sample_finds_what_is_frequent_and_a_seed_decides_it(
    links: KnownLinks, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = {tuple(body) for body in mine_rules(links).bodies.tolist()}
    monkeypatch.setattr(module, "BODIES", 3)
    few, again = (mine_rules(links, seed=1) for _ in range(2))
    assert np.array_equal(few.bodies, again.bodies)
    assert np.array_equal(few.confidences, again.confidences)
    assert {tuple(body) for body in few.bodies.tolist()} <= every
    assert np.bincount(few.bodies[:, 0]).max() <= 3


def test_a_path_does_not_go_by_what_is_linked_to_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pupils, schools = np.arange(20), np.full(20, 20)
    triples = np.stack([pupils, np.zeros(20, int), schools], axis=1)
    rules = Rules(
        np.array([[0, 0, -1], [1, 0, 1]], dtype=np.int32), np.array([0.5, 0.5], dtype=np.float32)
    )
    for fan, reached in ((20, 19), (19, 0)):
        monkeypatch.setattr(module, "FAN", fan)
        [(rows, _)] = rules.scores(KnownLinks(triples, 21, 1), np.array([0]), np.array([1]))
        assert len(rows) == reached


def test_rules_are_kept_whose_relations_are_all_left() -> None:
    bodies = np.array([[0, 1, -1], [0, 1, 3], [1, 0, -1], [2, 3, 1], [3, 3, 3]], dtype=np.int32)
    rules = Rules(bodies, np.arange(5, dtype=np.float32) / 10)
    left = rules.renumbered(np.array([5, 4, -1, 0]))
    assert left.bodies.tolist() == [[0, 0, 0], [4, 5, -1], [5, 4, -1], [5, 4, 0]]
    assert left.confidences.tolist() == np.float32([0.4, 0.2, 0.0, 0.1]).tolist()
    nothing = rules.renumbered(np.full(4, -1))
    assert nothing.bodies.shape == (0, 3)
    [(rows, scores)] = nothing.scores(
        KnownLinks(np.zeros((0, 3), int), 5, 2), np.array([0]), np.array([0])
    )
    assert (len(rows), len(scores)) == (0, 0)


def test_a_graph_without_triples_has_no_rules() -> None:
    links = KnownLinks(np.zeros((0, 3), dtype=np.int64), 3, 2)
    assert len(mine_rules(links).bodies) == 0
    assert not links.known(np.array([0]), np.array([0]), np.array([1])).any()


def test_memory_does_not_grow_with_the_rules_that_are_tried() -> None:
    triples = [
        [head, number, (head + step) % 80]
        for head in range(80)
        for step in range(40)
        for number in range(2)
    ]
    links = KnownLinks(np.array(triples), 80, 2)
    tracemalloc.start()
    try:
        rules = mine_rules(links)
        assert len(rules.bodies) > 60
        assert (
            tracemalloc.get_traced_memory()[1] < 30e6
        )  # 80 million paths, if all were followed at once
    finally:
        tracemalloc.stop()
