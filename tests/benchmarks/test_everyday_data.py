"""The everyday questions: their gold is in the graphs, their texts are not, halves are balanced."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import ontodex
from benchmarks import everyday_data as everyday
from ontodex.graph.names import normalise

QUESTIONS = everyday.questions()


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    """The six graphs, read from the files that the benchmark reads."""
    sources = everyday.sources(tmp_path_factory.mktemp("everyday"))
    return {name: ontodex.read(*paths, on_error="raise") for name, paths in sources.items()}


def names_of(graph):
    return {
        normalise(name)
        for label, synonyms in zip(graph.labels, graph.synonyms, strict=True)
        for name in (label, *synonyms)
    }


def test_sources_are_the_graphs_that_are_asked(graphs):
    assert tuple(graphs) == everyday.GRAPHS
    assert {question.graph for question in QUESTIONS} == set(everyday.GRAPHS)
    assert all(graph.n_triples > 900 for graph in graphs.values())


def test_all_gold_is_in_the_graph(graphs):
    found = {
        question: everyday.accepted(question, graphs[question.graph]) for question in QUESTIONS
    }
    assert all(bool(rows) == (question.kind != "none") for question, rows in found.items())
    assert all(bool(question.gold) == (question.kind != "none") for question in QUESTIONS)


def test_gold_of_a_kind_is_what_the_relation_has(graphs):
    """Known answers are of the kind; for ``is_a``, those of entities in the gold branch."""
    for question in QUESTIONS:
        if question.kind != "kind":
            continue
        graph = graphs[question.graph]
        _, relation, tails = everyday.asked_relation(question)
        rows = list(everyday.accepted(question, graph))
        known = graph.relations == graph.relation_ids.index(relation)
        if relation == "is_a":
            known &= np.isin(graph.heads, rows)
        answers = (graph.tails if tails else graph.heads)[known]
        assert len(answers), question
        assert np.isin(answers, rows).mean() > 0.99, question


def test_no_question_is_a_name_of_its_graph(graphs):
    names = {name: names_of(graph) for name, graph in graphs.items()}
    assert not [
        question for question in QUESTIONS if normalise(question.text) in names[question.graph]
    ]


def test_parents_are_in_the_hierarchy(graphs):
    for question in QUESTIONS:
        if question.kind == "place":
            graph = graphs[question.graph]
            hierarchy = graph.hierarchy()
            members = set(hierarchy.members.tolist())
            assert everyday.accepted(question, graph) & members, question


def test_halves_are_balanced_and_kinds_have_their_numbers():
    assert len(QUESTIONS) >= 330
    assert len({(question.graph, question.text) for question in QUESTIONS}) == len(QUESTIONS)
    halves = Counter(question.half for question in QUESTIONS)
    assert set(halves) == set(everyday.HALVES)
    assert abs(halves["development"] - halves["test"]) <= 1
    kinds = Counter(question.kind for question in QUESTIONS)
    assert set(kinds) == set(everyday.KINDS)
    assert min(kinds.values()) >= 40
    cells = Counter((question.graph, question.kind, question.half) for question in QUESTIONS)
    for graph, kind, _ in cells:
        one, other = (cells[graph, kind, half] for half in everyday.HALVES)
        assert abs(one - other) <= 1


def test_one_half_is_read():
    chosen = everyday.questions("development")
    assert {question.half for question in chosen} == {"development"}
    assert len(chosen) + len(everyday.questions("test")) == len(QUESTIONS)


def test_a_question_of_a_kind_asks_for_tails_or_heads():
    question = next(each for each in QUESTIONS if each.kind == "kind")
    ask = everyday.asked_relation
    assert ask(replaced(question, "gene x -> causes -> ?")) == ("gene x", "causes", True)
    assert ask(replaced(question, "? -> causes -> illness")) == ("illness", "causes", False)
    with pytest.raises(ValueError, match="expected one \\?"):
        ask(replaced(question, "gene x -> causes -> illness"))


def replaced(question, text):
    return everyday.Question(question.graph, question.kind, question.half, text, question.gold, "")
