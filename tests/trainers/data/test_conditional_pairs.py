"""Data sets of similarity under a condition, made from a graph, written and read."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest

from ontodex.errors import GraphError, ReadError, SettingsError
from ontodex.graph import GraphBuilder, ReadWarning, entity_texts, inverse_text
from ontodex.trainers.data.conditional_pairs import ConditionalPairsSettings, conditional_pairs
from ontodex.trainers.data.csts import CSTS_FILES, read_csts, write_conditional_pairs, write_csts

PARTS = ("train", "valid", "test", "unseen_conditions", "unseen_entities")
HEADER = "sentence1,sentence2,condition,label\n"


def people(count=300, relations=6, values=5, seed=0):
    """Return a graph of people with one or two of five values under each of six relations."""
    rng = np.random.default_rng(seed)
    builder = GraphBuilder("people")
    for person in range(count):
        for relation in range(relations):
            for value in rng.choice(values, rng.integers(1, 3), replace=False):
                builder.triple(f"person {person}", f"trait {relation}", f"value {relation} {value}")
    return builder.build()


@pytest.fixture(scope="module")
def graph():
    return people()


@pytest.fixture(scope="module")
def pairs(graph):
    return conditional_pairs(
        graph,
        ConditionalPairsSettings(
            pairs=400, held_out=60, unseen_conditions=0.2, unseen_entities=0.3, seed=1
        ),
    )


def tails_under(graph):
    """Return the tails of every entity's text under every condition, from the triples alone."""
    texts, found = entity_texts(graph), {}
    for head, relation, tail in graph.triples.tolist():
        label = graph.relation_labels[relation]
        found.setdefault((texts[head], label), set()).add(tail)
        found.setdefault((texts[tail], inverse_text(label)), set()).add(head)
    return found


def test_labels_are_what_the_graph_says(graph, pairs):
    tails = tails_under(graph)
    for part in PARTS:
        rows = getattr(pairs, part).rows()
        assert rows, part
        for (first, second, high, label), (*same, low, least) in zip(
            rows[::2], rows[1::2], strict=True
        ):
            assert [first, second] == same
            assert first != second
            assert high != low
            ours, theirs = tails[first, high], tails[second, high]
            assert label == pytest.approx(1 + 4 * len(ours & theirs) / len(ours | theirs), abs=1e-4)
            assert label > 1
            assert least == 1
            assert tails[first, low]
            assert tails[second, low]
            assert not tails[first, low] & tails[second, low]


def test_what_is_held_out_is_not_trained_on(pairs):
    seen = set(pairs.seen)
    assert {condition.removeprefix("inverse ") for condition in seen} == seen - {
        c for c in seen if "inverse" in c
    }
    for part in ("train", "valid", "test", "unseen_entities"):
        assert set(getattr(pairs, part).conditions) <= seen
    rows = pairs.unseen_conditions.rows()
    assert all({one[2], other[2]} - seen for one, other in zip(rows[::2], rows[1::2], strict=True))
    assert not set(pairs.unseen_entities.texts) & set(pairs.train.texts)
    drawn = [frozenset(row[:2]) for part in PARTS for row in getattr(pairs, part).rows()[::2]]
    assert len(drawn) == len(set(drawn))
    assert len(pairs.train) == 800


def test_entities_of_equal_text_are_held_out_together(graph):
    builder = GraphBuilder("twins")
    for row, identifier in enumerate(graph.ids):
        number = identifier.removeprefix("person ")
        builder.entity(
            identifier, f"person {int(number) // 2}" if number.isdigit() else graph.labels[row]
        )
    for head, relation, tail in graph.triples.tolist():
        builder.triple(graph.ids[head], graph.relation_ids[relation], graph.ids[tail])
    settings = ConditionalPairsSettings(
        pairs=400, held_out=60, unseen_conditions=0.2, unseen_entities=0.3, seed=1
    )
    pairs = conditional_pairs(builder.build(), settings)
    assert len(pairs.unseen_entities)
    for part in ("train", "valid", "test"):
        assert not set(pairs.unseen_entities.texts) & set(getattr(pairs, part).texts)


