"""Name similarity by character n-grams, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.scoring import name_similarity as name_similarity
from ontodex.scoring.name_similarity import NameSimilarity

NAMES = [
    "Marfan syndrome",
    "Loeys-Dietz syndrome",
    "Ménière disease",
    "a",
    "",
    "睡眠 障害",
    "FoodEstablishment",
    "éa",
]
SYNONYMS = [
    ["MFS", "Marfan's syndrome"],
    [],
    ["Meniere's disease", "auditory vertigo"],
    [],
    ["no label"],
    [],
    [],
    [],
]


def graph_of(labels: list[str], synonyms: list[list[str]]) -> KnowledgeGraph:
    builder = GraphBuilder("names")
    for row, (label, others) in enumerate(zip(labels, synonyms, strict=True)):
        builder.entity(f"ex:{row}", label, others)
    return builder.build()


def wanted(graph: KnowledgeGraph, text: str) -> np.ndarray:
    """Return the similarities of every entity by scikit-learn."""
    names = [[label, *others] for label, others in zip(graph.labels, graph.synonyms, strict=True)]
    every = [name_similarity.plain(name) for own in names for name in own]
    vectorizer = TfidfVectorizer(
        tokenizer=None,
        analyzer=lambda name: {
            f" {word} "[at : at + 3] for word in name.split() for at in range(len(word))
        },
    )
    similarities = (
        vectorizer.fit_transform(every) @ vectorizer.transform([name_similarity.plain(text)]).T
    ).toarray()[:, 0]
    ends = np.cumsum([len(own) for own in names])
    return np.array([part.max() for part in np.split(similarities, ends[:-1])])


@pytest.mark.parametrize(
    "text",
    [
        "marfan",
        "Syndrome Marfan",
        "meniere",
        "MÉNIÈRE DISEASE",
        "food",
        "睡眠",
        "a",
        "zzz",
        "",
        " ",
        "éà",
        "label",
    ],
)
def test_name_similarities_are_those_of_scikit_learn(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = graph_of(NAMES, SYNONYMS)
    monkeypatch.setattr(name_similarity, "AT_ONCE", 3)
    rows, similarities = NameSimilarity.of(graph).find(text)
    found = np.zeros(graph.n_entities)
    found[rows] = similarities
    np.testing.assert_allclose(found, wanted(graph, text), atol=1e-6)
    assert (np.diff(rows) > 0).all()
    assert (similarities > 0).all()


@given(st.lists(st.text(max_size=12), min_size=1, max_size=9), st.text(max_size=12))
def test_any_text_may_be_a_name(labels: list[str], text: str) -> None:
    graph = graph_of(labels, [[]] * len(labels))
    rows, similarities = NameSimilarity.of(graph).find(text)
    assert (similarities <= 1 + 1e-6).all()
    own = NameSimilarity.of(graph).find(graph.labels[0])
    if len(own[0]):
        assert own[1].max() == pytest.approx(1)
    assert set(rows.tolist()) <= set(range(graph.n_entities))


def test_the_most_similar_names_are_found_ties_in_row_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(name_similarity, "MOST", 3)
    names = ["red", "red deer", "red fox", "red deer", "red deer", "red deer"]
    rows, _ = NameSimilarity.of(graph_of(names, [[]] * 6)).find("red deer")
    assert rows.tolist() == [1, 3, 4]


def test_a_stored_name_index_is_loaded() -> None:
    made = NameSimilarity.of(graph_of(NAMES, SYNONYMS))
    stored = made.arrays()
    again = NameSimilarity.read(stored.__getitem__)
    for found, expected in zip(again.find("marfan"), made.find("marfan"), strict=True):
        np.testing.assert_array_equal(found, expected)
