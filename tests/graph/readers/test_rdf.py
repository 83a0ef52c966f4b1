from __future__ import annotations

import gzip
import json
import socket

import pyoxigraph
import pytest
import rdflib
from graph_strategies import says

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning, read

DATA = """@prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
ex:dog rdfs:label "Hund"@de, "dog"@en, "plain" ; skos:altLabel "hound"@en, "Köter"@de ; skos:definition "barks" .
ex:cat rdfs:label "Katze"@de, "cat" ; rdfs:comment "chat"@fr .
ex:dog ex:chases ex:cat ; ex:age 3 ; ex:knows [ ex:name "x" ] ; a ex:Animal .
ex:chases a owl:ObjectProperty ; rdfs:label "runsAfter" .
ex:old owl:deprecated true ; ex:chases ex:cat .
ex:mouse rdfs:label "mouse"@en .
<http://example.org/> a owl:Ontology ; owl:imports <http://127.0.0.1:9/never.owl> .
"""
SAID = {
    "known": {("ex:dog", "ex:chases", "ex:cat"), ("ex:dog", "rdf:type", "ex:Animal")},
    "entities": {
        "ex:dog": ("dog", {"hound"}, "barks"),
        "ex:cat": ("cat", set(), "chat"),
        "ex:Animal": ("Animal", set(), ""),
        "ex:mouse": ("mouse", set(), ""),
    },
    "former": {},
    "relations": {"ex:chases": "runsAfter", "rdf:type": "type"},
    "valid": set(),
    "test": set(),
}


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the reader went to the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_plain_data_in_turtle(write) -> None:
    assert says(read(write("a.ttl", DATA), on_error="raise")) == SAID


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.nt", pyoxigraph.RdfFormat.N_TRIPLES),
        ("a.nq", pyoxigraph.RdfFormat.N_QUADS),
        ("a.trig", pyoxigraph.RdfFormat.TRIG),
        ("a.rdf", pyoxigraph.RdfFormat.RDF_XML),
        ("a.jsonld", pyoxigraph.RdfFormat.JSON_LD),
        ("plain", pyoxigraph.RdfFormat.RDF_XML),
        ("lines", pyoxigraph.RdfFormat.N_TRIPLES),
    ],
)
def test_every_syntax_says_the_same(write, name: str, format: pyoxigraph.RdfFormat) -> None:
    quads = (quad.triple for quad in pyoxigraph.parse(DATA, format=pyoxigraph.RdfFormat.TURTLE))
    content = pyoxigraph.serialize(quads, format=format, prefixes={"ex": "http://example.org/"})
    graph = read(write(name, content), on_error="raise")
    long = {name.replace("ex:", "http://example.org/") for name in SAID["entities"]}
    assert set(graph.ids) in (set(SAID["entities"]), long)
    assert set(graph.labels) == {entry[0] for entry in SAID["entities"].values()}
    assert graph.n_triples == 2


def test_labels_are_those_that_rdflib_finds(write) -> None:
    reference = rdflib.Graph().parse(data=DATA, format="turtle")
    graph = read(write("a.ttl", DATA), on_error="skip")
    compared = 0
    for name, label in zip(graph.ids, graph.labels, strict=True):
        node = rdflib.URIRef(name.replace("ex:", "http://example.org/"))
        found = {(text.language, str(text)) for text in reference.objects(node, rdflib.RDFS.label)}
        for language in ("en", None, "de"):
            if texts := {text for tag, text in found if tag == language}:
                assert label in texts
                compared += 1
                break
    assert compared == 3  # dog, cat and mouse; chases is a relation


def test_named_graphs_are_read(write) -> None:
    content = "<http://x.org/a> <http://x.org/r> <http://x.org/b> <http://x.org/g> .\n"
    assert read(write("a.nq", content)).n_triples == 1


@pytest.mark.parametrize("bad", [b"broken line", b'<http://x.org/a> <http://x.org/r> "\xff" .', b"<a> <b>\0 <c> ."])
@pytest.mark.parametrize("name", ["a.nt", "a.nq"])
def test_lines_go_on_after_a_fault(write, name: str, bad: bytes) -> None:
    good = b"<http://x.org/a> <http://x.org/r> <http://x.org/%d> .\n"
    path = write(name, good % 1 + bad + b"\n" + good % 2)
    with pytest.warns(ReadWarning, match=f"{name}:2: expected a statement"):
        graph = read(path)
    assert (graph.n_triples, graph.skipped) == (2, 1)
    with pytest.raises(ReadError) as error:
        read(path, on_error="raise")
    assert error.value.line == 2


