"""Reified statements give the links that they state."""

from __future__ import annotations

import pytest

from ontodex.readers import read
from tests.graph_strategies import says

HEAD = """@prefix : <http://example.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix oban: <http://purl.org/oban/> . @prefix biolink: <https://w3id.org/biolink/vocab/> .
:g1 rdfs:label "gene one" . :d1 rdfs:label "illness one" . :causes rdfs:label "causes" .
"""
CLAIMS = {
    "rdf:Statement": ":s1 a rdf:Statement ; rdf:subject :g1 ; rdf:predicate :causes ; "
    "rdf:object :d1 .",
    "a blank node": "[] a rdf:Statement ; rdf:subject :g1 ; rdf:predicate :causes ; "
    "rdf:object :d1 .",
    "without a type": ":s1 rdf:subject :g1 ; rdf:predicate :causes ; rdf:object :d1 .",
    "with a label": ':s1 rdfs:label "claim one" ; rdf:subject :g1 ; rdf:predicate :causes ; '
    "rdf:object :d1 .",
    "oban": """:s1 a oban:association ; oban:association_has_subject :g1 ;
        oban:association_has_predicate :causes ; oban:association_has_object :d1 .""",
    "older oban": """:s1 a oban:association ; oban:association_has_subject :g1 ;
        oban:association_has_object_property :causes ; oban:association_has_object :d1 .""",
    "owl:Axiom": """[] a owl:Axiom ; owl:annotatedSource :g1 ; owl:annotatedProperty :causes ;
        owl:annotatedTarget :d1 .""",
    "stated twice": """:g1 :causes :d1 . :s1 a rdf:Statement ; rdf:subject :g1 ;
      rdf:predicate :causes ;
        rdf:object :d1 .""",
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_statement_gives_the_link_that_it_states(write, claim: str) -> None:
    said = says(read(write("a.ttl", HEAD + CLAIMS[claim]), on_error="warn"))
    assert said["known"] == {(":g1", ":causes", ":d1")}
    assert set(said["entities"]) == {":g1", ":d1"}
    assert said["relations"] == {":causes": "causes"}


def test_a_statement_that_is_denied_gives_no_link(write) -> None:
    denied = ':g1 :near :d1 . :s1 biolink:negated "true" .'
    said = says(read(write("a.ttl", HEAD + CLAIMS["oban"] + denied), on_error="raise"))
    assert said["known"] == {(":g1", ":near", ":d1")}


def test_statements_beside_classes(write) -> None:
    classes = (
        ":Gene a owl:Class ; rdfs:subClassOf :Thing . :g1 a :Gene . :d1 a :Thing . "
        ":causes a owl:ObjectProperty ."
    )
    said = says(read(write("a.ttl", HEAD + classes + CLAIMS["oban"]), on_error="raise"))
    assert (":g1", ":causes", ":d1") in said["known"]
    assert not any("association" in name for name in said["entities"])


def test_an_annotated_axiom_adds_nothing_to_the_one_that_it_annotates(write) -> None:
    classes = ":A a owl:Class ; rdfs:subClassOf :B . :B a owl:Class ."
    axiom = """[] a owl:Axiom ; owl:annotatedSource :A ; owl:annotatedProperty rdfs:subClassOf ;
        owl:annotatedTarget :B ; rdfs:comment "surely" ; :source :g1 ."""
    plain, annotated = (
        says(read(write(name, HEAD + text), on_error="warn"))
        for name, text in (("a.ttl", classes), ("b.ttl", classes + axiom))
    )
    assert annotated == plain


def test_a_triple_that_is_only_named_is_not_stated(write) -> None:
    text = """VERSION "1.2"
PREFIX : <http://example.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
:ada rdfs:label "Ada" ; :spouse :bob {| :start "1984" ; :source :registry |} .
<< :ada :employer :acme ~ :claim1 >> :source :gossip .
:claim2 rdf:reifies <<( :bob :employer :acme )>> ; :source :registry .
"""
    known = says(read(write("a.ttl", text), on_error="raise"))["known"]
    assert (":ada", ":spouse", ":bob") in known
    assert not any(relation == ":employer" for _, relation, _ in known)


WIKIDATA = """@prefix wd: <http://www.wikidata.org/entity/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix s: <http://www.wikidata.org/entity/statement/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
wd:Q1 rdfs:label "Ada"@en ; p:P26 s:1, s:2 ; p:P108 s:3, s:4, s:5 ; p:P20 s:6 .
s:1 a wikibase:Statement ; ps:P26 wd:Q2 ; wikibase:rank wikibase:NormalRank ; pq:P580 wd:Q9 .
s:2 a wikibase:Statement ; ps:P26 wd:Q3 ; wikibase:rank wikibase:NormalRank .
s:3 a wikibase:Statement ; ps:P108 wd:Q4 ; wikibase:rank wikibase:PreferredRank .
s:4 a wikibase:Statement ; ps:P108 wd:Q5 ; wikibase:rank wikibase:NormalRank .
s:5 a wikibase:Statement ; ps:P108 wd:Q6 ; wikibase:rank wikibase:DeprecatedRank .
s:6 a wikibase:Statement ; ps:P20 wd:Q7 ; wikibase:rank wikibase:DeprecatedRank .
"""


def test_statements_of_wikidata_count_as_its_direct_claims(write) -> None:
    path = write("a.ttl", WIKIDATA)
    stated = {
        ("wd:Q1", "wdt:P26", "wd:Q2"),
        ("wd:Q1", "wdt:P26", "wd:Q3"),
        ("wd:Q1", "wdt:P108", "wd:Q4"),
    }
    assert says(read(path, on_error="raise"))["known"] == stated
    direct = write("b.ttl", WIKIDATA + "wd:Q1 wdt:P26 wd:Q2 .")
    assert says(read(direct, on_error="raise"))["known"] == stated - {("wd:Q1", "wdt:P26", "wd:Q3")}
