"""Names of several languages in RDF, and the one they are wanted in."""

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
ex:cat skos:broader ex:animal ; skos:prefLabel "gatto"@it, "chat"@fr ; skos:altLabel "micio"@it, "minou"@fr .
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
def test_names_are_in_the_language_asked_for(
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


def test_sentences_to_train_on_are_in_the_language_asked_for(write) -> None:
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
        {"Köter", "Canis lupus familiaris"},
    )