@pytest.mark.parametrize("policy", ["raise", "warn", "skip"])
@pytest.mark.parametrize("name", ["a.ttl", "a.trig"])
def test_half_a_document_never_passes_for_a_whole(write, name: str, policy: str) -> None:
    path = write(name, DATA + "ex:a ex:b oops .\nex:b ex:c ex:d .\n")
    with pytest.raises(ReadError, match="2 of 13 lines were not read") as error:
        read(path, on_error=policy)
    assert error.value.line == 12


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.ttl", DATA.encode().replace(b"barks", b"caf\xe9")),
        (
            "a.rdf",
            b'<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><open></rdf:RDF>',
        ),
        ("a.jsonld", b'{"@id": "http://x.org/a", "http://x.org/r": '),
        ("a.jsonld", b'{"@context": "http://127.0.0.1:9/context", "@id": "http://x.org/a"}'),
        ("a.json", b"[" * 100_000),
        ("a.json", b'{"some": "json"}'),
        ("a.json", b'{"graphs": [{"nodes": 1, "edges": {"sub": 2}}, 3]}'),
    ],
)
def test_broken_documents(write, name: str, content: bytes) -> None:
    with pytest.raises(ReadError):
        read(write(name, content), on_error="skip")


def test_skos(write) -> None:
    graph = read(
        write(
            "a.ttl",
            "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix ex: <http://x.org/> .\n"
            'ex:dog skos:broader ex:pet ; skos:prefLabel "dog" . ex:pet skos:narrower ex:cat .',
        )
    )
    assert says(graph)["known"] == {("ex:dog", "skos:broader", "ex:pet"), ("ex:cat", "skos:broader", "ex:pet")}
    assert len(graph.hierarchy().links) == 2


def test_relative_names_do_not_tell_where_the_file_lay(write) -> None:
    assert read(write("my file.ttl", "<#a> <#r> <#b> .")).ids[0] == "file:///my%20file.ttl#a"


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


def test_a_context_elsewhere_is_not_fetched_and_that_is_said(write) -> None:
    path = write("a.jsonld", '{"@context": "https://schema.org/", "@id": "http://x.org/a", "name": "a"}')
    with pytest.raises(ReadError, match="Nothing is fetched: write the context into the document"):
        read(path)


def nested(**film: object) -> str:
    return json.dumps({"@context": {"@vocab": "http://schema.org/"}, "@type": "Film", **film})


def test_nodes_without_a_name_are_the_cause_that_is_named(write) -> None:
    with pytest.raises(ReadError, match=r"only blank nodes; .*@id"):
        read(write("a.jsonld", nested(year=1979, director={"@type": "Person"})))


def test_nodes_without_an_iri_are_known_by_their_names(write) -> None:
    director = {"@type": "Person", "name": "Ridley  Scott", "description": "An English director."}
    path = write("a.jsonld", nested(**{"@id": "http://x.org/1", "name": "Alien", "director": director}))
    said = says(read(path, on_error="raise"))
    assert said["entities"]["Ridley Scott"] == ("Ridley Scott", set(), "An English director.")
    assert {("http://x.org/1", "http://schema.org/director", "Ridley Scott")} < said["known"]
    assert ("Ridley Scott", "rdf:type", "http://schema.org/Person") in said["known"]


def test_namesakes_without_an_iri_are_one_if_the_same_is_said_of_them(write) -> None:
    text = """@prefix x: <http://x.org/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
x:f1 x:by [ foaf:name "John Smith" ; x:born x:rome ] . x:f2 x:by [ foaf:name "John Smith" ; x:born x:oslo ] .
x:f3 x:by [ foaf:name "John Smith" ; x:born x:rome ] . x:f4 x:by [ foaf:name "x:f1" ] .
"""
    with pytest.warns(ReadWarning, match=r"left out 1 link\(s\) to nodes"):
        known = says(read(write("a.ttl", text)))["known"]
    directors = {film: director for film, relation, director in known if relation == "x:by"}
    assert directors["x:f1"] == directors["x:f3"] != directors["x:f2"]
    assert {directors["x:f1"], directors["x:f2"]} == {"John Smith", "John Smith (2)"}


