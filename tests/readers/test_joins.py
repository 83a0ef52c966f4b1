"""Tables joined by keys: databases, files, JSON lists, XML elements and data frames."""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.errors import ReadError
from ontodex.graph import KnowledgeGraph, ReadWarning
from ontodex.readers import read

TABLES: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "Categories": (
        "CategoryID INTEGER PRIMARY KEY, CategoryName TEXT",
        [(1, "Beverages"), (2, "Condiments"), (3, "Seafood")],
    ),
    "Customers": (
        "CustomerID TEXT PRIMARY KEY, CompanyName TEXT, Country TEXT",
        [
            ("ALFKI", "Alfreds", "Germany"),
            ("ANATR", "Trujillo", "Mexico"),
            ("BLAUS", "Blauer See", "Germany"),
        ],
    ),
    "Employees": (
        "EmployeeID INTEGER PRIMARY KEY, LastName TEXT, FirstName TEXT, Title TEXT, "
        "ReportsTo INTEGER",
        [
            (1, "Davolio", "Nancy", "Representative", 2),
            (2, "Fuller", "Andrew", "Manager", None),
            (3, "Leverling", "Janet", "Representative", 2),
        ],
    ),
    "Products": (
        "ProductID INTEGER PRIMARY KEY, ProductName TEXT, CategoryID INTEGER, Price REAL",
        [
            (1, "Chai", 1, 18.5),
            (2, "Chang", 1, 19.0),
            (3, "Aniseed Syrup", 2, 10.0),
            (4, "Ikura", 3, 31.0),
        ],
    ),
    "Orders": (
        "OrderID INTEGER PRIMARY KEY, CustomerID TEXT, EmployeeID INTEGER, Date TEXT",
        [
            (11, "ALFKI", 1, "1996-07-04"),
            (12, "ANATR", 3, "1996-07-05"),
            (13, "ALFKI", 3, "1996-07-08"),
        ],
    ),
    "Order Details": (
        "OrderID INTEGER, ProductID INTEGER, Quantity INT, PRIMARY KEY (OrderID, ProductID)",
        [(11, 1, 12), (11, 3, 10), (12, 4, 5), (13, 2, 9)],
    ),
    "Territories": (
        "TerritoryID INTEGER PRIMARY KEY, TerritoryDescription TEXT, CategoryID INTEGER",
        [(1, "Westboro", 1), (2, "Bellevue", 1), (3, "Roseville", 2)],
    ),
    "EmployeeTerritories": (
        "EmployeeID INTEGER, TerritoryID INTEGER, PRIMARY KEY (EmployeeID, TerritoryID)",
        [(1, 1), (1, 3), (3, 2)],
    ),
}

FOREIGN = {
    "Employees": {"ReportsTo": "employees"},
    "Products": {"CategoryID": "Categories"},
    "Orders": {"CustomerID": "Customers", "EmployeeID": "Employees"},
    "Order Details": {"OrderID": "Orders", "ProductID": "Products"},
    "Territories": {"CategoryID": "Categories"},
    "EmployeeTerritories": {"EmployeeID": "Employees", "TerritoryID": "Territories"},
}

LINKS = {
    *(
        ("Alfreds", "Country", "Germany"),
        ("Blauer See", "Country", "Germany"),
        ("Trujillo", "Country", "Mexico"),
    ),
    *(("Nancy Davolio", "Title", "Representative"), ("Janet Leverling", "Title", "Representative")),
    *(
        ("Andrew Fuller", "Title", "Manager"),
        ("Chai", "CategoryID", "Beverages"),
        ("Chang", "CategoryID", "Beverages"),
    ),
    *(("Aniseed Syrup", "CategoryID", "Condiments"), ("Ikura", "CategoryID", "Seafood")),
    *(("Alfreds", "EmployeeID", "Nancy Davolio"), ("Alfreds", "EmployeeID", "Janet Leverling")),
    *(("Trujillo", "EmployeeID", "Janet Leverling"), ("Trujillo", "ProductID", "Ikura")),
    *(("Alfreds", "ProductID", product) for product in ("Chai", "Aniseed Syrup", "Chang")),
    *(("Nancy Davolio", "TerritoryID", "Westboro"), ("Nancy Davolio", "TerritoryID", "Roseville")),
    *(("Janet Leverling", "TerritoryID", "Bellevue"), ("Westboro", "CategoryID", "Beverages")),
    *(("Bellevue", "CategoryID", "Beverages"), ("Roseville", "CategoryID", "Condiments")),
    *(
        ("Nancy Davolio", "ReportsTo", "Andrew Fuller"),
        ("Janet Leverling", "ReportsTo", "Andrew Fuller"),
    ),
}


