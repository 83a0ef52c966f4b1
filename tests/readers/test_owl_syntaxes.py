"""OWL/XML, functional and Manchester syntax give the graph of the same axioms in Turtle."""

from __future__ import annotations

import gzip

import pytest

from ontodex.errors import ReadError
from ontodex.readers import read

HEAD = (
    '<Ontology xmlns="http://www.w3.org/2002/07/owl#" xml:base="http://x.org/pets" '
    'ontologyIRI="http://x.org/pets">'
)
AXIOMS = """
<Prefix name="ex" IRI="http://x.org/pets#"/>
<Prefix name="rdfs" IRI="http://www.w3.org/2000/01/rdf-schema#"/>
<Annotation><AnnotationProperty abbreviatedIRI="rdfs:comment"/>
<Literal>An ontology of pets.</Literal></Annotation>
<Declaration><Class IRI="#Animal"/></Declaration><Declaration><Class abbreviatedIRI="ex:Dog"/>
</Declaration>
<Declaration><Class IRI="#Pet"/></Declaration><Declaration><Class IRI="#BigDog"/></Declaration>
<Declaration><Class IRI="http://x.org/pets#Hound"/></Declaration><Declaration><Class IRI="#Gone"/>
</Declaration>
<Declaration><ObjectProperty IRI="#livesIn"/></Declaration>
<Declaration><ObjectProperty IRI="#owns"/></Declaration>
<Declaration><Class IRI="#House"/></Declaration><Declaration><NamedIndividual IRI="#Rex"/>
</Declaration>
<SubClassOf><Annotation><AnnotationProperty abbreviatedIRI="rdfs:comment"/><Literal>sure</Literal>
</Annotation>
  <Class IRI="#Dog"/><Class IRI="#Animal"/></SubClassOf>
<SubClassOf><Class IRI="#Pet"/><ObjectSomeValuesFrom><ObjectProperty IRI="#livesIn"/>
<Class IRI="#House"/>
  </ObjectSomeValuesFrom></SubClassOf>
<SubClassOf><Class IRI="#Pet"/><ObjectAllValuesFrom><ObjectProperty IRI="#livesIn"/>
<Class IRI="#House"/>
  </ObjectAllValuesFrom></SubClassOf>
<SubClassOf><Class IRI="#Pet"/><ObjectMinCardinality cardinality="2"><ObjectProperty IRI="#owns"/>
<Class IRI="#House"/>
  </ObjectMinCardinality></SubClassOf>
<SubClassOf><Class IRI="#Dog"/><ObjectMinCardinality cardinality="0"><ObjectProperty IRI="#owns"/>
<Class IRI="#House"/>
  </ObjectMinCardinality></SubClassOf>
<SubClassOf><Class IRI="#Dog"/><ObjectMaxCardinality cardinality="2"><ObjectProperty IRI="#owns"/>
<Class IRI="#Pet"/>
  </ObjectMaxCardinality></SubClassOf>
<SubClassOf><Class IRI="#BigDog"/>
<ObjectExactCardinality cardinality="1"><ObjectProperty IRI="#owns"/>
  <ObjectIntersectionOf><Class IRI="#House"/><Class IRI="#Animal"/></ObjectIntersectionOf>
  </ObjectExactCardinality>
  </SubClassOf>
<SubClassOf><Class IRI="#Hound"/><ObjectHasValue><ObjectProperty IRI="#livesIn"/>
<NamedIndividual IRI="#Kennel"/>
  </ObjectHasValue></SubClassOf>
<EquivalentClasses><ObjectIntersectionOf><Class IRI="#Dog"/>
<ObjectSomeValuesFrom><ObjectProperty IRI="#livesIn"/>
  <Class IRI="#House"/>
  </ObjectSomeValuesFrom></ObjectIntersectionOf><Class IRI="#BigDog"/></EquivalentClasses>
<EquivalentClasses><Class IRI="#Dog"/><Class IRI="#Hound"/></EquivalentClasses>
<ObjectPropertyDomain><ObjectProperty IRI="#owns"/><ObjectUnionOf><Class IRI="#Pet"/>
<Class IRI="#Dog"/>
  </ObjectUnionOf></ObjectPropertyDomain>
<ObjectPropertyRange><ObjectProperty IRI="#owns"/><Class IRI="#House"/></ObjectPropertyRange>
<ClassAssertion><Class IRI="#Dog"/><NamedIndividual IRI="#Rex"/></ClassAssertion>
<ClassAssertion><Class IRI="#Dog"/><AnonymousIndividual nodeID="_:one"/></ClassAssertion>
<ObjectPropertyAssertion><ObjectProperty IRI="#owns"/><NamedIndividual IRI="#Rex"/>
<NamedIndividual IRI="#Kennel"/>
  </ObjectPropertyAssertion>
<ObjectPropertyAssertion><ObjectInverseOf><ObjectProperty IRI="#owns"/></ObjectInverseOf>
<NamedIndividual IRI="#Rex"/>
  <NamedIndividual IRI="#Ann"/></ObjectPropertyAssertion>
<Declaration><NamedIndividual IRI="#Kennel"/></Declaration>
<Declaration><NamedIndividual IRI="#Ann"/></Declaration>
<DataPropertyAssertion><DataProperty IRI="#age"/><NamedIndividual IRI="#Rex"/><Literal>3</Literal>
  </DataPropertyAssertion>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="rdfs:label"/><IRI>#Dog</IRI>
  <Literal xml:lang="en">dog</Literal></AnnotationAssertion>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="rdfs:label"/><IRI>#Dog</IRI>
  <Literal xml:lang="de">Hund</Literal></AnnotationAssertion>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="rdfs:comment"/>
<AbbreviatedIRI>ex:Dog</AbbreviatedIRI>
  <Literal>Barks &amp; bites.</Literal></AnnotationAssertion>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="owl:deprecated"/><IRI>#Gone</IRI>
<Literal>true</Literal>
  </AnnotationAssertion>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="rdfs:seeAlso"/><IRI>#Dog</IRI>
<IRI>http://example.org/</IRI>
  </AnnotationAssertion>
</Ontology>"""
FUNCTIONAL = r"""
Prefix(:=<http://x.org/pets#>) Prefix( ex: = <http://x.org/pets#> )
Prefix(rdfs:=<http://www.w3.org/2000/01/rdf-schema#>)
# What is read (and what is not):
Ontology(<http://x.org/pets> <http://x.org/pets/1.0>
Import(<http://x.org/others>)
Annotation(rdfs:comment "An \"ontology\" of pets) # no comment"@en)
Declaration(Class(:Animal)) Declaration(Class(ex:Dog)) Declaration( Class ( :Pet ) )
Declaration(Class(:BigDog))
Declaration(Class(<http://x.org/pets#Hound>)) Declaration(Class(:House)) Declaration(Class(:Gone))
Declaration(ObjectProperty(:livesIn)) Declaration(ObjectProperty(:owns))
Declaration(NamedIndividual(:Rex))
Declaration(NamedIndividual(:Kennel)) Declaration(NamedIndividual(:Ann))
SubClassOf(Annotation(rdfs:comment "sure"^^xsd:string) ex:Dog :Animal)
SubClassOf(:Pet ObjectSomeValuesFrom(:livesIn :House))
SubClassOf(:Pet ObjectAllValuesFrom(:livesIn :House))
SubClassOf(:Pet ObjectMinCardinality(2 :owns :House)) # at least
SubClassOf(:Dog ObjectMinCardinality(0 :owns :House))
SubClassOf(:Dog ObjectMaxCardinality(2 :owns :Pet))
SubClassOf(:BigDog ObjectExactCardinality(1 :owns ObjectIntersectionOf(:House :Animal)))
SubClassOf(:Hound ObjectHasValue(:livesIn :Kennel))
EquivalentClasses(ObjectIntersectionOf(:Dog ObjectSomeValuesFrom(:livesIn :House)) :BigDog)
EquivalentClasses(:Dog :Hound)
ObjectPropertyDomain(:owns ObjectUnionOf(:Pet :Dog)) ObjectPropertyRange(:owns :House)
ClassAssertion(:Dog :Rex) ClassAssertion(:Dog _:one)
ObjectPropertyAssertion(:owns :Rex :Kennel)
ObjectPropertyAssertion(ObjectInverseOf(:owns) :Rex :Ann)
DataPropertyAssertion(:age :Rex "3"^^<http://www.w3.org/2001/XMLSchema#integer>)
SubObjectPropertyOf(ObjectPropertyChain(:owns :livesIn) :owns)
AnnotationAssertion(rdfs:label :Dog "dog"@en)
AnnotationAssertion(rdfs:label <http://x.org/pets#Dog> "Hund"@de)
DataPropertyAssertion(rdfs:comment ex:Dog "Barks & bites.")
AnnotationAssertion(owl:deprecated :Gone "true"^^xsd:boolean)
AnnotationAssertion(rdfs:seeAlso :Dog <http://example.org/>)
)
"""
MANCHESTER = r"""
Prefix: : <http://x.org/pets#>
Prefix: ex: <http://x.org/pets#>
Prefix: owl: <http://www.w3.org/2002/07/owl#>
Prefix: rdfs: <http://www.w3.org/2000/01/rdf-schema#>
Prefix: xsd: <http://www.w3.org/2001/XMLSchema#>
# What is read (and what is not):
Ontology: <http://x.org/pets> <http://x.org/pets/1.0>
Import: <http://x.org/others>
Annotations: rdfs:comment "An \"ontology\" of pets: # no comment"@en

AnnotationProperty: rdfs:label
Datatype: xsd:integer
    EquivalentTo: integer[>= 3, < 5] or { 1, 2.5 , true }

ObjectProperty: livesIn
    Annotations: Annotations: rdfs:comment "of a note" rdfs:comment "a note"
    Characteristics: Annotations: rdfs:comment "sure" Functional, Asymmetric
    SubPropertyChain: owns o inverse (owns)
    InverseOf: houses
ObjectProperty: owns
    Domain: Pet or Dog
    Range: House
DataProperty: age
    Domain: Dog
    Range: xsd:integer[>= 0], {"3"^^xsd:integer, "x"@en}

Class: Animal
Class: owl:Thing
    SuperClassOf: Animal
Class: ex:Dog
    Annotations:
        rdfs:label "dog"@en, rdfs:label "Hund"@de,
        Annotations: rdfs:comment "of a note", rdfs:seeAlso <http://example.org/>
        rdfs:comment "Barks & bites.",
        rdfs:seeAlso <http://example.org/>
    SubClassOf: Annotations: rdfs:comment "sure"^^xsd:string, rdfs:comment "very" Animal,
        owns min 0 House, owns max 2 Pet, not (owns some Pet), livesIn Self,
        age some xsd:integer[>= 0],
        age value 3, age some string, age min 1, age exactly 1 xsd:integer
    EquivalentTo: Hound
    DisjointWith: Annotations: rdfs:comment "a cat is none" Pet
    HasKey: Annotations: rdfs:label "a key" owns age
Class: Pet
    SubClassOf: livesIn some House
    SubClassOf: livesIn only House, owns min 2 House
Class: BigDog
    SubClassOf: owns exactly 1 (House and Animal)
    EquivalentTo: Dog that livesIn some House
Class: <http://x.org/pets#Hound>
    SubClassOf: livesIn value Kennel
Class: House
Class: Gone
    Annotations: owl:deprecated true

Individual: Rex
    Types: Dog
    Facts: owns Kennel, age "3"^^<http://www.w3.org/2001/XMLSchema#integer>, not owns Ann, age -3.5
    DifferentFrom: Kennel
Individual: _:one
    Types: Dog
Individual: Kennel
Individual: Ann
    Facts: Annotations: rdfs:comment "sure" owns Rex
    SameAs:

DisjointClasses: Annotations: rdfs:comment "of course" Dog, House
EquivalentClasses: Dog, Hound
DifferentIndividuals: Ann, Rex
Rule: Dog(?x), owns(?x, ?y) -> Pet(?y)
"""
TURTLE = """
@prefix ex: <http://x.org/pets#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Animal a owl:Class . ex:Dog a owl:Class . ex:Pet a owl:Class . ex:BigDog a owl:Class .
ex:Hound a owl:Class .
ex:House a owl:Class . ex:Gone a owl:Class ; owl:deprecated true . ex:livesIn a owl:ObjectProperty .
ex:owns a owl:ObjectProperty ; rdfs:domain [ owl:unionOf (ex:Pet ex:Dog) ] ; rdfs:range ex:House .
ex:Dog rdfs:subClassOf ex:Animal ; rdfs:label "dog"@en, "Hund"@de ;
  rdfs:comment "Barks & bites." ; owl:equivalentClass ex:Hound .
ex:Pet rdfs:subClassOf [ owl:onProperty ex:livesIn ; owl:someValuesFrom ex:House ] .
ex:Pet rdfs:subClassOf [ owl:onProperty ex:owns ; owl:minQualifiedCardinality 2 ;
  owl:onClass ex:House ] .
ex:Dog rdfs:subClassOf [ owl:onProperty ex:owns ; owl:minQualifiedCardinality 0 ;
  owl:onClass ex:House ] .
ex:Dog rdfs:subClassOf [ owl:onProperty ex:owns ; owl:maxQualifiedCardinality 2 ;
  owl:onClass ex:Pet ] .
ex:BigDog rdfs:subClassOf [ owl:onProperty ex:owns ; owl:qualifiedCardinality 1 ;
  owl:onClass [ owl:intersectionOf (ex:House ex:Animal) ] ] .
ex:Hound rdfs:subClassOf [ owl:onProperty ex:livesIn ; owl:hasValue ex:Kennel ] .
ex:BigDog owl:equivalentClass [ owl:intersectionOf (ex:Dog [ owl:onProperty ex:livesIn ;
  owl:someValuesFrom ex:House ]) ] .
ex:Rex a owl:NamedIndividual, ex:Dog ; ex:owns ex:Kennel . ex:Kennel a owl:NamedIndividual .
ex:Ann a owl:NamedIndividual ; ex:owns ex:Rex .
"""


