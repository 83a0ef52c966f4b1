"""Names of several languages in RDF, and the requested one."""

from __future__ import annotations

import warnings

import pytest
import rdflib

from ontodex.errors import SettingsError
from ontodex.readers import ReadWarning, read
from ontodex.trainers.data.corpus import read_corpus

THESAURUS = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix ex: <http://example.org/> .
ex:dog skos:broader ex:animal ; skos:prefLabel "dog"@en, "Hund"@de, "perro"@es ;
  skos:altLabel "hound"@en, "Köter"@de-AT, "chucho"@es, "Canis lupus familiaris" ;
  skos:definition "An animal that barks."@en, "Ein Tier, das bellt."@de .
ex:animal skos:prefLabel "animal"@en-GB, "animale"@it .
ex:cat skos:broader ex:animal ; skos:prefLabel "gatto"@it, "chat"@fr ; skos:altLabel "micio"@it,
  "minou"@fr .
"""


@pytest.mark.parametrize(
    ("language", "labels", "synonyms", "definition"),
    [
        (
            "en",
            ["dog", "animal", "chat"],
            ["hound", "Canis lupus familiaris"],
            "An animal that barks.",
        ),
        (
            "de",
            ["Hund", "animal", "chat"],
            ["Köter", "Canis lupus familiaris"],
            "Ein Tier, das bellt.",
        ),
        (
            "DE-AT",
            ["dog", "animal", "chat"],
            ["Köter", "Canis lupus familiaris"],
            "An animal that barks.",
        ),
        (
            "es",
            ["perro", "animal", "chat"],
            ["chucho", "Canis lupus familiaris"],
            "An animal that barks.",
        ),
        ("it", ["dog", "animale", "gatto"], ["Canis lupus familiaris"], "An animal that barks."),
    ],
)
@pytest.mark.parametrize("from_memory", [False, True])
def test_names_are_in_the_requested_language(
    write, language: str, labels: list[str], synonyms: list[str], definition: str, from_memory: bool
) -> None:
    path = write("pets.ttl", THESAURUS)
    source = rdflib.Graph().parse(data=THESAURUS, format="turtle") if from_memory else path
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = read(source, language=language)
    rows = [graph.ids.index(f"ex:{name}") for name in ("dog", "animal", "cat")]
    assert [graph.labels[row] for row in rows] == labels
    assert sorted(graph.synonyms[rows[0]]) == sorted(synonyms)
    assert graph.definitions[rows[0]] == definition
    assert sorted(graph.synonyms[rows[2]]) == (
        ["micio"] if language == "it" else ["micio", "minou"]
    )


def test_a_language_that_no_name_is_in_is_named(write) -> None:
    path = write("pets.ttl", THESAURUS)
    with pytest.warns(
        ReadWarning,
        match="pets.ttl: no name is in the language 'nl'; labels are taken from en, en-gb, fr ",
    ):
        graph = read(path, language="nl")
    assert graph.labels[graph.ids.index("ex:dog")] == "dog"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(path, language="nl", on_error="skip")
        read(
            write("bare.nt", "<http://x.org/a> <http://x.org/b> <http://x.org/c> ."), language="nl"
        )
        read(write("german.ttl", THESAURUS.replace("@en", "@de")))


@pytest.mark.parametrize("language", ["german", "", "de_AT", "d", "*"])
def test_what_is_no_tag_is_refused(write, language: str) -> None:
    with pytest.raises(
        SettingsError, match=r"language: expected a tag such as 'en', 'de' or 'pt-BR', found"
    ):
        read(write("pets.ttl", THESAURUS), language=language)


def test_training_sentences_are_in_the_requested_language(write) -> None:
    assert "Ein Tier, das bellt." in read_corpus(write("pets.ttl", THESAURUS), language="de")


@pytest.mark.parametrize(
    ("said", "language", "label"),
    [
        ('"ônibus"@pt-BR, "autocarro"@pt', "pt", "autocarro"),
        ('"autocarro"@pt, "ônibus"@pt-BR', "pt", "autocarro"),
        ('"ônibus"@pt-BR, "autocarro"@pt', "pt-BR", "ônibus"),
        ('"colour"@en-GB, "color"@en', "en", "color"),
        ('"colour"@en-GB, "color"@en', "de", "color"),
        ('"Paul Otlet"@mul, "ポール・オトレ"@ja', "en", "Paul Otlet"),
        ('"Otlet, P."@en, "Paul Otlet"@mul', "de", "Paul Otlet"),
        ('""@de, "dog"@en, " "@de-AT', "de", "dog"),
    ],
)
def test_the_tag_asked_for_goes_before_narrower_ones_and_none_before_others(
    write, said: str, language: str, label: str
) -> None:
    head = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . <http://x.org/a> skos:prefLabel "
    graph = read(
        write("a.ttl", f"{head}{said} ; skos:definition ''@de, 'a thing'@en ."),
        language=language,
        on_error="skip",
    )
    assert (list(graph.labels), list(graph.definitions)) == ([label], ["a thing"])


@pytest.mark.parametrize("german_first", [False, True])
def test_further_labels_in_the_language_of_the_label_are_synonyms(
    write, german_first: bool
) -> None:
    german, english = (
        'skos:prefLabel "Hund"@de, "Köter"@de',
        'skos:prefLabel "dog"@en, "hound"@en, "dog"',
    )
    labels = f"{german} ; {english}" if german_first else f"{english} ; {german}"
    content = THESAURUS.replace('skos:prefLabel "dog"@en, "Hund"@de', labels)
    path = write(
        "pets.ttl",
        content.replace(
            'skos:altLabel "hound"@en', 'rdfs:label "doggy"@en ; skos:altLabel "whelp"@en'
        ),
    )
    path.write_text("@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ." + path.read_text())
    graph = read(path)
    row = graph.ids.index("ex:dog")
    assert graph.labels[row] == "doggy"
    assert set(graph.synonyms[row]) == {"dog", "hound", "whelp", "Canis lupus familiaris"}
    graph = read(path, language="de")
    assert (graph.labels[row], set(graph.synonyms[row])) == (
        "Hund",
        {"Köter", "Canis lupus familiaris", "dog"},
    )


VARIETIES = {
    "a.ttl": """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix ex: <http://example.org/t/> .