def test_links_to_nodes_without_any_name_are_counted(write) -> None:
    text = "@prefix x: <http://x.org/> . x:film x:cast ( x:ann x:bob ) ; x:by x:cy ; x:shot [ x:at x:sea ] ."
    with pytest.warns(ReadWarning, match=r"left out 1 link\(s\) to nodes without an IRI or a name .*x.org/shot"):
        graph = read(write("a.ttl", text))
    assert says(graph)["known"] == {
        ("x:film", "x:by", "x:cy"),
        ("x:film", "x:cast", "x:ann"),
        ("x:film", "x:cast", "x:bob"),
    }


def test_what_is_said_of_properties_is_no_fact(write) -> None:
    text = """@prefix x: <http://x.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:Person a owl:Class . x:Film a owl:Class .
x:directed a owl:ObjectProperty ; rdfs:domain x:Person ; rdfs:range x:Film ; owl:inverseOf x:directedBy ;
  rdfs:subPropertyOf x:made . x:directedBy a owl:ObjectProperty . x:made a owl:ObjectProperty .
x:ann a x:Person ; x:directed x:alien . x:alien a x:Film . x:made owl:propertyChainAxiom ( x:directed x:made ) .
"""
    graph = read(write("a.ttl", text))
    assert {"x:directed", "x:directedBy", "x:made"}.isdisjoint(graph.ids)
    assert set(graph.relation_ids) == {"rdf:type", "x:directed"}


def test_obographs(write) -> None:
    content = """{"graphs": [{"nodes": [
      {"id": "http://purl.obolibrary.org/obo/X_1", "lbl": "one", "type": "CLASS",
       "meta": {"definition": {"val": "first"}, "synonyms": [{"pred": "hasExactSynonym", "val": "uno"}],
        "basicPropertyValues": [{"pred": "http://purl.obolibrary.org/obo/RO_1", "val": "http://purl.obolibrary.org/obo/X_2"},
         {"pred": "http://purl.obolibrary.org/obo/RO_2", "val": "two"}, {"pred": "oio:id", "val": "X:1"},
         {"pred": "http://www.w3.org/2000/01/rdf-schema#seeAlso", "val": "http://purl.obolibrary.org/obo/X_2"}]}},
      {"id": "http://purl.obolibrary.org/obo/X_2", "lbl": "two", "type": "CLASS"},
      {"id": "http://purl.obolibrary.org/obo/X_3", "meta": {"deprecated": true}},
      {"id": "http://purl.obolibrary.org/obo/BFO_0000050", "lbl": "part of", "type": "PROPERTY"}, {"lbl": "bad"},
      {"id": "http://www.geneontology.org/formats/oboInOwl#id", "lbl": "id", "type": "PROPERTY"}],
     "edges": [
      {"sub": "http://purl.obolibrary.org/obo/BFO_0000050", "pred": "inverseOf", "obj": "http://x.org/has_part"},
      {"sub": "http://purl.obolibrary.org/obo/BFO_0000050", "pred": "subPropertyOf", "obj": "http://x.org/overlaps"},
      {"sub": "http://purl.obolibrary.org/obo/X_1", "pred": "is_a", "obj": "http://purl.obolibrary.org/obo/X_2"},
      {"sub": "http://purl.obolibrary.org/obo/X_3", "pred": "is_a", "obj": "http://purl.obolibrary.org/obo/X_2"},
      {"sub": "x"}],
     "logicalDefinitionAxioms": [
      {"definedClassId": "http://purl.obolibrary.org/obo/X_1", "genusIds": ["http://purl.obolibrary.org/obo/X_4"],
       "restrictions": [{"propertyId": "http://purl.obolibrary.org/obo/BFO_0000050",
                         "fillerId": "http://purl.obolibrary.org/obo/X_2"}]},
      {"definedClassId": "http://purl.obolibrary.org/obo/X_2", "genusIds": ["http://purl.obolibrary.org/obo/X_4"]}]}]}"""
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


