"""Pairs of entailment, from files in every layout and from a hierarchy."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from ontodex.errors import GraphError, ReadError, SettingsError
from ontodex.graph import GraphBuilder, ReadWarning, entity_sentences, sentences
from ontodex.trainers.data.entailment_pairs import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    NOT_ENTAILMENT,
    EntailmentPairs,
    entailment_pairs,
)
from ontodex.trainers.data.nli import read_nli

ROWS = [
    ("A man plays.", "A man acts.", ENTAILMENT),
    ("A man plays.", "A man sleeps.", CONTRADICTION),
]


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.tsv",
            "premise\thypothesis\tlabel\nA man plays.\tA man acts.\tentailment\n"
            "A man plays.\tA man sleeps.\tcontradiction\n",
        ),
        (
            "a.csv",
            'label,sentence2,sentence1\nentailment,A man acts.,"A man plays."\n'
            "2,A man sleeps.,A man plays.\n",
        ),
        (
            "snli.txt",
            "gold_label\tsentence1_parse\tsentence1\tsentence2\tlabel1\n"
            "entailment\t(x)\tA man plays.\tA man acts.\te\n"
            "-\t(x)\tA man plays.\tA man waits.\tn\n"
            "contradiction\t(x)\tA man plays.\tA man sleeps.\tc\n",
        ),
        ("simcse.csv", "sent0,sent1,hard_neg\nA man plays.,A man acts.,A man sleeps.\n"),
        (
            "m.jsonl",
            '{"gold_label": "entailment", "sentence1": "A man plays.", '
            '"sentence2": "A man acts."}\n'
            '{"premise": "A man plays.", "hypothesis": "A man sleeps.", "label": 2}\n'
            '{"premise": "A man plays.", "hypothesis": "A man waits.", "label": -1}\n',
        ),
    ],
)  # fmt: skip
def test_every_layout_gives_the_same_pairs(tmp_path, name, text):
    assert read_nli(written(tmp_path / name, text)).rows() == ROWS
    with gzip.open(tmp_path / f"{name}.gz", "wt", encoding="utf-8") as file:
        file.write(text)
    assert read_nli(tmp_path / f"{name}.gz").rows() == ROWS


SICK = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\tentailment_AB\tentailment_BA\tSemEval_set\n"
    "1\tA dog runs\tAn animal runs\tENTAILMENT\tA_entails_B\tB_neutral_A\tTRAIN\n"
    "2\tA dog runs\tA dog is running\tENTAILMENT\tA_entails_B\tB_entails_A\tTEST\n"
    "3\tA dog runs\tNo dog runs\tNEUTRAL\tA_contradicts_B\tB_neutral_A\tTEST\n"
)


def test_sick_has_labels_of_both_directions(tmp_path):
    path = written(tmp_path / "SICK.txt", SICK)
    one_way = read_nli(path)
    assert one_way.labels.tolist() == [ENTAILMENT, ENTAILMENT, CONTRADICTION]
    assert one_way.two_way.tolist() == [False, True, False]
    both = read_nli(path, both_ways=True)
    assert both.labels.tolist() == [
        ENTAILMENT,
        NEUTRAL,
        ENTAILMENT,
        ENTAILMENT,
        CONTRADICTION,
        NEUTRAL,
    ]
    assert both.two_way.tolist() == [False, False, True, True, False, False]
    assert len(read_nli(path, only={"SemEval_set": "TEST"})) == 2
    with pytest.raises(ReadError, match="expected at least one pair"):
        read_nli(path, only={"SemEval_set": "test"})


BROKEN = [
    (
        "premise\thypothesis\tlabel\na\tb\tmaybe\n",
        2,
        "expected a label of entailment.*found 'maybe'",
    ),
    ("premise\thypothesis\tlabel\n \tb\tneutral\n", 2, "expected a text as premise, found nothing"),
    (
        "premise\thypothesis\tlabel\na\t\tneutral\n",
        2,
        "expected a text as hypothesis, found nothing",
    ),
    ("premise\thypothesis\tlabel\na\tb\n", 2, "expected 3 cells, found 2"),
    ('{"premise": "a", "hypothesis": "b"', 1, "expected a line of JSON"),
    ('["a", "b"]', 1, "expected a JSON object"),
    ('{"premise": "a", "hypothesis": 3, "label": "neutral"}', 1, "expected a text as hypothesis"),
]


@pytest.mark.parametrize(("text", "line", "match"), BROKEN)
def test_a_faulty_line_is_named(tmp_path, text, line, match):
    path = written(tmp_path / ("a.jsonl" if text[0] in "{[" else "a.tsv"), text)
    with pytest.raises(ReadError, match=rf"{path.name}:{line}: {match}"):
        read_nli(path)


def test_ten_faulty_lines_of_many_are_counted_and_the_rest_is_read(tmp_path):
    lines = [f"a dog {number}\tan animal\tentailment" for number in range(5000)]
    for number in range(10):
        lines[number * 37] = f"a dog\t\t{number}"
    path = written(tmp_path / "a.tsv", "premise\thypothesis\tlabel\n" + "\n".join(lines))
    with pytest.warns(ReadWarning, match=r"10 faulty part\(s\)(.|\n)*a\.tsv:2: (.|\n)*and 5 more"):
        found = read_nli(path, on_error="warn")
    assert len(found) == 4990
    assert len(read_nli(path, on_error="skip")) == 4990
    with pytest.raises(SettingsError, match="on_error"):
        read_nli(path, on_error="ignore")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "expected at least one pair with a label, found none"),
        ("premise\thypothesis\tlabel\n", "expected at least one pair"),
        (
            "a\tb\tentailment\nc\td\tneutral\n",
            "found no premise and no hypothesis and no label among a, b, entailment",
        ),
        ("premise\tlabel\na\tneutral\n", "found no hypothesis among premise, label"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, text, match):
    with pytest.raises(ReadError, match=match):
        read_nli(written(tmp_path / "a.tsv", text))
    with pytest.raises(ReadError, match="none of this name"):
        read_nli(tmp_path / "b.tsv")


def test_parts_and_splits_keep_every_pair_and_a_premise_together():
    rows = [(f"p{number % 30}", f"h{number}", number % 4) for number in range(200)]
    pairs = EntailmentPairs.of(rows)
    left, held_out = pairs.split(0.2, seed=1)
    assert sorted(left.rows() + held_out.rows()) == sorted(rows)
    assert not {row[0] for row in left.rows()} & {row[0] for row in held_out.rows()}
    assert len({row[0] for row in held_out.rows()}) == 6
    assert pairs.part(pairs.labels == NOT_ENTAILMENT).rows() == [
        row for row in rows if row[2] == NOT_ENTAILMENT
    ]
    assert EntailmentPairs.joined(left, held_out).entailed.sum() == pairs.entailed.sum()
    with pytest.raises(SettingsError, match="1 premise"):
        pairs.part(pairs.premises == 0).split(0.2, seed=1)


def test_pairs_of_a_hierarchy_entail_in_the_right_direction(small_graph):
    pairs = entailment_pairs(small_graph, seed=3)
    hierarchy = small_graph.hierarchy()
    names = {}
    for row, (label, definition) in enumerate(
        zip(small_graph.labels, small_graph.definitions, strict=True)
    ):
        names[label] = names[f"{label}: {definition}"] = row
    for premise, hypothesis, label in pairs.rows():
        above = hierarchy.ancestors(names[premise])
        assert (names[hypothesis] in above) == (label == ENTAILMENT)
    assert set(pairs.labels.tolist()) == {ENTAILMENT, NEUTRAL}
    links = {(names[p], names[h]) for p, h, label in pairs.rows() if label == ENTAILMENT}
    assert links >= {tuple(link) for link in hierarchy.links.tolist()}
    assert entailment_pairs(small_graph, seed=3).rows() == pairs.rows()
    assert entailment_pairs(small_graph, seed=4).rows() != pairs.rows()


def test_a_graph_without_a_hierarchy_has_no_pairs():
    builder = GraphBuilder("pets")
    builder.triple("dog", "is_a", "animal")
    with pytest.raises(GraphError, match="at least 20 links to make pairs of, found 1"):
        entailment_pairs(builder.build())


def test_labels_and_definitions_are_split_into_sentences():
    assert sentences("  One, e.g. this.\n Two! Three") == ["One, e.g. this.", "Two!", "Three"]
    assert sentences(" ") == []
    builder = GraphBuilder("pets")
    builder.entity("ex:a", "FoodStore", [], "A store. A store. It sells food.")
    builder.entity("ex:b", "b")
    said = entity_sentences(builder.build())
    assert list(said.texts) == ["Food store", "A store.", "It sells food.", "b"]
    np.testing.assert_array_equal(said.owners, [0, 0, 0, 1])