def test_the_condition_alone_does_not_predict_the_label(pairs):
    alike, unlike = (Counter(pairs.train.which[start::2].tolist()) for start in (0, 1))
    for condition in range(len(pairs.train.conditions)):
        both = alike[condition] + unlike[condition]
        assert (
            abs(alike[condition] - unlike[condition]) <= 10 + 0.25 * both
        )  # which rows are held out is random


def test_equal_seeds_give_equal_data_and_files_keep_it(graph, pairs, tmp_path):
    again = conditional_pairs(graph, pairs.settings)
    write_conditional_pairs(pairs, tmp_path / "rows")
    for part in PARTS:
        rows = getattr(pairs, part).rows()
        assert getattr(again, part).rows() == rows
        assert read_csts(tmp_path / "rows" / CSTS_FILES[part]).rows() == rows
    about = json.loads((tmp_path / "rows" / "settings.json").read_text(encoding="utf-8"))
    assert about == {**asdict(pairs.settings), "seen": list(pairs.seen)}
    other = conditional_pairs(graph, replace(pairs.settings, seed=2))
    assert other.train.rows() != pairs.train.rows()


def test_nothing_need_be_held_out(graph, tmp_path):
    settings = ConditionalPairsSettings(
        pairs=50, held_out=5, unseen_conditions=0.0, unseen_entities=0.0
    )
    pairs = conditional_pairs(graph, settings)
    assert [len(getattr(pairs, part)) for part in PARTS] == [100, 10, 10, 0, 0]
    assert len(pairs.seen) == 12
    write_conditional_pairs(pairs, tmp_path)
    assert (tmp_path / CSTS_FILES["unseen_entities"]).read_text(encoding="utf-8") == HEADER


def test_the_small_graph_of_the_tests_serves(small_graph):
    pairs = conditional_pairs(
        small_graph, ConditionalPairsSettings(unseen_conditions=0.0, unseen_entities=0.0)
    )
    assert len(pairs.train) >= 20
    assert len(pairs.valid) > 0


def test_graphs_without_usable_conditions_are_refused():
    builder = GraphBuilder("one")
    builder.triple("a", "r", "b")
    with pytest.raises(GraphError, match=r"one: expected at least two relations.*found 1"):
        conditional_pairs(builder.build())
    builder.triple("a", "s", "b")
    with pytest.raises(GraphError, match="this graph cannot train conditions"):
        conditional_pairs(builder.build())
    builder.relation("x:r", "same")
    builder.relation("y:r", "same")
    with pytest.raises(GraphError, match="'same' for x:r and for y:r"):
        conditional_pairs(builder.build())
    builder = GraphBuilder("inverse")
    builder.relation("x:r", "part of")
    builder.relation("y:r", "inverse part of")
    builder.triple("a", "x:r", "b")
    with pytest.raises(GraphError, match="'inverse part of' for y:r and for x:r"):
        conditional_pairs(builder.build())


def test_settings_that_make_no_sense():
    for settings in (
        {"pairs": 0},
        {"held_out": -1},
        {"unseen_conditions": 1.0},
        {"unseen_entities": -0.1},
    ):
        with pytest.raises(SettingsError, match=next(iter(settings))):
            ConditionalPairsSettings(**settings)


