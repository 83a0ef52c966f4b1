"""Alternative ids: replaced, merged and mapped identifiers."""

from __future__ import annotations

from itertools import permutations

import pytest

import ontodex
from ontodex.readers import read
from ontodex.readers.tables.mapping import TableMapping
from tests.graph_strategies import says

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
  {"id": "http://purl.obolibrary.org/obo/X_1", "lbl": "one", "type": "CLASS",
    "meta": {"basicPropertyValues": [
    {"pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId", "val": "X:11"},
    {"pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId", "val": "X:2"}]}},
  {"id": "http://purl.obolibrary.org/obo/X_3", "lbl": "three", "type": "CLASS"},
  {"id": "http://purl.obolibrary.org/obo/X_2", "lbl": "two", "type": "CLASS"},
  {"id": "http://purl.obolibrary.org/obo/X_12", "lbl": "obsolete two", "meta": {"deprecated": true,
    "basicPropertyValues":
    [{"pred": "http://purl.obolibrary.org/obo/IAO_0100001",
      "val": "http://purl.obolibrary.org/obo/X_2"}]}},
  {"id": "http://purl.obolibrary.org/obo/X_11", "type": "CLASS", "meta": {"deprecated": true}}],
  "edges": [
  {"sub": "http://purl.obolibrary.org/obo/X_3", "pred": "is_a",
    "obj": "http://purl.obolibrary.org/obo/X_12"},
  {"sub": "http://purl.obolibrary.org/obo/X_12", "pred": "is_a",
    "obj": "http://purl.obolibrary.org/obo/X_3"},
  {"sub": "http://purl.obolibrary.org/obo/X_2", "pred": "is_a",
    "obj": "http://purl.obolibrary.org/obo/X_11"}]}]}"""


@pytest.mark.parametrize(("name", "content"), [("a.ttl", OWL), ("a.json", OBOGRAPH)])
def test_alternative_ids_stand_for_their_classes(write, name: str, content: str) -> None:
    notes = write("notes.tsv", "G:1\tcauses\tX:11\nG:1\tcauses\tX:12\n")
    for sources in ([write(name, content), notes], [notes, write(name, content)]):
        graph = read(*sources, on_error="raise")
        assert set(graph.ids) == {"X:1", "X:2", "X:3", "G:1"}
        above = [
            (head, tail) for head, relation, tail in says(graph)["known"] if relation != "causes"
        ]
        assert set(above) == {("X:2", "X:1"), ("X:3", "X:2")}
        assert {("G:1", "causes", "X:1"), ("G:1", "causes", "X:2")} < says(graph)["known"]
        assert says(graph)["alternatives"] == {"X:1": {"X:11"}, "X:2": {"X:12"}}


def test_what_replaces_another_is_not_linked_to_itself(write) -> None:
    text = """@prefix ex: <http://x.org/> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    @prefix dct: <http://purl.org/dc/terms/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
    ex:new skos:prefLabel "New" ; skos:broader ex:old, ex:top ; dct:replaces ex:old ;
      ex:likes ex:new .
    ex:top skos:prefLabel "Top" . ex:child skos:prefLabel "Child" ; skos:broader ex:old .
    ex:old skos:prefLabel "Old" ; owl:deprecated true ; dct:isReplacedBy ex:new ."""
    assert says(read(write("a.ttl", text), on_error="raise"))["known"] == {
        ("ex:new", "skos:broader", "ex:top"),
        ("ex:new", "ex:likes", "ex:new"),
        ("ex:child", "skos:broader", "ex:new"),
    }


SAME = {
    "a.ttl": """@prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix schema: <https://schema.org/> .
@prefix x: <http://purl.obolibrary.org/obo/X_> . @prefix o: <http://purl.obolibrary.org/obo/OMIM_> .
x:1 a owl:Class ; rdfs:label "one" ; rdfs:subClassOf x:2 ; skos:exactMatch o:1 , x:2 ;
  owl:equivalentClass o:2 .