ex:M1 a owl:Class ; rdfs:label "Hematite"@en-US, "Haematite"@en-GB ; rdfs:subClassOf ex:M9 .
ex:M2 a owl:Class ; rdfs:label "Brimstone"@en-GB, "Sulfur"@en, "Schwefel"@de ;
  rdfs:subClassOf ex:M9 .
ex:M3 a owl:Class ; rdfs:label "Aluminum", "Bauxite metal"@en, "Alu"@de-CH ; rdfs:subClassOf ex:M9 .
ex:M4 a owl:Class ; rdfs:label "Iridaceae" ; skos:prefLabel "iris family"@en ;
  rdfs:subClassOf ex:M9 .
ex:M9 a owl:Class ; rdfs:label "matter"@en .
""",
    "a.ofn": """Prefix(ex:=<http://example.org/t/>)
    Prefix(rdfs:=<http://www.w3.org/2000/01/rdf-schema#>)
Prefix(skos:=<http://www.w3.org/2004/02/skos/core#>) Ontology(<http://example.org/t>
Declaration(Class(ex:M1)) Declaration(Class(ex:M2)) Declaration(Class(ex:M3))
Declaration(Class(ex:M4))
Declaration(Class(ex:M9))
SubClassOf(ex:M1 ex:M9) SubClassOf(ex:M2 ex:M9) SubClassOf(ex:M3 ex:M9) SubClassOf(ex:M4 ex:M9)
AnnotationAssertion(rdfs:label ex:M1 "Hematite"@en-US)
AnnotationAssertion(rdfs:label ex:M1 "Haematite"@en-GB)
AnnotationAssertion(rdfs:label ex:M2 "Brimstone"@en-GB)
AnnotationAssertion(rdfs:label ex:M2 "Sulfur"@en)
AnnotationAssertion(rdfs:label ex:M2 "Schwefel"@de) AnnotationAssertion(rdfs:label ex:M3 "Aluminum")
AnnotationAssertion(rdfs:label ex:M3 "Bauxite metal"@en)
AnnotationAssertion(rdfs:label ex:M3 "Alu"@de-CH)
AnnotationAssertion(rdfs:label ex:M4 "Iridaceae")
AnnotationAssertion(skos:prefLabel ex:M4 "iris family"@en)
AnnotationAssertion(rdfs:label ex:M9 "matter"@en))""",
    "a.omn": """Prefix: ex: <http://example.org/t/>
Prefix: rdfs: <http://www.w3.org/2000/01/rdf-schema#>
Prefix: skos: <http://www.w3.org/2004/02/skos/core#>
Ontology: <http://example.org/t>
Class: ex:M1
  Annotations: rdfs:label "Hematite"@en-US, rdfs:label "Haematite"@en-GB
  SubClassOf: ex:M9
Class: ex:M2
  Annotations: rdfs:label "Brimstone"@en-GB, rdfs:label "Sulfur"@en, rdfs:label "Schwefel"@de
  SubClassOf: ex:M9
Class: ex:M3
  Annotations: rdfs:label "Aluminum", rdfs:label "Bauxite metal"@en, rdfs:label "Alu"@de-CH
  SubClassOf: ex:M9
Class: ex:M4
  Annotations: rdfs:label "Iridaceae", skos:prefLabel "iris family"@en
  SubClassOf: ex:M9
Class: ex:M9
  Annotations: rdfs:label "matter"@en
""",
}
METALS = [{"Hematite", "Haematite"}, {"Brimstone", "Sulfur"}, {"Aluminum", "Bauxite metal"}]
ENGLISH = [*METALS, {"Iridaceae", "iris family"}, {"matter"}]
GERMAN = [METALS[0], {"Schwefel"}, {"Aluminum", "Alu"}, {"Iridaceae"}, {"matter"}]


@pytest.mark.parametrize("name", VARIETIES)
@pytest.mark.parametrize(("language", "named"), [("en", ENGLISH), ("de", GERMAN)])
def test_labels_in_varieties_of_the_language_and_without_one_are_names(
    write, name: str, language: str, named: list[set[str]]
) -> None:
    graph = read(write(name, VARIETIES[name]), on_error="raise", language=language)
    names = [
        {label, *synonyms} for label, synonyms in zip(graph.labels, graph.synonyms, strict=True)
    ]
    assert sorted(map(sorted, names)) == sorted(map(sorted, named))
    for one in named:
        assert len({graph.find(name)[0] for name in one}) == 1


@pytest.mark.parametrize(
    ("labels", "language", "names"),
    [
        ('"國"@zh-Hant, "国"@zh-Hans, "land"@en', "zh", {"国", "國"}),
        ('"ônibus"@pt-BR, "autocarro"@pt-PT, "bus"', "pt", {"ônibus", "autocarro", "bus"}),
        ('"bus"@en, "lorry"@en-GB, "Bus"@de', "nl", {"bus", "lorry"}),
        ('"chat"@fr, "gatto"@it, "micio"@it', "nl", {"chat"}),
        ('"gatto"@it, "micio"@it', "nl", {"gatto", "micio"}),
        ('"one"@en, "one", "two"@en-GB, "two"', "en", {"one", "two"}),
    ],
)
def test_varieties_of_other_languages(write, labels: str, language: str, names: set[str]) -> None:
    head = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . <http://x.org/a> skos:prefLabel "
    graph = read(write("a.ttl", f"{head}{labels} ."), on_error="skip", language=language)
    assert {graph.labels[0], *graph.synonyms[0]} == names