def said(graph: KnowledgeGraph) -> set[tuple[str, str, str]]:
    return {
        (graph.labels[h], graph.relation_ids[r], graph.labels[t])
        for h, r, t in graph.triples.tolist()
    }


def shop(folder: Path, form: str) -> Path:
    """Return a shop as a database, with or without foreign keys, as files or as JSON lists."""
    names = {
        table: [column.split()[0] for column in _columns(columns)]
        for table, (columns, _) in TABLES.items()
    }
    if form in ("declared", "undeclared"):
        path = folder / "shop.db"
        with closing(sqlite3.connect(path)) as connection, connection:
            for table, (columns, rows) in TABLES.items():
                foreign = FOREIGN.get(table, {}) if form == "declared" else {}
                keys = "".join(
                    f", FOREIGN KEY ({column}) REFERENCES {other}"
                    for column, other in foreign.items()
                )
                connection.execute(f'CREATE TABLE "{table}" ({columns}{keys})')
                connection.executemany(
                    f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(rows[0]))})', rows
                )
        return path
    path = folder / "shop"
    path.mkdir()
    if form == "files":
        for table, (_, rows) in TABLES.items():
            with (path / f"{table}.csv").open("w", newline="") as file:
                csv.writer(file).writerows([names[table], *rows])
        return path
    lists = {
        table: [dict(zip(names[table], row, strict=True)) for row in rows]
        for table, (_, rows) in TABLES.items()
    }
    if form == "lists":
        (path / "shop.json").write_text(json.dumps(lists))
        return path / "shop.json"
    for table, records in lists.items():
        (path / f"{table}.json").write_text(json.dumps(records))
    return path


def _columns(columns: str) -> list[str]:
    return columns.partition(", PRIMARY KEY (")[0].split(", ")


@pytest.mark.parametrize("form", ["declared", "undeclared", "files", "lists", "json"])
def test_a_database_is_a_graph_of_what_has_names(tmp_path: Path, form: str) -> None:
    with pytest.warns(ReadWarning) as found:
        graph = read(shop(tmp_path, form))
    messages = "\n".join(str(one.message) for one in found)
    assert "describe those of another table: " in messages
    assert "orders of customers by CustomerID" in messages
    assert "are read as" in messages
    assert said(graph) == LINKS
    assert {"ALFKI", "employees:1", "products:1", "categories:1", "territories:1"} <= {*graph.ids}
    assert not any(name.startswith("order") for name in graph.ids)


COMPONENTS = {
    "components": [
        {"bom-ref": f"pkg:{name}@1", "type": "library", "name": name}
        for name in ("serde", "syn", "quote")
    ],
    "dependencies": [
        {"ref": "pkg:serde@1", "dependsOn": ["pkg:syn@1", "pkg:quote@1"]},
        {"ref": "pkg:syn@1", "dependsOn": ["pkg:quote@1"]},
        {"ref": "pkg:quote@1"},
    ],
}


def test_lists_of_a_document_may_meet_by_keys_of_other_names(write) -> None:
    """As in the bill of materials of CycloneDX."""
    with pytest.warns(ReadWarning, match="of another table: dependencies of components by ref"):
        graph = read(write("bom.json", json.dumps(COMPONENTS)))
    depends = {
        ("serde", "dependsOn", "syn"),
        ("serde", "dependsOn", "quote"),
        ("syn", "dependsOn", "quote"),
    }
    assert said(graph) == depends | {
        (name, "type", "library") for name in ("serde", "syn", "quote")
    }
    assert graph.skipped == 0


def test_a_table_of_two_keys_and_a_relation_holds_triples(write) -> None:
    """As in SPDX."""
    packages = [
        {"SPDXID": f"SPDXRef-{name}", "name": name} for name in ("glibc", "openssl", "curl")
    ]
    links = [
        {
            "spdxElementId": f"SPDXRef-{head}",
            "relationshipType": relation,
            "relatedSpdxElement": f"SPDXRef-{tail}",
        }
        for head, relation, tail in (
            ("curl", "DEPENDS_ON", "openssl"),
            ("openssl", "DYNAMIC_LINK", "glibc"),
        )
    ]
    graph = read(
        write("spdx.json", json.dumps({"packages": packages, "relationships": links})),
        on_error="skip",
    )
    assert said(graph) == {("curl", "DEPENDS_ON", "openssl"), ("openssl", "DYNAMIC_LINK", "glibc")}