x:2 a owl:Class ; rdfs:label "two" ; skos:exactMatch o:3 ; schema:sameAs o:4 .
x:3 a owl:Class ; rdfs:label "three" ; rdfs:subClassOf x:2 ; owl:sameAs o:3 , _:b ;
  skos:closeMatch o:5 .
""",
    "a.obo": """treat-xrefs-as-equivalent: X

[Term]
id: X:1
name: one
is_a: X:2
xref: OMIM:1 {source="MONDO:equivalentTo", source="MONDO:OMIM"}
xref: OMIM:5 {source="MONDO:relatedTo"}
property_value: skos:exactMatch X:2
equivalent_to: OMIM:2

[Term]
id: X:2
name: two
property_value: skos:exactMatch OMIM:3
property_value: exactMatch OMIM:4

[Term]
id: X:3
name: three
is_a: X:2
xref: X:2
xref: OMIM:3 {source="skos:exactMatch"}
xref: OMIM:5

[Term]
id: X:4
name: obsolete one
xref: OMIM:1 {source="MONDO:equivalentTo"}
is_obsolete: true
""",
    "a.json": """{"graphs": [{"nodes": [
  {"id": "http://purl.obolibrary.org/obo/X_1", "lbl": "one", "type": "CLASS",
    "meta": {"basicPropertyValues": [
    {"pred": "http://www.w3.org/2004/02/skos/core#exactMatch",
      "val": "http://purl.obolibrary.org/obo/OMIM_1"}]}},
  {"id": "http://purl.obolibrary.org/obo/X_2", "lbl": "two", "type": "CLASS",
    "meta": {"basicPropertyValues": [
    {"pred": "http://www.w3.org/2004/02/skos/core#exactMatch",
      "val": "http://purl.obolibrary.org/obo/OMIM_4"},
    {"pred": "http://www.w3.org/2004/02/skos/core#exactMatch",
      "val": "http://purl.obolibrary.org/obo/OMIM_3"}]}},
  {"id": "http://purl.obolibrary.org/obo/X_3", "lbl": "three", "type": "CLASS",
    "meta": {"basicPropertyValues": [
    {"pred": "http://www.w3.org/2004/02/skos/core#exactMatch",
      "val": "http://purl.obolibrary.org/obo/OMIM_3"}]}}],
  "edges": [
  {"sub": "http://purl.obolibrary.org/obo/X_1", "pred": "is_a",
    "obj": "http://purl.obolibrary.org/obo/X_2"},
  {"sub": "http://purl.obolibrary.org/obo/X_3", "pred": "is_a",
    "obj": "http://purl.obolibrary.org/obo/X_2"}],
  "equivalentNodesSets": [
  {"representativeNodeId": "http://purl.obolibrary.org/obo/X_1",
   "nodeIds": ["http://purl.obolibrary.org/obo/X_1", "http://purl.obolibrary.org/obo/OMIM_2"]},
  {"nodeIds": ["http://purl.obolibrary.org/obo/X_1", "http://purl.obolibrary.org/obo/X_2"]}]}]}""",
}
"""Three terms with one, two and no unambiguous mapping to another vocabulary."""


@pytest.mark.parametrize("name", SAME)
def test_what_a_term_is_elsewhere_is_an_id_of_it(write, name: str) -> None:
    ontology = write(name, SAME[name])
    graph = read(ontology, on_error="raise")
    assert set(graph.labels) >= {"one", "two", "three"}
    assert says(graph)["alternatives"] == {"X:1": {"OMIM:1", "OMIM:2"}, "X:2": {"OMIM:4"}}
    assert {("X:1", "X:2"), ("X:3", "X:2")} <= {
        (head, tail) for head, _, tail in says(graph)["known"]
    }
    genes = write(
        "genes.tsv", "head\thead_label\trelation\ttail\nOMIM:1\tThe First\tcaused by\tG:1\n"
    )
    for sources in ([ontology, genes], [genes, ontology]):
        both = read(*sources)
        assert ("X:1", "caused by", "G:1") in says(both)["known"]
        assert says(both)["entities"]["X:1"] == ("one", {"The First"}, "")


def test_concepts_that_are_described_here_stay_two(write) -> None:
    text = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix ex: <http://x.org/> .
    ex:a skos:prefLabel "maize" ; skos:exactMatch ex:b . ex:b skos:prefLabel "corn" .
    ex:c skos:prefLabel "rice" ; skos:exactMatch ex:d . ex:d skos:broader ex:a ."""
    graph = read(write("a.ttl", text))
    assert says(graph)["known"] == {
        ("ex:a", "skos:exactMatch", "ex:b"),
        ("ex:c", "skos:exactMatch", "ex:d"),
        ("ex:d", "skos:broader", "ex:a"),
    }
    assert not says(graph)["alternatives"]


