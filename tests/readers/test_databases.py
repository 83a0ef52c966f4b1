"""Databases of SQLite: tables linked by their keys, and the statements of ontologies."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import rdflib

from ontodex.errors import ReadError
from ontodex.readers import read
from ontodex.readers.registry import sniff

SCRIPT = """
CREATE TABLE companies (id INTEGER PRIMARY KEY, name TEXT, country TEXT, logo BLOB);
CREATE TABLE films (
  id INTEGER PRIMARY KEY, title TEXT, company_id INTEGER REFERENCES companies(id), rating REAL
);
CREATE TABLE "an ""odd"" one" (id INTEGER);
CREATE VIEW titles AS SELECT title FROM films;
INSERT INTO companies VALUES (1, 'Toho', 'Japan', x'00ff'), (2, 'Daiei', 'Japan', NULL),
  (3, 'Svensk', 'Sweden', NULL);
INSERT INTO films VALUES (1, 'Ikiru', 1, 8.3), (2, 'Gamera', 2, 6.0),
  (3, 'Persona', 3, 8.1), (4, 'Ran', 1, 8.2);
"""

TURTLE = """@prefix ex: <http://x.org/pets#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Dog a owl:Class ; rdfs:label "dog"@en, "Hund"@de ; rdfs:subClassOf ex:Animal ;
  rdfs:subClassOf [ a owl:Restriction ; owl:onProperty ex:livesIn ; owl:someValuesFrom ex:House ] .
ex:Animal a owl:Class ; rdfs:comment "What lives." . ex:House a owl:Class .
ex:livesIn a owl:ObjectProperty ; rdfs:label "lives in" .
"""


@pytest.fixture
def films(tmp_path: Path) -> Path:
    path = tmp_path / "films.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SCRIPT)
    return path


@pytest.fixture
def semantic_sql(tmp_path: Path) -> Path:
    """A Semantic-SQL database with the statements of ``TURTLE``."""
    graph = rdflib.Graph().parse(data=TURTLE, format="turtle")

    def short(node: rdflib.term.Node) -> str:
        return (
            f"_:{node}" if isinstance(node, rdflib.BNode) else graph.namespace_manager.curie(node)
        )

    rows = [
        (short(one), short(by), None, str(other), other.language)
        if isinstance(other, rdflib.Literal)
        else (short(one), short(by), short(other), None, None)
        for one, by, other in graph
    ]
    path = tmp_path / "pets.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE statements (subject TEXT, predicate TEXT, object TEXT, value TEXT, "
            "language TEXT)"
        )
        database.executemany("INSERT INTO statements VALUES (?, ?, ?, ?, ?)", rows)
        database.execute("CREATE TABLE prefix (prefix TEXT, base TEXT)")
        database.execute("INSERT INTO prefix VALUES ('ex', 'http://x.org/pets#')")
    return path


def said(graph) -> set[tuple[str, str, str]]:
    return {
        (graph.labels[h], graph.relation_labels[r], graph.labels[t])
        for h, r, t in graph.triples.tolist()
    }


@pytest.mark.filterwarnings(
    "ignore:.*left out rating", "ignore:.*are read as", "ignore:.*left out a table"
)
def test_tables_are_linked_by_their_keys(films: Path) -> None:
    graph = read(films)
    assert sniff(films).name == "database"
    assert said(graph) == {
        *((name, "country", "Japan") for name in ("Toho", "Daiei")),
        ("Svensk", "country", "Sweden"),
        *(("Ikiru", "company", "Toho"), ("Ran", "company", "Toho")),
        *(("Gamera", "company", "Daiei"), ("Persona", "company", "Svensk")),
    }


@pytest.mark.parametrize("language", ["en", "de"])
def test_statements_say_what_the_turtle_says(semantic_sql: Path, write, language: str) -> None:
    graph = read(semantic_sql, language=language, on_error="raise")
    turtle = read(write("pets.ttl", TURTLE), language=language)
    assert said(graph) == said(turtle)
    assert ("Hund" if language == "de" else "dog") in {*graph.labels}
    assert sorted(graph.ids) == sorted(turtle.ids)
    assert {*graph.definitions} == {*turtle.definitions} == {"", "What lives."}


def test_what_cannot_be_read(films: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(films.read_bytes()[:5000] + bytes(4000))
    with pytest.raises(
        ReadError, match="expected a database of SQLite, found a damaged or locked one"
    ):
        read(damaged)
    empty = tmp_path / "empty.db"
    with closing(sqlite3.connect(empty)) as database:
        database.execute("CREATE TABLE films (id INTEGER)")
    with pytest.raises(ReadError, match="found none with a row"):
        read(empty)
    zipped = tmp_path / "films.db.gz"
    zipped.write_bytes(gzip.compress(films.read_bytes()))
    with pytest.raises(ReadError, match="unzip it"):
        read(zipped)


def test_nothing_is_written(films: Path) -> None:
    before = films.read_bytes()
    films.chmod(0o444)
    read(films, on_error="skip")
    assert films.read_bytes() == before
    assert [path.name for path in films.parent.iterdir()] == ["films.db"]
