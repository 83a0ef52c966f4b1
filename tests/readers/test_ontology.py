from __future__ import annotations

from ontodex.readers import read
from tests.graph_strategies import says

PREFIXES = """@prefix ex: <http://example.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix schema: <https://schema.org/> .
"""
PETS = (
    PREFIXES
    + """
ex:Animal a owl:Class ; rdfs:subClassOf owl:Thing ; rdfs:label "animal"@en .
ex:Dog a owl:Class ; rdfs:subClassOf ex:Animal ,
  [ a owl:Restriction ; owl:onProperty ex:hasPart ; owl:someValuesFrom ex:Tail ] ;
  <http://purl.obolibrary.org/obo/IAO_0000115> "An animal that barks." ; owl:disjointWith ex:Cat ;
  <http://www.geneontology.org/formats/oboInOwl#hasExactSynonym> "hound" .
ex:Cat a owl:Class ; rdfs:subClassOf ex:Animal ,
  [ a owl:Restriction ; owl:onProperty ex:hasPart ; owl:allValuesFrom ex:Dog ] .
ex:Tail a owl:Class .
ex:Pet a owl:Class ; owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( ex:Animal
  [ a owl:Restriction ; owl:onProperty ex:ownedBy ; owl:someValuesFrom ex:Person ] ) ] .
ex:LapDog a owl:Class ; rdfs:subClassOf ex:Dog ;
  owl:equivalentClass [ owl:intersectionOf ( ex:Animal
  [ a owl:Restriction ; owl:onProperty ex:ownedBy ; owl:someValuesFrom ex:Person ] ) ] .
ex:Person a owl:Class .
ex:Old a owl:Class ; rdfs:subClassOf ex:Dog ; owl:deprecated "true"^^xsd:boolean .
ex:hasPart a owl:ObjectProperty ; rdfs:label "hasPart" .
ex:ownedBy a owl:ObjectProperty ; rdfs:domain ex:Pet ;
  rdfs:range [ owl:unionOf ( ex:Person ex:Cat ) ] .
ex:age a owl:DatatypeProperty ; rdfs:domain ex:Pet ; rdfs:range xsd:int .
ex:rex a owl:NamedIndividual , ex:Dog ; ex:ownedBy ex:ann .
ex:ann a ex:Person .
ex:nobody a owl:NamedIndividual ; rdfs:label "nobody" .
[] a owl:Axiom ; owl:annotatedSource ex:Dog ; owl:annotatedProperty rdfs:subClassOf ;
  owl:annotatedTarget ex:Animal .
"""
)


def test_owl(write) -> None:
    graph = read(write("pets.ttl", PETS), on_error="raise")
    said = says(graph)
    assert said["known"] == {
        ("ex:Dog", "rdfs:subClassOf", "ex:Animal"),
        ("ex:Cat", "rdfs:subClassOf", "ex:Animal"),
        ("ex:LapDog", "rdfs:subClassOf", "ex:Dog"),
        ("ex:Pet", "rdfs:subClassOf", "ex:Animal"),
        ("ex:Dog", "ex:hasPart", "ex:Tail"),
        ("ex:Pet", "ex:ownedBy", "ex:Person"),
        ("ex:Pet", "ex:ownedBy", "ex:Cat"),
        ("ex:LapDog", "ex:ownedBy", "ex:Person"),
        ("ex:rex", "rdf:type", "ex:Dog"),
        ("ex:ann", "rdf:type", "ex:Person"),
        ("ex:rex", "ex:ownedBy", "ex:ann"),
    }
    assert said["entities"]["ex:Dog"] == ("Dog", {"hound"}, "An animal that barks.")
    assert not {"ex:Old", "ex:hasPart", "owl:Thing"} & set(graph.ids)
    assert said["entities"]["ex:nobody"] == ("nobody", set(), "")
    assert said["relations"] == {
        "rdfs:subClassOf": "is a",
        "ex:hasPart": "has part",
        "ex:ownedBy": "owned by",
        "rdf:type": "type",
    }
    assert len(graph.hierarchy("is a").links) == 4
    assert len(graph.hierarchy().links) == 6  # rex is a dog, and ann a person


