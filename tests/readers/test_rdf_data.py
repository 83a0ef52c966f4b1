"""Plain data in RDF: which nodes are entities, which triples are facts."""

from __future__ import annotations

import json

import pytest

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says


def test_what_is_said_of_properties_is_no_fact(write) -> None:
    text = """@prefix x: <http://x.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:Person a owl:Class . x:Film a owl:Class .
x:directed a owl:ObjectProperty ; rdfs:domain x:Person ; rdfs:range x:Film ;
  owl:inverseOf x:directedBy ;
  rdfs:subPropertyOf x:made . x:directedBy a owl:ObjectProperty . x:made a owl:ObjectProperty .
x:ann a x:Person ; x:directed x:alien . x:alien a x:Film .
x:made owl:propertyChainAxiom ( x:directed x:made ) .
"""
    graph = read(write("a.ttl", text))
    assert {"x:directed", "x:directedBy", "x:made"}.isdisjoint(graph.ids)
    assert set(graph.relation_ids) == {"rdf:type", "x:directed"}


def nested(**film: object) -> str:
    return json.dumps({"@context": {"@vocab": "http://schema.org/"}, "@type": "Film", **film})


def test_nodes_without_a_name_are_the_cause_that_is_named(write) -> None:
    with pytest.raises(ReadError, match=r"only blank nodes; .*@id"):
        read(write("a.jsonld", nested(year=1979, director={"@type": "Person"})))


def test_nodes_without_an_iri_are_known_by_their_names(write) -> None:
    director = {"@type": "Person", "name": "Ridley  Scott", "description": "An English director."}
    path = write(
        "a.jsonld", nested(**{"@id": "http://x.org/1", "name": "Alien", "director": director})
    )
    said = says(read(path, on_error="raise"))
    assert said["entities"]["Ridley Scott"] == ("Ridley Scott", set(), "An English director.")
    assert {("http://x.org/1", "http://schema.org/director", "Ridley Scott")} < said["known"]
    assert ("Ridley Scott", "rdf:type", "http://schema.org/Person") in said["known"]


def test_namesakes_without_an_iri_are_one_if_the_same_is_said_of_them(write) -> None:
    text = """@prefix x: <http://x.org/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
x:f1 x:by [ foaf:name "John Smith" ; x:born x:rome ] . x:f2 x:by [ foaf:name "John Smith" ;
  x:born x:oslo ] .
x:f3 x:by [ foaf:name "John Smith" ; x:born x:rome ] . x:f4 x:by [ foaf:name "x:f1" ] .
"""
    with pytest.warns(ReadWarning, match=r"left out 1 link\(s\) to nodes"):
        known = says(read(write("a.ttl", text)))["known"]
    directors = {film: director for film, relation, director in known if relation == "x:by"}
    assert directors["x:f1"] == directors["x:f3"] != directors["x:f2"]
    assert {directors["x:f1"], directors["x:f2"]} == {"John Smith", "John Smith (2)"}


def test_links_to_nodes_without_any_name_are_counted(write) -> None:
    text = (
        "@prefix x: <http://x.org/> . x:film x:cast ( x:ann x:bob ) ; x:by x:cy ; "
        "x:shot [ x:at x:sea ] ."
    )
    with pytest.warns(
        ReadWarning, match=r"left out 1 link\(s\) to nodes without an IRI or a name .*x.org/shot"
    ):
        graph = read(write("a.ttl", text))
    assert says(graph)["known"] == {
        ("x:film", "x:by", "x:cy"),
        ("x:film", "x:cast", "x:ann"),
        ("x:film", "x:cast", "x:bob"),
    }


def test_a_link_to_a_list_leads_to_its_members(write) -> None:
    text = """{"@context": {"@vocab": "https://schema.org/", "author": {"@container": "@list"}},
      "@graph": [
      {"@id": "http://x/1", "name": "A", "author": [{"@id": "http://x/p", "name": "P"},
        {"@id": "http://x/q", "name": "Q"}]},
      {"@id": "http://x/2", "name": "B", "author": []}]}"""
    said = says(read(write("a.jsonld", text), on_error="raise"))
    assert said["known"] == {("http://x/1", "schema:author", f"http://x/{one}") for one in "pq"}
    circle = (
        "@prefix x: <http://x/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
    )
    circle += (
        "x:a x:has _:l . _:l rdf:first x:b ; rdf:rest _:m . _:m rdf:first x:c ; rdf:rest _:l ."
    )
    wanted = {("x:a", "x:has", "x:b"), ("x:a", "x:has", "x:c")}
    assert says(read(write("b.ttl", circle), on_error="raise"))["known"] == wanted


