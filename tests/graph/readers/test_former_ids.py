"""Ids that others have taken over."""

from __future__ import annotations

import pytest
from graph_strategies import says

from ontodex.graph import read

OWL = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix old: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
obo:X_1 a owl:Class ; rdfs:label "one" ; old:hasAlternativeId "X:11", "X:2" .
obo:X_11 a owl:Class ; owl:deprecated true .
obo:X_12 a owl:Class ; rdfs:label "obsolete two" ; owl:deprecated true ; obo:IAO_0100001 obo:X_2 .
obo:X_13 a owl:Class ; rdfs:label "split" ; owl:deprecated true ; obo:IAO_0100001 obo:X_1, obo:X_2 .
obo:X_2 a owl:Class ; rdfs:label "two" ; rdfs:subClassOf obo:X_11 .
obo:X_3 a owl:Class ; rdfs:label "three" ; rdfs:subClassOf obo:X_12 .
obo:X_12 rdfs:subClassOf obo:X_3 .
"""


OBOGRAPH = """{"graphs": [{"nodes": [
  {"id": "http://purl.obolibrary.org/obo/X_1", "lbl": "one", "type": "CLASS", "meta": {"basicPropertyValues": [
    {"pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId", "val": "X:11"},
    {"pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId", "val": "X:2"}]}},
  {"id": "http://purl.obolibrary.org/obo/X_3", "lbl": "three", "type": "CLASS"},
  {"id": "http://purl.obolibrary.org/obo/X_2", "lbl": "two", "type": "CLASS"},
  {"id": "http://purl.obolibrary.org/obo/X_12", "lbl": "obsolete two", "meta": {"deprecated": true, "basicPropertyValues":
    [{"pred": "http://purl.obolibrary.org/obo/IAO_0100001", "val": "http://purl.obolibrary.org/obo/X_2"}]}},
  {"id": "http://purl.obolibrary.org/obo/X_11", "type": "CLASS", "meta": {"deprecated": true}}],
  "edges": [
  {"sub": "http://purl.obolibrary.org/obo/X_3", "pred": "is_a", "obj": "http://purl.obolibrary.org/obo/X_12"},
  {"sub": "http://purl.obolibrary.org/obo/X_12", "pred": "is_a", "obj": "http://purl.obolibrary.org/obo/X_3"},
  {"sub": "http://purl.obolibrary.org/obo/X_2", "pred": "is_a", "obj": "http://purl.obolibrary.org/obo/X_11"}]}]}"""


@pytest.mark.parametrize(("name", "content"), [("a.ttl", OWL), ("a.json", OBOGRAPH)])
def test_former_ids_stand_for_their_classes(write, name: str, content: str) -> None:
    notes = write("notes.tsv", "G:1\tcauses\tX:11\nG:1\tcauses\tX:12\n")
    for sources in ([write(name, content), notes], [notes, write(name, content)]):
        graph = read(*sources, on_error="raise")
        assert set(graph.ids) == {"X:1", "X:2", "X:3", "G:1"}
        above = [(head, tail) for head, relation, tail in says(graph)["known"] if relation != "causes"]
        assert set(above) == {("X:2", "X:1"), ("X:3", "X:2")}
        assert {("G:1", "causes", "X:1"), ("G:1", "causes", "X:2")} < says(graph)["known"]
        assert says(graph)["former"] == {"X:1": {"X:11"}, "X:2": {"X:12"}}


def test_what_replaces_another_is_not_linked_to_itself(write) -> None:
    text = """@prefix ex: <http://x.org/> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    @prefix dct: <http://purl.org/dc/terms/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
    ex:new skos:prefLabel "New" ; skos:broader ex:old, ex:top ; dct:replaces ex:old ; ex:likes ex:new .
    ex:top skos:prefLabel "Top" . ex:child skos:prefLabel "Child" ; skos:broader ex:old .
    ex:old skos:prefLabel "Old" ; owl:deprecated true ; dct:isReplacedBy ex:new ."""
    assert says(read(write("a.ttl", text), on_error="raise"))["known"] == {
        ("ex:new", "skos:broader", "ex:top"),
        ("ex:new", "ex:likes", "ex:new"),
        ("ex:child", "skos:broader", "ex:new"),
    }
