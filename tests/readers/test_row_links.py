"""Tables of entities: what their cells link to."""

from __future__ import annotations

import json

import pytest

from ontodex import RelationColumn, TableMapping
from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says


def test_a_cell_that_names_a_row_is_one_name(write) -> None:
    graph = read(
        write(
            "a.csv",
            'id,label,parent\n1,"Arthritis; rheumatoid",\n2,Felty syndrome,"Arthritis; '
            'rheumatoid"\n',
        )
    )
    assert says(graph)["known"] == {("2", "is_a", "1")}


def test_a_label_as_it_is_spelt_goes_before_others(write) -> None:
    text = (
        "id,label,parent\n1,Apple,\n2,apple,\n3,Granny,apple\n4,Mac,Apple\n5,Fuji,APPLE\n"
        "6,Pear,\n7,Nashi,PEAR\n"
    )
    with pytest.warns(ReadWarning, match="'APPLE' is the label of 1 and 2"):
        known = says(read(write("a.csv", text)))["known"]
    assert known == {
        ("3", "is_a", "2"),
        ("4", "is_a", "1"),
        ("5", "is_a", "APPLE"),
        ("7", "is_a", "6"),
    }


@pytest.mark.parametrize("root", ["0", "http://www.w3.org/2002/07/owl#Thing", "owl:Thing"])
def test_roots_of_a_table_have_no_parent(write, root: str) -> None:
    graph = read(write("a.csv", f"id,label,parent_id\n1,pet,{root}\n2,dog,1\n"), on_error="raise")
    assert says(graph)["known"] == {("2", "is_a", "1")}
    assert set(graph.ids) == {"1", "2"}
    graph = read(
        write("b.csv", f"id,label,parent_id\n{root},thing,\n2,dog,{root}\n"), on_error="raise"
    )
    assert says(graph)["known"] == {("2", "is_a", root)}  # unless a row is one


def test_small_numbers_are_ids_only_where_a_name_says_so(write) -> None:
    people = "id,name,rating,manager_id\n1,Ann,3,\n2,Bob,1,1\n3,Cy,2,1\n"
    with pytest.warns(
        ReadWarning, match=r"left out rating \(numbers or dates\): .*ontodex inspect"
    ):
        graph = read(write("people.csv", people))
    assert says(graph)["known"] == {("2", "manager_id", "1"), ("3", "manager_id", "1")}
    omim = (
        "id,name,part\n154700,Marfan syndrome,\n604308,mass syndrome,154700\n"
        "129600,ectopia lentis,154700\n"
    )
    assert says(read(write("omim.csv", omim), on_error="raise"))["known"] == {
        ("604308", "part", "154700"),
        ("129600", "part", "154700"),
    }


def test_links_to_obsolete_rows_are_left_out(write) -> None:
    text = (
        "id,label,parent,deprecated\nA1,Widget,,false\nA2,Gadget,A1,true\nA3,Nut,A2,false\n"
        "A4,Bolt,gadget|A1,false\n"
    )
    with pytest.warns(
        ReadWarning, match=r"left out 2 link\(s\) to rows that are marked as obsolete"
    ):
        graph = read(write("parts.csv", text))
    assert says(graph)["known"] == {("A4", "is_a", "A1")}
    assert set(graph.ids) == {"A1", "A3", "A4"}


def test_ambiguous_labels_link_to_no_row(write) -> None:
    text = "id,name,parent\nB1,Bank,\nB2,Bank,\nB3,Savings bank,Bank\nB4,Central bank,B2\n"
    with pytest.warns(ReadWarning, match="'Bank' is the label of B1 and B2"):
        graph = read(write("banks.csv", text))
    assert says(graph)["known"] == {("B3", "is_a", "Bank"), ("B4", "is_a", "B2")}


def test_a_value_is_no_row_because_one_is_called_so(write) -> None:
    countries = ["Australia", "Peru", "Chile", "Ghana", "Nepal"]
    rows = [
        f"F{n},{'Australia' if n == 1 else f'Film {n}'},{countries[n % 5]}" for n in range(1, 16)
    ]
    said = says(read(write("films.csv", "\n".join(["id,title,country", *rows])), on_error="raise"))[
        "known"
    ]
    assert ("F5", "country", "Australia") in said
    assert ("F1", "country", "Peru") in said
    assert not any(tail == "F1" for _, _, tail in said)


def test_what_is_obsolete_takes_nothing_else_with_it(write) -> None:
    text = (
        "id,label,parent,alternative_ids,material,deprecated\n1,Old,,,,true\n"
        "2,New,,1,steel,false\n3,Kid,1,,steel,false\n"
    )
    text += "4,Steel,,,wood,true\n5,Nail,4,,steel,false\n"
    with pytest.warns(ReadWarning, match=r"left out 1 link\(s\) to rows"):
        known = says(read(write("parts.csv", text)))["known"]
    assert known == {("3", "is_a", "2"), *((row, "material", "steel") for row in "235")}


