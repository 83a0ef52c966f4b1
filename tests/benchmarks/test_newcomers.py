"""The benchmark of files that nobody prepared: its data, and its baselines of links."""

from __future__ import annotations

import pytest

import ontodex
from benchmarks import newcomers
from benchmarks.everyday import NAMED, PLACE


@pytest.mark.parametrize("name", newcomers.FILES)
def test_every_question_has_gold_and_is_no_name(name) -> None:
    graph = ontodex.read(newcomers.FOLDER / newcomers.FILES[name])
    asked = newcomers.questions_about(name, graph)
    assert len(asked) >= 60
    assert {one.kind for one in asked} <= {*NAMED, PLACE, newcomers.NEW_TAIL}
    assert all(one.gold for one in asked)
    assert not any(graph.find_all(one.text) for one in asked if one.kind not in ("newtail",))
    known = {
        (graph.labels[head], graph.relation_labels[by], graph.labels[tail])
        for head, by, tail in graph.triples.tolist()
    }
    hidden = newcomers.hidden_links(name)
    assert not known & {*hidden}
    assert {one for triple in hidden for one in triple} <= {*graph.labels, *graph.relation_labels}


def test_baselines_rank_tails_by_the_links_alone() -> None:
    builder = ontodex.graph.GraphBuilder("menu")
    for dish in ("omelette", "scrambled", "poached"):
        builder.triple(dish, "has", "egg")
        builder.triple(dish, "allergen", "eggs")
    for dish in ("toast", "bun", "roll", "bagel"):
        builder.triple(dish, "has", "flour")
        builder.triple(dish, "allergen", "gluten")
    builder.triple("quiche", "has", "egg")
    builder.triple("quiche", "allergen", "milk")
    found = newcomers.LinkBaselines(builder.build()).ranked("quiche", "allergen")
    assert found == {
        "frequency": ["gluten", "eggs"],
        "similar heads": ["eggs", "gluten"],
        "attribute rules": ["eggs", "gluten"],
    }