def test_files_may_name_rows_by_columns_of_the_same_name(write) -> None:
    """As those of IMDb do, where a cell may list several."""
    folder = write(
        "imdb/title.basics.tsv",
        "tconst\tkind\tprimaryTitle\ntt1\tmovie\tAlien\ntt2\tmovie\tHeat\ntt3\tmovie\tAliens\n",
    ).parent
    write(
        "imdb/name.basics.tsv",
        "nconst\tprimaryName\tborn\tknownForTitles\nnm1\tWeaver\t1949\ttt1,tt3\n"
        "nm2\tPacino\t1940\ttt2\n",
    )
    write(
        "imdb/title.principals.tsv",
        "tconst\tordering\tnconst\ntt1\t1\tnm1\ntt3\t1\tnm1\ntt2\t1\tnm2\n",
    )
    assert said(read(folder, on_error="skip")) == {
        *((title, "kind", "movie") for title in ("Alien", "Heat", "Aliens")),
        *(
            ("Alien", "nconst", "Weaver"),
            ("Aliens", "nconst", "Weaver"),
            ("Heat", "nconst", "Pacino"),
        ),
        *(("Weaver", "knownForTitles", "Alien"), ("Weaver", "knownForTitles", "Aliens")),
        ("Pacino", "knownForTitles", "Heat"),
    }


def test_frames_may_name_rows_of_one_another() -> None:
    films = pd.DataFrame({"film_id": [1, 2, 3], "title": ["Alien", "Heat", "Ronin"]})
    casts = pd.DataFrame({"film_id": [1, 2, 3, 2], "actor_id": [1, 2, 3, 3]})
    actors = pd.DataFrame({"actor_id": [1, 2, 3], "name": ["Weaver", "Pacino", "De Niro"]})
    assert said(read(films, casts, actors, on_error="skip")) == {
        *(("Alien", "actor_id", "Weaver"), ("Heat", "actor_id", "Pacino")),
        *(("Heat", "actor_id", "De Niro"), ("Ronin", "actor_id", "De Niro")),
    }


def test_kinds_of_elements_may_name_one_another(write) -> None:
    authors = "".join(
        f'<author id="{at}"><name>{name}</name></author>' for at, name in ((1, "Ann"), (2, "Bob"))
    )
    books = "".join(
        f'<book id="{at}"><title>{title}</title><author_id>{at % 2 + 1}</author_id></book>'
        for at, title in ((1, "Cats"), (2, "Dogs"), (3, "Birds"))
    )
    path = write("db.xml", f"<db><authors>{authors}</authors><books>{books}</books></db>")
    with pytest.warns(ReadWarning, match="are read as author:…, book:…"):
        graph = read(path)
    assert said(graph) == {
        ("Cats", "author_id", "Bob"),
        ("Dogs", "author_id", "Ann"),
        ("Birds", "author_id", "Bob"),
    }


def test_equal_codes_of_different_tables_are_kept_apart(write) -> None:
    """AS is Asia in one table and American Samoa in the other; a repeated own code is no link."""
    continents = {
        code: {"name": name} for code, name in (("AS", "Asia"), ("EU", "Europe"), ("OC", "Oceania"))
    }
    countries = {
        "AS": {"iso": "AS", "name": "American Samoa", "continentcode": "OC", "neighbours": ""},
        "JP": {"iso": "JP", "name": "Japan", "continentcode": "AS", "neighbours": ""},
        "NO": {"iso": "NO", "name": "Norway", "continentcode": "EU", "neighbours": "SE,FI"},
        "SE": {"iso": "SE", "name": "Sweden", "continentcode": "EU", "neighbours": "NO,FI"},
        "FI": {"iso": "FI", "name": "Finland", "continentcode": "EU", "neighbours": "NO,SE"},
    }
    folder = write("geo/continents.json", json.dumps(continents)).parent
    write("geo/countries.json", json.dumps(countries))
    graph = read(folder, on_error="skip")
    assert said(graph) == {
        *(("American Samoa", "continentcode", "Oceania"), ("Japan", "continentcode", "Asia")),
        *((name, "continentcode", "Europe") for name in ("Norway", "Sweden", "Finland")),
        *(("Norway", "neighbours", "Sweden"), ("Norway", "neighbours", "Finland")),
        *(("Sweden", "neighbours", "Norway"), ("Sweden", "neighbours", "Finland")),
        *(("Finland", "neighbours", "Norway"), ("Finland", "neighbours", "Sweden")),
    }
    assert {"continents:AS", "countries:AS"} <= {*graph.ids}