def test_classes_that_are_the_same_are_linked_and_share_the_hierarchy(write) -> None:
    more = "ex:Hound a owl:Class ; owl:equivalentClass ex:Dog , ex:Hound , owl:Thing , ex:Old ."
    graph = read(write("pets.ttl", PETS + more), on_error="raise")
    same = {triple for triple in says(graph)["known"] if triple[1] == "owl:equivalentClass"}
    assert same == {("ex:Hound", "owl:equivalentClass", "ex:Dog")}
    assert says(graph)["relations"]["owl:equivalentClass"] == "equivalent class"
    hierarchy = graph.hierarchy()
    hound, dog, animal, lapdog = (
        graph.ids.index(f"ex:{name}") for name in ("Hound", "Dog", "Animal", "LapDog")
    )
    assert len(hierarchy.links) == 9  # rex is a dog and a hound, and ann a person
    assert hierarchy.parents(hound).tolist() == hierarchy.parents(dog).tolist() == [animal]
    assert hierarchy.parents(lapdog).tolist() == sorted([dog, hound])


def test_definitions_alone_make_an_ontology(write) -> None:
    text = f"""{PREFIXES} ex:Pet a owl:Class . ex:Dog a owl:Class . ex:Cat a owl:Class .
ex:LapDog a owl:Class ; owl:equivalentClass [ owl:intersectionOf ( ex:Dog
  [ a owl:Restriction ; owl:onProperty ex:livesIn ; owl:someValuesFrom ex:House ] ) ] .
ex:Pet owl:equivalentClass [ owl:unionOf ( ex:Dog ex:Cat ) ] ."""
    assert says(read(write("a.ttl", text), on_error="raise"))["known"] == {
        ("ex:LapDog", "rdfs:subClassOf", "ex:Dog"),
        ("ex:LapDog", "ex:livesIn", "ex:House"),
        ("ex:Dog", "rdfs:subClassOf", "ex:Pet"),
        ("ex:Cat", "rdfs:subClassOf", "ex:Pet"),
    }


def test_schema_org(write) -> None:
    graph = read(
        write(
            "schema.ttl",
            PREFIXES
            + """schema:Thing a rdfs:Class . schema:Person a rdfs:Class ;
              rdfs:subClassOf schema:Thing .
schema:Organization a rdfs:Class ; rdfs:subClassOf schema:Thing .
schema:DataType a rdfs:Class ; rdfs:subClassOf rdfs:Class .
schema:Text a schema:DataType , rdfs:Class .
schema:worksFor a rdf:Property ; rdfs:label "worksFor" ; schema:domainIncludes schema:Person ;
  schema:rangeIncludes schema:Organization , schema:Text , xsd:string .
""",
        )
    )
    assert says(graph)["known"] == {
        ("schema:Person", "rdfs:subClassOf", "schema:Thing"),
        ("schema:Organization", "rdfs:subClassOf", "schema:Thing"),
        ("schema:Text", "rdf:type", "schema:DataType"),
        ("schema:Person", "schema:worksFor", "schema:Organization"),
        ("schema:Person", "schema:worksFor", "schema:Text"),
    }
    assert says(graph)["relations"]["schema:worksFor"] == "works for"


def test_a_list_that_bites_its_tail_ends(write) -> None:
    graph = read(
        write(
            "a.ttl",
            PREFIXES + "ex:A a owl:Class ; rdfs:subClassOf ex:B ; "
            "owl:equivalentClass [ owl:intersectionOf _:l ] .\n"
            + "_:l rdf:first ex:B ; rdf:rest _:l . ex:C owl:equivalentClass _:e . "
            "_:e owl:intersectionOf _:m .\n" + "_:m rdf:first _:e ; rdf:rest _:m .",
        )
    )
    assert graph.n_triples == 1


def test_individuals_and_concepts_beside_classes_stay(write) -> None:
    data = (
        'ex:bob a ex:Someone ; rdfs:label "Bob" ; ex:knows ex:ann . ex:ann a ex:Someone ; '
        'rdfs:label "Ann" .\n'
        'ex:red a <http://www.w3.org/2004/02/skos/core#Concept> ; rdfs:label "red" .\n'
    )
    graph = read(
        write("a.ttl", PREFIXES + data + "ex:Guide a owl:Class ; rdfs:subClassOf ex:Dog ."),
        on_error="raise",
    )
    alone = says(read(write("b.ttl", PREFIXES + data), on_error="raise"))
    assert says(graph)["known"] == alone["known"] | {("ex:Guide", "rdfs:subClassOf", "ex:Dog")}
    assert alone["entities"].items() <= says(graph)["entities"].items()


