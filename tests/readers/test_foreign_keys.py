"""Tables that are read together, as a database is written to files."""

from __future__ import annotations

import pandas as pd
import pytest

from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says


def quiet(*sources: object) -> set:
    return says(read(*sources, on_error="raise"))["known"]


def test_a_column_may_name_rows_of_another_table_by_id(write) -> None:
    companies = "id,name,ceo_id,founded\nC1,Fox,P1,1915\nC2,Disney,P2,1923\nC3,Lion,P3,1924\n"
    people = "id,name\nP1,Ann Ray\nP2,Bob Orr\nP3,Cy Poe\n"
    folder = write("db/companies.csv", companies).parent
    write("db/people.csv", people)
    links = {(f"C{n}", "ceo_id", f"P{n}") for n in (1, 2, 3)}
    with pytest.warns(
        ReadWarning, match=r"left out founded \(numbers or dates\): .*`ontodex inspect SOURCE`$"
    ):
        assert says(read(folder))["known"] == links
    assert quiet(folder / "people.csv", folder / "companies.csv") == links


def test_numbers_name_rows_of_the_table_that_their_column_is_named_after(write) -> None:
    films = write(
        "films.csv",
        "id,name,company_id,rating\n1,Alien,101,1\n2,Cars,102,2\n3,Up,102,3\n4,Heat,101,2\n",
    )
    companies = write("companies.csv", "id,name\n101,Fox\n102,Disney\n103,Lion\n")
    links = {
        (f"films:{film}", "company_id", f"companies:{company}")
        for film, company in ((1, 101), (2, 102), (3, 102), (4, 101))
    }
    with pytest.warns(ReadWarning) as found:
        assert says(read(films, companies))["known"] == links
    assert "ids are told apart by their tables, and are read as films:…, companies:…" in str(
        found[0].message
    )
    assert "left out rating" in str(found[1].message)
    with pytest.warns(ReadWarning, match="left out company_id"):
        read(films)
    again = write("films-2.csv", films.read_text().replace("rating", "stars"))
    with pytest.warns(ReadWarning) as found:
        read(films, again)
    assert (
        "left out company_id, rating (numbers or dates) of films.csv; "
        "company_id, stars (numbers or dates) of films-2.csv: " in str(found[0].message)
    )


DUMP = {
    "companies": "id,name,ceo_id\n1,Fox,2\n2,Disney,1\n3,Warner,1\n",
    "films": "id,name,company_id,lead_person_id\n1,Alien,1,3\n2,Titanic,1,1\n3,Cars,2,1\n"
    "4,Up,2,2\n",
    "people": "id,name,country\n1,Ridley Scott,England\n2,James Cameron,Canada\n3,Ann Ray,Canada\n",
}


def test_the_same_numbers_of_different_things_are_kept_apart(write) -> None:
    folder = write("db/people.csv", DUMP["people"]).parent
    for name, text in DUMP.items():
        write(f"db/{name}.csv", text)
    with pytest.warns(ReadWarning) as found:
        graph = read(folder)
    said = ["are read as companies:…, films:…, people:…", "left out ceo_id"]
    assert [what in str(one.message) for what, one in zip(said, found, strict=True)] == [True, True]
    assert {
        name: label
        for name, (label, _, _) in says(graph)["entities"].items()
        if name.endswith(":1")
    } == {
        "companies:1": "Fox",
        "films:1": "Alien",
        "people:1": "Ridley Scott",
    }
    known = says(graph)["known"]
    assert {link for link in known if link[1] == "company_id"} == {
        (f"films:{film}", "company_id", f"companies:{company}")
        for film, company in ((1, 1), (2, 1), (3, 2), (4, 2))
    }
    assert ("films:1", "lead_person_id", "people:3") in known
    assert ("people:1", "country", "England") in known
    assert not any(relation == "ceo_id" for _, relation, _ in known)


def test_frames_whose_numbers_clash_make_a_warning() -> None:
    frames = [
        pd.DataFrame({"id": [1, 2], "name": names})
        for names in (["Fox", "Disney"], ["Alien", "Up"])
    ]
    with pytest.warns(ReadWarning, match=r"1 is 'Fox' and 'Alien'\), and are read as one"):
        read(*frames)


NAMES = "id,name\n1,Fox\n2,Disney\n3,Lion\n"


@pytest.mark.parametrize(
    ("name", "more", "link"),
    [
        ("details.csv", "id,country\n1,USA\n2,USA\n3,UK\n", ("1", "country", "USA")),
        ("parents.csv", "id,parent_id\n2,1\n3,1\n", ("2", "is_a", "1")),
        ("names_de.csv", "id,name,parent_id\n1,Fuchs,\n2,Disnei,1\n3,Löwe,1\n", ("2", "is_a", "1")),
        (
            "texts.csv",
            "id,label,definition\n1,fox,A studio.\n2,Disney,Another.\n3,Lion's,A third.\n",
            None,
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:.*are read as one")
def test_tables_of_the_same_things_meet(
    write, name: str, more: str, link: tuple[str, str, str] | None
) -> None:
    said = says(read(write("names.csv", NAMES), write(name, more)))
    assert set(said["entities"]) - {"USA", "UK"} == {"1", "2", "3"}
    assert said["entities"]["1"][0] == "Fox"
    assert link is None or link in said["known"]


def test_numbers_mean_rows_of_no_table_but_the_one_that_their_column_is_named_after(write) -> None:
    people = write("people.csv", "id,name\n1,Ann\n2,Bob\n3,Cy\n5,Dee\n")
    episodes = write(
        "episodes.csv",
        "id,title,season_number,company_id\nE1,Pilot,1,1\nE2,Two,2,2\nE3,Three,1,3\nE4,End,3,2\n",
    )
    companies = write("companies.csv", "id,name\n11,Fox\n12,Disney\n")
    with pytest.warns(
        ReadWarning, match=r"left out season_number \(numbers .*\), company_id \(numbers of another"
    ):
        assert says(read(episodes, people, companies))["known"] == set()


def test_a_distinct_number_is_kept_where_ids_get_prefixes(write) -> None:
    folder = write(
        "db/films.csv",
        "id,title,director_id,sequel_id\n1,Alien,1,4\n2,Cars,2,\n3,Up,1,\n4,Aliens,2,\n",
    ).parent
    write("db/directors.csv", "id,name\n1,Ann\n2,Bob\n")
    with pytest.warns(ReadWarning, match="read as directors:…, films:…$"):
        known = says(read(folder))["known"]
    assert ("films:1", "sequel_id", "films:4") in known
    assert ("films:4", "director_id", "directors:2") in known


def test_the_number_of_its_own_row_may_be_one_of_another_table(write) -> None:
    users = write(
        "users.csv", "id,name,team\n1,Ann Ray,red\n2,Bob Orr,red\n3,Cy Poe,blue\n4,Di Lee,blue\n"
    )
    badges = write("badges.csv", "id,name,user_id\n1,gold,1\n2,silver,2\n3,bronze,3\n4,tin,2\n")
    with pytest.warns(ReadWarning, match="read as users:…, badges:…"):
        known = says(read(users, badges))["known"]
    assert {("badges:1", "user_id", "users:1"), ("badges:4", "user_id", "users:2")} <= known