NODES = [
    {"id": at, "label": label, "group_id": at % 2 + 1}
    for at, label in ((1, "Ann"), (2, "Bob"), (3, "Cy"))
]
EDGES = [
    {"source": 1, "relation": "knows", "target": 2},
    {"source": 3, "relation": "knows", "target": 1},
]
GROUPS = [{"id": 1, "name": "red"}, {"id": 2, "name": "blue"}]


@pytest.mark.parametrize("form", ["lists", "files"])
def test_ends_of_links_are_nodes_even_where_ids_get_prefixes(write, form: str) -> None:
    tables = {"nodes": NODES, "edges": EDGES, "groups": GROUPS}
    if form == "lists":
        path = write("graph.json", json.dumps(tables))
    else:
        for name, rows in tables.items():
            lines = [",".join(map(str, row.values())) for row in rows]
            path = write(f"graph/{name}.csv", "\n".join([",".join(rows[0]), *lines])).parent
    assert said(read(path, on_error="skip")) == {
        *(("Ann", "knows", "Bob"), ("Cy", "knows", "Ann")),
        *(("Ann", "group_id", "blue"), ("Bob", "group_id", "red"), ("Cy", "group_id", "blue")),
    }


def test_nodes_and_edges_alone_keep_their_ids(write) -> None:
    nodes = [{"id": node["id"], "label": node["label"]} for node in NODES]
    graph = read(
        write("graph.json", json.dumps({"nodes": nodes, "edges": EDGES})), on_error="raise"
    )
    assert sorted(graph.ids) == ["1", "2", "3"]


def test_lists_with_the_same_ids_get_prefixes_without_keys(write) -> None:
    films = [
        {"id": at, "title": title, "genre": "crime"} for at, title in ((1, "Heat"), (2, "Ronin"))
    ]
    people = [{"id": at, "name": name, "country": "UK"} for at, name in ((1, "Ann"), (2, "Bob"))]
    graph = read(
        write("both.json", json.dumps({"films": films, "people": people})), on_error="skip"
    )
    assert said(graph) == {
        *(("Heat", "genre", "crime"), ("Ronin", "genre", "crime")),
        *(("Ann", "country", "UK"), ("Bob", "country", "UK")),
    }


def test_rows_without_names_may_say_something_of_rows_without_names(write) -> None:
    """Rows that name no row are left out, and none of their texts becomes a label."""
    folder = write(
        "db/posts.csv", "id,title,topic\n1,Cats,animals\n2,Dogs,animals\n3,Rome,travel\n"
    ).parent
    body = (
        "What is written here is so long that it can be no label of anything and this is "
        "remark {} of them."
    )
    comments = (
        (1, 1, "glad"),
        (2, 1, "glad"),
        (3, "", "sad"),
        (4, 3, "sad"),
        (5, 3, "sad"),
        (6, 3, "sad"),
    )
    rows = [f"{at},{post},{body.format(at)},{mood}" for at, post, mood in comments]
    write("db/comments.csv", "\n".join(["id,post_id,body,mood", *rows]))
    write("db/replies.csv", "id,comment_id,answer\n1,1,thanks\n2,4,thanks\n3,2,sure\n4,5,sure\n")
    graph = read(folder, on_error="skip")
    topics = {
        ("Cats", "topic", "animals"),
        ("Dogs", "topic", "animals"),
        ("Rome", "topic", "travel"),
    }
    answers = {
        ("Cats", "answer", "thanks"),
        ("Cats", "answer", "sure"),
        ("Rome", "answer", "thanks"),
    }
    assert said(graph) == topics | answers | {
        ("Cats", "mood", "glad"),
        ("Rome", "mood", "sad"),
        ("Rome", "answer", "sure"),
    }
    assert graph.skipped == 0


def test_faults_of_joined_tables_are_counted(write) -> None:
    folder = write(
        "db/films.csv", 'id,title,studio_id\n1,Alien,2\n2,"He"at",1\n3,Up,2\n4,Ran\n'
    ).parent
    write("db/studios.csv", "id,name\n1,Fox\n2,Toho\n")
    people = "\n".join(f"{at},{'x' * (at % 97)}{at * at % 8191}" for at in range(40_000))
    write("db/people.csv.gz", gzip.compress(f"id,name\n{people}".encode())[:-4000])
    with pytest.warns(ReadWarning) as found:
        graph = read(folder)
    assert "left out a file that cannot be read: " in "\n".join(str(one.message) for one in found)
    assert "films:4" in {*graph.ids}
    assert said(graph) == {("Alien", "studio_id", "Toho"), ("Up", "studio_id", "Toho")}
    assert graph.skipped == 1
    with pytest.raises(ReadError, match=r"films.csv:3: expected cells"):
        read(folder / "films.csv", folder / "studios.csv", on_error="raise")


