"""The benchmark of ranking under a relation: gains of answers, and its queries."""

from __future__ import annotations

from argparse import Namespace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from benchmarks import conditional_ranking
from ontodex.graph import GraphBuilder


@pytest.fixture
def graph():
    builder = GraphBuilder("towns")
    for at in range(12):
        builder.triple(f"ex:p{at}", "ex:bornIn", f"ex:t{at % 3}")
        builder.triple(f"ex:p{at}", "ex:livesIn", f"ex:t{at % 2}")
    return builder.build()


def test_the_gain_is_the_share_of_common_tails():
    links = csr_matrix((np.ones(5), ([0, 0, 1, 1, 2], [3, 4, 4, 5, 5])), shape=(6, 6))
    assert conditional_ranking._worth(links, 0).tolist() == [0, 1 / 3, 0, 0, 0, 0]
    assert conditional_ranking._worth(links, 1).tolist() == [1 / 3, 0, 1 / 2, 0, 0, 0]


@pytest.mark.parametrize("perfect", [True, False])
def test_answers_with_the_same_tails_have_gain_one(graph, monkeypatch, perfect):
    monkeypatch.setattr(conditional_ranking, "LEAST_TRIPLES", 1)
    monkeypatch.setattr(conditional_ranking, "LEAST_HEADS", 4)
    hidden = np.arange(graph.n_entities) % 2 == 0
    options = Namespace(relations=9, entities=4)
    questions = conditional_ranking._questions(graph, hidden, options, np.random.default_rng(0))
    assert {condition for _, condition, _ in questions} == {"ex:bornIn", "ex:livesIn"}
    assert len(questions) == 16
    links = {condition: links for _, condition, links in questions}

    def ask(few, condition):
        worth = [
            conditional_ranking._worth(links[condition], graph.ids.index(name)) for name in few
        ]
        return [
            [graph.ids[row] for row in np.argsort(-each if perfect else each, kind="stable")[:5]]
            for each in worth
        ]

    found = conditional_ranking._figures(graph, hidden, questions, ask)
    assert set(found) == {*conditional_ranking.KINDS, "ms for a question"}
    for kind in conditional_ranking.KINDS:
        assert found[kind] == pytest.approx(1.0 if perfect else 0.0)
