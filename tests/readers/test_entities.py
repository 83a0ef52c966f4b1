"""Tables of entities: what a row is."""

from __future__ import annotations

import pytest

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says

PETS = """id,label,synonyms,definition,parent,habitat,weight kg,tame,note
P1,dog,hound|domestic dog,an animal that barks,P2,house; yard,10,yes,old friend
P2,canine,,,animal,,,no,a family
P3,wolf,,"it howls, at night",Canine,forest,45,no,grey
P4,cat,,,P5,house,4,yes,mouser
P5,feline,,,animal,,,no,another family
P6,"wolf dog, mixed",,,"P1,P3",forest,40,no,rare
"""


def test_a_table_of_entities(write) -> None:
    graph = read(write("pets.csv", PETS), on_error="raise")
    assert says(graph)["known"] == {
        *(
            ("P1", "is_a", "P2"),
            ("P2", "is_a", "animal"),
            ("P3", "is_a", "P2"),
            ("P4", "is_a", "P5"),
        ),
        *(
            ("P5", "is_a", "animal"),
            ("P6", "is_a", "P1"),
            ("P6", "is_a", "P3"),
            ("P1", "habitat", "house"),
        ),
        *(("P1", "habitat", "yard"), ("P3", "habitat", "forest"), ("P4", "habitat", "house")),
        ("P6", "habitat", "forest"),
    }
    dog = graph.ids.index("P1")
    assert (graph.labels[dog], list(graph.synonyms[dog])) == ("dog", ["hound", "domestic dog"])
    assert graph.definitions[graph.ids.index("P3")] == "it howls, at night"
    assert graph.labels[graph.ids.index("P6")] == "wolf dog, mixed"
    assert len(graph.hierarchy().links) == 7


def test_a_frame_of_entities() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 2], "label": ["dog", "animal"], "parent": ["2", None]})
    graph = read(frame, on_error="raise")
    assert says(graph)["known"] == {("1", "is_a", "2")}
    assert list(graph.labels) == ["dog", "animal"]


def test_entities_parted_by_semicolons(write) -> None:
    content = 'id;label;synonyms;parent\n1;tool;;\n2;saw;"hand saw; fretsaw, small";tool\n'
    graph = read(write("a.csv", content))
    assert says(graph)["known"] == {("2", "is_a", "1")}
    assert graph.synonyms[graph.ids.index("2")] == ("hand saw", "fretsaw, small")


def test_a_row_without_an_entity_is_left_out_and_named(write) -> None:
    path = write("a.csv", "id,label,parent\n1,dog,2\nstray\n,,2\n2,animal,\n")
    with pytest.warns(ReadWarning, match="a.csv:3: expected 3 columns, found 1"):
        graph = read(path)
    assert list(graph.ids) == ["1", "2"]
    assert graph.skipped == 2


def test_rows_that_end_before_their_last_empty_cells_are_whole(write) -> None:
    content = "id,label,parent,habitat\n1,dog,2,home\n2,animal\n3,cat,2\n4,hen,2,home,yard\n"
    with pytest.warns(ReadWarning) as warned:
        graph = read(write("a.csv", content))
    assert "2 row(s) have fewer cells than the 4 columns of the header" in str(warned[0].message)
    assert (list(graph.labels), graph.skipped) == (["dog", "animal", "cat"], 1)
    assert says(
        read(write("b.csv", "x,head,relation,tail,note\n1,a,is_a,b\n2,c,is_a\n"), on_error="skip")
    )["known"] == {("a", "is_a", "b")}
    with pytest.raises(ReadError, match=r"a\.csv:3: expected 4 columns"):
        read(write("a.csv", content), on_error="raise")


def test_words_for_nothing_are_no_entities(write) -> None:
    graph = read(
        write(
            "a.csv", "label,parent,habitat\ndog,pet,n/a\npet,-,NA\ncat,pet,home\nmouse,pet,home\n"
        )
    )
    assert set(graph.ids) == {"dog", "pet", "cat", "mouse", "home"}
    known = says(
        read(write("b.csv", "id,label,parent\nNA,Namibia,-\nX,Windhoek,NA\nY,none,\nZ,one,None\n"))
    )["known"]
    assert known == {("X", "is_a", "NA"), ("Z", "is_a", "Y")}  # unless a row is one


def test_names_that_are_no_iris_stay_as_they_are(write) -> None:
    names = [
        "AC/DC",
        "TCP/IP",
        "C#",
        "YouTube",
        "mRNA",
        "Blade Runner: 2049",
        "New_York",
        "ex:dogHouse",
    ]
    graph = read(write("a.tsv", "".join(f"{name}\tis in\tthe list\n" for name in names)))
    labels = [
        "AC/DC",
        "TCP/IP",
        "C#",
        "YouTube",
        "mRNA",
        "Blade Runner: 2049",
        "New York",
        "dog house",
    ]
    assert [graph.labels[graph.find(name)[0]] for name in names] == labels


def test_alternative_ids_in_a_table(write) -> None:
    graph = read(
        write("a.csv", "id,label,parent,alt_ids\nX:1,dog,X:9,X:7|X:8\nX:2,pet,,X:9\n"),
        on_error="raise",
    )
    assert says(graph)["alternatives"] == {"X:1": {"X:7", "X:8"}, "X:2": {"X:9"}}
    assert says(graph)["known"] == {("X:1", "is_a", "X:2")}
    table = "id,label,synonyms,alternative_ids\nA,new,n/a,B|NA\nB,other,,\n"  # a row is an entity
    for content in (table, "\n".join([table.split("\n")[at] for at in (0, 2, 1)])):
        graph = read(write("b.csv", content), on_error="raise")
        assert says(graph)["entities"] == {"A": ("new", set(), ""), "B": ("other", set(), "")}
        assert not says(graph)["alternatives"]