def said(graph) -> tuple:
    triples = {
        (graph.ids[h], graph.relation_ids[r], graph.ids[t]) for h, r, t in graph.triples.tolist()
    }
    texts = {
        row: texts
        for row, *texts in zip(
            graph.ids, graph.labels, graph.synonyms, graph.definitions, strict=True
        )
    }
    return triples, texts


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    "prolog",
    [
        "",
        '<?xml version="1.0"?>\n<!DOCTYPE Ontology [<!ENTITY x "http://x.org/">]>\n<!-- pets -->\n',
    ],
)
def test_it_says_what_turtle_says(write, language: str, prolog: str) -> None:
    graph = read(write("pets.owl", prolog + HEAD + AXIOMS), language=language, on_error="raise")
    assert said(graph) == said(read(write("pets.ttl", TURTLE), language=language))
    assert len(graph.triples) == 13
    assert graph.labels[graph.ids.index("ex:BigDog")] == "Big dog"


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_functional_syntax_says_the_same(write, language: str) -> None:
    graph = read(write("pets.owl", FUNCTIONAL), language=language, on_error="raise")
    assert said(graph) == said(read(write("pets.ttl", TURTLE), language=language))
    assert read(write("pets.ofn", "# pets\n" + FUNCTIONAL), format="functional").n_triples == 13


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_manchester_syntax_says_the_same(write, language: str) -> None:
    graph = read(write("pets.omn", MANCHESTER), language=language, on_error="raise")
    assert said(graph) == said(read(write("pets.ttl", TURTLE), language=language))
    assert (
        read(write("pets", "Class: Dog\n SubClassOf: Animal"), format="manchester").n_triples == 1
    )


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ("Class: Dog SubClassOf: Animal Pet", 2),
        ("Class: Dog\n SubClassOf: livesIn some", 3),
        ("Class: Dog\n SubClassOf: (livesIn\n\nClass: Pet", 5),
        ('Class: Dog\n Annotations: rdfs:label "never closed', 3),
        ("Class: Dog\n SubClassOf: and", 3),
        ("Class: some", 2),
        ("(Dog) SubClassOf: Animal", 2),
        ("SubClassOf: {a, b", 2),
        ("Class: Dog SubClassOf: " + "(" * 200_000, 2),
        ("Class: Dog SubClassOf: " + "not " * 200_000, 2),
        ("Class: Dog SubClassOf: " + "p some " * 200_000, 2),
        ("Class: Dog " + "Annotations: " * 200_000, 2),
    ],
)
def test_a_fault_of_the_manchester_syntax_names_its_line(write, fault: str, line: int) -> None:
    with pytest.raises(ReadError, match=r"expected .*, found a fault .*; mend it") as error:
        read(write("pets.omn", f"Ontology: <http://x.org/pets> :1.0\n{fault}"))
    assert error.value.line == line


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ("SubClassOf(:a :b", 4),
        ("SubClassOf(:a\n'b')", 3),
        ('AnnotationAssertion(rdfs:label :a\n"never closed)', 3),
        (")\n)", 3),
        (") <http://x.org/>", 2),
        ("Prefix(:=http://x.org/)", 2),
        ("a < b", 2),
    ],
)
def test_a_fault_of_the_functional_syntax_names_its_line(write, fault: str, line: int) -> None:
    with pytest.raises(ReadError, match="expected OWL functional syntax, found a fault") as error:
        read(write("pets.ofn", f"Ontology(<http://x.org/pets>\n{fault}\n)\n"))
    assert error.value.line == line