THESAURUS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix ex: <http://x.org/> .
ex:all a skos:ConceptScheme ; skos:prefLabel "all there is" ; skos:hasTopConcept ex:pet .
ex:pet a skos:Concept ; skos:prefLabel "Haustier"@de, "animal familier"@fr ; skos:topConceptOf ex:all .
ex:dog a skos:Concept ; skos:inScheme ex:all ; skos:broader ex:pet ; skos:prefLabel "chien"@fr, "Hund"@de ;
  skos:hiddenLabel "Hnud"@de ; skos:scopeNote "Nur der Haushund."@de .
ex:c7 a skos:Concept ; skos:broader ex:pet ; skos:altLabel "cat", "kitty" .
ex:pets a skos:Collection ; skos:prefLabel "kept at home" ; skos:member ex:dog .
"""


@pytest.mark.parametrize("begin", ["", "\n", '<?xml version="1.0"?>\n'])
def test_a_document_without_a_type_is_known_by_its_first_element(write, begin: str) -> None:
    text = f"""{begin}<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:x="http://x.org/" xmlns:owl="http://www.w3.org/2002/07/owl#">
  <owl:Ontology/>
  <x:Pet rdf:about="http://x.org/rex"><x:owner rdf:resource="http://x.org/ann"/></x:Pet>
</rdf:RDF>"""
    assert ("x:rex", "x:owner", "x:ann") in says(read(write("a.rdf", text), on_error="raise"))["known"]
    lines = "<http://x.org/a> <http://x.org/p> <http://x.org/b> .\n"
    assert read(write("a.rdf", lines), on_error="raise").n_triples == 1


def test_a_document_that_only_holds_rdf_is_no_rdf(write) -> None:
    rdf = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.org/"'
    inside = '<rdf:RDF><x:Pet rdf:about="http://x.org/rex"><x:owner rdf:resource="http://x.org/ann"/></x:Pet></rdf:RDF>'
    model = (
        f'<sbml {rdf}><note>{inside}</note><species id="a" name="water"/><species id="b" name="acid" of="a"/></sbml>'
    )
    assert {"a", "b"} <= set(read(write("model.xml", model)).ids)
    for name, content in (
        ("a.xml", inside.replace("<rdf:RDF", f"<!-- pets --><rdf:RDF {rdf}")),
        (
            "b.xml",
            f"<!DOCTYPE rdf:RDF [<!ENTITY x 'pets'>]>{inside.replace('<rdf:RDF', f'<rdf:RDF {rdf}')}".replace("'", '"'),
        ),
        ("c.xml", f'<x:Pet {rdf} rdf:about="http://x.org/rex"><x:owner rdf:resource="http://x.org/ann"/></x:Pet>'),
    ):
        assert ("x:rex", "x:owner", "x:ann") in says(read(write(name, content), on_error="raise"))["known"]


@pytest.mark.parametrize("name", ["a.ttl", "a.trig"])
def test_a_name_that_only_turtle_takes_is_a_name(write, name: str) -> None:
    graph = read(write(name, "@prefix x: <http://x.org/> . x:a x:p x:b\U000e01ef ."))
    assert list(graph.ids) == ["x:a", "x:b\U000e01ef"]


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
        assert {("mouse", relation, "ex:pet"), ("goldfish", relation, "fish")} < says(graph)["known"]
    assert len(read(write("a.ttl", THESAURUS), table).hierarchy_relations) == 1


@pytest.mark.parametrize("name", ["hp[1].ttl", "100%.ttl", "a{b}.ttl", "a^b.ttl", "a b.ttl", "q#1.ttl"])
def test_any_file_name_will_do(write, name: str) -> None:
    ids = list(read(write(name, "<#a> <http://x.org/r> <#b> ."), on_error="raise").ids)
    assert all(identifier.startswith("file:///") for identifier in ids)
    assert len({identifier.rpartition("#")[0] for identifier in ids}) == 1


WIKIBASE = """@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix schema: <http://schema.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix data: <https://www.wikidata.org/wiki/Special:EntityData/> .
data:Q1 a schema:Dataset ; schema:about wd:Q1 ; schema:license <http://cc.org/0> .
<https://en.wikipedia.org/W> schema:about wd:Q1 ; schema:name "Writer" ; schema:isPartOf <https://en.wikipedia.org/> .
wd:Q1 a wikibase:Item ; rdfs:label "writer"@en ; wdt:P279 wd:Q2 ; p:P279 <http://www.wikidata.org/entity/statement/Q1-1> .
<http://www.wikidata.org/entity/statement/Q1-1> a wikibase:Statement ; wikibase:rank wikibase:NormalRank ;
  <http://www.wikidata.org/prop/statement/P279> wd:Q2 .
