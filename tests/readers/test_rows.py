"""Cells of the lines of a table."""

from __future__ import annotations

import pytest

from ontodex.readers import read
from tests.graph_strategies import says


def test_quoted_commas(write) -> None:
    assert says(read(write("a.csv", '"a, b",r,"say ""c"""\n')))["known"] == {
        ("a, b", "r", 'say "c"')
    }


def test_an_open_quote_in_csv_is_one_bad_line(write) -> None:
    graph = read(write("a.csv", 'a,r,b\n"a,r,b\nb,r,c\n'), on_error="skip")
    assert (graph.n_triples, graph.skipped) == (2, 1)


def test_a_tab_in_a_cell_of_a_csv_is_a_part_of_it(write) -> None:
    graph = read(write("a.csv", "ex:dog\tx,is_a,b\nc,is_a,d\ne,is_a,f\n"), on_error="raise")
    assert graph.ids[0] == "ex:dog\tx"


def test_a_quoted_cell_may_run_over_lines(write) -> None:
    content = 'a,r,"two\nlines, and\nmore"\nb,r,"one ""quoted"""\nc,r,d\n'
    graph = read(write("a.csv", content), on_error="raise")
    assert list(graph.ids) == ["a", "two lines, and more", "b", 'one "quoted"', "c", "d"]


def test_a_quote_that_is_never_closed_costs_one_line(write) -> None:
    content = 'a,r,"open\n' + "".join(f"b{n},r,c{n}\n" for n in range(60)) + 'd,r,"two\nlines"\n'
    graph = read(write("a.csv", content), on_error="skip")
    assert graph.skipped == 1
    assert graph.n_triples == 61
    assert graph.find("two lines") is not None


def test_quotes_in_a_table_with_tabs(write) -> None:
    rows = (
        '1\t"dog, tame"\t"the ""best"" friend"\n2\t"Weird Al" Yankovic\t"one" and "two"\n3\t"\t""\n'
    )
    graph = read(write("a.tsv", "id\tlabel\tdefinition\n" + rows))
    assert list(graph.labels) == ["dog, tame", '"Weird Al" Yankovic', '"']
    assert list(graph.definitions) == ['the "best" friend', '"one" and "two"', ""]


def test_the_delimiter_is_the_one_of_every_line(write) -> None:
    content = (
        'id;label;definition\n1;dog;"An animal, it\nbarks, and\nbites, and\nruns, too."\n'
        '2;cat;"It\npurrs, so."\n'
    )
    graph = read(write("a.csv", content), on_error="raise")
    assert list(graph.definitions) == [
        "An animal, it barks, and bites, and runs, too.",
        "It purrs, so.",
    ]
    people = "Doe, Ann;knows;Roe, Bob\nRoe, Bob;knows;Poe, Cy\nPoe, Cy;likes;Doe, Ann\n"
    assert ("Doe, Ann", "knows", "Roe, Bob") in says(read(write("b.csv", people)))["known"]
    assert says(read(write("c.csv", "Ann;pays;1,50\nBob;pays;2,25\n")))["known"] == {
        ("Ann", "pays", "1,50"),
        ("Bob", "pays", "2,25"),
    }
    prices = "Ann\tpays\t1,2,3,4\nBob\tpays\t5,6,7,8\n"
    assert ("Ann", "pays", "1,2,3,4") in says(read(write("d.tsv", prices)))["known"]


def test_a_long_comment_does_not_decide_the_delimiter(write) -> None:
    comment = "".join(f"# line {number}, in prose, about the table\n" for number in range(30))
    graph = read(
        write("zones.tab", f"{comment}AD\tis in\tEurope\nAE\tis in\tAsia\n"), on_error="raise"
    )
    assert says(graph)["known"] == {("AD", "is in", "Europe"), ("AE", "is in", "Asia")}


@pytest.mark.filterwarnings("ignore:.*left out", "ignore:.*took")
def test_a_column_may_hold_its_own_name_or_nothing(write) -> None:
    rows = (
        "land\ttitle official\tregion\tEU\nFrance\tFrench Republic\tEurope\tEU\n"
        "Kenya\tRepublic of Kenya\tAfrica\t\n"
    )
    graph = read(
        write("a.tsv", rows.replace("title", "name") + "Italy\tItalian Republic\tEurope\tEU\n")
    )
    assert {("France", "EU", "EU"), ("Italy", "EU", "EU"), ("Italy", "region", "Europe")} <= says(
        graph
    )["known"]
    assert says(graph)["entities"]["Kenya"] == ("Kenya", {"Republic of Kenya"}, "")
