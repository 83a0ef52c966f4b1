"""Known triples, looked up by arrays, against loops over them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ontodex.graph.known_links import MANY, KnownLinks

TRIPLES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 5)), max_size=40)


def links_of(triples: list[tuple[int, int, int]]) -> tuple[KnownLinks, set[tuple[int, int, int]]]:
    both = {*triples, *((tail, relation + 2, head) for head, relation, tail in triples)}
    return KnownLinks(np.array(triples, dtype=np.int64).reshape(-1, 3), 6, 2), both


@given(TRIPLES)
def test_tails_and_known(triples: list[tuple[int, int, int]]) -> None:
    links, both = links_of(triples)
    entities, relations = (part.ravel() for part in np.mgrid[:6, :4])
    found = list(links.tails(entities, relations))
    for entity, relation, tails in zip(entities, relations, found, strict=True):
        assert tails.tolist() == sorted(
            tail for head, by, tail in both if (head, by) == (entity, relation)
        )
    for tail in range(6):
        expected = [
            (entity, relation, tail) in both
            for entity, relation in zip(entities, relations, strict=True)
        ]
        assert links.known(entities, relations, np.full(24, tail)).tolist() == expected


@given(TRIPLES)
def test_the_log_probability_of_a_further_tail(triples: list[tuple[int, int, int]]) -> None:
    links, both = links_of(triples)
    counts = Counter((head, by) for head, by, _ in both)
    entities, relations = (part.ravel() for part in np.mgrid[:6, :4])
    for entity, relation, usual in zip(
        entities, relations, links.going_on(entities, relations), strict=True
    ):
        own = counts[entity, relation]
        of_relation = [count for (_, by), count in counts.items() if by == relation]
        more, as_many = (sum(count >= least for count in of_relation) for least in (own + 1, own))
        assert math.isclose(usual, math.log((more + 0.5) / (as_many + 1)) if own else 0.0)


def test_counts_of_tails_are_capped() -> None:
    links = KnownLinks(np.array([[0, 0, tail] for tail in range(1, MANY + 9)]), MANY + 9, 1)
    assert links.going_on(np.array([0]), np.array([0])).tolist() == [math.log(1.5 / 2)]