@pytest.mark.parametrize("gaps", ["id,label,parent\n1,animal,\n2,dog,1.0\n", None])
def test_whole_numbers_of_columns_with_gaps(write, gaps: str | None) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 2], "label": ["animal", "dog"], "parent": [None, 1]})
    graph = read(write("a.csv", gaps) if gaps else frame, on_error="raise")
    assert (says(graph)["known"], graph.n_entities) == ({("2", "is_a", "1")}, 2)


def test_lists_and_columns_of_one_name_in_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    cells = {
        "id": ["P1", "P2"],
        "label": ["dog", "pet"],
        "synonyms": [["hound", "pooch"], []],
        "parent": [["P2"], []],
    }
    frame = pandas.concat(
        [pandas.DataFrame(cells), pandas.DataFrame({"label": ["Hund", "Tier"]})], axis=1
    )
    graph = read(frame, on_error="raise")
    assert says(graph)["known"] == {("P1", "is_a", "P2")}
    assert [sorted(names) for names in graph.synonyms] == [["Hund", "hound", "pooch"], ["Tier"]]
    assert read(pandas.DataFrame({"head": [1], "relation": ["r"], "tail": [2.0]})).ids[1] == "2"


def test_the_other_label_of_a_repeated_id_is_a_synonym(write) -> None:
    graph = read(
        write("a.csv", "id,label,synonym\n1,car,auto\n1,car,wagon\n1,motor car,\n"),
        on_error="raise",
    )
    assert says(graph)["entities"] == {"1": ("car", {"auto", "wagon", "motor car"}, "")}


def test_obsolete_rows_of_a_table_are_left_out(write) -> None:
    graph = read(
        write("a.csv", "Class ID,Preferred Label,Obsolete\n1,dog,FALSE\n2,hound,TRUE\n"),
        on_error="raise",
    )
    assert (list(graph.ids), graph.skipped) == (["1"], 0)


def test_a_quoted_cell_of_many_lines_parts_synonyms(write) -> None:
    names = [f"name {n}" for n in range(60)]
    content = (
        'id,label,synonyms,definition\n1,dog,"' + "\n".join(names) + '","it\nbarks"\n2,"a\ncat",,\n'
    )
    graph = read(write("a.csv", content), on_error="raise")
    assert says(graph)["entities"] == {
        "1": ("dog", set(names), "it barks"),
        "2": ("a cat", set(), ""),
    }


def test_what_is_left_out_of_a_table_is_said(write) -> None:
    with pytest.warns(
        ReadWarning, match=r"left out weight kg \(.*\), tame \(yes and no\), note \(.*\): "
    ):
        read(write("pets.csv", PETS))


def test_a_row_without_an_id_has_its_label(write) -> None:
    text = (
        "name,runs on,serial number\nweb-01,rack-1,SN1\nrack-1,,SN2\nrack-2,,SN3\napp-01,web-01,\n"
    )
    said = says(read(write("a.csv", text), on_error="raise"))
    assert said["known"] == {("SN1", "runs on", "SN2"), ("app-01", "runs on", "SN1")}


def test_empty_cells_behind_a_table_are_nothing(write) -> None:
    table = write("a.csv", "CWE-ID,Name,Parent\n1,dog,2,\n2,animal,,\n3,cat,2,,\n4,cow,2,x\n")
    graph = read(table, on_error="skip")
    assert (says(graph)["known"], graph.skipped) == ({("1", "is_a", "2"), ("3", "is_a", "2")}, 1)
    triples = read(write("b.tsv", "a\tr\tb\t\nc\tr\tb\t\t\n"), on_error="raise")
    assert says(triples)["known"] == {("a", "r", "b"), ("c", "r", "b")}


SHARED = """Name,Category,Location,Description
Printer,Hardware,Basel,First floor
Printer,Hardware,Leeds,Second floor
Printer ,Hardware,Porto,Third floor
Scanner,Hardware,Basel,Flat bed
Scanner,Software,Basel,Finds viruses
Monitor,Hardware,Basel,
"""


def test_different_rows_of_one_name_are_said(write) -> None:
    with pytest.warns(
        ReadWarning,
        match=r"2 name\(s\) in several rows that differ in Description, such as 'Printer' "
        r"\(3 rows\) and 'Scanner' \(2 rows\): .*, give the rows a column of ids",
    ):
        graph = read(write("a.csv", SHARED))
    assert graph.ids.count("Printer") == graph.ids.count("Scanner") == 1


def test_different_rows_of_one_name_may_differ_in_a_column_left_out(write) -> None:
    films = "Name,Genre,Year\nTitanic,drama,1953\nTitanic,drama,1997\nAlien,horror,1979\n"
    with (
        pytest.warns(ReadWarning, match="left out Year"),
        pytest.warns(ReadWarning, match=r"1 name\(s\) .* in Year, such as 'Titanic' \(2 rows\):"),
    ):
        read(write("a.csv", films))


@pytest.mark.parametrize(
    "table",
    [
        "name,habitat\ndog,house\ndog,yard\ncat,house\ncat,yard\n",
        "name,habitat,definition\ndog,house,it barks\ndog,yard,it barks\ncat,yard,\ncat,house,it\n",
        "name,synonym,parent\ndog,hound,pet\ndog,pooch,canine\n",
        "id,name,habitat,definition\n1,dog,house,it barks\n2,dog,house,it bites\n",
        ",name,habitat\n0,dog,house\n1,dog,yard\n2,cat,house\n3,cat,yard\n",
    ],
)
def test_rows_with_several_values_of_one_entity_are_not_warned_of(write, table: str) -> None:
    read(write("a.csv", table))