wd:Q2 a wikibase:Item ; rdfs:label "author"@en . wd:Q3 a schema:Book ; schema:about wd:Q4 .
wd:P279 a wikibase:Property ; rdfs:label "subclass of"@en ; wikibase:directClaim wdt:P279 ; wikibase:claim p:P279 ;
  wikibase:propertyType wikibase:WikibaseItem . wdt:P279 a owl:ObjectProperty .
"""


def test_wikidata_is_its_direct_claims_under_the_names_of_the_properties(write) -> None:
    graph = read(write("a.ttl", WIKIBASE), on_error="raise")
    of_books = {("wd:Q3", "schema:about", "wd:Q4"), ("wd:Q3", "rdf:type", "schema:Book")}
    assert says(graph)["known"] == {("wd:Q1", "wdt:P279", "wd:Q2"), *of_books}
    assert set(graph.ids) == {"wd:Q1", "wd:Q2", "wd:Q3", "wd:Q4", "schema:Book"}
    assert says(graph)["relations"]["wdt:P279"] == "subclass of"
    assert len(graph.hierarchy().links) == 1


def test_titles_and_names_of_other_vocabularies_are_labels_where_there_is_no_other(write) -> None:
    content = """@prefix ex: <http://x.org/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
    @prefix dc: <http://purl.org/dc/elements/1.1/> . @prefix dct: <http://purl.org/dc/terms/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
    ex:b1 dc:title "War and Peace" ; ex:by ex:p1 . ex:b2 dct:title "Anna Karenina" . ex:p1 foaf:name "Leo Tolstoy" .
    ex:g1 <http://www.geonames.org/ontology#name> "Paris" . ex: a owl:Ontology ; dct:title "Books" .
    ex:p2 dct:title "no" ; foaf:name "Leo" ; rdfs:label "Leo Perutz" . ex:S%C3%A3o_Paulo ex:in ex:Brazil ."""
    said = says(read(write("a.ttl", content), on_error="raise"))["entities"]
    labels = ("War and Peace", "Anna Karenina", "Leo Tolstoy", "Paris", "Leo Perutz", "São Paulo", "Brazil")
    assert {entry[0] for entry in said.values()} == set(labels)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_gzip_file_that_was_cut_off_is_no_smaller_graph(write, share: float) -> None:
    triples = "".join(f"<http://x.org/e{at:05}> <http://x.org/r> <http://x.org/f{at:05}> .\n" for at in range(20_000))
    whole = gzip.compress(triples.encode())
    path = write("cut.ttl.gz", whole[: int(share * len(whole))])
    with pytest.raises(ReadError, match="a damaged one"):
        read(path, on_error="skip")


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


def test_a_link_to_a_list_leads_to_its_members(write) -> None:
    text = """{"@context": {"@vocab": "https://schema.org/", "author": {"@container": "@list"}}, "@graph": [
      {"@id": "http://x/1", "name": "A", "author": [{"@id": "http://x/p", "name": "P"}, {"@id": "http://x/q", "name": "Q"}]},
      {"@id": "http://x/2", "name": "B", "author": []}]}"""
    said = says(read(write("a.jsonld", text), on_error="raise"))
    assert said["known"] == {("http://x/1", "schema:author", f"http://x/{one}") for one in "pq"}
    circle = "@prefix x: <http://x/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
    circle += "x:a x:has _:l . _:l rdf:first x:b ; rdf:rest _:m . _:m rdf:first x:c ; rdf:rest _:l ."
    wanted = {("x:a", "x:has", "x:b"), ("x:a", "x:has", "x:c")}
    assert says(read(write("b.ttl", circle), on_error="raise"))["known"] == wanted
