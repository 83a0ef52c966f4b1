"""Baselines that need no training: they rank by what they say they compare."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import baselines
from ontodex.graph import GraphBuilder

LABELS = ["animal", "dog", "guide dog", "guinea pig", "DomesticPig"]


@pytest.fixture
def graph():
    builder = GraphBuilder("pets")
    for label in LABELS:
        builder.entity(f"ex:{label.replace(' ', '_')}", label)
    builder.entity("ex:dog", "dog", ["hound"], "barks at strangers")
    for child, parent in (
        ("dog", "animal"),
        ("guide_dog", "dog"),
        ("guinea_pig", "animal"),
        ("DomesticPig", "animal"),
    ):
        builder.triple(f"ex:{child}", "is_a", f"ex:{parent}")
    return builder.build()


def rows(graph, *labels):
    return [list(graph.labels).index(label) for label in labels]


def letters(texts):
    """A text encoder: counts of letters."""
    return np.array(
        [[text.lower().count(chr(ord("a") + at)) for at in range(26)] for text in texts],
        dtype=np.float32,
    )


def test_every_ranker_finds_a_name_and_no_more_than_k(graph):
    paths = baselines.label_paths(graph, graph.hierarchy())
    found = baselines.rankers(graph, paths, letters, 2)
    assert set(found) == {
        *("cosine of labels", "cosine of names", "cosine of labels and paths"),
        *("rapidfuzz", "trigrams", "bm25s"),
    }
    for name, ranked in found.items():
        (answer,) = ranked(["guinea pig"])
        assert len(answer) <= 2
        if name != "cosine of labels and paths":
            assert answer[:1] == rows(graph, "guinea pig"), name
    for name in ("cosine of names", "rapidfuzz", "trigrams", "bm25s"):
        assert found[name](["hound"])[0][:1] == rows(graph, "dog"), name
    assert found["bm25s"](["strangers", "xyz"]) == [rows(graph, "dog"), []]
    assert found["bm25s"](["GuineaPig"])[0][:1] == rows(graph, "guinea pig")


def test_paths_lead_up_to_the_root(graph):
    paths = baselines.label_paths(graph, graph.hierarchy())
    assert paths[rows(graph, "guide dog")[0]] == "guide dog, dog, animal"
    assert paths[rows(graph, "DomesticPig")[0]] == "Domestic pig, animal"
    assert baselines.label_paths(graph, None)[rows(graph, "guide dog")[0]] == "guide dog"


def test_fusion_sums_reciprocal_ranks():
    first, second = [[0, 1, 2]], [[1, 3]]
    assert baselines.fused([first, second], 10) == [[1, 0, 3, 2]]
    assert baselines.fused([first, second], 2) == [[1, 0]]
    assert baselines.fused([[[1, 0]], [[0, 1]]], 10) == [[0, 1]]  # ties in row order


def test_neighbours_vote_with_their_similarity(graph):
    hierarchy = graph.hierarchy()
    votes = baselines.TrigramVotes(graph, hierarchy)
    (found,) = votes.of_texts(["sled dog"])
    assert set(found) <= set(rows(graph, "animal", "dog"))
    similar = baselines.Trigrams.of(graph).scores(["sled dog"])[0]
    children = rows(graph, "dog", "guinea pig", "DomesticPig")
    assert found[rows(graph, "animal")[0]] == pytest.approx(similar[children].sum())
    assert votes.ranked(["sled dog"])[0][0] == max(found, key=found.__getitem__)
    (own,) = votes.of_entities(rows(graph, "guide dog"))  # its own link does not vote
    assert rows(graph, "dog")[0] not in own


def test_trigrams_split_texts_in_camel_case(graph):
    similar = baselines.Trigrams.of(graph)
    np.testing.assert_array_equal(similar.scores(["GuineaPig"]), similar.scores(["Guinea pig"]))


def test_the_first_right_answer_has_its_rank():
    assert baselines.first_right("abc", {"b", "c"}) == 2.0
    assert baselines.first_right("abc", {"d"}) == np.inf


def test_string_matching_prefers_labels_that_contain_the_query():
    score = baselines.string_matching(["guide dog", "dog", "guinea pig", "GuideDog"])
    assert score(["dog"])[0] == pytest.approx([1.5, 2.0, 0.0, 1.5])
    assert score(["sled dog"])[0] == pytest.approx([1 / 3, 1 / 2, 0.0, 1 / 3])
    assert not score(["xyz"]).any()


def test_better_baselines_are_named_in_order():
    figures = {way: {"mrr": mrr} for way, mrr in (("a", 0.5), ("b", 0.75), ("c", 0.6), ("d", 0.1))}
    assert baselines.ranks_better(figures, "a", "mrr", ["d", "c", "b", "e"]) == (
        "b .750, c .600 (a .500)"
    )
    assert not baselines.ranks_better(figures, "b", "mrr", ["a", "c"])
