"""ground, complete and describe on the command line, as a process."""

import json

import openpyxl
import pytest

from tests.conftest import PLACES


def test_a_column_is_grounded_and_its_rows_stay(shell, small_index, tmp_path):
    table = tmp_path / "typed.csv"
    table.write_text('﻿who,"what, exactly"\n1,dog\n2,\n3,"ex:cow"\n4,dog\n', encoding="utf-8")
    status, out, err = shell("ground", small_index, table, "--column", "what, exactly")
    assert (status, err) == (0, "")
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[0] == [
        *("who", "what, exactly"),
        *("term_id", "term_label", "probability", "decision"),
    ]
    assert rows[1][2:4] == ["ex:dog", "dog"]
    assert rows[1][5] == "match"
    assert rows[2] == ["2", "", "", "", "", ""]
    assert rows[3] == ["3", "ex:cow", "ex:cow", "cow", "1.000000", "match"]
    assert rows[4][1:] == rows[1][1:]
    status, out, _ = shell("ground", small_index, table, "--column", "what, exactly", "--json")
    assert [one["term_id"] for one in json.loads(out)["groundings"]] == [
        *("ex:dog", None, "ex:cow", "ex:dog")
    ]
    more = ("--path", "--definition")
    status, out, _ = shell("ground", small_index, table, "--column", "what, exactly", *more)
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[0][-2:] == ["term_path", "term_definition"]
    assert rows[1][-2:] == [
        "thing > animal > tame animal > dog",
        "a tame animal that lives in a farm",
    ]
    assert rows[2] == ["2", *[""] * 7]


def test_paths_and_definitions_are_added_to_answers(shell, small_index, tmp_path):
    asked = {
        "search": ["farm"],
        "similar": ["house"],
        "tails": ["dog", "lives in"],
        "heads": ["eats", "dog"],
        "parents": ["dog"],
        "children": ["place"],
    }
    for command, parts in asked.items():
        line = [command, small_index, *parts, "-k", "3", "--device", "cpu", "--tsv"]
        status, out, err = shell(*line, "--path", "--definition")
        assert (status, err) == (0, "")
        assert out.splitlines()[0].split("\t")[-2:] == ["path", "definition"]
    (tmp_path / "asked.txt").write_text("farm\n")
    line = ["search", small_index, "-k", "1", "--path", "--queries", tmp_path / "asked.txt"]
    assert json.loads(shell(*line)[1])["hits"][0]["path"] == ["thing", "place", "farm"]


def test_answers_of_a_type(shell, small_index):
    below = {"ex:place", *(f"ex:{name}" for name in PLACES)}
    for parts in (["search", small_index, "dog"], ["tails", small_index, "dog", "lives in"]):
        for option in ("place", "ex:"):
            status, out, err = shell(*parts, "-k", "5", "--type", option, "--json")
            assert (status, err) == (0, "")
            answer = json.loads(out)
            assert len(answer["hits"]) == 5
            assert answer["query"]["type"]["text"] == option
            assert option == "ex:" or {hit["id"] for hit in answer["hits"]} <= below
    status, _, err = shell("search", small_index, "dog", "--type", "nowhere")
    assert (status, "as type, found free text 'nowhere'" in err) == (1, True)


def test_a_workbook_is_read_and_written(shell, small_index, tmp_path):
    book = openpyxl.Workbook()
    for row in (["name"], ["farm"], [None], ["=dog"]):
        book.active.append(row)
    book.active["A4"].data_type = "s"
    book.save(tmp_path / "typed.xlsx")
    made = tmp_path / "made.xlsx"
    status, out, err = shell(
        "ground", small_index, tmp_path / "typed.xlsx", "--type", "place", "-o", made
    )
    assert (status, out, err) == (0, "", "")
    rows = list(openpyxl.load_workbook(made).active.iter_rows(values_only=True))
    assert rows[0] == ("name", "term_id", "term_label", "probability", "decision")
    assert rows[1][:3] == ("farm", "ex:farm", "farm")
    assert rows[2] == (None,) * 5
    assert rows[3][0] == "=dog"
    assert openpyxl.load_workbook(made).active["A4"].data_type == "s"


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["--column", "nmae"], 2, "did you mean 'name'"),
        ([], 2, "expected --column with one of 'name', 'more', found none"),
        (["--column", "name", "-o", "x.pdf"], 2, "ends in .tsv, .csv or .xlsx, found '.pdf'"),
        (["--column", "name", "--type", "nowhere"], 1, "found free text 'nowhere'"),
    ],
)
def test_wrong_usage_is_explained(shell, small_index, tmp_path, arguments, status, says):
    table = tmp_path / "typed.tsv"
    table.write_text("name\tmore\ndog\t1\n")
    found, _, err = shell("ground", small_index, table, *arguments)
    assert (found, says in err) == (status, True), err


def test_names_are_completed_and_entities_described(shell, small_index):
    status, out, _ = shell("complete", small_index, "du", "-k", "2", "--json")
    assert status == 0
    assert [one["name"] for one in json.loads(out)["completions"]] == ["duck", "young duck"]
    status, out, _ = shell("complete", small_index, "du", "--tsv")
    assert out.splitlines()[:2] == ["name\tid\tlabel\tkind", "duck\tex:duck\tduck\tlabel"]
    status, out, _ = shell("describe", small_index, "duck", "--json")
    assert (status, json.loads(out)["id"]) == (0, "ex:duck")
    status, out, _ = shell("describe", small_index, "duck")
    assert out.startswith("duck (ex:duck)\n")
    status, _, err = shell("describe", small_index, "dukc")
    assert (status, "found free text 'dukc'" in err) == (1, True)


def test_a_missing_table_is_named(shell, small_index):
    status, out, err = shell("ground", small_index, "nothing.csv")
    assert (status, out) == (1, "")
    assert "nothing.csv: expected a table, found no file of this name; check the path" in err