def test_a_file_of_ids_elsewhere_alone_serves_others(write) -> None:
    same = write(
        "same.nt", "<http://x.org/a> <http://www.w3.org/2002/07/owl#sameAs> <http://y.org/1> .\n"
    )
    assert says(read(same))["alternatives"] == {"http://x.org/a": {"http://y.org/1"}}
    links = write(
        "links.tsv",
        "http://x.org/a\tlikes\thttp://x.org/b\nhttp://y.org/1\tknows\thttp://x.org/b\n",
    )
    for sources in ([same, links], [links, same]):
        assert {head for head, _, _ in says(read(*sources))["known"]} == {"http://x.org/a"}


@pytest.mark.parametrize(
    "column", ["same_as", "exact_match", "exactMappings", "equivalent identifiers"]
)
def test_a_column_of_what_rows_are_elsewhere(write, column: str) -> None:
    table = f"id,label,{column}\nX:1,one,OMIM:1|OMIM:2\nX:2,two,OMIM:3\nX:3,three,OMIM:3\n"
    assert says(read(write("a.csv", table), on_error="raise"))["alternatives"] == {
        "X:1": {"OMIM:1", "OMIM:2"}
    }


def test_iris_meet_curies_of_their_vocabulary(write) -> None:
    mondo = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix m: <http://purl.obolibrary.org/obo/MONDO_> .
    m:1 a owl:Class ; rdfs:label "Marfan syndrome" ; rdfs:subClassOf m:2 ;
      skos:exactMatch <https://omim.org/entry/154700> .
    m:2 a owl:Class ; rdfs:label "disease" ."""
    notes = write("notes.tsv", "OMIM:154700\thas phenotype\tHP:1\n")
    for sources in ([write("a.ttl", mondo), notes], [notes, write("a.ttl", mondo)]):
        assert ("MONDO:1", "has phenotype", "HP:1") in says(read(*sources))["known"]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_terms_that_name_each_other_are_one(write, order: tuple[int, ...]) -> None:
    sources = [
        write("a.obo", "[Term]\nid: A:1\nname: one\nequivalent_to: B:1\nis_a: A:2\n"),
        write(
            "b.obo",
            "[Term]\nid: B:1\nname: uno\nequivalent_to: A:1\nequivalent_to: C:1\nis_a: B:2\n",
        ),
        write("c.tsv", "C:1\tlikes\tA:1\nC:1\tlikes\tB:9\nB:1\tlikes\tC:1\n"),
    ]
    graph = read(*(sources[number] for number in order), on_error="skip")
    row = graph.ids.index("A:1" if order.index(0) < order.index(1) else "B:1")
    assert set(graph.ids) == {graph.ids[row], "A:2", "B:2", "B:9"}
    assert {graph.labels[row], *graph.synonyms[row]} == {"one", "uno"}
    assert graph.labels[row] == ("one" if graph.ids[row] == "A:1" else "uno")
    assert set(graph.alternative_ids[row]) == {"A:1", "B:1", "C:1"} - {graph.ids[row]}
    assert graph.n_triples == 3


def test_declared_prefixes_meet_others_of_their_vocabulary(write) -> None:
    mapped = (
        "#curie_map:\n#  mesh: http://id.nlm.nih.gov/mesh/\n"
        "subject_id\tpredicate_id\tobject_id\nmesh:D1\tskos:closeMatch\tX:1\n"
    )
    names = write("names.obo", "[Term]\nid: MSH:D1\nname: one\nis_a: MSH:D2\n")
    for sources in ([write("a.sssom.tsv", mapped), names], [names, write("a.sssom.tsv", mapped)]):
        graph = read(*sources, on_error="skip")
        assert [
            graph.labels[row] for row in graph.heads[graph.tails == graph.ids.index("X:1")]
        ] == ["one"]


MONDO = """[Term]
id: MONDO:1
name: Marfan syndrome
xref: Orphanet:558 {source="MONDO:equivalentTo"}
is_a: MONDO:2
"""


def test_prefixes_of_one_vocabulary_meet(write) -> None:
    mondo = write("mondo.obo", MONDO)
    notes = write(
        "notes.tsv",
        "head\trelation\ttail\nORPHA:558\thas phenotype\tHP:1\nMIM:7\thas phenotype\tHP:1\n",
    )
    names = write("names.csv", "id,label\nOMIM:7,seven\nUMLS_CUI:C1,one\n")
    for sources in ([mondo, notes, names], [names, notes, mondo], [notes, mondo, names]):
        graph = read(*sources, on_error="skip")
        assert {
            head for head, relation, _ in says(graph)["known"] if relation == "has phenotype"
        } < set(graph.ids)
        assert {
            graph.labels[row] for row in graph.heads[graph.tails == graph.ids.index("HP:1")]
        } == {
            "Marfan syndrome",
            "seven",
        }
        assert (
            graph.find("ORPHA:558") == graph.find("Orphanet:558") == (graph.find("MONDO:1")[0], 3)
        )
        assert graph.labels[graph.find("UMLS:C1")[0]] == "one"
        assert graph.find("http://www.orpha.net/ORDO/Orphanet_558") == graph.find("ORPHA:558")


REPLACED = "id,label,{}\nX:1,one,\nX:2,two,X:1|OMIM:2\nX:3,three,Two\nX:4,four,OMIM:4|n/a\n"
"""Two rows that name others by id and by label, and two that have ids elsewhere."""


@pytest.mark.parametrize("column", ["replaces", "same as", "Exact match", "former ids"])
def test_alternative_ids_that_name_other_rows_are_links(write, column: str) -> None:
    table = write("a.csv", REPLACED.format(column))
    inspection = ontodex.inspect(table)
    (told,) = inspection.tables
    assert told.columns[column] == "relation; other values are alternative ids"
    for graph in (inspection.graph, read(table), read(table, mapping=inspection.mappings)):
        assert says(graph)["known"] == {("X:2", column, "X:1"), ("X:3", column, "X:2")}
        assert says(graph)["alternatives"] == {"X:2": {"OMIM:2"}, "X:4": {"OMIM:4"}}
        assert set(graph.ids) == {"X:1", "X:2", "X:3", "X:4"}


def test_names_of_rows_without_ids_are_links_too(write) -> None:
    table = write("a.csv", "Name,Kind,Replaces\nA 1,pump,\nA 2,pump,A 1\nB 1,fan,\nB 2,fan,B 1\n")
    known = says(read(table, on_error="raise"))["known"]
    assert {("A 2", "Replaces", "A 1"), ("B 2", "Replaces", "B 1")} < known


def test_former_numbers_of_counted_rows_are_no_links(write) -> None:
    table = write("a.csv", "id,label,kind,former id\n1,a,x,2\n2,b,x,3\n3,c,x,9\n")
    assert set(says(read(table, on_error="raise"))["alternatives"]) == {"3"}
    assert {relation for _, relation, _ in says(read(table))["known"]} == {"kind"}


def test_a_given_mapping_of_alternative_ids_is_kept(write) -> None:
    mapping = TableMapping(id=("id",), label=("label",), alternative_ids=("replaces",))
    graph = read(write("a.csv", REPLACED.format("replaces")), mapping=mapping, on_error="skip")
    assert not says(graph)["known"]
