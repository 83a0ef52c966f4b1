"""Evidence of names for parents and children, against the definition."""

from __future__ import annotations

import numpy as np
import pytest

from ontodex.graph import GraphBuilder, Hierarchy, KnowledgeGraph
from ontodex.scoring.lexicon import Lexicon, hypernym_lines
from ontodex.scoring.name_evidence import NameEvidence
from ontodex.scoring.name_similarity import NameSimilarity

LINKS = (
    ("gastritis", "disease of stomach"),
    ("chronic gastritis", "gastritis"),
    ("chronic gastritis", "chronic disease"),
    ("ulcer of stomach", "disease of stomach"),
    ("acute bronchitis", "bronchitis"),
    ("bronchitis", "disease of lung"),
)


@pytest.fixture(scope="module")
def graph() -> KnowledgeGraph:
    builder = GraphBuilder("diseases")
    for child, parent in LINKS:
        builder.triple(child, "is_a", parent)
    return builder.build()


@pytest.fixture(scope="module")
def evidence(graph: KnowledgeGraph) -> NameEvidence:
    return NameEvidence(graph.hierarchy(), graph, NameSimilarity.of(graph))


def scores_of(
    evidence: NameEvidence, graph: KnowledgeGraph, question: str, text: str, row: int = -1
) -> dict[str, list[float]]:
    """Return the scores of each candidate by its label."""
    [(rows, scores)] = evidence.scores(question, [text], np.array([row]))
    assert (np.diff(rows) > 0).all()
    return {graph.labels[at]: scores[:, place].tolist() for place, at in enumerate(rows.tolist())}


def test_a_new_term_has_the_term_it_names_and_the_parents_of_like_terms(
    evidence: NameEvidence, graph: KnowledgeGraph
) -> None:
    found = scores_of(evidence, graph, "parents", "Acute gastritis")
    rows, cosines = NameSimilarity.of(graph).find("Acute gastritis")
    cosine = {graph.labels[row]: one for row, one in zip(rows.tolist(), cosines, strict=True)}
    for label, (letters, *_) in found.items():
        assert letters == pytest.approx(cosine.get(label, 0.0))
    words = {label: scores[1] for label, scores in found.items()}
    assert words["gastritis"] == pytest.approx(1 + 1 / 2)  # its word is among the two
    assert words["chronic gastritis"] == pytest.approx(1 / 3)
    assert words["acute bronchitis"] == pytest.approx(1 / 3)
    assert words["bronchitis"] == 0.0
    assert found["gastritis"][2] == pytest.approx(cosine["chronic gastritis"])
    assert found["disease of lung"][2] == pytest.approx(cosine["bronchitis"])
    assert max(found, key=lambda label: sum(found[label])) == "gastritis"


def test_children_have_all_words_of_the_term(evidence: NameEvidence, graph: KnowledgeGraph) -> None:
    found = scores_of(evidence, graph, "children", "Stomach")
    assert found["ulcer of stomach"][1] == pytest.approx(1 + 1 / 3)
    assert found["gastritis"][2] == pytest.approx(found["disease of stomach"][0])


def test_the_links_of_an_entity_do_not_lead_to_its_answers(
    evidence: NameEvidence, graph: KnowledgeGraph
) -> None:
    rows = {label: row for row, label in enumerate(graph.labels)}
    found = scores_of(evidence, graph, "parents", "gastritis", rows["gastritis"])
    assert "gastritis" not in found
    assert "chronic disease" not in found  # its child does not vote
    assert found["disease of lung"][2] == pytest.approx(found["bronchitis"][0])
    below = scores_of(evidence, graph, "children", "gastritis", rows["gastritis"])
    assert below["chronic gastritis"][2] == 0.0  # as the only parent of it is the entity itself


def test_texts_without_letters_have_no_evidence(
    evidence: NameEvidence, graph: KnowledgeGraph
) -> None:
    assert scores_of(evidence, graph, "parents", "") == {}
    alone = NameEvidence(
        Hierarchy(np.zeros(0, int), np.zeros(0, int), ids=graph.ids),
        graph,
        NameSimilarity.of(graph),
    )
    found = scores_of(alone, graph, "parents", "gastritis")
    assert all(scores[2] == 0.0 for scores in found.values())


def test_parents_are_named_by_words_of_wider_meaning() -> None:
    builder = GraphBuilder("fruit")
    for child, parent in (("Lime", "Citrus fruits"), ("Citrus fruits", "Fruit"), ("Fruit", "Food")):
        builder.triple(child, "is_a", parent)
    fruit = builder.build()
    above = {1: ([2], ["citrus", "citrus fruit"]), 2: ([], ["fruit"]), 3: ([], ["tree"])}
    lexicon = Lexicon(b"", hypernyms=hypernym_lines({"clementine": [[1], [3]]}, above))
    evidence = NameEvidence(fruit.hierarchy(), fruit, NameSimilarity.of(fruit), lexicon)
    found = scores_of(evidence, fruit, "parents", "small clementines")
    assert found["Citrus fruits"][3] == 1.0  # a plural of the last word; the closest
    assert found.get("Fruit", [0.0] * 4)[3] == 0.0  # it is above another
    assert found.get("Food", [0.0] * 4)[3] == 0.0  # no word names it
    assert len(next(iter(scores_of(evidence, fruit, "children", "citrus").values()))) == 3
    usual = NameEvidence(fruit.hierarchy(), fruit, NameSimilarity.of(fruit), Lexicon.load())
    assert scores_of(usual, fruit, "parents", "clementine")["Citrus fruits"][3] == 1.0