def test_the_functional_syntax_is_utf_8(write) -> None:
    with pytest.raises(ReadError, match="expected UTF-8"):
        read(write("pets.ofn", FUNCTIONAL.replace("dog", "d\u00f6g").encode("latin-1")))


@pytest.mark.parametrize(
    "axiom",
    [
        "SubClassOf(:a)",
        "SubClassOf()",
        "EquivalentClasses()",
        "Declaration()",
        "AnnotationAssertion(:a)",
        "ObjectPropertyAssertion(ObjectInverseOf() :a :b)",
        "SubClassOf(:a " + "ObjectUnionOf(" * 200_000 + ")" * 200_000 + ")",
        "7 :a",
    ],
)
def test_what_is_half_there_in_brackets_costs_nothing_else(write, axiom: str) -> None:
    document = FUNCTIONAL.replace("Import(", f"{axiom} Import(")
    assert read(write("pets.ofn", document), on_error="raise").n_triples == 13


def test_it_may_be_gzipped_and_named_otherwise(write) -> None:
    path = write("pets.xml.gz", gzip.compress((HEAD + AXIOMS).encode()))
    assert read(path).n_triples == read(path, format="owlxml").n_triples == 13


def test_a_fault_names_its_line(write) -> None:
    with pytest.raises(ReadError, match="expected OWL/XML, found a fault") as error:
        read(write("pets.owl", HEAD + "\n<Declaration>\n<Class IRI=#x/>\n</Ontology>"))
    assert error.value.line == 3


@pytest.mark.parametrize(
    "axiom",
    [
        "<SubClassOf><Class IRI='#a'/></SubClassOf>",
        "<SubClassOf/>",
        "<EquivalentClasses/>",
        "<Declaration/>",
        "<AnnotationAssertion><IRI/></AnnotationAssertion>",
        "<ObjectPropertyAssertion><ObjectInverseOf/><IRI>#a</IRI><IRI>#b</IRI>"
        "</ObjectPropertyAssertion>",
        "<SubClassOf><Class IRI='#a'/>"
        + "<ObjectUnionOf>" * 20_000
        + "</ObjectUnionOf>" * 20_000
        + "</SubClassOf>",
        "text",
    ],
)
def test_what_is_half_there_costs_nothing_else(write, axiom: str) -> None:
    assert read(write("pets.owl", HEAD + axiom + AXIOMS), on_error="raise").n_triples == 13


def test_entities_in_entities_are_refused(write) -> None:
    bomb = '<!DOCTYPE Ontology [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    with pytest.raises(ReadError, match="expected entities of plain text"):
        read(write("bomb.owl", bomb + HEAD + AXIOMS))