def test_cells_name_rows_by_another_column_where_a_mapping_says_so(write) -> None:
    content = (
        "name,email,manager email\nAnn,ann@x.org,\nBob,bob@x.org,ann@x.org\n"
        "Cid,cid@x.org,bob@x.org\n"
    )
    path = write("staff.csv", content)
    assert not says(read(path, on_error="skip"))["known"]
    by = RelationColumn(by="email")
    mapping = TableMapping(label=("name",), relations={"manager email": by})
    assert says(read(path, mapping=mapping))["known"] == {
        ("Bob", "manager email", "Ann"),
        ("Cid", "manager email", "Bob"),
    }


def test_what_codes_begin_with_is_guessed_no_more(write) -> None:
    """Only a mapping can set it, see test_mapping.py."""
    rows = "".join(f"{code},thing {code}\n" for code in (1, 11, 111, 1111, 12, 13, 2, 21, 22))
    assert not says(read(write("a.csv", f"id,label\n{rows}"), on_error="raise"))["known"]


def test_dates_are_no_relation(write) -> None:
    rows = [
        f"Film {at},{at % 3 + 1} May 1998,2013-07-20T00:00:0{at % 3}Z,"
        f"{['Sun', 'Mon', 'Tue'][at % 3]}"
        for at in range(9)
    ]
    with pytest.warns(ReadWarning, match=r"left out released, seen \(numbers or dates\): "):
        graph = read(write("a.csv", "\n".join(["name,released,seen,day", *rows]) + "\n"))
    assert {relation for _, relation, _ in says(graph)["known"]} == {"day"}


def test_a_column_that_names_its_own_rows_holds_names(write) -> None:
    rows = (
        "7,oak_log,Oak log,wood,7",
        "8,stone,Stone,rock,8",
        "9,porkchop,Raw porkchop,meat,9",
        "12,plank,Plank,wood,12",
    )
    graph = read(
        write("a.csv", "\n".join(["id,name,display name,made of,number", *rows, ""])),
        on_error="skip",
    )
    assert {relation for _, relation, _ in says(graph)["known"]} <= {"made of"}
    names = dict(zip(graph.ids, graph.synonyms, strict=True))
    assert [*map(list, (names["9"], names["7"]))] == [["Raw porkchop"], ["Oak log"]]


def test_objects_written_into_cells_are_no_lists(write) -> None:
    kits = [
        {"a": [one, other], "b": "Mace"}
        for one in ("Axe", "Bow", "Mace")
        for other in ("Axe", "Bow", "Mace")
    ]
    records = [
        {"name": f"class {at}", "kit": json.dumps(kit), "book": "PHB"}
        for at, kit in enumerate(kits)
    ]
    graph = read(write("a.json", json.dumps(records)), on_error="skip")
    assert {relation for _, relation, _ in says(graph)["known"]} == {"book"}


@pytest.mark.filterwarnings("ignore:.*left out fips")
def test_codes_of_another_kind_are_no_links(write) -> None:
    codes = {
        "AD": "AN",
        "AN": "NT",
        "FR": "FR",
        "IT": "IT",
        "DE": "GM",
        "GM": "GA",
        "GA": "GB",
        "ES": "SP",
    }
    rows = [f"{code},{code.lower()}land,{other}" for code, other in codes.items()]
    assert not says(read(write("a.csv", "\n".join(["id,name,fips", *rows]))))["known"]


def test_texts_whose_lines_rows_share_are_no_relation(write) -> None:
    lines = [
        "Redistributions of source code must retain the above copyright notice and this list of "
        "conditions."
    ] * 2
    records = [
        {"id": f"L{one}", "name": f"license {one}", "kind": "free", "text": "\n".join(lines)}
        for one in range(6)
    ]
    with pytest.warns(ReadWarning, match="took text for the definitions"):
        graph = read(write("licenses.json", json.dumps(records)))
    assert list(graph.relation_ids) == ["kind"]


@pytest.mark.filterwarnings("ignore:.*left out")
def test_yes_and_no_name_no_rows(write) -> None:
    text = "id,label,active,good\nA1,Widget,true,yes\nA2,Gadget,,true\n"
    assert not says(read(write("parts.csv", text)))["known"]
    write("pets/a.yaml", "dog:\n  label: Dog\n  matchable: true\n")
    write("pets/b.yaml", "cat:\n  label: Cat\n  hidden: true\n  matchable: false\n")
    root = write("pets/c.yaml", "cow:\n  label: Cow\n  matchable: true\n  hidden: true\n").parent
    assert not says(read(root))["known"]
