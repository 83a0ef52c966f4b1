"""Concepts of SKOS."""

from __future__ import annotations

import warnings

import pytest

from ontodex.readers import read
from tests.graph_strategies import says


def test_skos(write) -> None:
    graph = read(
        write(
            "a.ttl",
            "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix ex: <http://x.org/> .\n"
            'ex:dog skos:broader ex:pet ; skos:prefLabel "dog" . ex:pet skos:narrower ex:cat .',
        )
    )
    assert says(graph)["known"] == {
        ("ex:dog", "skos:broader", "ex:pet"),
        ("ex:cat", "skos:broader", "ex:pet"),
    }
    assert len(graph.hierarchy().links) == 2


@pytest.mark.parametrize(
    ("written", "meant"),
    [("skos:broder", "core#broader"), ("rdfs:subclassOf", "rdf-schema#subClassOf"), ("", "")],
)
def test_a_misspelt_term_is_named(write, written: str, meant: str) -> None:
    source = write(
        "a.ttl",
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix ex: <http://x.org/> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        f"ex:dog skos:broader ex:pet ; skos:subject ex:cat ; {written or 'ex:broder'} ex:animal .",
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(read(source).relation_ids) == 3
    said = [str(one.message) for one in caught]
    assert len(said) == bool(meant)
    assert all("did you mean http" in one and f"{meant}?" in one for one in said)


THESAURUS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix ex: <http://x.org/> .
ex:all a skos:ConceptScheme ; skos:prefLabel "all there is" ; skos:hasTopConcept ex:pet .
ex:pet a skos:Concept ; skos:prefLabel "Haustier"@de, "animal familier"@fr ;
  skos:topConceptOf ex:all .
ex:dog a skos:Concept ; skos:inScheme ex:all ; skos:broader ex:pet ; skos:prefLabel "chien"@fr,
  "Hund"@de ;
  skos:hiddenLabel "Hnud"@de ; skos:scopeNote "Nur der Haushund."@de .
ex:c7 a skos:Concept ; skos:broader ex:pet ; skos:altLabel "cat", "kitty" .
ex:pets a skos:Collection ; skos:prefLabel "kept at home" ; skos:member ex:dog .
"""


def test_a_thesaurus_is_its_concepts(write) -> None:
    said = says(read(write("a.ttl", THESAURUS), on_error="raise"))
    assert said["entities"] == {
        "ex:pet": ("Haustier", set(), ""),
        "ex:dog": ("Hund", {"Hnud"}, "Nur der Haushund."),
        "ex:c7": ("cat", {"kitty"}, ""),
        "ex:pets": ("kept at home", set(), ""),
    }
    broader = {("ex:dog", "skos:broader", "ex:pet"), ("ex:c7", "skos:broader", "ex:pet")}
    assert said["known"] == {*broader, ("ex:pets", "skos:member", "ex:dog")}


def test_a_table_of_labels_meets_the_thesaurus(write) -> None:
    table = write("new.csv", "label,parent\nmouse,hAUSTIER\ngoldfish,fish\n")
    for sources in ([write("a.ttl", THESAURUS), table], [table, write("a.ttl", THESAURUS)]):
        graph = read(*sources, on_error="raise")
        assert "hAUSTIER" not in graph.ids
        relation = "skos:broader" if sources[0] != table else "is_a"
        assert {("mouse", relation, "ex:pet"), ("goldfish", relation, "fish")} < says(graph)[
            "known"
        ]
    assert len(read(write("a.ttl", THESAURUS), table).hierarchy_relations) == 1
