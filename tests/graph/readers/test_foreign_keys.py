"""Tables that are read together, as a database is written to files."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest
from graph_strategies import says

from ontodex.graph import ReadWarning, read


def quiet(*sources: object) -> set:
    return says(read(*sources, on_error="raise"))["known"]


def test_a_column_may_name_rows_of_another_table_by_id_or_by_label(write) -> None:
    companies = (
        "id,name,ceo_id,founder,founded\nC1,Fox,P1,Ann Ray,1915\nC2,Disney,P2,Bob Orr,1923\nC3,Lion,P3,Cy Poe,1924\n"
    )
    people = "id,name\nP1,Ann Ray\nP2,Bob Orr\nP3,Cy Poe\n"
    folder = write("db/companies.csv", companies).parent
    write("db/people.csv", people)
    links = {(f"C{n}", relation, f"P{n}") for n in (1, 2, 3) for relation in ("ceo_id", "founder")}
    with pytest.warns(ReadWarning, match=r"left out founded: .*read the table of what it names too"):
        assert says(read(folder))["known"] == links
    assert quiet(folder / "people.csv", folder / "companies.csv") == links


def test_numbers_name_rows_of_the_table_that_their_column_is_named_after(write) -> None:
    films = write("films.csv", "id,name,company_id,rating\n1,Alien,101,1\n2,Cars,102,2\n3,Up,102,3\n4,Heat,101,2\n")
    companies = write("companies.csv", "id,name\n101,Fox\n102,Disney\n103,Lion\n")
    links = {
        ("1", "company_id", "101"),
        ("2", "company_id", "102"),
        ("3", "company_id", "102"),
        ("4", "company_id", "101"),
    }
    with pytest.warns(ReadWarning, match="left out rating"):
        assert says(read(films, companies))["known"] == links
    with pytest.warns(ReadWarning, match="left out company_id"):
        read(films)


DUMP = {
    "companies": "id,name,ceo_id\n1,Fox,2\n2,Disney,1\n3,Warner,1\n",
    "films": "id,name,company_id,lead_person_id\n1,Alien,1,3\n2,Titanic,1,1\n3,Cars,2,1\n4,Up,2,2\n",
    "people": "id,name,country\n1,Ridley Scott,England\n2,James Cameron,Canada\n3,Ann Ray,Canada\n",
}


def test_the_same_numbers_of_different_things_are_kept_apart(write) -> None:
    folder = write("db/people.csv", DUMP["people"]).parent
    for name, text in DUMP.items():
        write(f"db/{name}.csv", text)
    with pytest.warns(ReadWarning) as found:
        graph = read(folder)
    said = "1 is 'Fox' and 'Alien'); they are read as company:…, film:…, person:…; left out ceo_id: "
    assert [said in str(one.message) for one in found] == [True]
    assert {name: label for name, (label, _, _) in says(graph)["entities"].items() if name.endswith(":1")} == {
        "company:1": "Fox",
        "film:1": "Alien",
        "person:1": "Ridley Scott",
    }
    known = says(graph)["known"]
    assert {link for link in known if link[1] == "company_id"} == {
        (f"film:{film}", "company_id", f"company:{company}") for film, company in ((1, 1), (2, 1), (3, 2), (4, 2))
    }
    assert ("film:1", "lead_person_id", "person:3") in known
    assert ("person:1", "country", "England") in known
    assert not any(relation == "ceo_id" for _, relation, _ in known)


def test_frames_whose_numbers_clash_make_a_warning() -> None:
    frames = [pd.DataFrame({"id": [1, 2], "name": names}) for names in (["Fox", "Disney"], ["Alien", "Up"])]
    with pytest.warns(ReadWarning, match=r"1 is 'Fox' and 'Alien'\), which are read as one"):
        read(*frames)


def test_tables_of_the_same_things_meet(write) -> None:
    names = write("names.csv", "id,name\n1,Fox\n2,Disney\n3,Lion\n")
    more = write("details.csv", "id,label,definition\n1,fox,A studio.\n2,Disney,Another.\n3,Lion's,A third.\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert says(read(names, more))["entities"]["1"] == ("Fox", set(), "A studio.")
