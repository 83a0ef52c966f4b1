"""OBO graphs in JSON."""

from __future__ import annotations

from ontodex.readers import read
from tests.graph_strategies import says


def test_obographs(write) -> None:
    content = """{"graphs": [{"nodes": [
      {"id": "http://purl.obolibrary.org/obo/X_1", "lbl": "one", "type": "CLASS",
       "meta": {"definition": {"val": "first"}, "synonyms": [{"pred": "hasExactSynonym",
         "val": "uno"}],
        "basicPropertyValues": [{"pred": "http://purl.obolibrary.org/obo/RO_1",
          "val": "http://purl.obolibrary.org/obo/X_2"},
         {"pred": "http://purl.obolibrary.org/obo/RO_2", "val": "two"}, {"pred": "oio:id",
           "val": "X:1"},
         {"pred": "http://www.w3.org/2000/01/rdf-schema#seeAlso",
           "val": "http://purl.obolibrary.org/obo/X_2"}]}},
      {"id": "http://purl.obolibrary.org/obo/X_2", "lbl": "two", "type": "CLASS"},
      {"id": "http://purl.obolibrary.org/obo/X_3", "meta": {"deprecated": true}},
      {"id": "http://purl.obolibrary.org/obo/BFO_0000050", "lbl": "part of", "type": "PROPERTY"},
        {"lbl": "bad"},
      {"id": "http://www.geneontology.org/formats/oboInOwl#id", "lbl": "id", "type": "PROPERTY"}],
     "edges": [
      {"sub": "http://purl.obolibrary.org/obo/BFO_0000050", "pred": "inverseOf",
        "obj": "http://x.org/has_part"},
      {"sub": "http://purl.obolibrary.org/obo/BFO_0000050", "pred": "subPropertyOf",
        "obj": "http://x.org/overlaps"},
      {"sub": "http://purl.obolibrary.org/obo/X_1", "pred": "is_a",
        "obj": "http://purl.obolibrary.org/obo/X_2"},
      {"sub": "http://purl.obolibrary.org/obo/X_3", "pred": "is_a",
        "obj": "http://purl.obolibrary.org/obo/X_2"},
      {"sub": "x"}],
     "logicalDefinitionAxioms": [
      {"definedClassId": "http://purl.obolibrary.org/obo/X_1",
        "genusIds": ["http://purl.obolibrary.org/obo/X_4"],
       "restrictions": [{"propertyId": "http://purl.obolibrary.org/obo/BFO_0000050",
                         "fillerId": "http://purl.obolibrary.org/obo/X_2"}]},
      {"definedClassId": "http://purl.obolibrary.org/obo/X_2",
        "genusIds": ["http://purl.obolibrary.org/obo/X_4"]}]}]}"""
    graph = read(write("a.json", content), on_error="skip")
    assert says(graph)["entities"] == {
        "X:1": ("one", {"uno"}, "first"),
        "X:2": ("two", set(), ""),
        "X:4": ("X:4", set(), ""),
    }
    parents = {("X:1", "is_a", "X:2"), ("X:2", "is_a", "X:4")}
    assert says(graph)["known"] == {*parents, ("X:1", "BFO:0000050", "X:2"), ("X:1", "RO:1", "X:2")}
    assert says(graph)["relations"] == {"is_a": "is a", "BFO:0000050": "part of", "RO:1": "RO:1"}
    assert graph.skipped == 2
    marked = content.replace('{"graphs"', '{ "graphs"')[:-1] + ', "@type": "GraphDocument"}'
    assert says(read(write("b.json", marked), on_error="skip")) == says(graph)
