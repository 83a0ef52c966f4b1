"""Labels and definitions as resources, as in SKOS-XL."""

from __future__ import annotations

import pytest
import rdflib

from ontodex.readers import read

THESAURUS = """
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix ex: <http://example.org/> .
ex:c1 a skos:Concept ; skos:broader ex:c2 ;
  xl:prefLabel ex:l1, ex:l2 ; xl:altLabel ex:l3 ; xl:hiddenLabel [ xl:literalForm "hnd"@de ] ;
  skos:definition [ rdf:value "An animal that barks."@en ], ex:d1 ;
    skos:scopeNote <http://example.org/page> .
ex:l1 a xl:Label ; xl:literalForm "dog"@en ; rdfs:label "the label dog" ; dct:creator ex:someone .
ex:l2 a xl:Label ; xl:literalForm "Hund"@de ; xl:labelRelation ex:l1 .
ex:l3 a xl:Label ; xl:literalForm "hound"@en .
ex:d1 rdf:value "Ein Tier, das bellt."@de .
ex:c2 a skos:Concept ; xl:prefLabel ex:l4 ; skos:related ex:c3 .
ex:l4 xl:literalForm "animal"@en .
ex:c3 skos:prefLabel "person" .
"""


@pytest.mark.parametrize(
    ("language", "label", "synonyms", "definition"),
    [
        ("en", "dog", ["hound"], "An animal that barks."),
        ("de", "Hund", ["hnd"], "Ein Tier, das bellt."),
    ],
)
@pytest.mark.parametrize("from_memory", [False, True])
def test_their_texts_are_those_of_the_concepts(
    write, language: str, label: str, synonyms: list[str], definition: str, from_memory: bool
) -> None:
    source = (
        rdflib.Graph().parse(data=THESAURUS, format="turtle")
        if from_memory
        else write("pets.ttl", THESAURUS)
    )
    graph = read(source, language=language, on_error="raise")
    assert sorted(graph.ids) == ["ex:c1", "ex:c2", "ex:c3"]
    assert sorted(graph.relation_ids) == ["skos:broader", "skos:related"]
    dog = graph.ids.index("ex:c1")
    assert (graph.labels[dog], list(graph.synonyms[dog]), graph.definitions[dog]) == (
        label,
        synonyms,
        definition,
    )
    assert graph.labels[graph.ids.index("ex:c2")] == "animal"


def test_an_entity_that_passes_for_a_name_stays_one(write) -> None:
    said = (
        "@prefix ex: <http://x.org/> . "
        "@prefix oio: <http://www.geneontology.org/formats/oboInOwl#> .\n"
    )
    graph = read(
        write("a.ttl", said + "ex:trunk oio:hasRelatedSynonym ex:body . ex:body ex:part ex:arm .")
    )
    assert (sorted(graph.ids), list(graph.relation_ids)) == (["ex:arm", "ex:body"], ["ex:part"])