def test_classes_that_only_axioms_name_count(write) -> None:
    more = (
        "ex:Child a owl:Class ; rdfs:subClassOf [ owl:onProperty ex:hasPart ; "
        "owl:someValuesFrom obo:X_1 ] ,\n"
        "  [ owl:onProperty ex:age ; owl:someValuesFrom xsd:int ] ,\n"
        "  [ owl:onProperty ex:age ; owl:someValuesFrom ex:Years ] .\n"
        "ex:Years a rdfs:Datatype ; owl:equivalentClass [ a rdfs:Datatype ; "
        "owl:onDatatype xsd:int ] .\n"
        "ex:age owl:equivalentClass ex:Tail .\n"
        "ex:Owner owl:equivalentClass [ owl:intersectionOf ( obo:X_2\n"
        "  [ owl:onProperty ex:hasPart ; owl:someValuesFrom ex:Old ]\n"
        "  [ owl:onProperty ex:hasPart ; owl:someValuesFrom ex:Tail ] ) ] .\n"
    )
    pets, graph = (
        read(write("pets.ttl", PETS)),
        read(write("more.ttl", PETS + more), on_error="raise"),
    )
    assert says(graph)["known"] - says(pets)["known"] == {
        ("ex:Child", "ex:hasPart", "X:1"),
        ("ex:Owner", "rdfs:subClassOf", "X:2"),
        ("ex:Owner", "ex:hasPart", "ex:Tail"),
    }
    assert set(graph.ids) - set(pets.ids) == {"ex:Child", "ex:Owner", "X:1", "X:2"}


def test_data_beside_classes_stays_and_annotations_do_not(write) -> None:
    facts = (
        "ex:ann a ex:Person ; ex:worksFor ex:acme ; ex:livesIn <http://far.org/Berlin> . "
        'ex:acme rdfs:label "Acme" .\n'
        'ex:acme ex:locatedIn ex:berlin . ex:berlin rdfs:label "Berlin" .\n'
    )
    ontology = (
        'ex: a owl:Ontology ; rdfs:label "of persons" ; ex:madeBy ex:ann . '
        'ex:worksFor rdfs:label "works for" .\n'
        "ex:Person a owl:Class ; rdfs:subClassOf ex:Being ; ex:seen <http://far.org/Person> .\n"
        "ex:hint a owl:AnnotationProperty .\n"
        "ex:ann ex:seen <http://far.org/ann> ; ex:hint <http://far.org/hint> ; "
        "rdfs:seeAlso <http://far.org/more> ;\n"
        "  owl:sameAs <http://far.org/me> ; schema:sameAs <http://far.org/me> ; ex:madeBy [] ; "
        "ex:uses ex:worksFor .\n"
        'ex:Years a rdfs:Datatype ; rdfs:label "years" . ex:parts a owl:ObjectProperty ; '
        'rdfs:label "parts" .\n'
    )
    said = says(read(write("a.ttl", PREFIXES + facts + ontology), on_error="raise"))
    alone = says(read(write("b.ttl", PREFIXES + facts), on_error="raise"))
    assert said["known"] == alone["known"] | {("ex:Person", "rdfs:subClassOf", "ex:Being")}
    assert said["entities"].keys() == alone["entities"].keys() | {"ex:Being"}
    assert said["entities"]["ex:acme"] == ("Acme", set(), "")


def test_restrictions_that_say_that_there_is_one(write) -> None:
    content = (
        PREFIXES
        + """
ex:Dog a owl:Class ; rdfs:subClassOf ex:Animal ,
  [ owl:onProperty ex:from ; owl:hasValue ex:Wales ] ,
  [ owl:onProperty ex:age ; owl:hasValue 3 ] ,
  [ owl:onProperty ex:has ; owl:qualifiedCardinality "4"^^xsd:nonNegativeInteger ;
    owl:onClass ex:Leg ] ,
  [ owl:onProperty ex:has ; owl:minQualifiedCardinality "1"^^xsd:nonNegativeInteger ;
    owl:onClass ex:Tail ] ,
  [ owl:onProperty ex:has ; owl:minQualifiedCardinality "0"^^xsd:nonNegativeInteger ;
    owl:onClass ex:Fin ] ,
  [ owl:onProperty ex:has ; owl:maxQualifiedCardinality "9"^^xsd:nonNegativeInteger ;
    owl:onClass ex:Wing ] .
ex:Wales a owl:NamedIndividual ; rdfs:label "Wales" .
ex:CatOrDog a owl:Class ; owl:equivalentClass [ owl:unionOf ( ex:Cat ex:Dog ) ] .
ex:Cat a owl:Class . ex:Animal a owl:Class .
"""
    )
    assert says(read(write("dogs.ttl", content), on_error="raise"))["known"] == {
        ("ex:Dog", "rdfs:subClassOf", "ex:Animal"),
        ("ex:Dog", "ex:from", "ex:Wales"),
        ("ex:Dog", "ex:has", "ex:Leg"),
        ("ex:Dog", "ex:has", "ex:Tail"),
        ("ex:Cat", "rdfs:subClassOf", "ex:CatOrDog"),
        ("ex:Dog", "rdfs:subClassOf", "ex:CatOrDog"),
    }
