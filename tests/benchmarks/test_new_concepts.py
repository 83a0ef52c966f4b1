"""The benchmark of new concepts: which are removed from the graph, and how ranks are counted."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import new_concepts
from ontodex.engine.results.hits import Hit
from ontodex.graph import GraphBuilder


def test_leaves_and_others_are_taken_out_and_asked_for(measured_on, small_graph):
    measured, built = measured_on(new_concepts, small_graph, "--concepts", "4")
    gone = set(small_graph.ids) - set(built[0].ids)
    hierarchy = small_graph.hierarchy()
    assert len(gone) == 4
    assert all(not len(hierarchy.children(small_graph.ids.index(name))) for name in gone)
    assert all(len(hierarchy.parents(small_graph.ids.index(name))) for name in gone)
    inner = [small_graph.ids.index(name) for name in set(small_graph.ids) - set(built[1].ids)]
    left = built[1].hierarchy()
    for row in inner:
        assert not {*hierarchy.parents(row).tolist(), *hierarchy.children(row).tolist()} & set(
            inner
        )
        for child in hierarchy.children(row).tolist():
            above = {
                built[1].ids[parent]
                for parent in left.parents(built[1].ids.index(small_graph.ids[child]))
            }
            assert {small_graph.ids[parent] for parent in hierarchy.parents(row).tolist()} <= above
    assert (measured.settings["leaves"], measured.settings["others"]) == (4, len(inner)) == (4, 4)
    children = {
        f"children{by}"
        for by in ("", *(f", {way}" for way in ("HiT alone", "search", "text alone", "trigrams")))
    }
    assert set(measured.figures) == children | {
        *("parents", "HiT alone", "vote of neighbours by trigrams", "search", "text alone"),
        *("place", "seconds to fit rules", "children, string matching"),
        *("probability of parents", "probability of children"),
    }
    assert len(built) == 2


def test_removed_names_are_masked(small_graph):
    builder = GraphBuilder("pets")
    builder.entity("ex:a", "guide dog", ["seeing-eye dog", "helper"], "Dogs, or a DOG, not dogma")
    builder.entity("ex:b", "cat", [], "A domestic pig is none; nor a DomesticPig")
    masked = new_concepts._masked(builder.build(), ["dog", "DomesticPig"])
    assert list(masked.labels) == ["guide dog", "cat"]
    assert list(masked.synonyms) == [("helper",), ()]
    assert list(masked.definitions) == [
        "concept, or a concept, not dogma",
        "A concept is none; nor a concept",
    ]


def test_names_in_definitions_of_children_are_counted():
    builder = GraphBuilder("pets")
    builder.entity("ex:guide", "guide dog", [], "A Dog that guides")
    builder.entity("ex:cat", "cat", [], "It purrs")
    for child, parent in (("guide", "dog"), ("cat", "pet")):
        builder.triple(f"ex:{child}", "is_a", f"ex:{parent}")
    builder.entity("ex:dog", "dog")
    builder.entity("ex:pet", "pet")
    graph = builder.build()
    rows = np.array([graph.ids.index("ex:dog"), graph.ids.index("ex:pet")])
    assert new_concepts._named_below(graph, graph.hierarchy(), rows) == 0.5


def test_ranks_are_counted_by_distance(small_graph):
    hierarchy = small_graph.hierarchy()
    row = small_graph.find("young dog")[0]
    distances = hierarchy.hops_upward(row)
    others = [name for at, name in enumerate(small_graph.ids) if at not in distances]
    nearest = [small_graph.ids[other] for other in sorted(distances, key=distances.__getitem__)]
    hits = [Hit(name, name, 0.0, False) for name in (others[0], *nearest)]
    found = new_concepts._figures(small_graph, hierarchy, np.array([row]), [hits])
    assert (found["MRR of the best direct parent"], found["hits@1"], found["hits@10"]) == (
        0.5,
        0.0,
        1.0,
    )
    assert all(
        found[f"ancestors {away} away in the first 10"] == 1.0 for away in ("1 link", "2 links")
    )
    found = new_concepts._figures(small_graph, hierarchy, np.array([row]), [hits[:1]])
    assert found["MRR of the best direct parent"] == pytest.approx(0.0)
    assert not found["ancestors 1 link away in the first 100"]


def test_children_are_counted_by_rank(small_graph):
    hierarchy = small_graph.hierarchy()
    row = max(range(small_graph.n_entities), key=lambda at: len(hierarchy.children(at)))
    children = [small_graph.ids[child] for child in hierarchy.children(row).tolist()]
    others = [name for name in small_graph.ids if name not in children]
    hits = [Hit(name, name, 0.0, False) for name in (others[0], children[0])]
    found = new_concepts._found_children(small_graph, hierarchy, np.array([row]), [hits])
    assert (found["MRR of the best direct child"], found["hits@1"]) == (0.5, 0.0)
    assert found["direct children in the first 10"] == 1 / min(10, len(children))
    assert found["direct children in the first 100"] == 1 / len(children)


def test_probabilities_are_compared_with_what_is_true(small_graph):
    hierarchy = small_graph.hierarchy()
    row = small_graph.find("young dog")[0]
    hits = [
        Hit("ex:dog", "", 3.0, False, 0.6),
        Hit("ex:tame", "", 2.0, False, 0.7),  # an ancestor, but no parent
        Hit("ex:cat", "", 1.0, False, 0.2),
        Hit("ex:cow", "", 0.0, True),
    ]
    found = new_concepts.probabilities(small_graph, hierarchy, np.array([row]), [hits])
    assert found["true"] == pytest.approx(1 / 3)
    assert found["area under the ROC curve"] == 0.5
    assert found["log loss"] == pytest.approx(-np.log([0.6, 0.3, 0.8]).mean())
    assert found["log loss of the share that is true"] == pytest.approx(
        -np.log([1 / 3, 2 / 3, 2 / 3]).mean()
    )