def write(path, *lines, header=HEADER):
    path.write_text(header + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_rows_are_brought_together_by_their_sentences(tmp_path):
    path = write(
        tmp_path / "c.csv",
        'Paris,"Rome, Italy",kind,5',
        "a dog,a cat,size,2",
        'Paris,"Rome, Italy",country,1',
        "a dog,a cat,kind,3.5",
        header="\ufeffid_is_passed_over,sentence1,sentence2,condition,label\n".replace(
            "id_is_passed_over,", ""
        ),
    )
    rows = read_csts(str(path))
    assert rows.rows() == [
        ("Paris", "Rome, Italy", "kind", 5.0),
        ("Paris", "Rome, Italy", "country", 1.0),
        ("a dog", "a cat", "size", 2.0),
        ("a dog", "a cat", "kind", 3.5),
    ]
    assert rows.targets.tolist() == [1.0, 0.0, 0.25, 0.625]
    write_csts(rows, tmp_path / "again.csv")
    assert read_csts(tmp_path / "again.csv").rows() == rows.rows()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a,b,c,6"], r"c\.csv:2: expected a label from 1 to 5, found '6'"),
        (["a,b,c,nan"], r"c\.csv:2: expected a label"),
        (["a,b,c,good"], r"c\.csv:2: expected a label"),
        (["a,b,c,-1"], "labels of the public test file are hidden"),
        (["a,b,c,1", "a,b, ,2"], r"c\.csv:3: expected a text as condition, found nothing"),
        (["a,b,c,1", "a,b"], r"c\.csv:3: expected a text as condition"),
        (
            ["a,b,c,1", "a,b,d,2", "a,e,c,1"],
            r"c\.csv:4: expected two rows of the same two sentences, found 1 \(line 4\)",
        ),
        (["a,b,c,1", "a,b,d,2", "a,b,e,1"], r"found 3 \(line 2, 3, 4\)"),
    ],
)
def test_faulty_rows_are_named(tmp_path, lines, message):
    path = write(tmp_path / "c.csv", *lines)
    with pytest.raises(ReadError, match=message):
        read_csts(path)
    good = write(tmp_path / "d.csv", *lines, "x,y,c,1", "x,y,d,2")
    with pytest.warns(ReadWarning, match=message.replace("c\\.csv", "d\\.csv").split(" (line")[0]):
        rows = read_csts(good, on_error="warn")
    assert rows.rows()[-2:] == [("x", "y", "c", 1.0), ("x", "y", "d", 2.0)]
    assert read_csts(good, on_error="skip").rows() == rows.rows()


def test_a_pair_with_one_condition_twice_is_left_out(tmp_path):
    lines = ("a,b,c,1", "x,y,c,1", "a,b,c,2", "x,y,d,2", "e,f,g,3", "e,f,g,3")
    path = write(tmp_path / "c.csv", *lines)
    for policy in ("raise", "warn"):
        with pytest.warns(ReadWarning, match="left out 2 pair.*the first 'c', line 2, 4;") as given:
            rows = read_csts(path, on_error=policy)
        assert len(given) == 1
        assert rows.rows() == [("x", "y", "c", 1.0), ("x", "y", "d", 2.0)]
    assert read_csts(path, on_error="skip").rows() == rows.rows()
    assert len(read_csts(path, paired=False)) == 6
    with (
        pytest.warns(ReadWarning, match="left out 1 pair"),
        pytest.raises(ReadError, match="at least one row"),
    ):
        read_csts(write(tmp_path / "d.csv", "a,b,c,1", "a,b,c,2"))


def test_files_that_are_no_rows(tmp_path):
    with pytest.raises(ReadError, match="expected a CSV file"):
        read_csts(tmp_path / "none.csv")
    with pytest.raises(
        ReadError, match=r"c\.csv:1: expected the columns .*label, found sentence1, sentence2"
    ):
        read_csts(write(tmp_path / "c.csv", header="sentence1,sentence2\n"))
    with pytest.raises(ReadError, match="at least one row"):
        read_csts(write(tmp_path / "c.csv"))
    with pytest.raises(SettingsError, match="on_error"):
        read_csts(write(tmp_path / "c.csv", "a,b,c,1"), on_error="shout")


def test_rows_to_measure_on_need_no_pairs(tmp_path):
    path = write(tmp_path / "c.csv", "a,b,c,1", "d,e,c,2")
    assert len(read_csts(path, paired=False)) == 2