def test_keys_in_a_circle(tmp_path: Path) -> None:
    path = tmp_path / "circle.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, b_id INTEGER REFERENCES b, colour TEXT);
            CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a, shape TEXT);
            INSERT INTO a VALUES (1, 1, 'red'), (2, 2, 'red'), (3, 3, 'blue'), (4, 4, 'blue');
            INSERT INTO b VALUES (1, 2, 'round'), (2, 3, 'round'), (3, 4, 'flat'), (4, 1, 'flat');
            """
        )
    graph = read(path, on_error="skip")
    about = {"red": "23", "blue": "41", "round": "23", "flat": "41"}  # a row of b is of one of a
    assert [*graph.ids] == [*"2341", "red", "blue", "round", "flat"]
    assert said(graph) == {
        (row, "colour" if value in ("red", "blue") else "shape", value)
        for value, rows in about.items()
        for row in rows
    }


def test_what_is_no_key_joins_nothing(write) -> None:
    """Ranks are equal numbers in both tables, and years occur in no id column."""
    folder = write(
        "db/films.csv",
        "rank,name,year,genre\n1,Alien,1979,horror\n2,Heat,1995,crime\n3,Up,2009,crime\n",
    ).parent
    write(
        "db/songs.csv", "rank,name,year,genre\n1,Help,1965,pop\n2,Jump,1983,rock\n3,Love,1965,pop\n"
    )
    graph = read(folder, on_error="skip")
    assert {*graph.ids} >= {"Alien", "Heat", "Up", "Help", "Jump", "Love"}
    assert {relation for _, relation, _ in said(graph)} <= {"genre"}


NAMES = (
    "id",
    "name",
    "film_id",
    "films",
    "title",
    "parent_id",
    "type",
    "source",
    "target",
    "first_name",
    "ref",
    "",
)
VALUES = st.one_of(
    st.none(),
    st.integers(0, 4),
    st.sampled_from(["1", "2", "01", "a", "b", "films:1", "a|b", "a,b", " ", "NA"]),
    st.lists(st.sampled_from(["1", "a", 2]), max_size=2),
    st.fixed_dictionaries({"id": st.integers(0, 3)}),
)
RECORDS = st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5), max_size=5)


@settings(deadline=None)  # the first call takes longer than the others, on a busy machine too long
@given(
    st.dictionaries(
        st.sampled_from(["films", "people", "film_people", "links", ""]), RECORDS, max_size=4
    )
)
def test_whatever_lists_hold_they_are_read_or_refused(
    lists: dict[str, list[dict[str, Any]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(ReadError):
        path = Path(folder) / "lists.json"
        path.write_text(json.dumps(lists))
        graph = read(path, on_error="skip")
        assert len(graph.ids) == len({*graph.ids}) > 0


def test_taxa_and_their_names_in_languages(write) -> None:
    """As in Darwin Core, by which the Catalogue of Life and GBIF give out theirs."""
    taxa = [
        ("taxonID", "parentNameUsageID", "scientificName", "canonicalName", "taxonRank"),
        ("9703", "", "Felidae Fischer, 1817", "Felidae", "family"),
        ("404", "9703", "Panthera Oken, 1816", "Panthera", "genus"),
        ("405", "404", "Panthera leo (Linnaeus, 1758)", "Panthera leo", "species"),
        ("406", "404", "Panthera tigris (Linnaeus, 1758)", "Panthera tigris", "species"),
    ]
    names = [
        ("taxonID", "vernacularName", "language"),
        ("406", "tiger", "en"),
        ("406", "Tiger", "de"),
        ("405", "lion", "en"),
    ]
    folder = write("dwc/Taxon.tsv", "\n".join(map("\t".join, taxa))).parent
    write("dwc/VernacularName.tsv", "\n".join(map("\t".join, names)))
    graph = read(folder, on_error="skip")
    tiger = graph.ids.index("taxon:406")
    assert graph.labels[tiger] == "Panthera tigris (Linnaeus, 1758)"
    assert set(graph.synonyms[tiger]) == {"Panthera tigris", "tiger", "Tiger"}
    assert {("Panthera Oken, 1816", "is_a", "Felidae Fischer, 1817")} < said(graph)
    assert len(graph.hierarchy().links) == 3
