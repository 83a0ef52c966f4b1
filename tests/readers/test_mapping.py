"""Table mappings: in YAML, guessed, applied, and declared by the tables themselves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import ontodex
from ontodex import RelationColumn, TableMapping
from ontodex.errors import SettingsError
from ontodex.graph import ReadWarning
from ontodex.readers import inspect, read, read_more
from ontodex.readers.tables.mapping import as_mappings, mapping_from, mappings_text
from tests.graph_strategies import says

PETS = """id,name,kind,home,born,keeper,remark
P1,Rex,dog,yard,2019,Ann,old friend
P2,Tom,cat,house,2020,Ann,mouser
P3,Ida,dog,house,2018,Bob,rare
P4,Kit,cat,yard,2021,Bob,grey
"""


def test_a_mapping_is_the_same_in_yaml(write) -> None:
    mapping = TableMapping(
        table="pets",
        columns=("id", "name", "kind", "x"),
        id=("id",),
        label=("name",),
        relations={"kind": RelationColumn(label="is a kind of", by="id")},
        separators={"kind": ","},
        keys={"kind": ("kinds", "id")},
        negation={"x": ("not", "no")},
        ignored={"x": "empty"},
    )
    path = write("m.yaml", mappings_text([mapping]))
    assert as_mappings(path) == (mapping,)
    assert as_mappings([mapping]) == as_mappings(mapping) == (mapping,)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("idd: x", "m.yaml: unknown key 'idd'; did you mean 'id'"),
        (
            "columns: [name]\nid: nam",
            "expected one of its columns, found 'nam'; did you mean 'name'",
        ),
        ("relations: {a: {lable: b}}", "unknown key 'lable'; did you mean 'label'"),
        ("relations: {a: {by: true}}", "by: expected a text, found True"),
        ("relations: [a]", "relations: expected names and their values"),
        ("head: a", "expected head, relation and tail of triples, found head alone"),
        ("header: 3", "header: expected true or false, found 3"),
        ("id: true", "id: expected a text, found True"),
        ("keys: {a: b}", "keys: a: expected the name of a table and of its column, found 'b'"),
        ("- 3", "expected names and their values, found 3"),
    ],
)
def test_a_faulty_mapping_is_named(write, content: str, message: str) -> None:
    with pytest.raises(SettingsError) as error:
        as_mappings(write("m.yaml", content))
    assert message in str(error.value)


def test_a_mapping_says_what_columns_are(write) -> None:
    path = write("pets.csv", PETS)
    mapping = mapping_from(
        {"id": "id", "label": "name", "parent": "kind", "definition": "remark",
         "relations": {"born": {"relation": "born in"}}},
        "m",
    )  # fmt: skip
    said = says(read(path, mapping=mapping, on_error="raise"))
    assert said["known"] == {
        *((f"P{row}", "is_a", kind) for row, kind in enumerate(("dog", "cat", "dog", "cat"), 1)),
        *(
            (f"P{row}", "born in", year)
            for row, year in enumerate(("2019", "2020", "2018", "2021"), 1)
        ),
    }  # fmt: skip
    assert said["entities"]["P1"] == ("Rex", set(), "old friend")
    triples = TableMapping(head="name", relation="kind", tail="home")
    assert ("Rex", "dog", "yard") in says(read(path, mapping=triples))["known"]


def test_a_mapping_that_fits_no_table_is_an_error(write) -> None:
    with pytest.raises(SettingsError, match="expected a table with the columns nr, found none"):
        read(write("pets.csv", PETS), mapping=TableMapping(id=("nr",)), on_error="skip")


def test_new_columns_of_a_mapped_table_are_left_out(write) -> None:
    mapping = inspect(write("pets.csv", PETS)).mappings
    more = PETS.replace("remark\n", "remark,colour\n").replace("\nP", "\nQ").replace("\nQ1", "\nP1")
    rows = [line if line.startswith("id") else f"{line},red" for line in more.split("\n") if line]
    with pytest.warns(ReadWarning, match="left out colour: not in the mapping of the table"):
        graph = read(write("new/pets.csv", "\n".join(rows)), mapping=mapping)
    assert {*graph.relation_ids} == {"kind", "home", "keeper"}


def test_what_is_inspected_is_what_is_read(write, tmp_path: Path) -> None:
    path = write("pets.csv", PETS)
    found = inspect(path)
    assert found.tables[0].columns == {
        "id": "id",
        "name": "label",
        "kind": "relation",
        "home": "relation",
        "born": "left out: numbers or dates",
        "keeper": "relation",
        "remark": "left out: texts that few rows share",
    }
    assert found.tables[0].samples[0] == "P1 Rex: kind dog; home yard; keeper Ann"
    assert any(
        "left out born (numbers or dates), remark (texts" in remark for remark in found.remarks
    )
    found.write(tmp_path / "m.yaml")
    by_mapping = read(path, mapping=tmp_path / "m.yaml", on_error="raise")
    assert by_mapping.fingerprint == read(path, on_error="skip").fingerprint
    mapping = replace(found.mappings[0], definition=("remark",), ignored={})
    assert says(read(path, mapping=mapping))["entities"]["P3"][2] == "rare"


def test_a_guess_does_not_flip_with_new_rows(write) -> None:
    """Guessed from the new rows or from all, homes would be texts that few rows share."""
    first = read(write("old/pets.csv", PETS), on_error="skip")
    rows = "".join(f"Q{at},Pet {at},dog,home {at},2022,Ann,x\n" for at in range(40))
    path = write("new/pets.csv", PETS.split("\n", 1)[0] + "\n" + rows)
    assert "home" not in read(path, on_error="skip").relation_ids
    assert "home" not in read(write("all/pets.csv", PETS + rows), on_error="skip").relation_ids
    more = read_more(first.mappings, path, on_error="skip")
    assert ("Q7", "home", "home 7") in says(more)["known"]


def test_keys_of_tables_that_are_not_there_are_known_by_their_mapping(write) -> None:
    write("db/companies.csv", "id,name,country\n1,Alpha,DE\n2,Beta,FR\n3,Gamma,DE\n4,Dot,FR\n")
    root = write("db/films.csv", "id,title,company_id\n1,Alien,1\n2,Heat,1\n3,Solo,2\n").parent
    with pytest.warns(ReadWarning, match="read as companies:…, films:…"):
        first = read(root)
    assert ("films:1", "company_id", "companies:1") in says(first)["known"]
    more = read_more(
        first.mappings, write("new/films.csv", "id,title,company_id\n4,Ran,3\n5,Up,3\n")
    )
    known = {("films:4", "company_id", "companies:3"), ("films:5", "company_id", "companies:3")}
    assert says(more)["known"] == known


def test_a_column_that_names_what_other_sources_hold_is_read_where_a_mapping_says_so(write) -> None:
    terms = write("terms.csv", "id,label,parent\nT:1,heart,T:3\nT:2,lung,T:3\nT:3,organ,\n")
    cases = write("cases.csv", "id,name,part\nC1,Ann,heart\nC2,Bob,lung\nC3,Cy,organ\n")
    with pytest.warns(ReadWarning, match=r"left out part \(texts that few rows share\)"):
        assert "part" not in read(terms, cases).relation_ids
    mapping = TableMapping(id=("id",), label=("name",), relations={"part": RelationColumn()})
    known = says(read(terms, cases, mapping=mapping, on_error="raise"))["known"]
    assert ("C1", "part", "T:1") in known


def test_codes_are_below_what_they_begin_with_where_a_mapping_says_so(write) -> None:
    codes = "A 01 01.1 01.11 01.12 02 02.1"
    path = write("a.csv", "\n".join(["code,name", *(f"{one},name {one}" for one in codes.split())]))
    by_parts = TableMapping(id=("code",), label=("name",), code="code", paths={"code": "."})
    assert says(read(path, mapping=by_parts))["known"] == {
        *(("01.1", "is_a", "01"), ("02.1", "is_a", "02"), ("01.11", "is_a", "01")),
        ("01.12", "is_a", "01"),
    }
    by_letters = replace(by_parts, paths={})
    assert ("01.11", "is_a", "01.1") in says(read(path, mapping=by_letters))["known"]


# Tables that declare their columns -----------------------------------------------------------


def test_a_robot_template_says_what_its_columns_are(write) -> None:
    content = (
        "Ontology ID,Name,Parent,Part,Syn,Def,Note\n"
        "ID,AL rdfs:label@en,SC %,SC part_of some %,AL oboInOwl:hasExactSynonym@en SPLIT=|,"
        "A IAO:0000115,A rdfs:comment\n"
        "EX:1,heart,organ,body,cor|pump,beats,x\nEX:2,organ,,,,,\nEX:3,body,,,,,\n"
    )
    graph = read(write("template.csv", content), on_error="raise")
    assert says(graph)["known"] == {("EX:1", "is_a", "EX:2"), ("EX:1", "part_of", "EX:3")}
    assert says(graph)["entities"]["EX:1"] == ("heart", {"cor", "pump"}, "beats")
    more = content.replace("EX:1,heart", "EX:4,lung")
    added = read_more(graph.mappings, write("more/template.csv", more), on_error="raise")
    assert added.ids[0] == "EX:4"


def test_a_data_package_says_what_columns_are(write) -> None:
    fields = {
        "films": [("no", "integer"), ("title", "string"), ("stars", "integer"), ("by", "integer")],
        "people": [("nr", "integer"), ("name", "string"), ("age", "integer")],
    }
    resources = [
        {
            "name": name,
            "path": f"{name}.csv",
            "schema": {
                "fields": [{"name": column, "type": kind} for column, kind in of],
                "primaryKey": of[0][0],
            },
        }
        for name, of in fields.items()
    ]
    reference = {"resource": "people", "fields": "nr"}
    resources[0]["schema"]["foreignKeys"] = [{"fields": "by", "reference": reference}]
    write("films.csv", "no,title,stars,by\n1,Alien,5,7\n2,Heat,5,8\n3,Blade,5,7\n4,Ali,5,8\n")
    write("people.csv", "nr,name,age\n7,Ridley Scott,80\n8,Michael Mann,79\n")
    root = write("datapackage.json", json.dumps({"resources": resources})).parent
    found = inspect(root)
    assert found.tables[0].columns["stars"] == "left out: declared as integer"
    assert says(found.graph)["known"] == {
        *(("films:1", "by", "people:7"), ("films:2", "by", "people:8")),
        *(("films:3", "by", "people:7"), ("films:4", "by", "people:8")),
    }
    alone = inspect(root / "people.csv")
    assert alone.mappings[0].id == ("nr",)


# XML ----------------------------------------------------------------------------------------------


def test_a_mapping_reads_elements_of_xml(write) -> None:
    path = write(
        "a.xml",
        "<zoo><animal key='a1'><called xml:lang='en'>Owl</called>"
        "<called xml:lang='de'>Eule</called>"
        "<eats ref='a2'/><animal key='a3'><called>Barn owl</called></animal></animal>"
        "<animal key='a2'><called>Mouse</called></animal></zoo>",
    )
    mapping = mapping_from(
        {"rows": ".//animal", "id": "@key", "label": "called", "parent": "..",
         "relations": {"eats/@ref": {"relation": "eats"}}},
        "m",
    )  # fmt: skip
    graph = read(path, mapping=mapping)
    assert says(graph)["known"] == {("a3", "is_a", "a1"), ("a1", "eats", "a2")}
    assert read(path, mapping=mapping, language="de").labels[0] == "Eule"
    with pytest.raises(SettingsError, match="expected a path of elements"):
        read(path, mapping=replace(mapping, rows=(".//animal[",)))


# Indexes ------------------------------------------------------------------------------------------


def test_an_index_reads_what_is_added_by_its_mappings(write, tmp_path: Path) -> None:
    index = tmp_path / "pets.odx"
    options = {"train": False, "structure": False, "hierarchy": False, "entailment": False}
    ontodex.build(read(write("pets.csv", PETS), on_error="skip"), index, quiet=True, **options)
    rows = "".join(f"Q{at},Pet {at},dog,home {at},2022,Ann,x\n" for at in range(40))
    path = write("new/pets.csv", PETS.split("\n", 1)[0] + "\n" + rows)
    with ontodex.add(path, index, quiet=True) as engine:
        assert ("Q7", "home", "home 7") in says(engine.graph)["known"]
        assert [mapping["table"] for mapping in engine.index.manifest.mappings] == ["pets"]