WIKIBASE = """@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix schema: <http://schema.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix data: <https://www.wikidata.org/wiki/Special:EntityData/> .
data:Q1 a schema:Dataset ; schema:about wd:Q1 ; schema:license <http://cc.org/0> .
<https://en.wikipedia.org/W> schema:about wd:Q1 ; schema:name "Writer" ;
  schema:isPartOf <https://en.wikipedia.org/> .
wd:Q1 a wikibase:Item ; rdfs:label "writer"@en ; wdt:P279 wd:Q2 ;
  p:P279 <http://www.wikidata.org/entity/statement/Q1-1> .
<http://www.wikidata.org/entity/statement/Q1-1> a wikibase:Statement ;
  wikibase:rank wikibase:NormalRank ;
  <http://www.wikidata.org/prop/statement/P279> wd:Q2 .
wd:Q2 a wikibase:Item ; rdfs:label "author"@en . wd:Q3 a schema:Book ; schema:about wd:Q4 .
wd:P279 a wikibase:Property ; rdfs:label "subclass of"@en ; wikibase:directClaim wdt:P279 ;
  wikibase:claim p:P279 ;
  wikibase:propertyType wikibase:WikibaseItem . wdt:P279 a owl:ObjectProperty .
"""


def test_wikidata_is_its_direct_claims_under_the_names_of_the_properties(write) -> None:
    graph = read(write("a.ttl", WIKIBASE), on_error="raise")
    of_books = {("wd:Q3", "schema:about", "wd:Q4"), ("wd:Q3", "rdf:type", "schema:Book")}
    assert says(graph)["known"] == {("wd:Q1", "wdt:P279", "wd:Q2"), *of_books}
    assert set(graph.ids) == {"wd:Q1", "wd:Q2", "wd:Q3", "wd:Q4", "schema:Book"}
    assert says(graph)["relations"]["wdt:P279"] == "subclass of"
    assert len(graph.hierarchy("subclass of").links) == 1


def test_titles_and_names_of_other_vocabularies_are_labels_where_there_is_no_other(write) -> None:
    content = """@prefix ex: <http://x.org/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
    @prefix dc: <http://purl.org/dc/elements/1.1/> . @prefix dct: <http://purl.org/dc/terms/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
    ex:b1 dc:title "War and Peace" ; ex:by ex:p1 . ex:b2 dct:title "Anna Karenina" .
    ex:p1 foaf:name "Leo Tolstoy" .
    ex:g1 <http://www.geonames.org/ontology#name> "Paris" . ex: a owl:Ontology ; dct:title "Books" .
    ex:p2 dct:title "no" ; foaf:name "Leo" ; rdfs:label "Leo Perutz" .
    ex:S%C3%A3o_Paulo ex:in ex:Brazil ."""
    said = says(read(write("a.ttl", content), on_error="raise"))["entities"]
    labels = (
        "War and Peace",
        "Anna Karenina",
        "Leo Tolstoy",
        "Paris",
        "Leo Perutz",
        "São Paulo",
        "Brazil",
    )
    assert {entry[0] for entry in said.values()} == set(labels)


BIOPAX = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xml:base="http://pc.org/"
 xmlns:bp="http://www.biopax.org/release/biopax-level3.owl#">
<bp:Protein rdf:ID="p1"><bp:displayName>GRB2</bp:displayName>
<bp:name>Growth factor receptor-bound protein 2</bp:name>
 <bp:xref rdf:resource="#x1"/></bp:Protein>
<bp:Complex rdf:ID="c1"><bp:displayName>GRB2:SOS1</bp:displayName><bp:component rdf:resource="#p1"/>
 <bp:componentStoichiometry rdf:resource="#s1"/></bp:Complex>
<bp:Stoichiometry rdf:ID="s1"><bp:physicalEntity rdf:resource="#p1"/></bp:Stoichiometry>
<bp:UnificationXref rdf:ID="x1"><bp:db>uniprot</bp:db><bp:id>P62993</bp:id></bp:UnificationXref>
</rdf:RDF>"""


def test_what_biopax_counts_and_cites_by_is_no_entity(write) -> None:
    said = says(read(write("pathway.owl", BIOPAX), on_error="raise"))
    assert said["entities"]["http://pc.org/#p1"][:2] == (
        "GRB2",
        {"Growth factor receptor-bound protein 2"},
    )
    assert said["known"] == {
        *(
            ("http://pc.org/#p1", "rdf:type", "bp:Protein"),
            ("http://pc.org/#c1", "rdf:type", "bp:Complex"),
        ),
        ("http://pc.org/#c1", "bp:component", "http://pc.org/#p1"),
    }
